/// Pyramids of friction: their axes are a function of the poses, so that steps depend on nothing else, turn with the
/// scene, and have derivatives.

#include <gtest/gtest.h>

#include <cmath>

#include <Eigen/Geometry>

#include "tangere/math/so3.hpp"
#include "tests/sim/smooth_differences.hpp"
#include "tests/sim/smooth_support.hpp"

namespace tangere::test {
namespace {

WorldOptions with_pyramid(WorldOptions options) {
  options.smooth.friction = FrictionShape::pyramid;
  return options;
}

/// A box that tumbles and slides, and an ellipsoid on top of it.
std::vector<FreeBody> tumbling() {
  FreeBody box{.shape = Box{.size = {0.4, 0.5, 0.3}}, .X_WB = {so3::exp(Vector3(0.3, 0.2, 0.5)), Vector3(0, 0, 0.31)}};
  box.velocity << 1.0, 0.4, -1.0, 1.0, 1.0, 0.5;
  FreeBody ball{.shape = Ellipsoid{.semi_axes = {0.12, 0.1, 0.14}},
                .X_WB = {so3::exp(Vector3(0.1, 0.5, 0.2)), Vector3(0.05, 0.02, 0.64)},
                .mass = 0.4};
  ball.velocity << 0.3, -0.4, -2.0, 1.5, 0.0, 1.0;
  return {box, ball};
}

TEST(SmoothPyramid, WarmAndColdStartsEndAtTheSamePlace) {
  WorldOptions options = with_pyramid(exactly(smooth(0.01, 1e-6)));
  const StepCase warm = free_bodies("warm", tumbling(), 0.4, 0.0, options);
  options.smooth.warm_start = false;
  const StepCase cold = free_bodies("cold", tumbling(), 0.4, 0.0, options);
  Workspace workspace(warm.world);
  Workspace other(cold.world);
  State state = warm.state;
  for (int i = 0; i < 120; ++i) {
    State by_cold;
    (void)step(cold.world, state, at_ease(cold.world), other, by_cold);
    (void)step(warm.world, state, at_ease(warm.world), workspace, state);
    EXPECT_NEAR_ABSOLUTE(state.v, by_cold.v, 1e-6) << "step " << i;
  }
}

/// A box thrown on a floor, all of it turned; the box first or second.
VectorX thrown(const Matrix3& R, bool box_first) {
  ModelBuilder builder("turned");
  builder.set_gravity(R * Vector3(0, 0, -9.81));
  const Shape box = Box{.size = {0.4, 0.5, 0.3}};
  MassProperties inertia = mass_properties(box);
  inertia.inertia /= inertia.mass;
  inertia.mass = 1.0;
  const auto add_floor = [&] {
    builder.add_body(
        {.name = "floor", .shapes = {{.shape = HalfSpace{{0, 0, 1}}, .X_BS = Pose::rotation(R), .friction = 0.4}}},
        {.name = "floor", .type = JointType::fixed});
  };
  if (!box_first) add_floor();
  builder.add_body({.name = "box", .inertia = inertia, .shapes = {{.shape = box, .friction = 0.4}}},
                   {.name = "box", .type = JointType::free});
  if (box_first) add_floor();
  // the pair is there from the start, whichever box the floor has
  WorldOptions options = with_pyramid(exactly(smooth(0.01, 1e-6)));
  options.smooth.margin = 100.0;
  const World world(builder.build(), {}, options);
  State state{neutral_configuration(world.model()), VectorX::Zero(6)};
  const Eigen::Quaterniond turned(Matrix3(R * so3::exp(Vector3(0.2, 0.4, 0.5))));
  state.q.head<3>() = R * Vector3(0, 0, 0.4);
  state.q.segment<4>(3) = turned.coeffs();
  state.v << 1.0, 0.5, 0.0, 0.5, 0.0, 1.0;
  // up to where the motion is chaotic to rounding
  state = run(world, state, 40);
  VectorX out(9);
  out << R.transpose() * state.q.head<3>(), state.v;
  return out;
}

TEST(SmoothPyramid, TurnsWithTheSceneAndDoesNotKnowItsOrder) {
  const VectorX reference = thrown(Matrix3::Identity(), false);
  for (const Vector3& turn : {Vector3(0, 0, 0.7), Vector3(0.4, -0.3, 0.6), Vector3(2.0, 0.1, 0.3)})
    EXPECT_NEAR_ABSOLUTE(thrown(so3::exp(turn), false), reference, 1e-6);
  EXPECT_NEAR_ABSOLUTE(thrown(Matrix3::Identity(), true), reference, 1e-6);
}

TEST(SmoothPyramid, HasDerivatives) {
  FreeBody box{.shape = Box{.size = {0.2, 0.3, 0.1}}, .X_WB = {so3::exp(Vector3(0.3, 0.2, 0.1)), Vector3(0, 0, 0.14)}};
  box.velocity << 0.5, 0.2, -2.0, 1.0, 2.0, 0.5;
  FreeBody ball{
      .shape = Ellipsoid{.semi_axes = {0.06, 0.05, 0.07}}, .X_WB = Pose::translation({0.01, 0.02, 0.29}), .mass = 0.4};
  ball.velocity << 0.2, -0.1, -4.0, 0.5, 0.0, 1.0;
  for (const double kappa : kKappas) {
    SCOPED_TRACE(kappa);
    const StepCase scene = free_bodies("pair", {box, ball}, 0.4, 0.0, with_pyramid(tight(0.01, kappa)));
    expect_derivatives(scene.world, scene.state, VectorX::Zero(12), kappa);
    expect_parameter_derivatives(scene.world, scene.state, kappa);
  }
}

}  // namespace
}  // namespace tangere::test
