/// Workspaces of smooth steps follow the world that they are given, and steps made in halves tell of both.

#include <gtest/gtest.h>

#include "tangere/math/error.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/sim/step_derivatives.hpp"
#include "tangere/sim/tape/smooth_tape.hpp"
#include "tests/sim/smooth_support.hpp"

namespace tangere::test {
namespace {

StepCase sliding_box() {
  const FreeBody box{.shape = cube(0.4),
                     .X_WB = {so3::exp(Vector3(0.05, 0.02, 0.3)), Vector3(0, 0, 0.21)},
                     .velocity = (Vector6() << 1.0, 0.2, -0.5, 0.1, 0.2, 0.3).finished()};
  return free_bodies("box", {box}, 0.5, 0.0, smooth(0.01, 1e-6));
}

TEST(SmoothWorkspace, FollowsTheWorldThatItIsGiven) {
  const StepCase scene = sliding_box();
  const auto world_of = [&](const WorldOptions& options) { return World(scene.world.model(), {}, options); };
  WorldOptions pyramid = smooth(0.01, 1e-6);
  pyramid.smooth.friction = FrictionShape::pyramid;
  WorldOptions torsion = smooth(0.01, 1e-6);
  torsion.contact.torsional_friction = 0.1;
  const World worlds[] = {scene.world,
                          world_of(smooth(0.02, 1e-6)),
                          world_of(smooth(0.01, 1e-2)),
                          world_of(smooth(0.01, 1e-6, Formulation::bilevel)),
                          world_of(smooth(0.01, 1e-6, Formulation::lcp)),
                          world_of(pyramid),
                          world_of(torsion)};
  const VectorX u = at_ease(scene.world);
  for (const World& first : worlds)
    for (const World& second : worlds) {
      if (&first == &second) continue;
      Workspace own(second);
      State expected;
      Tape tape;
      const StepResult& own_result = step(second, scene.state, u, own, expected, &tape);
      StepJacobians own_jacobians;
      (void)step_jacobians(second, tape, own, own_jacobians);

      Workspace shared(first);
      State next;
      (void)step(first, scene.state, u, shared, next);
      const StepResult& result = step(second, scene.state, u, shared, next);
      EXPECT_EQ(next.q, expected.q);
      EXPECT_EQ(next.v, expected.v);
      EXPECT_EQ(result.residual, own_result.residual);
      EXPECT_EQ(result.smooth.rungs, own_result.smooth.rungs);
      EXPECT_EQ(result.rows.size(), own_result.rows.size());

      Workspace fresh(first);
      StepJacobians jacobians;
      (void)step_jacobians(second, tape, fresh, jacobians);
      EXPECT_EQ(jacobians.v_q, own_jacobians.v_q);
      EXPECT_EQ(jacobians.v_v, own_jacobians.v_v);
    }
}

/// Warm starts are of the world of the last step, and copies of a world are that world.
TEST(SmoothWorkspace, StaysWarmWithACopyOfItsWorld) {
  const StepCase scene = sliding_box();
  const World copy = scene.world;
  Workspace workspace(scene.world);
  State state = scene.state;
  for (int i = 0; i < 20; ++i) (void)step(scene.world, state, at_ease(scene.world), workspace, state);
  const StepResult& result = step(copy, state, at_ease(copy), workspace, state);
  EXPECT_EQ(result.smooth.rungs[static_cast<std::size_t>(SmoothRung::warm)], 1);
}

TEST(SmoothWorkspace, OfOtherBodiesIsRefused) {
  const StepCase one = sliding_box();
  const World other(pendulum(0.1), {}, smooth(0.01, 1e-6));
  Workspace workspace(other);
  State next;
  EXPECT_THROW((void)step(one.world, one.state, at_ease(one.world), workspace, next), InputError);
}

TEST(SmoothWorkspace, TapesOfOtherTimeStepsAreRefused) {
  const StepCase one = sliding_box();
  const World two(one.world.model(), {}, smooth(0.02, 1e-6));
  Workspace workspace(one.world);
  State next;
  Tape tape;
  (void)step(one.world, one.state, at_ease(one.world), workspace, next, &tape);
  StepJacobians jacobians;
  EXPECT_THROW((void)step_jacobians(two, tape, workspace, jacobians), InputError);
  EXPECT_NO_THROW((void)step_jacobians(one.world, tape, workspace, jacobians));
}

/// Of free bodies, in world axes: what the floor gave them, if nothing else pushes from outside.
Vector3 linear_momentum(const State& state) {
  Vector3 sum = Vector3::Zero();
  for (Eigen::Index i = 0; 6 * i < state.v.size(); ++i)
    sum += Eigen::Quaterniond(state.q.segment<4>(7 * i + 3)).toRotationMatrix() * state.v.segment<3>(6 * i);
  return sum;
}

/// Bodies that move by a thousand times their size in a step: some steps are halved, some not solved even so.
TEST(SmoothWorkspace, HalvedStepsTellOfBothHalves) {
  const FreeBody box{.shape = cube(1e-6), .X_WB = Pose::translation({0, 0, 1e-6})};
  const FreeBody ball{.shape = Sphere{5e-7}, .X_WB = Pose::translation({1e-7, 0, 2.2e-6})};
  const FreeBody flyer{.shape = cube(0.1),
                       .X_WB = Pose::translation({0, 0, 1}),
                       .velocity = (Vector6() << 0, 0, -1e4, 1e4, 0, 0).finished()};
  const StepCase cases[] = {free_bodies("rough", {box, ball}, 1.0, 0.0, smooth(0.01, 1e-6)),
                            free_bodies("small", {box, ball}, 0.5, 0.0, smooth(0.01, 1e-6)),
                            free_bodies("slippery", {box, ball}, 0.2, 0.0, smooth(0.01, 1e-6)),
                            free_bodies("fast", {flyer}, 0.5, 0.0, smooth(0.01, 1e-6))};
  constexpr auto kHalves = static_cast<std::size_t>(SmoothRung::half_steps);
  int halved = 0;
  for (const StepCase& scene : cases) {
    Workspace workspace(scene.world);
    const auto count = static_cast<double>(scene.world.nv() / 6);
    State state = scene.state;
    State next;
    Tape tape;
    for (int i = 0; i < 60; ++i) {
      const StepResult& result = step(scene.world, state, at_ease(scene.world), workspace, next, &tape);
      if (result.status == StepStatus::not_finite) break;
      Vector3 change = linear_momentum(next) - linear_momentum(state);
      change[2] += count * 9.81 * 0.01;
      Vector3 impulse = Vector3::Zero();
      for (const Contact& contact : result.contacts)
        if (contact.body_A == 0) impulse += contact.frame * contact.impulse;
      const double off = result.status == StepStatus::solved ? (change - impulse).norm() : 0.0;
      // and the rounding of what flies at 10 km/s
      const double rounding = 1e-12 + 4e-15 * linear_momentum(state).norm();
      EXPECT_LE(off, 1e-5 * change.norm() + rounding) << scene.name << " " << i;
      EXPECT_EQ(result.smooth.rungs[kHalves] > 0, !tape.smooth().halves.empty() && result.status == StepStatus::solved);
      EXPECT_EQ(result.smooth.failures == 0, result.status == StepStatus::solved);
      if (result.smooth.rungs[kHalves] > 0) ++halved;
      state = next;
    }
  }
  EXPECT_GE(halved, 2);
}

}  // namespace
}  // namespace tangere::test
