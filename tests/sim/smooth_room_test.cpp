/// Smooth contact where there is no room for all of it: what fits exactly between walls, or less than that, and limits
/// that lock a joint. There is an answer, with bounded impulses and derivatives (SmoothContact::compliance).

#include <gtest/gtest.h>

#include <string>

#include "tangere/math/so3.hpp"
#include "tests/sim/smooth_differences.hpp"
#include "tests/sim/smooth_support.hpp"

namespace tangere::test {
namespace {

/// A cube of 0.2 m between two walls that are `room` apart, moving along them.
StepCase between_walls(double room, double friction, const WorldOptions& options, const Shape& body = cube(0.2)) {
  ModelBuilder builder("walls");
  const Shape wall = Box{.size = {0.2, 2.0, 2.0}};
  BodySpec walls{.name = "walls"};
  for (const double side : {-1.0, 1.0})
    walls.shapes.push_back({.name = side < 0.0 ? "left" : "right",
                            .shape = wall,
                            .X_BS = Pose::translation({side * (0.1 + 0.5 * room), 0, 0}),
                            .friction = friction});
  builder.add_body(walls, {.name = "walls"});
  MassProperties inertia = mass_properties(body);
  inertia.inertia /= inertia.mass;
  inertia.mass = 1.0;
  builder.add_body(
      {.name = "body", .inertia = inertia, .shapes = {{.name = "body", .shape = body, .friction = 1.2 * friction}}},
      {.name = "free", .type = JointType::free});
  World world(builder.build(), {}, options);
  State state{neutral_configuration(world.model()), VectorX::Zero(6)};
  state.v << 0.0, 1.0, 0.0, 0.0, 0.0, 0.0;
  return {"walls", std::move(world), std::move(state), VectorX::Zero(6)};
}

/// Room for the cube, but not for what κ keeps apart; and none.
TEST(SmoothRoom, ThatIsMissingIsNoFailure) {
  for (const Formulation formulation : {Formulation::single_level, Formulation::bilevel})
    for (const double kappa : {1e-2, 1e-3, 1e-4, 1e-6})
      for (const double room : {0.2 * (1.0 + 5.0 * kappa), 0.2})
        for (const double friction : {0.0, 0.5}) {
          // relaxed faces are not quite flat: without friction they press out what they pinch
          if (friction == 0.0 && kappa > 1e-5) continue;
          SCOPED_TRACE(std::string(to_string(formulation)) + " " + std::to_string(kappa) + " " + std::to_string(room) +
                       " " + std::to_string(friction));
          const StepCase scene = between_walls(room, friction, smooth(0.01, kappa, formulation));
          Workspace workspace(scene.world);
          State state = scene.state;
          const double start = energy(scene.world, state);
          for (int i = 0; i < 20; ++i) {
            const StepResult& result = step(scene.world, state, at_ease(scene.world), workspace, state);
            ASSERT_EQ(result.status, StepStatus::solved) << i;
            EXPECT_EQ(result.smooth.rungs[static_cast<std::size_t>(SmoothRung::half_steps)], 0) << i;
            EXPECT_LE(energy(scene.world, state), start + 1e-6) << i;
            // in the middle, and straight
            EXPECT_NEAR(state.q[0], 0.0, 1e-6) << i;
            EXPECT_NEAR(state.q[6], 1.0, 1e-6) << i;
          }
          // walls without friction hold nothing back
          if (friction == 0.0) {
            EXPECT_NEAR(state.v.head<3>().norm(), std::hypot(1.0, 9.81 * 0.2), 0.05);
          }
        }
}

/// A ball that is pinched by a millimetre from both sides.
TEST(SmoothRoom, OfWhatIsPinched) {
  for (const double kappa : {1e-4, 1e-6}) {
    const StepCase scene = between_walls(0.198, 0.5, smooth(0.01, kappa), Sphere{0.1});
    const State state = run(scene.world, scene.state, 20);
    EXPECT_LE(energy(scene.world, state), energy(scene.world, scene.state));
    EXPECT_NEAR(state.q[0], 0.0, 1e-6);
  }
}

TEST(SmoothRoom, HasDerivatives) {
  for (const double kappa : {1e-2, 1e-4}) {
    SCOPED_TRACE(kappa);
    StepCase scene = between_walls(0.2 * (1.0 + kappa), 0.5, tight(0.01, kappa), Sphere{0.1});
    scene.state.v << 0.1, 1.0, 0.3, 0.5, 0.2, 0.1;
    expect_derivatives(scene.world, scene.state, VectorX::Zero(6), kappa);
    expect_parameter_derivatives(scene.world, scene.state, kappa);
  }
}

/// A joint whose limits are one and the same is locked.
TEST(SmoothRoom, OfALockedJoint) {
  for (const double kappa : {1e-2, 1e-4, 1e-6}) {
    ModelBuilder builder("locked");
    const Shape rod = Capsule{.radius = 0.05, .length = 0.6};
    builder.add_body({.name = "arm", .inertia = mass_properties(rod, 200.0)}, {.name = "hinge",
                                                                               .type = JointType::revolute,
                                                                               .X_CJ = Pose::translation({-0.3, 0, 0}),
                                                                               .axis = {0, 1, 0},
                                                                               .dofs = {{.lower = 0.2, .upper = 0.2}}});
    const World world(builder.build(), {}, smooth(0.01, kappa));
    const State state = run(world, {VectorX::Constant(1, 0.2), VectorX::Zero(1)}, 100);
    EXPECT_NEAR(state.q[0], 0.2, 10.0 * kappa);
    EXPECT_LE(std::abs(state.v[0]), 1e-3);
  }
}

/// Compliance is no penetration: a cube of a kilogram that carries a hundred times its weight.
TEST(SmoothRoom, IsKeptUnderLoad) {
  for (const double kappa : {1e-3, 1e-6}) {
    const StepCase scene = free_bodies("load", {{.shape = cube(0.4), .X_WB = Pose::translation({0, 0, 0.2})}}, 0.5, 0.0,
                                       smooth(0.01, kappa));
    VectorX u = at_ease(scene.world);
    u[2] = -981.0;
    EXPECT_GE(smallest_distance(scene.world, run(scene.world, scene.state, 100, u)), 0.0);
  }
}

}  // namespace
}  // namespace tangere::test
