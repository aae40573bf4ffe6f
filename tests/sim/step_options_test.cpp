/// What a caller may ask of a single step: where it starts from, how much it tries, how fast it may become; and the
/// step with its Jacobians in one call.

#include <gtest/gtest.h>

#include "tangere/math/error.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/points.hpp"
#include "tangere/sim/state_tangent.hpp"
#include "tangere/sim/step_derivatives.hpp"
#include "tests/support/step_cases.hpp"

namespace tangere::test {
namespace {

class StepOptionsOf : public testing::TestWithParam<StepCase> {};

/// One call gives what two give, in the caller's blocks of a larger matrix.
TEST_P(StepOptionsOf, LinearizedStep) {
  const StepCase& one = GetParam();
  const int nv = one.world.nv();
  const int nu = one.world.nu();
  Workspace workspace(one.world);
  State expected;
  Tape tape;
  StepJacobians J;
  const StepStatus status = step(one.world, one.state, one.u, workspace, expected, &tape).status;
  const GradientQuality quality = step_jacobians(one.world, tape, workspace, J);
  workspace.forget();
  MatrixX both = MatrixX::Zero(2 * nv + 1, 2 * nv + nu);
  State next;
  EXPECT_EQ(linearized_step(one.world, one.state, one.u, workspace, next, both.topLeftCorner(2 * nv, 2 * nv),
                            both.topRightCorner(2 * nv, nu)),
            quality);
  EXPECT_EQ(workspace.result().status, status);
  EXPECT_EQ(next.q, expected.q);
  EXPECT_EQ(both.topLeftCorner(2 * nv, 2 * nv), J.A());
  EXPECT_EQ(both.topRightCorner(2 * nv, nu), J.B());
  EXPECT_TRUE(both.bottomRows(1).isZero(0.0));
}

/// The Jacobian of the complementarity-aware mode is the matrix of its reverse product.
TEST_P(StepOptionsOf, ComplementarityAwareJacobian) {
  const StepCase& one = GetParam();
  if (one.world.options().formulation != Formulation::lcp) return;
  const int nv = one.world.nv();
  Workspace workspace(one.world);
  State next;
  Tape tape;
  (void)step(one.world, one.state, one.u, workspace, next, &tape);
  const GradientMode mode = GradientMode::complementarity_aware;
  StepJacobians J;
  EXPECT_THROW((void)step_jacobians(one.world, tape, workspace, J, mode), InputError);
  for (const double sign : {1.0, -1.0}) {
    const StateTangent g{VectorX::LinSpaced(nv, -sign, sign), VectorX::LinSpaced(nv, sign, 2.0 * sign)};
    StateTangent back;
    VectorX g_u;
    const GradientQuality quality = step_vjp(one.world, tape, workspace, g, back, g_u, mode);
    EXPECT_EQ(step_jacobians(one.world, tape, workspace, J, mode, &g), quality);
    VectorX weights(2 * nv);
    weights << g.q, g.v;
    VectorX both(2 * nv);
    both << back.q, back.v;
    const double scale = 1.0 + weights.norm() * J.A().norm();
    EXPECT_LE((J.A().transpose() * weights - both).norm(), 1e-8 * scale);
    EXPECT_LE((J.B().transpose() * weights - g_u).norm(), 1e-8 * (1.0 + weights.norm() * J.B().norm()));
  }
}

INSTANTIATE_TEST_SUITE_P(All, StepOptionsOf, testing::ValuesIn(all_step_cases()),
                         step_test_name<testing::TestParamInfo<StepCase>>);

StepCase box(Formulation formulation, double tilt = 0.0) {
  WorldOptions options{.time_step = 0.01};
  options.formulation = formulation;
  options.smooth.kappa = 1e-6;
  FreeBody one{.shape = Box{.size = {0.3, 0.2, 0.1}}, .X_WB = {so3::exp(Vector3(tilt, tilt, 0)), Vector3(0, 0, 0.05)}};
  one.velocity << 0.5, 0.0, -0.5, 0.1, 0.2, 0.0;
  return free_bodies("box", {one}, 0.5, 0.0, options);
}

/// A cold step is a function of its arguments; one that starts from a tape has the bits of the step after that tape.
TEST(StepOptions, StartsFromWhatItIsTold) {
  for (const Formulation formulation : {Formulation::lcp, Formulation::single_level, Formulation::bilevel}) {
    const StepCase one = box(formulation);
    Workspace workspace(one.world);
    Workspace fresh(one.world);
    State state = one.state;
    State last, next, again;
    Tape tape;
    for (int i = 0; i < 5; ++i) {
      last = state;
      (void)step(one.world, last, one.u, workspace, state, &tape);
    }
    (void)step(one.world, state, one.u, workspace, next);
    (void)step(one.world, state, one.u, fresh, again, nullptr, {.start = StepStart::tape, .from = &tape});
    EXPECT_EQ(next.q, again.q);
    EXPECT_EQ(next.v, again.v);
    EXPECT_EQ(fresh.result().smooth.rungs, workspace.result().smooth.rungs);
    (void)step(one.world, state, one.u, workspace, next, nullptr, {.start = StepStart::cold});
    Workspace cold(one.world);
    (void)step(one.world, state, one.u, cold, again);
    EXPECT_EQ(next.q, again.q);
    EXPECT_EQ(next.v, again.v);
    EXPECT_THROW((void)step(one.world, state, one.u, fresh, next, nullptr, {.start = StepStart::tape}), InputError);
  }
}

/// No step, no derivatives; and the state and the warm start are as they were.
TEST(StepOptions, SaysThatItWasTooFast) {
  for (const Formulation formulation : {Formulation::lcp, Formulation::single_level}) {
    const StepCase one = box(formulation);
    Workspace workspace(one.world);
    State next;
    Tape tape;
    EXPECT_EQ(step(one.world, one.state, one.u, workspace, next, &tape, {.max_speed = 0.1}).status,
              StepStatus::too_fast);
    EXPECT_EQ(next.q, one.state.q);
    StepJacobians J;
    EXPECT_THROW((void)step_jacobians(one.world, tape, workspace, J), InputError);
    MatrixX A(12, 12), B(12, 6);
    EXPECT_NE(linearized_step(one.world, one.state, one.u, workspace, next, A, B, {.max_speed = 0.1}),
              GradientQuality::exact);
    EXPECT_TRUE(A.array().isNaN().all() && B.array().isNaN().all());
    EXPECT_TRUE(is_made(step(one.world, one.state, one.u, workspace, next, &tape, {.max_speed = 10.0}).status));
  }
}

/// With too few iterations for any start the ladder is climbed to its end, or not at all.
TEST(StepOptions, GivesUpAtOnce) {
  StepCase one = box(Formulation::single_level, 0.3);
  WorldOptions options = one.world.options();
  options.smooth.max_iterations = 1;
  options.smooth.tolerance = 1e-12;
  const World hopeless = one.world.with_options(options);
  Workspace workspace(hopeless);
  State next;
  for (const StepEffort effort : {StepEffort::warm, StepEffort::cold}) {
    Tape tape;
    const StepResult& result = step(hopeless, one.state, one.u, workspace, next, &tape, {.effort = effort});
    EXPECT_EQ(result.status, StepStatus::gave_up);
    EXPECT_TRUE(result.contacts.empty());
    EXPECT_EQ(next.q, one.state.q);
    EXPECT_EQ(tape.status, StepStatus::gave_up);
  }
  // and where the warm start serves it is not needed
  State state = one.state;
  Workspace warm(one.world);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(step(one.world, state, one.u, warm, next, nullptr, {.effort = StepEffort::cold}).status,
              StepStatus::solved);
    state = next;
  }
}

/// Losses on numbers of q and on points, against differences along the tangent.
TEST(TangentGradient, OfNumbersAndOfPoints) {
  for (const StepCase& one : all_step_cases()) {
    const Model& model = one.world.model();
    const VectorX weights = VectorX::LinSpaced(model.nq(), -1.0, 2.0);
    const Vector3 p_B(0.1, -0.2, 0.3);
    const Vector3 direction(0.5, -1.0, 2.0);
    const std::string& body = model.body(model.num_bodies() - 1).spec.name;
    const VectorX by_numbers = tangent_gradient(model, one.state.q, weights);
    const VectorX by_point = point_gradient(model, one.state.q, body, p_B, direction);
    const double h = 1e-6;
    for (int k = 0; k < model.nv(); ++k) {
      double numbers[2], points[2];
      for (const int side : {0, 1}) {
        VectorX q(model.nq());
        integrate(model, one.state.q, (side == 0 ? -h : h) * VectorX::Unit(model.nv(), k), q);
        numbers[side] = weights.dot(q);
        points[side] = direction.dot(point_position(model, q, body, p_B));
      }
      EXPECT_NEAR(by_numbers[k], (numbers[1] - numbers[0]) / (2.0 * h), 1e-7) << one.name << ", " << k;
      EXPECT_NEAR(by_point[k], (points[1] - points[0]) / (2.0 * h), 1e-7) << one.name << ", " << k;
    }
    EXPECT_THROW((void)point_position(model, one.state.q, "no such body"), InputError);
  }
}

TEST(StateTangents, PlusAndMinus) {
  for (const StepCase& one : all_step_cases()) {
    const Model& model = one.world.model();
    const int n = 2 * model.nv();
    const VectorX x = VectorX::LinSpaced(n, -0.4, 0.5);
    State moved;
    plus(model, one.state, x, moved);
    VectorX back(n);
    minus(model, moved, one.state, back);
    EXPECT_LE((back - x).norm(), 1e-12 * (1.0 + x.norm())) << one.name;
    MatrixX d_state, d_x, d_to, d_from;
    plus_jacobians(model, one.state, x, d_state, d_x);
    minus_jacobians(model, moved, one.state, d_to, d_from);
    const double h = 1e-6;
    for (int k = 0; k < n; ++k) {
      VectorX columns[4][2];
      for (const int side : {0, 1}) {
        const VectorX d = (side == 0 ? -h : h) * VectorX::Unit(n, k);
        State start, other;
        for (VectorX* column : {&columns[0][side], &columns[1][side], &columns[2][side], &columns[3][side]})
          column->resize(n);
        plus(model, one.state, d, start);
        plus(model, start, x, other);
        minus(model, other, moved, columns[0][side]);
        minus(model, moved, start, columns[3][side]);
        plus(model, one.state, x + d, other);
        minus(model, other, moved, columns[1][side]);
        plus(model, moved, d, other);
        minus(model, other, one.state, columns[2][side]);
      }
      const MatrixX* analytic[] = {&d_state, &d_x, &d_to, &d_from};
      for (int i = 0; i < 4; ++i)
        EXPECT_LE((analytic[i]->col(k) - (columns[i][1] - columns[i][0]) / (2.0 * h)).norm(), 1e-7)
            << one.name << ", " << i << ", " << k;
    }
  }
}

}  // namespace
}  // namespace tangere::test
