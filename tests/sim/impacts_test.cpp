/// Several impacts within one step: against closed forms, and every derivative against differences of the step.

#include <gtest/gtest.h>

#include <cmath>

#include "tangere/sim/tape/hard_tape.hpp"
#include "tests/sim/impact_checks.hpp"

namespace tangere::test {
namespace {

constexpr double kRadius = 0.1;
/// What the compliance of a row that is alone, 1e-10, takes of a velocity in up to four impacts.
constexpr double kSoft = 1e-9;

struct Ball {
  double mass = 1.0;
  double restitution = 1.0;
};

/// Balls on rails along x, between a wall at 0 and one at `width` (both elastic); `lanes`: each ball on a rail of its
/// own, so that they do not meet.
World balls_between_walls(const std::vector<Ball>& balls, double width, bool lanes, const WorldOptions& options) {
  ModelBuilder builder("balls");
  builder.set_gravity(Vector3::Zero());
  const auto wall = [&](const char* name, const Vector3& normal, double offset) {
    builder.add_body(
        {.name = name,
         .shapes = {{.name = name, .shape = HalfSpace{normal, offset}, .friction = 0.0, .restitution = 1.0}}},
        {.name = name});
  };
  wall("left", Vector3::UnitX(), 0.0);
  wall("right", -Vector3::UnitX(), -width);
  for (std::size_t i = 0; i < balls.size(); ++i) {
    const Shape ball = Sphere{kRadius};
    MassProperties inertia = mass_properties(ball);
    inertia.inertia *= balls[i].mass / inertia.mass;
    inertia.mass = balls[i].mass;
    const std::string name = "ball" + std::to_string(i);
    const double lane = lanes ? static_cast<double>(i) : 0.0;
    builder.add_body({.name = name,
                      .inertia = inertia,
                      .shapes = {{.name = name, .shape = ball, .friction = 0.0, .restitution = balls[i].restitution}}},
                     {.name = name,
                      .type = JointType::prismatic,
                      .X_PJ = Pose::translation({0.0, lane, 0.0}),
                      .axis = Vector3::UnitX()});
  }
  return World(builder.build(), {}, options);
}

WorldOptions with_step(double time_step) {
  WorldOptions options;
  options.time_step = time_step;
  return options;
}

/// Unfolded by mirrors, a ball between two walls flies straight on.
double mirrored(double x, double width) {
  const double room = width - 2.0 * kRadius;
  const double s = std::fmod(std::fmod(x - kRadius, 2.0 * room) + 2.0 * room, 2.0 * room);
  return kRadius + (s < room ? s : 2.0 * room - s);
}

TEST(Impacts, BallBetweenTwoWalls) {
  const double width = 0.22;
  const double dt = 0.01;
  const World world = balls_between_walls({{}}, width, true, with_step(dt));
  // 0.02 m of room, up to 0.075 m a step: three impacts and more
  for (const double speed : {1.0, 3.1, 5.1, 7.2}) {
    const State state{VectorX::Constant(1, 0.107), VectorX::Constant(1, speed)};
    const Made made = make_step(world, state, VectorX::Zero(1));
    const int expected = static_cast<int>((0.007 + dt * speed) / 0.02);
    EXPECT_EQ(made.tape.num_impacts(), expected) << "speed " << speed;
    EXPECT_NEAR(made.next.q[0], mirrored(0.107 + dt * speed, width), kSoft * speed);
    EXPECT_NEAR(made.next.v[0], expected % 2 == 0 ? speed : -speed, kSoft * speed);
    EXPECT_FALSE(made.bounced_at_end);
    if (expected == 0) continue;
    StepJacobians jacobians;
    Workspace workspace(world);
    (void)step_jacobians(world, made.tape, workspace, jacobians);
    const double sign = expected % 2 == 0 ? 1.0 : -1.0;
    EXPECT_NEAR(jacobians.q_q(0, 0), sign, 1e-9);
    EXPECT_NEAR(jacobians.q_v(0, 0), sign * dt, 1e-9);
    EXPECT_NEAR(jacobians.v_v(0, 0), sign, 1e-9);
    EXPECT_NEAR(jacobians.v_q(0, 0), 0.0, 1e-9);
  }
}

/// More impacts than kMostImpacts: the discrete rule, which says so.
TEST(Impacts, TooManyBounceAtTheEnd) {
  const World world = balls_between_walls({{}}, 0.22, true, with_step(0.01));
  const Made made = make_step(world, {VectorX::Constant(1, 0.107), VectorX::Constant(1, 12.0)}, VectorX::Zero(1));
  EXPECT_TRUE(made.bounced_at_end);
  EXPECT_EQ(made.tape.num_impacts(), 0);
  EXPECT_EQ(made.impacts, 0U);
}

/// The first ball hits the second, which hits the third: each gives all it has to the next.
TEST(Impacts, NewtonsCradle) {
  const double dt = 0.01;
  const World world = balls_between_walls({{}, {}, {}}, 10.0, false, with_step(dt));
  const State state{Vector3(1.0, 1.2 + 0.003, 1.4 + 0.007), Vector3(2.0, 0.0, 0.0)};
  const Made made = make_step(world, state, VectorX::Zero(3));
  EXPECT_EQ(made.tape.num_impacts(), 2);
  EXPECT_NEAR_ABSOLUTE(made.next.q, VectorX(Vector3(1.003, 1.207, 1.42)), 2.0 * kSoft);
  EXPECT_NEAR_ABSOLUTE(made.next.v, VectorX(Vector3(0.0, 0.0, 2.0)), 2.0 * kSoft);
  // what the third does, the first would have done: d x₃' = d x₁ + dt d v₁, the others are where the next one was
  StepJacobians jacobians;
  Workspace workspace(world);
  (void)step_jacobians(world, made.tape, workspace, jacobians);
  MatrixX q_q(3, 3);
  q_q << 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0;
  EXPECT_NEAR_ABSOLUTE(jacobians.q_q, q_q, 1e-9);
}

/// Unequal masses and losses, forces on all: every derivative.
TEST(Impacts, DerivativesOfAChain) {
  const World world = balls_between_walls({{1.0, 0.9}, {2.0, 0.8}, {0.7, 0.95}}, 10.0, false, with_step(0.01));
  const State state{Vector3(1.0, 1.203, 1.405), Vector3(3.0, 0.1, -0.2)};
  EXPECT_EQ(make_step(world, state, Vector3(5.0, -3.0, 2.0)).tape.num_impacts(), 2);
  expect_derivatives(world, state, Vector3(5.0, -3.0, 2.0), 1e-5, 1e-4);
}

TEST(Impacts, DerivativesBetweenTwoWalls) {
  const World world = balls_between_walls({{1.0, 0.9}}, 0.22, true, with_step(0.01));
  const State state{VectorX::Constant(1, 0.107), VectorX::Constant(1, 6.0)};
  EXPECT_GE(make_step(world, state, VectorX::Constant(1, 4.0)).tape.num_impacts(), 3);
  expect_derivatives(world, state, VectorX::Constant(1, 4.0), 1e-5, 1e-4);
}

/// Two balls that meet walls at different times do not know of each other: the same bits as alone.
TEST(Impacts, OfOthersDoNotMatter) {
  const WorldOptions options = with_step(0.01);
  const World both = balls_between_walls({{1.0, 0.9}, {2.0, 0.8}}, 2.0, true, options);
  const State state{Vector2(1.894, 0.103), Vector2(2.0, -0.8)};
  const Vector2 u(3.0, -1.0);
  const Made made = make_step(both, state, u);
  ASSERT_EQ(made.tape.num_impacts(), 2);
  EXPECT_LT(made.tape.hard().events[0].time, made.tape.hard().events[1].time);
  const World first = balls_between_walls({{1.0, 0.9}}, 2.0, true, options);
  const Made alone = make_step(first, {state.q.head(1), state.v.head(1)}, u.head(1));
  EXPECT_EQ(made.next.q[0], alone.next.q[0]);
  EXPECT_EQ(made.next.v[0], alone.next.v[0]);
  expect_derivatives(both, state, u, 1e-5, 1e-4);
}

/// A ball that turns and slides hits two walls of a corner, one after the other, under gravity and with friction.
TEST(Impacts, BallIntoACorner) {
  ModelBuilder builder("corner");
  const auto wall = [&](const char* name, const Vector3& normal) {
    builder.add_body({.name = name,
                      .shapes = {{.name = name, .shape = HalfSpace{normal, 0.0}, .friction = 0.4, .restitution = 0.9}}},
                     {.name = name});
  };
  wall("floor", Vector3::UnitZ());
  wall("side", Vector3::UnitX());
  const Shape ball = Sphere{kRadius};
  builder.add_body({.name = "ball",
                    .inertia = mass_properties(ball),
                    .shapes = {{.name = "ball", .shape = ball, .friction = 0.4, .restitution = 0.9}}},
                   {.name = "ball", .type = JointType::free});
  const World world(builder.build(), {}, with_step(0.01));
  State state{VectorX(7), VectorX(6)};
  state.q << 0.106, 0.0, 0.115, 0.0, 0.0, 0.0, 1.0;
  state.v << -2.0, 0.5, -2.5, 3.0, -2.0, 1.0;
  ASSERT_EQ(make_step(world, state, VectorX::Zero(6)).tape.num_impacts(), 2);
  expect_derivatives(world, state, VectorX::Zero(6), 1e-5, 1e-4);
}

}  // namespace
}  // namespace tangere::test
