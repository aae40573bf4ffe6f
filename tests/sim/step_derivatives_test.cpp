/// Every derivative of a step against differences of the step itself, the sets held.

#include "tangere/sim/step_derivatives.hpp"

#include <gtest/gtest.h>

#include "tangere/multibody/configuration.hpp"
#include "tangere/sim/tape/hard_tape.hpp"
#include "tests/support/allocation.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/step_cases.hpp"

namespace tangere::test {
namespace {

class StepDerivatives : public testing::TestWithParam<StepCase> {
 protected:
  const World& world = GetParam().world;
  const State& state = GetParam().state;
  const VectorX& u = GetParam().u;
  int nv = world.nv();
  Workspace workspace{world};
  State next;
  Tape tape;

  void SetUp() override { ASSERT_EQ(step(world, state, u, workspace, next, &tape).status, StepStatus::solved); }

  /// A step from (q ⊕ δ_q, v + δ_v, u + δ_u): whether its rows and sets are those of the tape, and where it goes.
  bool step_from(const VectorX& delta, State& to) {
    State from{VectorX(world.nq()), state.v + delta.segment(nv, nv)};
    integrate(world.model(), state.q, delta.head(nv), from.q);
    const StepResult& result = step(world, from, u + delta.tail(world.nu()), workspace, to);
    if (result.impacts.size() != tape.num_impact_contacts()) return false;
    if (result.sets.size() != tape.hard().sets.size() || result.contacts.size() != tape.hard().problem.contacts.size())
      return false;
    for (std::size_t c = 0; c < result.contacts.size(); ++c)
      if (result.contacts[c].feature_A != tape.hard().problem.contacts[c].feature_A ||
          result.contacts[c].feature_B != tape.hard().problem.contacts[c].feature_B)
        return false;
    for (std::size_t r = 0; r < tape.hard().sets.size(); ++r)
      if (result.sets[r] != tape.hard().sets[r] || result.rows[r].gain != tape.hard().problem.rows[r].gain)
        return false;
    return true;
  }

  /// The next state as a tangent from the one that was taped.
  [[nodiscard]] VectorX moved(const VectorX& delta) {
    State to;
    EXPECT_TRUE(step_from(delta, to)) << "other sets";
    VectorX out(2 * nv);
    difference(world.model(), next.q, to.q, out.head(nv));
    out.tail(nv) = to.v - next.v;
    return out;
  }

  /// The largest step in one coordinate, at most `scale`, that keeps the sets on both sides.
  double held_scale(int coordinate, double scale) {
    VectorX delta = VectorX::Zero(2 * nv + world.nu());
    for (State to; scale > 1e-9; scale /= 4.0) {
      bool held = true;
      for (const double side : {-1.0, 1.0}) {
        delta[coordinate] = side * scale;
        held = held && step_from(delta, to);
      }
      if (held) return scale;
    }
    ADD_FAILURE() << "coordinate " << coordinate << " ties";
    return scale;
  }
};

TEST_P(StepDerivatives, JacobiansAreThoseOfTheStep) {
  StepJacobians jacobians;
  (void)step_jacobians(world, tape, workspace, jacobians);
  MatrixX all(2 * nv, 2 * nv + world.nu());
  all << jacobians.q_q, jacobians.q_v, jacobians.q_u, jacobians.v_q, jacobians.v_v, jacobians.v_u;
  const double dt = world.options().time_step;
  MatrixX expected(all.rows(), all.cols());
  for (int k = 0; k < all.cols(); ++k) {
    const double scale = held_scale(k, k < nv ? 1e-3 : k < 2 * nv ? 1e-1 : 10.0);
    const auto along = [&](const VectorX& t) {
      VectorX delta = VectorX::Zero(all.cols());
      delta[k] = t[0];
      return moved(delta);
    };
    expected.col(k) = difference(along, 1, 2 * nv, {.scale = scale, .noise = 1e-14}).jacobian;
  }
  // entries next to the size they have in general: masses and lengths are about 1
  const auto expect_near = [&](int row, int column, int cols, double size) {
    const MatrixX a = all.block(row, column, nv, cols);
    const MatrixX b = expected.block(row, column, nv, cols);
    EXPECT_NEAR_ABSOLUTE(a, b, 1e-7 * std::max(size, a.cwiseAbs().maxCoeff()));
  };
  expect_near(0, 0, nv, 1.0);
  expect_near(0, nv, nv, dt);
  expect_near(0, 2 * nv, world.nu(), dt * dt);
  expect_near(nv, 0, nv, 1.0);
  expect_near(nv, nv, nv, 1.0);
  expect_near(nv, 2 * nv, world.nu(), dt);
}

TEST_P(StepDerivatives, ProductsAreThoseOfTheJacobians) {
  StepJacobians jacobians;
  (void)step_jacobians(world, tape, workspace, jacobians);
  Random random(5);
  const auto vector = [&](int n) {
    VectorX out(n);
    for (int i = 0; i < n; ++i) out[i] = random.uniform(-1.0, 1.0);
    return out;
  };
  const auto expect_near = [](const VectorX& a, const VectorX& b, double size) {
    EXPECT_NEAR_ABSOLUTE(a, b, 1e-9 * std::max(size, b.cwiseAbs().maxCoeff()));
  };
  const double dt = world.options().time_step;
  const StateTangent g{vector(nv), vector(nv)};
  StateTangent g_state;
  VectorX g_u;
  (void)step_vjp(world, tape, workspace, g, g_state, g_u);
  expect_near(g_state.q, jacobians.q_q.transpose() * g.q + jacobians.v_q.transpose() * g.v, 1.0);
  expect_near(g_state.v, jacobians.q_v.transpose() * g.q + jacobians.v_v.transpose() * g.v, 1.0);
  expect_near(g_u, jacobians.q_u.transpose() * g.q + jacobians.v_u.transpose() * g.v, dt);

  const StateTangent d{vector(nv), vector(nv)};
  const VectorX du = vector(world.nu());
  StateTangent d_next;
  (void)step_jvp(world, tape, workspace, d, du, d_next);
  expect_near(d_next.q, jacobians.q_q * d.q + jacobians.q_v * d.v + jacobians.q_u * du, 1.0);
  expect_near(d_next.v, jacobians.v_q * d.q + jacobians.v_v * d.v + jacobians.v_u * du, 1.0);
}

TEST_P(StepDerivatives, AllocateNothing) {
  StepJacobians jacobians;
  const StateTangent g{VectorX::Ones(nv), VectorX::Ones(nv)};
  StateTangent out;
  VectorX g_u;
  const auto run = [&] {
    (void)step_jacobians(world, tape, workspace, jacobians);
    (void)step_vjp(world, tape, workspace, g, out, g_u);
    (void)step_jvp(world, tape, workspace, g, u, out);
  };
  run();
  run();
  const AllocationCount count;
  run();
  EXPECT_EQ(count.so_far(), 0);
}

/// A ball above the floor: the step does not know of the floor, and the mode that asks what would be if it did says so.
TEST(PreContact, KnowsTheFloorBeforeTouching) {
  WorldOptions options;
  options.hard.margin = 0.05;
  const StepCase ball =
      free_bodies("ball", {{Sphere{0.1}, Pose::translation({0.0, 0.0, 0.12}), Vector6::Zero()}}, 0.5, 0.0, options);
  Workspace workspace(ball.world);
  State next;
  Tape tape;
  const StepResult& result = step(ball.world, ball.state, ball.u, workspace, next, &tape);
  ASSERT_EQ(result.contacts.size(), 1U);
  EXPECT_EQ(result.contacts[0].impulse.norm(), 0.0);
  EXPECT_GT(result.margin, 0.0);
  StepJacobians exact;
  StepJacobians touching;
  (void)step_jacobians(ball.world, tape, workspace, exact);
  (void)step_jacobians(ball.world, tape, workspace, touching, GradientMode::pre_contact);
  EXPECT_NEAR(exact.v_v(2, 2), 1.0, 1e-9);
  EXPECT_NEAR(touching.v_v(2, 2), 0.0, 1e-6);
  const StateTangent g{VectorX::Zero(6), VectorX::Unit(6, 2)};
  StateTangent g_state;
  VectorX g_u;
  EXPECT_EQ(step_vjp(ball.world, tape, workspace, g, g_state, g_u, GradientMode::pre_contact),
            GradientQuality::heuristic);
  EXPECT_NEAR_ABSOLUTE(g_state.v, VectorX(touching.v_v.row(2).transpose()), 1e-9);
  EXPECT_EQ(step_vjp(ball.world, tape, workspace, g, g_state, g_u), GradientQuality::exact);
}

INSTANTIATE_TEST_SUITE_P(AllCases, StepDerivatives, testing::ValuesIn(all_step_cases()),
                         step_test_name<testing::TestParamInfo<StepCase>>);

}  // namespace
}  // namespace tangere::test
