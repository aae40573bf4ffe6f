/// Clamped rows that contradict each other (contact/lcp_derivatives.hpp): as the state moves, no motion gives what all
/// of them ask. A box in the corner of a floor and a wall, pushed into it, is the everyday case.

#include <gtest/gtest.h>

#include <algorithm>

#include "tangere/geometry/mass_properties.hpp"
#include "tangere/math/random.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/sim/impulse_derivatives.hpp"
#include "tangere/sim/step_parameters.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere::test {
namespace {

struct Corner {
  World world;
  State state;
  VectorX u;
};

/// Floor and wall of one body or of two, rough and slippery.
Corner corner(Random& random) {
  const double friction = random.uniform(0.1, 1.0);
  const double other = random.uniform(0.0, 1.0) < 0.5 ? friction : random.uniform(0.1, 1.0);
  const CollisionShape floor{.name = "floor", .shape = HalfSpace{Vector3::UnitZ(), 0.0}, .friction = friction};
  const CollisionShape wall{.name = "wall", .shape = HalfSpace{-Vector3::UnitX(), 0.0}, .friction = other};
  ModelBuilder builder("corner");
  if (random.uniform(0.0, 1.0) < 0.5) {
    builder.add_body({.name = "room", .shapes = {floor, wall}}, {.name = "room"});
  } else {
    builder.add_body({.name = "floor", .shapes = {floor}}, {.name = "floor"});
    builder.add_body({.name = "wall", .shapes = {wall}}, {.name = "wall"});
  }
  const Shape box = Box{.size = {0.4, 0.3, 0.2}};
  builder.add_body({.name = "box", .inertia = mass_properties(box, 1.0 / 0.024), .shapes = {{.shape = box}}},
                   {.name = "box", .type = JointType::free});
  World world(builder.build(), {}, {.time_step = random.uniform(0.0, 1.0) < 0.5 ? 1e-3 : 1e-2});
  State state{neutral_configuration(world.model()), VectorX::Zero(6)};
  state.q[0] = -0.2;
  state.q[2] = 0.1;
  VectorX u = VectorX::Zero(6);
  u[0] = random.uniform(10.0, 100.0);
  if (random.uniform(0.0, 1.0) < 0.7) u[1] = random.uniform(-20.0, 20.0);
  return {std::move(world), std::move(state), std::move(u)};
}

/// Nothing moves faster than what rows ask: gaps are closed at about 1/dt, and the box is as long as it turns. Before,
/// 3 % of these steps had a derivative of 1e5 to 1e7, and all of them were called exact.
TEST(ContradictingRows, DoNotExplode) {
  Random random(1);
  int contradicting = 0;
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    Corner one = corner(random);
    const double dt = one.world.options().time_step;
    Workspace workspace(one.world);
    State next;
    Tape tape;
    StepJacobians jacobians;
    for (int i = 0; i < 30; ++i) {
      ASSERT_EQ(step(one.world, one.state, one.u, workspace, next, &tape).status, StepStatus::solved);
      const GradientQuality quality = step_jacobians(one.world, tape, workspace, jacobians);
      EXPECT_LT(jacobians.v_q.cwiseAbs().maxCoeff(), 10.0 / dt);
      EXPECT_LT(jacobians.v_v.cwiseAbs().maxCoeff(), 10.0);
      contradicting += quality == GradientQuality::rows_contradict ? 1 : 0;

      // impulses by all rows, and parameters
      ImpulseJacobians impulses;
      (void)impulse_jacobians(one.world, tape, workspace, impulses);
      EXPECT_TRUE(impulses.q.allFinite());
      if (i % 10 == 0) {
        const std::vector<StepParameter> parameters = all_step_parameters(one.world);
        StepParameterJacobians by_parameters;
        (void)step_parameter_jacobians(one.world, tape, workspace, parameters, by_parameters);
        EXPECT_LT(by_parameters.v.cwiseAbs().maxCoeff(), 100.0 / dt);
      }
      one.state = next;
    }
  }
  EXPECT_GT(contradicting, 100);
}

/// Products are those of the Jacobians there too, and say the same.
TEST(ContradictingRows, ProductsAreThoseOfTheJacobians) {
  Random random(1);
  for (int trial = 0; trial < 60; ++trial) {
    Corner one = corner(random);
    Workspace workspace(one.world);
    State next;
    Tape tape;
    StepJacobians jacobians;
    for (int i = 0; i < 20; ++i) {
      (void)step(one.world, one.state, one.u, workspace, next, &tape);
      one.state = next;
    }
    const GradientQuality quality = step_jacobians(one.world, tape, workspace, jacobians);
    StateTangent g{VectorX::LinSpaced(6, -1.0, 1.0), VectorX::LinSpaced(6, 0.5, -0.7)};
    StateTangent back;
    VectorX g_u;
    EXPECT_EQ(step_vjp(one.world, tape, workspace, g, back, g_u), quality);
    EXPECT_NEAR_RELATIVE(back.q, VectorX(jacobians.q_q.transpose() * g.q + jacobians.v_q.transpose() * g.v), 1e-9);
    StateTangent forward;
    EXPECT_EQ(step_jvp(one.world, tape, workspace, g, VectorX::Zero(6), forward), quality);
    EXPECT_NEAR_RELATIVE(forward.v, VectorX(jacobians.v_q * g.q + jacobians.v_v * g.v), 1e-9);
  }
}

}  // namespace
}  // namespace tangere::test
