/// Derivatives of the impulses of a step, through the impacts inside it too, against differences of the step.

#include "tangere/sim/impulse_derivatives.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tangere/math/error.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/sim/rollout.hpp"
#include "tangere/sim/tape/hard_tape.hpp"
#include "tests/support/allocation.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/parameter_bounds.hpp"
#include "tests/support/step_cases.hpp"

namespace tangere::test {
namespace {

/// Impulses that repeat each other lose as many digits as the compliance is small, and their differences more: the
/// derivative, exact for any compliance, is tested at a large one.
World softer(const World& world) {
  WorldOptions options = world.options();
  options.contact.compliance = 1e-3;
  return World(world.model(), world.actuators(), options);
}

class ImpulseDerivatives : public testing::TestWithParam<StepCase> {
 protected:
  World world = softer(GetParam().world);
  const State& state = GetParam().state;
  const VectorX& u = GetParam().u;
  int nv = world.nv();
  int nu = world.nu();
  Workspace workspace{world};
  State next;
  Tape tape;
  VectorX impulses;
  WarmStart warm;

  void SetUp() override {
    ASSERT_EQ(step(world, state, u, workspace, next, &tape).status, StepStatus::solved);
    step_impulses(tape, impulses);
    workspace.save(warm);
  }

  static bool same_rows(const Tape& a, const Tape& b) {
    if (a.hard().sets != b.hard().sets || a.num_impacts() != b.num_impacts()) return false;
    for (std::size_t r = 0; r < a.hard().sets.size(); ++r)
      if (a.hard().problem.keys[r] != b.hard().problem.keys[r] ||
          a.hard().problem.rows[r].gain != b.hard().problem.rows[r].gain)
        return false;
    for (int i = 0; i < a.num_impacts(); ++i)
      if (!same_rows(a.impact(i), b.impact(i))) return false;
    return true;
  }

  /// The impulses of a step of another world; whether its rows and sets are those of the tape.
  bool impulses_of(const World& other, const State& from, const VectorX& control, VectorX& out) const {
    Workspace memory(other);
    memory.restore(warm);
    State to;
    Tape made;
    (void)step(other, from, control, memory, to, &made);
    step_impulses(made, out);
    return same_rows(made, tape);
  }

  /// Likewise from (q ⊕ δ_q, v + δ_v, u + δ_u).
  bool impulses_from(const VectorX& delta, VectorX& out) const {
    State from{VectorX(world.nq()), state.v + delta.segment(nv, nv)};
    integrate(world.model(), state.q, delta.head(nv), from.q);
    return impulses_of(world, from, u + delta.tail(nu), out);
  }

  /// The largest part of `scale` that keeps the sets on both sides; 0 if none does.
  template <class Along>
  static double held_scale(const Along& along, double scale, bool both_sides = true) {
    VectorX unused;
    for (int tried = 0; tried < 16; ++tried, scale /= 4.0)
      if (along(scale, unused) && (!both_sides || along(-scale, unused))) return scale;
    return 0.0;
  }

  struct Column {
    VectorX expected;
    /// Of the difference itself.
    double error = 0.0;
  };
  template <class Along>
  Column difference_of(const Along& along, double scale, Side side) {
    const auto moved = [&](const VectorX& t) -> VectorX {
      VectorX out;
      EXPECT_TRUE(along(t[0], out)) << "at " << t[0];
      return out;
    };
    const Difference out = difference(moved, 1, static_cast<int>(impulses.size()),
                                      {.scale = scale, .side = side, .noise = 1e-13, .num_steps = 8});
    return {out.jacobian, out.error.maxCoeff()};
  }
};

TEST_P(ImpulseDerivatives, JacobiansAreThoseOfTheStep) {
  ImpulseJacobians jacobians;
  EXPECT_EQ(impulse_jacobians(world, tape, workspace, jacobians), GradientQuality::exact);
  ASSERT_EQ(jacobians.q.rows(), num_impulses(tape));
  if (impulses.size() == 0) return;
  MatrixX all(impulses.size(), 2 * nv + nu);
  all << jacobians.q, jacobians.v, jacobians.u;
  for (int k = 0; k < all.cols(); ++k) {
    const auto along = [&](double t, VectorX& out) {
      VectorX delta = VectorX::Zero(all.cols());
      delta[k] = t;
      return impulses_from(delta, out);
    };
    const double scale = held_scale(along, k < nv ? 1e-3 : k < 2 * nv ? 1e-1 : 10.0);
    ASSERT_GT(scale, 0.0) << "coordinate " << k << " ties";
    const VectorX expected = difference_of(along, scale, Side::both).expected;
    EXPECT_NEAR_ABSOLUTE(VectorX(all.col(k)), expected,
                         1e-7 * std::max(impulses.cwiseAbs().maxCoeff(), expected.cwiseAbs().maxCoeff()))
        << "coordinate " << k;
  }
}

TEST_P(ImpulseDerivatives, ProductsAreThoseOfTheJacobians) {
  ImpulseJacobians f;
  StepJacobians jacobians;
  (void)impulse_jacobians(world, tape, workspace, f);
  (void)step_jacobians(world, tape, workspace, jacobians);
  Random random(3);
  const auto vector = [&](Eigen::Index n) {
    VectorX out(n);
    for (Eigen::Index i = 0; i < n; ++i) out[i] = random.uniform(-1.0, 1.0);
    return out;
  };
  const auto expect_near = [](const VectorX& a, const VectorX& b, double size) {
    EXPECT_NEAR_ABSOLUTE(a, b, 1e-9 * std::max(size, b.size() == 0 ? 0.0 : b.cwiseAbs().maxCoeff()));
  };
  const StateTangent g{vector(nv), vector(nv)};
  const VectorX g_impulses = vector(impulses.size());
  StateTangent back;
  VectorX g_u;
  (void)step_vjp(world, tape, workspace, g, g_impulses, back, g_u);
  expect_near(back.q, jacobians.q_q.transpose() * g.q + jacobians.v_q.transpose() * g.v + f.q.transpose() * g_impulses,
              1.0);
  expect_near(back.v, jacobians.q_v.transpose() * g.q + jacobians.v_v.transpose() * g.v + f.v.transpose() * g_impulses,
              1.0);
  expect_near(g_u, jacobians.q_u.transpose() * g.q + jacobians.v_u.transpose() * g.v + f.u.transpose() * g_impulses,
              world.options().time_step);

  const VectorX du = vector(nu);
  StateTangent forward;
  VectorX d_impulses;
  (void)step_jvp(world, tape, workspace, g, du, forward, d_impulses);
  expect_near(forward.q, jacobians.q_q * g.q + jacobians.q_v * g.v + jacobians.q_u * du, 1.0);
  expect_near(forward.v, jacobians.v_q * g.q + jacobians.v_v * g.v + jacobians.v_u * du, 1.0);
  expect_near(d_impulses, f.q * g.q + f.v * g.v + f.u * du, 1.0);
}

TEST_P(ImpulseDerivatives, AllocateNothing) {
  const StateTangent g{VectorX::Ones(nv), VectorX::Ones(nv)};
  const VectorX g_impulses = VectorX::Ones(impulses.size());
  StateTangent out;
  VectorX g_u;
  VectorX d_impulses;
  ImpulseJacobians f;
  const auto run = [&] {
    (void)impulse_jacobians(world, tape, workspace, f);
    (void)step_vjp(world, tape, workspace, g, g_impulses, out, g_u);
    (void)step_jvp(world, tape, workspace, g, u, out, d_impulses);
  };
  run();
  const AllocationCount count;
  run();
  EXPECT_EQ(count.so_far(), 0);
}

TEST_P(ImpulseDerivatives, OfParametersAreThoseOfTheStep) {
  const std::vector<StepParameter> parameters = all_step_parameters(world);
  MatrixX jacobian;
  EXPECT_EQ(impulse_parameter_jacobians(world, tape, workspace, parameters, jacobian), GradientQuality::exact);
  ASSERT_EQ(jacobian.rows(), impulses.size());
  if (impulses.size() == 0) return;
  const VectorX values = parameter_values(world, parameters);
  const std::size_t stride = parameters.size() > 100 ? 11 : 1;
  int num_ties = 0;
  for (std::size_t i = 0; i < parameters.size(); i += stride) {
    const double value = values[static_cast<Eigen::Index>(i)];
    const Bound bound = bound_of(world, parameters[i], value);
    if (bound == Bound::skip) continue;
    const auto along = [&](double t, VectorX& out) {
      try {
        return impulses_of(with_parameters(world, std::span(&parameters[i], 1), VectorX::Constant(1, value + t)), state,
                           u, out);
      } catch (const InputError&) {
        return false;  // not a possible value
      }
    };
    const double largest = parameter_scale(world, parameters[i], value);
    const double scale = held_scale(along, largest, bound == Bound::none);
    if (scale == 0.0) {
      ++num_ties;
      continue;
    }
    const auto [expected, error] = difference_of(along, scale, bound == Bound::none ? Side::both : Side::forward);
    const double size = std::max(impulses.cwiseAbs().maxCoeff() / largest, expected.cwiseAbs().maxCoeff());
    // sets that hold over a tiny way only leave differences that are not accurate
    EXPECT_NEAR_ABSOLUTE(VectorX(jacobian.col(static_cast<Eigen::Index>(i))), expected, 1e-7 * size + 2.0 * error)
        << parameter_name(world, parameters[i]);
  }
  // what turns a planar mechanism out of its plane gives it rows that it did not have
  EXPECT_LE(num_ties, world.free_dofs().empty() ? static_cast<int>(parameters.size()) / 4 : 0);
}

/// A loss over a rollout of a box that slides: squares of all impulses, by the steps as they are made and back.
TEST(ImpulseLoss, OfARollout) {
  const StepCase& one = *std::find_if(all_step_cases().begin(), all_step_cases().end(),
                                      [](const StepCase& other) { return other.name == "BoxSliding"; });
  const World world = softer(one.world);
  const int steps = 12;
  const MatrixX controls = one.u.replicate(1, steps);
  const auto loss_from = [&](const State& start, const MatrixX& with) {
    double loss = 0.0;
    Rollout rollout(world);
    rollout.run(start, with, [&](int, const StepResult& result) {
      for (const double f : result.impulses) loss += 0.5 * f * f;
    });
    return loss;
  };
  VectorX expected;
  for (const int max_tapes : {100, 5}) {
    Rollout rollout(world, {.max_tapes = max_tapes});
    rollout.run(one.state, controls);
    StateTangent g;
    MatrixX g_controls;
    (void)rollout.reverse(std::vector<StateTangent>(steps + 1), g, g_controls,
                          [](int, const Tape& tape, VectorX& g_impulses) { step_impulses(tape, g_impulses); });
    if (expected.size() == 0) {
      const auto moved = [&](const VectorX& delta) {
        State start{VectorX(world.nq()), one.state.v + delta.segment<6>(6)};
        integrate(world.model(), one.state.q, delta.head<6>(), start.q);
        MatrixX with = controls;
        with.col(steps / 2) += delta.tail<6>();
        return loss_from(start, with);
      };
      expected = finite_difference_gradient(moved, 18, 1e-5);
    }
    const VectorX actual = (VectorX(18) << g.q, g.v, g_controls.col(steps / 2)).finished();
    EXPECT_NEAR_RELATIVE(actual, expected, 1e-7) << max_tapes;
  }
}

TEST(ImpulseLoss, RefusesWhatDoesNotFit) {
  const StepCase& one = all_step_cases().front();
  Workspace workspace(one.world);
  State next;
  Tape tape;
  (void)step(one.world, one.state, one.u, workspace, next, &tape);
  const StateTangent g{VectorX::Zero(one.world.nv()), VectorX::Zero(one.world.nv())};
  StateTangent back;
  VectorX g_u;
  EXPECT_THROW((void)step_vjp(one.world, tape, workspace, g, VectorX::Zero(num_impulses(tape) + 1), back, g_u),
               InputError);
  Rollout rollout(one.world, {.gradient_mode = GradientMode::complementarity_aware});
  rollout.run(one.state, one.u);
  MatrixX g_controls;
  EXPECT_THROW((void)rollout.reverse(std::vector<StateTangent>(2), back, g_controls, [](int, const Tape&, VectorX&) {}),
               InputError);
}

INSTANTIATE_TEST_SUITE_P(AllCases, ImpulseDerivatives, testing::ValuesIn(all_step_cases()),
                         step_test_name<testing::TestParamInfo<StepCase>>);

}  // namespace
}  // namespace tangere::test
