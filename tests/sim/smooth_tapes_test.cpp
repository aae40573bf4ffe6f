/// Tapes of smooth steps: only those of the same world have derivatives, and what was not solved says so.

#include <gtest/gtest.h>

#include "tangere/math/error.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/sim/step_parameters.hpp"
#include "tests/sim/smooth_support.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere::test {
namespace {

Tape tape_of(const World& world, const State& state) {
  Workspace workspace(world);
  State next;
  Tape tape;
  (void)step(world, state, at_ease(world), workspace, next, &tape);
  return tape;
}

void expect_refused(const World& world, const Tape& tape) {
  Workspace workspace(world);
  // memory of another step
  State next;
  (void)step(world, {neutral_configuration(world.model()), VectorX::Zero(world.nv())}, at_ease(world), workspace, next);
  StepJacobians jacobians;
  EXPECT_THROW((void)step_jacobians(world, tape, workspace, jacobians), InputError);
  StateTangent g{VectorX::Ones(world.nv()), VectorX::Ones(world.nv())};
  StateTangent before;
  VectorX g_u;
  EXPECT_THROW((void)step_vjp(world, tape, workspace, g, before, g_u), InputError);
  StepParameterJacobians by_parameters;
  EXPECT_THROW((void)step_parameter_jacobians(world, tape, workspace, all_step_parameters(world), by_parameters),
               InputError);
}

TEST(SmoothTapes, OfOtherJointRowsAreRefused) {
  const Model model = chain_of_links(8, 0.5, 0.1);
  const State state{VectorX::Zero(8), VectorX::Zero(8)};
  WorldOptions options = smooth(0.01, 1e-6);
  const World limited(model, {}, options);
  options.contact.joint_limits = false;
  const World rubbing(model, {}, options);
  options.contact.joint_friction = false;
  const World loose(model, {}, options);
  for (const World* other : {&rubbing, &loose}) {
    expect_refused(*other, tape_of(limited, state));
    expect_refused(limited, tape_of(*other, state));
  }
}

TEST(SmoothTapes, OfOtherContactsAreRefused) {
  const FreeBody box{.shape = cube(0.4), .X_WB = Pose::translation({0, 0, 0.2})};
  const auto world_of = [&](auto&& change) {
    WorldOptions options = smooth(0.01, 1e-6);
    change(options);
    return free_bodies("box", {box}, 0.5, 0.0, options);
  };
  const StepCase plain = world_of([](WorldOptions&) {});
  const StepCase others[] = {world_of([](WorldOptions& options) { options.formulation = Formulation::bilevel; }),
                             world_of([](WorldOptions& options) { options.smooth.points = 5; }),
                             world_of([](WorldOptions& options) { options.smooth.friction = FrictionShape::pyramid; }),
                             world_of([](WorldOptions& options) { options.smooth.torsion = 0.0; })};
  for (const StepCase& other : others) {
    expect_refused(plain.world, tape_of(other.world, other.state));
    expect_refused(other.world, tape_of(plain.world, plain.state));
  }
  const StepCase hard = world_of([](WorldOptions& options) { options.formulation = Formulation::lcp; });
  expect_refused(plain.world, tape_of(hard.world, hard.state));
}

/// Three boxes: two in one heap, one on its own.
StepCase boxes_in_two_islands(const WorldOptions& options) {
  const auto box = [](const Vector3& p, double tilt) {
    return FreeBody{.shape = cube(0.4),
                    .X_WB = {so3::exp(Vector3(tilt, 0.2 * tilt, 0.0)), p},
                    .velocity = (Vector6() << 0.3, -0.1, -1.0, 0.2, 0.5, -0.4).finished()};
  };
  return free_bodies("boxes", {box({0, 0, 0.21}, 0.02), box({3, 0, 0.21}, 0.1), box({0.05, 0, 0.62}, -0.03)}, 0.4, 0.3,
                     options);
}

MatrixX jacobians_by(const World& world, const Tape& tape, Workspace& workspace) {
  StepJacobians J;
  EXPECT_EQ(step_jacobians(world, tape, workspace, J), GradientQuality::exact);
  MatrixX out(2 * world.nv(), 2 * world.nv() + world.nu());
  out << J.q_q, J.q_v, J.q_u, J.v_q, J.v_v, J.v_u;
  return out;
}

/// The memory that made the step need not set it up again, whatever it did in between: the bits are the same.
TEST(SmoothTapes, HaveTheSameDerivativesInAnyWorkspace) {
  const StepCase scene = boxes_in_two_islands(smooth(0.01, 1e-4));
  const VectorX u = VectorX::Constant(scene.world.nu(), 0.1);
  Workspace workspace(scene.world);
  State next;
  Tape tape;
  ASSERT_EQ(step(scene.world, scene.state, u, workspace, next, &tape).status, StepStatus::solved);
  const MatrixX own = jacobians_by(scene.world, tape, workspace);
  Workspace fresh(scene.world);
  EXPECT_EQ(own, jacobians_by(scene.world, tape, fresh));
  EXPECT_EQ(own, jacobians_by(scene.world, tape, workspace)) << "again";
  StepParameterJacobians by_parameters;
  (void)step_parameter_jacobians(scene.world, tape, workspace, all_step_parameters(scene.world), by_parameters);
  EXPECT_EQ(own, jacobians_by(scene.world, tape, workspace)) << "after parameters";
  StepParameterJacobians elsewhere;
  (void)step_parameter_jacobians(scene.world, tape, fresh, all_step_parameters(scene.world), elsewhere);
  EXPECT_EQ(by_parameters.v, elsewhere.v);
  State after;
  ASSERT_EQ(step(scene.world, next, u, workspace, after).status, StepStatus::solved);
  EXPECT_EQ(own, jacobians_by(scene.world, tape, workspace)) << "after another step";
  // the same place with other forces is another step
  Tape pushed;
  ASSERT_EQ(step(scene.world, scene.state, 2.0 * u, workspace, next, &pushed).status, StepStatus::solved);
  EXPECT_EQ(own, jacobians_by(scene.world, tape, workspace)) << "after other forces";
}

/// What the others do is nothing to a body of another island.
TEST(SmoothTapes, IslandsDoNotDependOnEachOther) {
  const StepCase scene = boxes_in_two_islands(smooth(0.01, 1e-4));
  Workspace workspace(scene.world);
  State next;
  Tape tape;
  ASSERT_EQ(step(scene.world, scene.state, at_ease(scene.world), workspace, next, &tape).status, StepStatus::solved);
  StepJacobians J;
  EXPECT_EQ(step_jacobians(scene.world, tape, workspace, J), GradientQuality::exact);
  for (const MatrixX* block : {&J.q_q, &J.q_v, &J.q_u, &J.v_q, &J.v_v, &J.v_u}) {
    EXPECT_TRUE(block->block(6, 0, 6, 6).isZero(0.0) && block->block(6, 12, 6, 6).isZero(0.0));
    EXPECT_TRUE(block->block(0, 6, 6, 6).isZero(0.0) && block->block(12, 6, 6, 6).isZero(0.0));
    EXPECT_FALSE(block->block(6, 6, 6, 6).isZero(1e-6));
    EXPECT_FALSE(block->block(12, 0, 6, 6).isZero(1e-6));
  }
}

/// Steps are solved to a tenth of κ; their derivatives are those of the solution none the less, but
/// that they are taken at the velocity of the step, which is beside it by the order of κ.
TEST(SmoothTapes, OfOrdinaryStepsHaveSixDigits) {
  for (const double kappa : {1e-2, 1e-3, 1e-4, 1e-6}) {
    WorldOptions options = smooth(0.01, kappa);
    const StepCase scene = boxes_in_two_islands(options);
    options.smooth.tolerance = 1e-12 / kappa;
    const World tight = boxes_in_two_islands(options).world;
    const auto jacobians = [&](const World& world) {
      const Tape tape = tape_of(world, scene.state);
      Workspace workspace(world);
      return jacobians_by(world, tape, workspace);
    };
    EXPECT_NEAR_RELATIVE(jacobians(scene.world), jacobians(tight), 1e-6 + 3e-3 * kappa) << kappa;
  }
}

/// A box that comes down on a corner, too few iterations for it, and a tolerance below rounding.
StepCase hopeless(double smallest_part) {
  WorldOptions options = smooth(0.01, 1e-6);
  options.smooth.max_iterations = 1;
  options.smooth.tolerance = 1e-12;
  options.smooth.smallest_part = smallest_part;
  FreeBody box{.shape = Box{.size = {0.3, 0.2, 0.1}}, .X_WB = {so3::exp(Vector3(0.3, 0.4, 0)), Vector3(0, 0, 0.15)}};
  box.velocity << 0.5, 0.0, -3.0, 1.0, 2.0, 0.0;
  return free_bodies("box", {box}, 0.5, 0.0, options);
}

TEST(SmoothTapes, OfWhatWasNotSolvedSaySo) {
  for (const double smallest_part : {1.0, 0.5}) {
    const StepCase scene = hopeless(smallest_part);
    const Tape tape = tape_of(scene.world, scene.state);
    ASSERT_EQ(tape.status, StepStatus::approximate_contact);
    Workspace workspace(scene.world);
    StepJacobians jacobians;
    EXPECT_EQ(step_jacobians(scene.world, tape, workspace, jacobians), GradientQuality::contact_unsolved);
    StateTangent g{VectorX::Ones(6), VectorX::Ones(6)};
    StateTangent before;
    VectorX g_u;
    EXPECT_EQ(step_vjp(scene.world, tape, workspace, g, before, g_u), GradientQuality::contact_unsolved);
    StepParameterJacobians by_parameters;
    EXPECT_EQ(step_parameter_jacobians(scene.world, tape, workspace, all_step_parameters(scene.world), by_parameters),
              GradientQuality::contact_unsolved);
  }
}

TEST(SmoothTapes, OfWhatWasSolvedSaySoToo) {
  const StepCase scene =
      free_bodies("box", {{.shape = cube(0.4), .X_WB = Pose::translation({0, 0, 0.2})}}, 0.5, 0.0, smooth(0.01, 1e-6));
  const Tape tape = tape_of(scene.world, scene.state);
  Workspace workspace(scene.world);
  StepJacobians jacobians;
  EXPECT_EQ(step_jacobians(scene.world, tape, workspace, jacobians), GradientQuality::exact);
  StepParameterJacobians by_parameters;
  EXPECT_EQ(step_parameter_jacobians(scene.world, tape, workspace, all_step_parameters(scene.world), by_parameters),
            GradientQuality::exact);
}

/// An iterate that no start could make a solution of is not what the next step starts from.
TEST(SmoothTapes, WhatWasNotSolvedIsNoStart) {
  const StepCase scene = hopeless(1.0);
  Workspace workspace(scene.world);
  State next;
  ASSERT_EQ(step(scene.world, scene.state, at_ease(scene.world), workspace, next).status,
            StepStatus::approximate_contact);
  State after;
  State after_cold;
  (void)step(scene.world, next, at_ease(scene.world), workspace, after);
  Workspace cold(scene.world);
  (void)step(scene.world, next, at_ease(scene.world), cold, after_cold);
  EXPECT_EQ((after.q - after_cold.q).norm() + (after.v - after_cold.v).norm(), 0.0);
}

}  // namespace
}  // namespace tangere::test
