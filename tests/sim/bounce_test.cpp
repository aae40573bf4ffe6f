/// Impacts that bounce: gradients of the motion, not only of its steps.

#include <gtest/gtest.h>

#include <cmath>

#include "tangere/math/random.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/energy.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/sim/rollout.hpp"
#include "tangere/sim/tape/hard_tape.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/step_cases.hpp"

namespace tangere::test {
namespace {

/// Balls on rails along x (or z, with a floor), all of restitution e.
World balls_on_rails(int count, const Vector3& axis, double gravity, double e, const WorldOptions& options) {
  ModelBuilder builder("balls");
  builder.set_gravity({0.0, 0.0, -gravity});
  const Shape ball = Sphere{0.1};
  MassProperties inertia = mass_properties(ball);
  inertia.inertia /= inertia.mass;
  inertia.mass = 1.0;
  for (int i = 0; i < count; ++i) {
    const std::string name = "ball" + std::to_string(i);
    builder.add_body({.name = name,
                      .inertia = inertia,
                      .shapes = {{.name = name, .shape = ball, .friction = 0.0, .restitution = e}}},
                     {.name = name, .type = JointType::prismatic, .axis = axis});
  }
  if (gravity > 0.0)
    builder.add_body(
        {.name = "floor",
         .shapes = {{.name = "floor", .shape = HalfSpace{Vector3::UnitZ(), 0.0}, .friction = 0.0, .restitution = 1.0}}},
        {.name = "floor"});
  return World(builder.build(), {}, options);
}

/// d(a coordinate at the end) / d(start).
StateTangent gradient_of_end(const World& world, const State& start, int steps, int coordinate, double* end,
                             GradientMode mode = GradientMode::exact) {
  Rollout rollout(world, {.gradient_mode = mode});
  rollout.run(start, MatrixX::Zero(world.nu(), steps));
  *end = rollout.states().back().q[coordinate];
  std::vector<StateTangent> gradients(static_cast<std::size_t>(steps) + 1);
  gradients.back().q = VectorX::Unit(world.nv(), coordinate);
  StateTangent g;
  MatrixX g_controls;
  (void)rollout.reverse(gradients, g, g_controls);
  return g;
}

/// A public report on Nimble: d(x₂ at 1 s) / d(x₁, x₂, v₁, v₂) is (1, 0, 1, 0), and its code says (0.75, 0.25, 0.91,
/// 0.08).
TEST(Bounce, TwoElasticBalls) {
  for (const double dt : {0.01, 0.003, 0.001}) {
    const World world = balls_on_rails(2, Vector3::UnitX(), 0.0, 1.0, {.time_step = dt});
    const State start{Vector2(0.0, 0.52), Vector2(1.0, 0.0)};
    const int steps = static_cast<int>(std::lround(1.0 / dt));
    double end = 0.0;
    const StateTangent g = gradient_of_end(world, start, steps, 1, &end);
    EXPECT_NEAR(end, 0.2 + dt * steps, 1e-9);
    EXPECT_NEAR_ABSOLUTE(g.q, VectorX(Vector2(1.0, 0.0)), 1e-9);
    EXPECT_NEAR_ABSOLUTE(g.v, VectorX(Vector2(dt * steps, 0.0)), 1e-9);
  }
}

/// The height of a ball dropped from z after a time, exactly: parabolas between impacts.
double height_after(double z, double v, double e, double time) {
  constexpr double kGravity = 9.81;
  for (int bounce = 0; bounce < 100; ++bounce) {
    const double fall = (v + std::sqrt(v * v + 2.0 * kGravity * (z - 0.1))) / kGravity;
    if (fall > time) break;
    time -= fall;
    v = -e * (v - kGravity * fall);
    z = 0.1;
  }
  return z + v * time - 0.5 * kGravity * time * time;
}

/// Three bounces under gravity: positions are on the parabolas, so the gradient is that of the motion at every step.
TEST(Bounce, BallUnderGravity) {
  const double e = 0.9;
  const double time = 1.6;
  const VectorX expected = finite_difference_gradient(
      [&](const VectorX& d) { return height_after(0.6 + d[0], 0.2 + d[1], e, time); }, 2, 1e-3);
  for (const double dt : {0.01, 0.0025, 0.000625}) {
    const World world = balls_on_rails(1, Vector3::UnitZ(), 9.81, e, {.time_step = dt});
    // a step's velocity is that in its middle: the first is half a step before the start
    const State start{VectorX::Constant(1, 0.6), VectorX::Constant(1, 0.2 + 0.5 * dt * 9.81)};
    double end = 0.0;
    const StateTangent g = gradient_of_end(world, start, static_cast<int>(std::lround(time / dt)), 0, &end);
    EXPECT_NEAR(end, height_after(0.6, 0.2, e, time), 0.5 * dt);
    VectorX actual(2);
    actual << g.q, g.v;
    const double error = (actual - expected).norm() / expected.norm();
    EXPECT_LT(error, 1e-6) << "dt " << dt;
  }
}

/// Wherever in a step the impacts fall, also where the old velocity alone would not reach the floor any more.
TEST(Bounce, BallFromManyHeights) {
  const double e = 0.9;
  const double time = 1.1;
  const double dt = 0.01;
  const World world = balls_on_rails(1, Vector3::UnitZ(), 9.81, e, {.time_step = dt});
  for (int i = 0; i < 500; ++i) {
    const double z = 0.4 + 0.001 * i;
    const VectorX expected =
        finite_difference_gradient([&](const VectorX& d) { return height_after(z + d[0], d[1], e, time); }, 2, 1e-5);
    const State start{VectorX::Constant(1, z), VectorX::Constant(1, 0.5 * dt * 9.81)};
    double end = 0.0;
    const StateTangent g = gradient_of_end(world, start, static_cast<int>(std::lround(time / dt)), 0, &end);
    // in the air, and not just at the floor where the last impact may be in the next step
    if (height_after(z, 0.0, e, time) < 0.15) continue;
    VectorX actual(2);
    actual << g.q, g.v;
    EXPECT_NEAR_ABSOLUTE(actual, expected, 1e-5 * (1.0 + expected.norm())) << "from " << z;
  }
}

/// By the discrete rule the value converges too, and the gradient does not: that is why the event is the default.
TEST(Bounce, DiscreteRuleHasAnotherGradient) {
  WorldOptions options{.time_step = 1e-3};
  options.hard.bounce = BounceMode::discrete;
  const World world = balls_on_rails(2, Vector3::UnitX(), 0.0, 1.0, options);
  double end = 0.0;
  const StateTangent g = gradient_of_end(world, {Vector2(0.0, 0.52), Vector2(1.0, 0.0)}, 1000, 1, &end);
  EXPECT_NEAR(end, 1.2, 2e-3);
  EXPECT_GT(std::abs(g.q[0] - 1.0), 0.5);
}

World discrete_balls(int count, const Vector3& axis, double gravity, double e, double dt) {
  WorldOptions options{.time_step = dt};
  options.hard.bounce = BounceMode::discrete;
  return balls_on_rails(count, axis, gravity, e, options);
}

/// Without gravity both approximations are right where the discrete rule's own derivative is not.
TEST(Bounce, ApproximationsOfTwoElasticBalls) {
  const World world = discrete_balls(2, Vector3::UnitX(), 0.0, 1.0, 1e-3);
  for (const GradientMode mode : {GradientMode::reflection, GradientMode::saltation}) {
    double end = 0.0;
    const StateTangent g = gradient_of_end(world, {Vector2(0.0, 0.52), Vector2(1.0, 0.0)}, 1000, 1, &end, mode);
    EXPECT_NEAR_ABSOLUTE(g.q, VectorX(Vector2(1.0, 0.0)), 1e-9);
    EXPECT_NEAR_ABSOLUTE(g.v, VectorX(Vector2(1.0, 0.0)), 2e-3);
  }
}

/// Under gravity the saltation matrix comes nearer with the step, the reflection does not.
TEST(Bounce, SaltationConvergesUnderGravity) {
  const double e = 0.9;
  const double time = 1.6;
  const VectorX expected = finite_difference_gradient(
      [&](const VectorX& d) { return height_after(0.6 + d[0], 0.2 + d[1], e, time); }, 2, 1e-3);
  const auto error = [&](double dt, GradientMode mode) {
    const World world = discrete_balls(1, Vector3::UnitZ(), 9.81, e, dt);
    const State start{VectorX::Constant(1, 0.6), VectorX::Constant(1, 0.2)};
    double end = 0.0;
    const StateTangent g = gradient_of_end(world, start, static_cast<int>(std::lround(time / dt)), 0, &end, mode);
    VectorX actual(2);
    actual << g.q, g.v;
    return (actual - expected).norm() / expected.norm();
  };
  // of first order in the step
  const double coarse = error(0.0025, GradientMode::saltation);
  const double fine = error(0.000625, GradientMode::saltation);
  EXPECT_LT(fine, 0.1);
  EXPECT_LT(fine, 0.35 * coarse);
  EXPECT_LT(error(0.00015625, GradientMode::saltation), 0.35 * fine);
  EXPECT_GT(error(0.000625, GradientMode::reflection), 0.3);
  EXPECT_GT(error(0.000625, GradientMode::exact), 0.3);
}

/// A tumbling box hits the floor with a corner, with friction: as the step gets shorter the saltation matrix tends to
/// the derivative of the step with the impact inside, all of it.
TEST(Bounce, SaltationOfABodyThatTurns) {
  const auto error = [](double dt) {
    StepJacobians jacobians[2];
    for (const int i : {0, 1}) {
      WorldOptions options{.time_step = dt};
      options.hard.bounce = i == 0 ? BounceMode::event : BounceMode::discrete;
      const Shape box = Box{.size = {0.4, 0.3, 0.2}};
      const Matrix3 R = so3::exp(Vector3(0.4, 0.3, 0.2));
      const Vector3 half(0.2, 0.15, 0.1);
      const double lowest = -(R.row(2).cwiseAbs() * half)[0];
      FreeBody body{box, Pose(R, Vector3(0.0, 0.0, -lowest + 0.4 * dt))};
      body.velocity.head<3>() = R.transpose() * Vector3(0.5, 0.2, -1.5);
      body.velocity.tail<3>() = Vector3(0.5, 1.0, 0.3);
      const StepCase one = free_bodies("corner", {body}, 0.3, 0.8, options);
      Workspace workspace(one.world);
      State next;
      Tape tape;
      (void)step(one.world, one.state, VectorX::Zero(6), workspace, next, &tape);
      EXPECT_EQ(tape.bounced(), i == 0);
      const GradientMode mode = i == 0 ? GradientMode::exact : GradientMode::saltation;
      EXPECT_EQ(step_jacobians(one.world, tape, workspace, jacobians[i], mode),
                i == 1 ? GradientQuality::heuristic : GradientQuality::exact);
    }
    const auto relative = [](const MatrixX& a, const MatrixX& b) { return (a - b).norm() / a.norm(); };
    return std::max({relative(jacobians[0].q_q, jacobians[1].q_q), relative(jacobians[0].v_q, jacobians[1].v_q),
                     relative(jacobians[0].v_v, jacobians[1].v_v)});
  };
  const double coarse = error(1e-3);
  const double fine = error(1e-4);
  EXPECT_LT(fine, 0.01);
  EXPECT_LT(fine, 0.2 * coarse);
}

/// A corner that comes down hits the floor within the step however short that is: rounding of the distance is then more
/// than the rounding of the step's parts.
TEST(Bounce, ShortStepsFindTheImpact) {
  Random random(6);
  for (const double dt : {1e-3, 1e-4, 1e-5, 1e-6}) {
    for (int i = 0; i < 50; ++i) {
      const Matrix3 R = random.rotation();
      const double lowest = -(R.row(2).cwiseAbs() * Vector3(0.2, 0.15, 0.1))[0];
      FreeBody body{Box{.size = {0.4, 0.3, 0.2}}, Pose(R, Vector3(3.0, -2.0, -lowest + 0.4 * dt))};
      body.velocity.head<3>() = R.transpose() * Vector3(0.5, 0.2, -1.5);
      body.velocity.tail<3>() = random.normal3();
      const StepCase one = free_bodies("corner", {body}, 0.3, 0.8, {.time_step = dt});
      Workspace workspace(one.world);
      State next;
      Tape tape;
      const StepResult& result = step(one.world, one.state, VectorX::Zero(6), workspace, next, &tape);
      EXPECT_TRUE(tape.bounced()) << "dt " << dt << ", " << i;
      EXPECT_FALSE(result.bounced_at_end);
    }
  }
}

/// They say that they are not the derivative of the step, and are it where nothing bounces.
TEST(Bounce, ApproximationsAreFlagged) {
  for (const GradientMode mode : {GradientMode::reflection, GradientMode::saltation}) {
    const World world = discrete_balls(1, Vector3::UnitZ(), 9.81, 0.9, 0.01);
    Workspace workspace(world);
    State next;
    Tape tape;
    StepJacobians exact;
    StepJacobians approximate;
    for (const double height : {0.101, 0.6}) {
      const State state{VectorX::Constant(1, height), VectorX::Constant(1, -2.0)};
      (void)step(world, state, VectorX::Zero(1), workspace, next, &tape);
      EXPECT_EQ(step_jacobians(world, tape, workspace, exact), GradientQuality::exact);
      const bool bounces = height < 0.2;
      EXPECT_EQ(step_jacobians(world, tape, workspace, approximate, mode),
                bounces ? GradientQuality::heuristic : GradientQuality::exact);
      EXPECT_EQ(exact.q_q == approximate.q_q, !bounces);
    }
  }
}

/// Energy is what restitution leaves, whatever the step.
TEST(Bounce, KeepsWhatRestitutionLeaves) {
  const World world = balls_on_rails(1, Vector3::UnitZ(), 9.81, 1.0, {.time_step = 0.01});
  Workspace workspace(world);
  State state{VectorX::Constant(1, 0.6), VectorX::Constant(1, 0.0)};
  const VectorX u = VectorX::Zero(1);
  double highest = 0.0;
  for (int i = 0; i < 1000; ++i) {
    (void)step(world, state, u, workspace, state);
    if (i > 900) highest = std::max(highest, state.q[0]);
    ASSERT_GT(state.q[0], 0.1 - 1e-3);
  }
  EXPECT_NEAR(highest, 0.6, 5e-3);
}

/// Others are not touched by an impact somewhere else in the world: they move as they would without it.
TEST(Bounce, LeavesOthersAlone) {
  for (const double gap : {0.0003, 0.003, 0.009, 0.018, 0.027}) {
    // two balls fall on the floor, a metre apart: one bounces, the other one does not or bounces at another time
    for (const double e : {0.0, 0.8}) {
      WorldOptions options{.time_step = 0.01};
      ModelBuilder builder("two");
      builder.set_gravity(Vector3::Zero());
      builder.add_body(
          {.name = "floor",
           .shapes =
               {{.name = "floor", .shape = HalfSpace{Vector3::UnitZ(), 0.0}, .friction = 0.0, .restitution = 1.0}}},
          {.name = "floor"});
      const Shape ball = Sphere{0.1};
      for (const double restitution : {1.0, e}) {
        const std::string name = restitution == 1.0 ? "bouncing" : "other";
        builder.add_body({.name = name,
                          .inertia = mass_properties(ball),
                          .shapes = {{.name = name, .shape = ball, .friction = 0.0, .restitution = restitution}}},
                         {.name = name,
                          .type = JointType::prismatic,
                          .X_PJ = Pose::translation({restitution == 1.0 ? 0.0 : 1.0, 0.0, 0.0}),
                          .axis = Vector3::UnitZ()});
      }
      const World world(builder.build(), {}, options);
      Workspace workspace(world);
      State state{Vector2(0.1 + gap, 0.1 + 0.0285), Vector2(-3.0, -3.0)};
      for (int i = 0; i < 3; ++i) {
        (void)step(world, state, VectorX::Zero(2), workspace, state);
        EXPECT_LE(std::abs(state.v[1]), 3.0 + 1e-6) << "gap " << gap << ", e " << e << ", step " << i;
        EXPECT_GE(state.q[1], 0.1 - 1e-4);
      }
      EXPECT_NEAR(state.v[0], 3.0, 1e-6);
      EXPECT_NEAR(state.v[1], 3.0 * e, 1e-3);
    }
  }
}

/// A ball that is slowed before it would arrive does not bounce.
TEST(Bounce, NotBeforeItIsThere) {
  const World world = balls_on_rails(1, Vector3::UnitZ(), 9.81, 1.0, {.time_step = 0.01});
  Workspace workspace(world);
  // upwards force of 300 N: v_f = -3 + 2.9 m/s
  State state{VectorX::Constant(1, 0.1295), VectorX::Constant(1, -3.0)};
  const StepResult& result = step(world, state, VectorX::Constant(1, 300.0), workspace, state);
  EXPECT_TRUE(result.impacts.empty());
  EXPECT_NEAR(state.v[0], -3.0 + 0.01 * (300.0 - 9.81), 1e-9);
}

/// A box that lands on its corners one after the other, often several in a step: where these push it while it bounces
/// the step follows the discrete rule, which may gain a little, but nothing runs away.
TEST(Bounce, TumblingBoxDoesNotRunAway) {
  for (const double tilt : {0.001, 0.01, 0.5}) {
    const StepCase box = free_bodies(
        "box", {{Box{.size = {0.4, 0.3, 0.2}}, Pose(so3::exp({tilt, 0.5 * tilt, 0.0}), Vector3(0, 0, 0.6))}}, 0.0, 1.0,
        {.time_step = 0.005});
    Workspace workspace(box.world);
    State state = box.state;
    Data data(box.world.model());
    const auto energy = [&] {
      forward_kinematics(box.world.model(), data, state.q, state.v);
      return kinetic_energy(box.world.model(), data, state.v) + potential_energy(box.world.model(), data, state.q);
    };
    const double start = energy();
    for (int i = 0; i < 1000; ++i) (void)step(box.world, state, VectorX::Zero(6), workspace, state);
    EXPECT_LT(energy(), 1.5 * start) << "tilt " << tilt;
  }
}

TEST(Bounce, HappensInsideTheCasesThatSaySo) {
  for (const StepCase& one : all_step_cases()) {
    if (one.name != "BoxBouncingInside" && one.name != "SphereBouncing" && one.name != "BallsBouncing" &&
        one.name != "BouncingBesideASlidingBox")
      continue;
    Workspace workspace(one.world);
    State next;
    Tape tape;
    const StepResult& result = step(one.world, one.state, one.u, workspace, next, &tape);
    EXPECT_TRUE(tape.bounced()) << one.name;
    EXPECT_GE(result.impacts.size(), 1U);
    EXPECT_GT(tape.hard().events.front().time, 0.0);
    EXPECT_LT(tape.hard().events.front().time, 1.0);
  }
}

}  // namespace
}  // namespace tangere::test
