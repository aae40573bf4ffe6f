/// Many bodies that touch with friction: problems of several solutions, which starts from one side jam at
/// (ncp_path.cpp).

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "tangere/math/random.hpp"
#include "tests/sim/smooth_differences.hpp"
#include "tests/sim/smooth_support.hpp"
#include "tests/support/taken_memory.hpp"

namespace tangere::test {
namespace {

int acted(const StepResult& result, SmoothRung rung) { return result.smooth.rungs[static_cast<std::size_t>(rung)]; }

/// Balls side by side that fall on the floor, spin and push each other: the spin of one lifts the next.
StepCase row_of_balls(int count, double friction, double restitution, Random& random, const WorldOptions& options) {
  constexpr double kRadius = 0.1;
  std::vector<FreeBody> balls;
  for (int i = 0; i < count; ++i) {
    FreeBody ball{.shape = Sphere{kRadius}};
    const double y = 0.002 * random.normal();
    const double above = random.uniform(0.0, 3e-4);
    ball.X_WB.p = {2.005 * kRadius * i, y, kRadius + 0.002 + above};
    const Vector3 push = random.normal3();
    ball.velocity << 0.2 * push[0] - 0.05 * i, 0.3 * push[1], -1.0, 8.0 * random.normal3();
    balls.push_back(ball);
  }
  return free_bodies("balls", balls, friction, restitution, options);
}

TEST(SmoothHeap, RowsOfBallsAreSolvedInOneStep) {
  int by_path = 0;
  int steps = 0;
  for (const int count : {3, 6})
    for (const double restitution : {0.0, 0.5})
      for (const double kappa : {1e-4, 1e-6}) {
        Random random(4);
        for (int trial = 0; trial < 12; ++trial) {
          const StepCase scene = row_of_balls(count, 0.9, restitution, random, smooth(0.005, kappa));
          Workspace workspace(scene.world);
          State next;
          const StepResult& result = step(scene.world, scene.state, at_ease(scene.world), workspace, next);
          ASSERT_EQ(result.status, StepStatus::solved) << count << " " << restitution << " " << kappa << " " << trial;
          EXPECT_EQ(acted(result, SmoothRung::half_steps), 0);
          by_path += acted(result, SmoothRung::path);
          ++steps;
          EXPECT_GE(smallest_distance(scene.world, next), -1e-12);
          EXPECT_LE(energy(scene.world, next), energy(scene.world, scene.state));
          for (const Contact& contact : result.contacts) {
            EXPECT_GE(contact.impulse[0], 0.0);
            EXPECT_LE(contact.impulse.tail<2>().norm(), (1.0 + 1e-6) * contact.friction * contact.impulse[0]);
          }
        }
      }
  // or this is no test of it
  EXPECT_GT(by_path, steps / 10);
}

/// Where the path leads around turns the solution is one of several, and its derivatives are that one's.
TEST(SmoothHeap, DerivativesBehindTheTurns) {
  int compared = 0;
  constexpr double kKappa = 1e-4;
  for (unsigned seed = 0; seed < 100 && compared < 2; ++seed) {
    Random random(seed);
    const StepCase scene = row_of_balls(3, 0.9, 0.0, random, smooth(0.005, kKappa));
    Workspace workspace(scene.world);
    State next;
    const StepResult& result = step(scene.world, scene.state, at_ease(scene.world), workspace, next);
    ASSERT_EQ(result.status, StepStatus::solved);
    if (acted(result, SmoothRung::path) == 0) continue;
    SCOPED_TRACE(seed);
    Random again(seed);
    const StepCase exact = row_of_balls(3, 0.9, 0.0, again, tight(0.005, kKappa));
    expect_derivatives(exact.world, exact.state, at_ease(exact.world), kKappa);
    ++compared;
  }
  EXPECT_EQ(compared, 2);
}

constexpr int kBodies = 12;

/// Above a bin, one of the shapes after another.
StepCase bin(const std::vector<Shape>& shapes) {
  ModelBuilder builder("heap");
  const auto wall = [&](const char* name, const Vector3& inward, double offset) {
    builder.add_body({.name = name, .shapes = {{.name = name, .shape = HalfSpace{inward, offset}, .friction = 0.9}}},
                     {.name = name});
  };
  wall("floor", {0, 0, 1}, 0.0);
  wall("left", {1, 0, 0}, -0.35);
  wall("right", {-1, 0, 0}, -0.35);
  wall("front", {0, 1, 0}, -0.35);
  wall("back", {0, -1, 0}, -0.35);
  for (int i = 0; i < kBodies; ++i) {
    const std::string name = "body" + std::to_string(i);
    const Shape& shape = shapes[static_cast<std::size_t>(i) % shapes.size()];
    builder.add_body(
        {.name = name, .inertia = mass_properties(shape), .shapes = {{.name = name, .shape = shape, .friction = 0.9}}},
        {.name = name, .type = JointType::free});
  }
  World world(builder.build(), {}, smooth(0.01, 1e-6));
  State state{neutral_configuration(world.model()), VectorX::Zero(world.nv())};
  Random random(11);
  for (int i = 0; i < kBodies; ++i) {
    state.q.segment<3>(7 * i) << (i % 2 == 0 ? -0.16 : 0.16), (i % 4 < 2 ? -0.16 : 0.16), 0.25 + 0.35 * (i / 4);
    const Matrix3 R = random.rotation();
    state.q.segment<4>(7 * i + 3) = Pose{R, Vector3::Zero()}.quaternion();
    state.v.segment<3>(6 * i) = 0.5 * random.normal3();
    state.v.segment<3>(6 * i + 3) = 2.0 * random.normal3();
  }
  return {"heap", std::move(world), std::move(state), {}};
}

TEST(SmoothHeap, TwelveBodiesComeToRestInABin) {
  const StepCase scene =
      bin({Box{.size = {0.2, 0.16, 0.12}}, Cylinder{.radius = 0.1, .length = 0.2},
           Capsule{.radius = 0.06, .length = 0.2}, Sphere{0.1}, Ellipsoid{.semi_axes = {0.12, 0.1, 0.08}}});
  const World& world = scene.world;
  State state = scene.state;
  Workspace workspace(world);
  int by_path = 0;
  int halved = 0;
  const double before = energy(world, state);
  for (int i = 0; i < 250; ++i) {
    const StepResult& result = step(world, state, at_ease(world), workspace, state);
    ASSERT_EQ(result.status, StepStatus::solved) << "step " << i;
    by_path += acted(result, SmoothRung::path);
    halved += acted(result, SmoothRung::half_steps);
    if (i % 30 == 29) {
      EXPECT_GE(smallest_distance(world, state), -1e-9) << "step " << i;
    }
  }
  EXPECT_GT(by_path, 0);
  EXPECT_LE(halved, 1);
  EXPECT_LT(energy(world, state), 0.6 * before);
  // what is round may spin on
  for (int i = 0; i < kBodies; ++i) EXPECT_LT(state.v.segment<3>(6 * i).norm(), 0.05) << i;
}

TEST(SmoothHeap, SameBitsWhereverItsMemoryLies) {
  const auto fallen = [] {
    MatrixX3 corners(4, 3);
    corners << 0.13, 0.1, -0.07, -0.13, 0.11, -0.08, 0.02, -0.15, -0.07, 0.0, 0.02, 0.15;
    MatrixX2 sides(5, 2);
    for (int i = 0; i < 5; ++i)
      sides.row(i) << std::cos(0.4 * std::numbers::pi * i), std::sin(0.4 * std::numbers::pi * i);
    const PaddedPolygon padded{sides, VectorX::Constant(5, 0.1), 0.04};
    const StepCase scene = bin({Box{.size = {0.2, 0.16, 0.12}}, Polytope::from_vertices(corners), padded,
                                Cone{.height = 0.2, .half_angle = 0.5}, Capsule{.radius = 0.06, .length = 0.2}});
    State state = scene.state;
    Workspace workspace(scene.world);
    for (int i = 0; i < 40; ++i) (void)step(scene.world, state, at_ease(scene.world), workspace, state);
    return state;
  };
  const State first = fallen();
  for (std::size_t moved = 1; moved < 4; ++moved) {
    const TakenMemory taken(moved);
    const State again = fallen();
    EXPECT_EQ(again.q, first.q) << moved;
    EXPECT_EQ(again.v, first.v) << moved;
  }
}

}  // namespace
}  // namespace tangere::test
