/// Where rows repeat each other: the impulses of a compliance beside those of least norm.

#include <gtest/gtest.h>

#include "tangere/sim/step_derivatives.hpp"
#include "tangere/sim/tape/hard_tape.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/step_cases.hpp"

namespace tangere::test {
namespace {

World with(const World& world, Redundancy redundancy) {
  WorldOptions options = world.options();
  options.hard.redundancy = redundancy;
  return world.with_options(options);
}

class LeastSquares : public testing::TestWithParam<StepCase> {};

/// Complementary, and of no larger norm than those of the compliance.
TEST_P(LeastSquares, ImpulsesAreThoseOfLeastNorm) {
  const auto& [name, world, state, u] = GetParam();
  Tape soft;
  Tape least;
  State next;
  const World compliant = with(world, Redundancy::compliance);
  Workspace first(compliant);
  (void)step(compliant, state, u, first, next, &soft);
  const World rigid = with(world, Redundancy::least_squares);
  Workspace second(rigid);
  ASSERT_EQ(step(rigid, state, u, second, next, &least).status, StepStatus::solved);
  ASSERT_EQ(soft.hard().sets, least.hard().sets);
  EXPECT_LE(least.hard().f.view().norm(), soft.hard().f.view().norm() * (1.0 + 1e-4) + 1e-12);
  const VectorX w = least.hard().problem.jacobian(world.nv()) * least.v_plus;
  const double most = least.hard().f.view().size() == 0 ? 0.0 : least.hard().f.view().cwiseAbs().maxCoeff();
  for (int r = 0; r < least.hard().problem.num_rows(); ++r) {
    const Row& row = least.hard().problem.rows[r];
    const BoxedLcpRow& box = least.hard().problem.boxes[r];
    if (least.hard().sets[r] != RowSet::clamped) continue;
    const double upper = box.normal >= 0 ? box.friction * least.hard().f[box.normal] : box.upper;
    EXPECT_LE(least.hard().f[r], upper + 1e-8 * most);
    EXPECT_GE(least.hard().f[r], (box.normal >= 0 ? -upper : box.lower) - 1e-8 * most);
    EXPECT_NEAR(w[r], row.target, 1e-8 + 10.0 * box.compliance * most);
  }
}

INSTANTIATE_TEST_SUITE_P(AllCases, LeastSquares, testing::ValuesIn(all_step_cases()),
                         step_test_name<testing::TestParamInfo<StepCase>>);

/// A box that sticks at its four corners: both move alike, and so do their derivatives; only the sharing differs.
TEST(Redundancy, StickingBoxesMoveAlike) {
  const StepCase block =
      free_bodies("block", {{Shape(Box{.size = {1.0, 0.6, 0.2}}), Pose::translation({0.0, 0.0, 0.1}), Vector6::Zero()}},
                  0.5, 0.0, {.time_step = 0.01});
  VectorX u = VectorX::Zero(6);
  u[0] = 0.4;
  u[4] = 0.2;
  StepJacobians jacobians[2];
  VectorX v_plus[2];
  double norm[2];
  for (const int i : {0, 1}) {
    const World world = with(block.world, i == 0 ? Redundancy::compliance : Redundancy::least_squares);
    Workspace workspace(world);
    State next;
    Tape tape;
    (void)step(world, block.state, u, workspace, next, &tape);
    (void)step_jacobians(world, tape, workspace, jacobians[i]);
    v_plus[i] = tape.v_plus;
    norm[i] = tape.hard().f.view().norm();
    EXPECT_EQ(tape.hard().problem.boxes[0].compliance == 0.0, i == 1);
  }
  EXPECT_NEAR_ABSOLUTE(v_plus[0], v_plus[1], 1e-6);
  EXPECT_LT(norm[1], norm[0] * (1.0 + 1e-4));
  EXPECT_NEAR_ABSOLUTE(jacobians[0].v_v, jacobians[1].v_v, 1e-5);
  EXPECT_NEAR_ABSOLUTE(jacobians[0].v_u, jacobians[1].v_u, 1e-5);
  // what sticks does not move
  EXPECT_NEAR_ABSOLUTE(jacobians[1].v_u, MatrixX(MatrixX::Zero(6, 6)), 1e-12);
}

class RowReduction : public testing::TestWithParam<StepCase> {};

/// Whether rows of a pair are solved together or one by one makes no difference to any derivative.
TEST_P(RowReduction, ChangesNothingButRounding) {
  const auto& [name, world, state, u] = GetParam();
  StepJacobians jacobians[2];
  for (const int i : {0, 1}) {
    WorldOptions options = world.options();
    options.hard.reduce_rows = i == 0;
    const World other = world.with_options(options);
    Workspace workspace(other);
    State next;
    Tape tape;
    (void)step(other, state, u, workspace, next, &tape);
    (void)step_jacobians(other, tape, workspace, jacobians[i]);
  }
  const auto expect_same = [](const MatrixX& one, const MatrixX& other) {
    // what rows that repeat each other leave of the sixteen digits
    EXPECT_NEAR_ABSOLUTE(one, other, 1e-9 * (1.0 + other.cwiseAbs().maxCoeff()));
  };
  expect_same(jacobians[0].q_q, jacobians[1].q_q);
  expect_same(jacobians[0].v_q, jacobians[1].v_q);
  expect_same(jacobians[0].v_v, jacobians[1].v_v);
  expect_same(jacobians[0].v_u, jacobians[1].v_u);
}

INSTANTIATE_TEST_SUITE_P(AllCases, RowReduction, testing::ValuesIn(all_step_cases()),
                         step_test_name<testing::TestParamInfo<StepCase>>);

}  // namespace
}  // namespace tangere::test
