/// Rollouts: gradients over many steps, checkpoints, and Nimble's drone.

#include "tangere/sim/rollout.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <filesystem>
#include <limits>

#include "tangere/io/scene_file.hpp"
#include "tangere/math/error.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/folders.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/step_cases.hpp"

namespace tangere::test {
namespace {

const StepCase& step_case(const std::string& name) {
  for (const StepCase& one : all_step_cases())
    if (one.name == name) return one;
  throw std::invalid_argument(name);
}

/// A loss over a rollout: a weighted sum of the last velocities and of all heights.
struct Loss {
  const World& world;
  MatrixX controls;

  [[nodiscard]] double value(const State& start) const {
    Rollout rollout(world);
    rollout.run(start, controls);
    double loss = 0.0;
    for (const State& state : rollout.states()) loss += state.q[2] + 0.5 * state.q[0];
    const VectorX& v = rollout.states().back().v;
    for (Eigen::Index k = 0; k < v.size(); ++k) loss += v[k] * (1.0 + 0.1 * static_cast<double>(k));
    return loss;
  }

  [[nodiscard]] std::vector<StateTangent> gradients(std::span<const State> states) const {
    std::vector<StateTangent> out(states.size());
    for (std::size_t i = 0; i < states.size(); ++i) {
      // q moves by R δ
      const Eigen::Quaterniond R(states[i].q[6], states[i].q[3], states[i].q[4], states[i].q[5]);
      out[i].q.setZero(world.nv());
      out[i].q.head<3>() = R.conjugate() * Vector3(0.5, 0.0, 1.0);
    }
    out.back().v.resize(world.nv());
    for (int k = 0; k < world.nv(); ++k) out.back().v[k] = 1.0 + 0.1 * k;
    return out;
  }
};

class RolloutGradient : public testing::TestWithParam<std::string> {};

TEST_P(RolloutGradient, IsThatOfTheRollout) {
  const StepCase& one = step_case(GetParam());
  const int steps = 25;
  const Loss loss{one.world, one.u.replicate(1, steps)};
  Rollout rollout(one.world);
  rollout.run(one.state, loss.controls);
  EXPECT_EQ(rollout.num_approximate(), 0);
  StateTangent g;
  MatrixX g_controls;
  (void)rollout.reverse(loss.gradients(rollout.states()), g, g_controls);

  const int nv = one.world.nv();
  VectorX actual(2 * nv);
  actual << g.q, g.v;
  const auto moved = [&](const VectorX& delta) {
    State start{VectorX(one.world.nq()), one.state.v + delta.tail(nv)};
    integrate(one.world.model(), one.state.q, delta.head(nv), start.q);
    return loss.value(start);
  };
  const VectorX expected = finite_difference_gradient(moved, 2 * nv, 1e-5);
  EXPECT_NEAR_RELATIVE(actual, expected, 1e-7);

  // of one control in the middle
  const auto pushed = [&](const VectorX& delta) {
    Loss other = loss;
    other.controls.col(steps / 2) += delta;
    return other.value(one.state);
  };
  EXPECT_NEAR_RELATIVE(VectorX(g_controls.col(steps / 2)), finite_difference_gradient(pushed, one.world.nu(), 0.1),
                       1e-7);
}

INSTANTIATE_TEST_SUITE_P(Cases, RolloutGradient,
                         testing::Values("Flying", "BoxSliding", "SphereRolling", "CapsuleSliding", "EllipsoidSliding"),
                         [](const auto& one) { return one.param; });

TEST(Rollout, CheckpointsChangeNothing) {
  const StepCase& one = step_case("BoxOnACorner");
  const MatrixX controls = one.u.replicate(1, 103);
  StateTangent g;
  StateTangent expected;
  MatrixX g_controls;
  MatrixX expected_controls;
  const Loss loss{one.world, controls};
  for (const int max_tapes : {1000, 103, 17, 10, 1}) {
    Rollout rollout(one.world, {.max_tapes = max_tapes});
    rollout.run(one.state, controls);
    (void)rollout.reverse(loss.gradients(rollout.states()), g, g_controls);
    if (max_tapes == 1000) {
      expected = g;
      expected_controls = g_controls;
    }
    EXPECT_EQ(g.q, expected.q) << max_tapes;
    EXPECT_EQ(g.v, expected.v) << max_tapes;
    EXPECT_EQ(g_controls, expected_controls) << max_tapes;
  }
}

TEST(Rollout, RefusesWhatDoesNotFit) {
  const StepCase& one = step_case("Flying");
  EXPECT_THROW(Rollout(one.world, {.max_tapes = 0}), InputError);
  Rollout rollout(one.world);
  EXPECT_THROW(rollout.run(one.state, MatrixX::Zero(5, 3)), InputError);
  for (const int steps : {0, 3})
    EXPECT_THROW(rollout.run({VectorX::Zero(3), VectorX::Zero(6)}, MatrixX::Zero(6, steps)), InputError);
  StateTangent g;
  MatrixX g_controls;
  EXPECT_THROW((void)rollout.reverse({}, g, g_controls), InputError);
  MatrixX controls = MatrixX::Zero(6, 3);
  controls(0, 2) = std::numeric_limits<double>::quiet_NaN();
  try {
    rollout.run(one.state, controls);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.field(), "step[2].u[0]");
  }
}

/// Nimble's Figure 8: a drone that rests on the floor is to rise to 5 m. The contact takes every small thrust away, and
/// with it the exact gradient; the complementarity-aware one lifts it off.
TEST(Drone, TakesOffOnlyWithComplementarityAwareGradients) {
  const Scene scene = load_scene(scenes_folder() / "drone.xml");
  const World world(scene.robot.model, {}, {.time_step = 1e-3});
  const State start{scene.q, scene.v};
  const int steps = 500;
  const auto descend = [&](GradientMode mode) {
    MatrixX controls = MatrixX::Zero(1, steps);
    std::vector<double> losses;
    Rollout rollout(world, {.gradient_mode = mode});
    for (int iteration = 0; iteration < 50; ++iteration) {
      rollout.run(start, controls);
      // the height is the coordinate
      const double height = rollout.states().back().q[0] - rollout.states().front().q[0];
      losses.push_back((4.2 - height) * (4.2 - height));
      std::vector<StateTangent> gradients(static_cast<std::size_t>(steps) + 1);
      gradients.back().q = VectorX::Constant(1, -2.0 * (4.2 - height));
      StateTangent g;
      MatrixX g_controls;
      (void)rollout.reverse(gradients, g, g_controls);
      controls = (controls - 10.0 * g_controls).cwiseMax(-10.0).cwiseMin(10.0);
    }
    return losses;
  };
  const std::vector<double> exact = descend(GradientMode::exact);
  const std::vector<double> aware = descend(GradientMode::complementarity_aware);
  EXPECT_GT(exact.back(), 0.99 * exact.front());
  EXPECT_LT(aware.back(), 0.01 * aware.front());
}

/// After an exception on the way there is nothing half done to go back over.
TEST(Rollout, HoldsNothingAfterAnObserverThatThrows) {
  const StepCase& one = all_step_cases().front();
  const MatrixX controls = one.u.replicate(1, 6);
  Rollout rollout(one.world, {.max_tapes = 2});
  rollout.run(one.state, controls);
  const std::vector<State> expected(rollout.states().begin(), rollout.states().end());
  const auto stop = [](int i, const StepResult&) {
    if (i == 3) throw std::runtime_error("enough");
  };
  EXPECT_THROW(rollout.run(one.state, controls, stop), std::runtime_error);
  EXPECT_TRUE(rollout.states().empty());
  EXPECT_EQ(rollout.num_steps(), 0);
  EXPECT_EQ(rollout.num_approximate(), 0);
  StateTangent g;
  MatrixX g_controls;
  EXPECT_THROW((void)rollout.reverse(std::vector<StateTangent>(7), g, g_controls), InputError);
  rollout.run(one.state, controls);
  ASSERT_EQ(rollout.states().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(rollout.states()[i].v, expected[i].v) << i;
}

/// A loss whose gradient throws leaves states, and a way back that is made from them again.
TEST(Rollout, GoesBackAfterAnImpulseGradientThatThrows) {
  const StepCase& one = all_step_cases().front();
  Rollout rollout(one.world, {.max_tapes = 2});
  rollout.run(one.state, one.u.replicate(1, 6));
  std::vector<StateTangent> gradients(7);
  gradients.back().v = VectorX::Ones(one.world.nv());
  StateTangent expected;
  MatrixX g_controls;
  EXPECT_EQ(rollout.reverse(gradients, expected, g_controls), GradientQuality::exact);
  StateTangent g;
  const auto stop = [](int i, const Tape&, VectorX&) {
    if (i == 2) throw std::runtime_error("enough");
  };
  EXPECT_THROW((void)rollout.reverse(gradients, g, g_controls, stop), std::runtime_error);
  EXPECT_EQ(rollout.reverse(gradients, g, g_controls), GradientQuality::exact);
  EXPECT_EQ(g.q, expected.q);
  EXPECT_EQ(g.v, expected.v);
}

/// The usual way to go on.
TEST(Rollout, StartsFromAStateOfItsOwn) {
  const StepCase& one = all_step_cases().front();
  Rollout rollout(one.world);
  rollout.run(one.state, one.u.replicate(1, 2));
  const State last = rollout.states().back();
  Rollout other(one.world);
  other.run(last, one.u.replicate(1, 50));
  rollout.run(rollout.states().back(), one.u.replicate(1, 50));
  EXPECT_EQ(rollout.states().back().v, other.states().back().v);
}

}  // namespace
}  // namespace tangere::test
