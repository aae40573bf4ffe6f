/// What a diagnosis says, over all cases and where the answer is known.

#include "tangere/sim/step_diagnosis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tangere/math/error.hpp"
#include "tests/support/step_cases.hpp"

namespace tangere::test {
namespace {

class Diagnosis : public testing::TestWithParam<StepCase> {};

TEST_P(Diagnosis, AgreesWithTheStep) {
  const auto& [name, world, state, u] = GetParam();
  Workspace workspace(world);
  State next;
  Tape tape;
  const StepResult result = step(world, state, u, workspace, next, &tape);
  const StepDiagnosis diagnosis = diagnose_step(world, tape, workspace);
  ASSERT_EQ(diagnosis.margins.size(), tape.problem.rows.size());
  EXPECT_EQ(diagnosis.num_clamped, std::count(tape.sets.begin(), tape.sets.end(), RowSet::clamped));
  EXPECT_LE(diagnosis.rank, std::min(diagnosis.num_clamped, world.nv()));
  EXPECT_EQ(diagnosis.rank == 0, diagnosis.num_clamped == 0);
  EXPECT_GE(diagnosis.condition, 1.0);
  // compliances bound it
  EXPECT_LT(diagnosis.condition, 1e13);
  if (diagnosis.margins.empty() || tape.bounced()) return;
  const double smallest = *std::min_element(diagnosis.margins.begin(), diagnosis.margins.end());
  // a step measures every island by its own largest impulse
  if (result.num_islands == 1 && std::isfinite(smallest)) {
    EXPECT_NEAR(smallest, result.margin, 1e-9 * (1.0 + smallest));
  } else {
    EXPECT_LE(smallest, result.margin * (1.0 + 1e-9));
  }
}

/// In u a step is linear as long as its sets hold, so that how far it reaches is exact.
TEST_P(Diagnosis, ReachesAsFarAsTheSetsHold) {
  const auto& [name, world, state, u] = GetParam();
  Workspace workspace(world);
  State next;
  Tape tape;
  (void)step(world, state, u, workspace, next, &tape);
  if (tape.bounced()) return;
  WarmStart warm_start;
  workspace.save(warm_start);
  const StepDiagnosis diagnosis = diagnose_step(world, tape, workspace);
  const auto holds = [&](int k, double change) {
    VectorX moved = u;
    moved[k] += change;
    workspace.restore(warm_start);
    const StepResult& result = step(world, state, moved, workspace, next);
    return std::ranges::equal(result.sets, tape.sets);
  };
  for (int k = 0; k < world.nu(); ++k) {
    const double reach = diagnosis.reach_u[k];
    // servos have ranges of their own
    if (!(reach < 1e3)) continue;
    EXPECT_TRUE(holds(k, 0.999 * reach) && holds(k, -0.999 * reach)) << "coordinate " << k << ", reach " << reach;
    // a row that others hold by their compliance lives on until it is wrong by the solver's tolerance: 2 % of that
    EXPECT_FALSE(holds(k, 1.05 * reach) && holds(k, -1.05 * reach)) << "coordinate " << k << ", reach " << reach;
  }
}

INSTANTIATE_TEST_SUITE_P(AllCases, Diagnosis, testing::ValuesIn(all_step_cases()),
                         step_test_name<testing::TestParamInfo<StepCase>>);

/// A block on the floor, pushed sideways.
StepDiagnosis pushed_block(const Shape& shape, double height, double push, double tolerance = 1e-9) {
  const StepCase block = free_bodies("block", {{shape, Pose(Matrix3::Identity(), Vector3(0.0, 0.0, height))}}, 0.5, 0.0,
                                     {.time_step = 0.01});
  Workspace workspace(block.world);
  State next;
  Tape tape;
  VectorX u = VectorX::Zero(6);
  u[0] = push;
  (void)step(block.world, block.state, u, workspace, next, &tape);
  return diagnose_step(block.world, tape, workspace, tolerance);
}

TEST(Diagnosis, FourCornersAreSixRows) {
  const StepDiagnosis sticks = pushed_block(Box{.size = {1.0, 0.6, 0.2}}, 0.1, 0.3);
  EXPECT_EQ(sticks.num_clamped, 12);
  EXPECT_EQ(sticks.rank, 6);
  EXPECT_GT(sticks.condition, 1e4);
  EXPECT_TRUE(sticks.ties.empty());
}

TEST(Diagnosis, OnePointIsThree) {
  const StepDiagnosis ball = pushed_block(Sphere{0.2}, 0.2, 0.3);
  EXPECT_EQ(ball.num_clamped, 3);
  EXPECT_EQ(ball.rank, 3);
  EXPECT_LT(ball.condition, 100.0);
}

TEST(Diagnosis, AtTheEdgeOfFrictionIsATie) {
  // a ball rolls: 5/2 of the friction it needs at the ground; here m = 1, I of the case's own
  double low = 0.0;
  double high = 100.0;
  const auto slides = [](double push) { return pushed_block(Sphere{0.2}, 0.2, push).num_clamped < 3; };
  ASSERT_TRUE(slides(high));
  for (int i = 0; i < 60; ++i) (slides(0.5 * (low + high)) ? high : low) = 0.5 * (low + high);
  EXPECT_FALSE(pushed_block(Sphere{0.2}, 0.2, low, 1e-6).ties.empty());
  EXPECT_FALSE(pushed_block(Sphere{0.2}, 0.2, high, 1e-6).ties.empty());
  EXPECT_TRUE(pushed_block(Sphere{0.2}, 0.2, 0.9 * low, 1e-6).ties.empty());
}

TEST(Diagnosis, OfAnotherWorldIsRefused) {
  const StepCase& first = all_step_cases().front();
  Workspace workspace(first.world);
  EXPECT_THROW((void)diagnose_step(first.world, Tape{}, workspace), InputError);
}

}  // namespace
}  // namespace tangere::test
