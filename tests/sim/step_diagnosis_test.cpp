/// What a diagnosis says, over all cases and where the answer is known.

#include "tangere/sim/step_diagnosis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tangere/math/error.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/sim/impulse_derivatives.hpp"
#include "tangere/sim/step_parameters.hpp"
#include "tangere/sim/tape/hard_tape.hpp"
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
  ASSERT_EQ(diagnosis.margins.size(), tape.hard().problem.rows.size());
  EXPECT_EQ(diagnosis.num_clamped, std::count(tape.hard().sets.begin(), tape.hard().sets.end(), RowSet::clamped));
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
  const auto holds = [&, &world = world, &state = state, &u = u](int k, double change) {
    VectorX moved = u;
    moved[k] += change;
    workspace.restore(warm_start);
    const StepResult& result = step(world, state, moved, workspace, next);
    return std::ranges::equal(result.sets, tape.hard().sets);
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

struct Flags {
  std::vector<int> rough_contacts;
  std::array<GradientQuality, 5> answers{};
};

/// What a diagnosis names, and what all derivatives answer.
Flags flags_of(const StepCase& one) {
  Workspace workspace(one.world);
  State next;
  Tape tape;
  (void)step(one.world, one.state, one.u, workspace, next, &tape);
  const StateTangent g{VectorX::Ones(one.world.nv()), VectorX::Ones(one.world.nv())};
  StateTangent out;
  VectorX g_u;
  StepJacobians jacobians;
  ImpulseJacobians impulses;
  StepParameterJacobians parameters;
  return {diagnose_step(one.world, tape, workspace).rough_contacts,
          {step_jacobians(one.world, tape, workspace, jacobians), step_vjp(one.world, tape, workspace, g, out, g_u),
           step_jvp(one.world, tape, workspace, g, one.u, out), impulse_jacobians(one.world, tape, workspace, impulses),
           step_parameter_jacobians(one.world, tape, workspace, all_step_parameters(one.world), parameters)}};
}

/// Two balls with one centre push apart along a normal that has no derivative; far apart, or one on the other, it has.
TEST(RoughContacts, CoincidentCentres) {
  const auto balls = [](const Vector3& apart) {
    return free_bodies("balls",
                       {{Sphere{0.1}, Pose::translation({0.0, 0.0, 1.0})},
                        {Sphere{0.1}, Pose::translation(Vector3(0.0, 0.0, 1.0) + apart)}},
                       0.5, 0.0, {});
  };
  const Flags same = flags_of(balls(Vector3::Zero()));
  EXPECT_EQ(same.rough_contacts, std::vector<int>{0});
  for (const GradientQuality answer : same.answers) EXPECT_EQ(answer, GradientQuality::features_held);
  for (const Vector3& apart : {Vector3(0.0, 0.01, 0.19), Vector3(0.0, 0.0, 0.5)}) {
    const Flags smooth = flags_of(balls(apart));
    EXPECT_TRUE(smooth.rough_contacts.empty());
    for (const GradientQuality answer : smooth.answers) EXPECT_EQ(answer, GradientQuality::exact);
  }
}

/// Likewise two capsules on one axis; crossed or side by side they have one.
TEST(RoughContacts, CoincidentAxes) {
  const auto capsules = [&](double angle, double apart) {
    const Pose lying = Pose::translation({0.0, 0.0, 1.0});
    const Pose other(so3::exp({0.0, 0.0, angle}) * lying.R, lying.p + Vector3(0.0, 0.0, apart));
    return flags_of(free_bodies("capsules", {{Capsule{0.1, 0.4}, lying}, {Capsule{0.1, 0.4}, other}}, 0.5, 0.0, {}));
  };
  const Flags same = capsules(0.0, 0.0);
  EXPECT_FALSE(same.rough_contacts.empty());
  for (const GradientQuality answer : same.answers) EXPECT_EQ(answer, GradientQuality::features_held);
  for (const double angle : {0.0, 0.5}) {
    const Flags smooth = capsules(angle, 0.199);
    EXPECT_TRUE(smooth.rough_contacts.empty()) << angle;
    for (const GradientQuality answer : smooth.answers) EXPECT_EQ(answer, GradientQuality::exact) << angle;
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

/// A box that falls flat meets the floor with four corners at once, and which is first depends on how it tilts.
TEST(Diagnosis, ImpactsOfSeveralPointsAtOnceAreTies) {
  for (const double tilt : {0.0, 1e-12, 1e-7, 1e-6}) {
    const Pose pose(so3::exp({tilt, 0.5 * tilt, 0.0}), Vector3(0.0, 0.0, 0.101 + 0.5 * tilt));
    StepCase box = free_bodies("box", {{Box{.size = {0.4, 0.3, 0.2}}, pose}}, 0.5, 0.8, {.time_step = 0.01});
    box.state.v << 0.0, 0.0, -1.0, 0.0, 0.0, 0.0;
    Workspace workspace(box.world);
    State next;
    Tape tape;
    (void)step(box.world, box.state, VectorX::Zero(6), workspace, next, &tape);
    ASSERT_GE(tape.num_impacts(), 1) << tilt;
    const bool ties = !diagnose_step(box.world, tape, workspace).tied_impacts.empty();
    EXPECT_EQ(ties, tilt < 1e-9) << tilt;
    const StepDiagnosis impact = diagnose_step(box.world, tape.impact(0), workspace);
    EXPECT_EQ(impact.margins.size(), tape.impact(0).hard().problem.rows.size());
    EXPECT_EQ(impact.num_clamped,
              std::count(tape.impact(0).hard().sets.begin(), tape.impact(0).hard().sets.end(), RowSet::clamped));
    EXPECT_GE(impact.rank, 1);
    EXPECT_LE(impact.rank, 6);
    EXPECT_EQ(impact.reach_q.size(), 0);
  }
}

TEST(Diagnosis, OfAnotherWorldIsRefused) {
  const StepCase& first = all_step_cases().front();
  Workspace workspace(first.world);
  EXPECT_THROW((void)diagnose_step(first.world, Tape{}, workspace), InputError);
}

/// Formulations leave different things behind: no world takes the tape of another's.
TEST(Tapes, AreOfOneFormulation) {
  const StepCase& one = all_step_cases().front();
  const Formulation formulations[] = {Formulation::lcp, Formulation::single_level, Formulation::bilevel};
  for (const Formulation made_by : formulations) {
    const World maker(one.world.model(), {}, {.formulation = made_by});
    Workspace workspace(maker);
    State next;
    Tape tape;
    (void)step(maker, one.state, one.u, workspace, next, &tape);
    for (const Formulation used_by : formulations) {
      if (used_by == made_by) continue;
      const World user(one.world.model(), {}, {.formulation = used_by});
      Workspace other(user);
      StepJacobians jacobians;
      StepParameterJacobians parameters;
      StateTangent g{VectorX::Zero(user.nv()), VectorX::Zero(user.nv())};
      StateTangent out;
      VectorX g_u;
      EXPECT_THROW((void)step_jacobians(user, tape, other, jacobians), InputError);
      EXPECT_THROW((void)step_vjp(user, tape, other, g, out, g_u), InputError);
      EXPECT_THROW((void)step_jvp(user, tape, other, g, one.u, out), InputError);
      EXPECT_THROW((void)step_parameter_jacobians(user, tape, other, {}, parameters), InputError);
      EXPECT_THROW((void)diagnose_step(user, tape, other), InputError);
    }
  }
}

}  // namespace
}  // namespace tangere::test
