#pragma once

/// Worlds with smooth contact for tests: options, runs, and what is measured of them.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <Eigen/Geometry>

#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/energy.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/proximity/distance.hpp"
#include "tangere/sim/step.hpp"
#include "tests/support/step_cases.hpp"

namespace tangere::test {

inline WorldOptions smooth(double time_step, double kappa, Formulation formulation = Formulation::single_level) {
  WorldOptions options;
  options.time_step = time_step;
  options.formulation = formulation;
  options.smooth.kappa = kappa;
  return options;
}

/// To rounding, nearly.
inline WorldOptions exactly(WorldOptions options) {
  options.smooth.tolerance = 1e-11 / options.smooth.kappa;
  return options;
}

inline VectorX at_ease(const World& world) { return VectorX::Zero(world.nu()); }

inline Shape cube(double size) { return Box{.size = Vector3::Constant(size)}; }

/// Steps, all of which must be solved; the last state.
inline State run(const World& world, State state, int steps, const VectorX& u = {}) {
  Workspace workspace(world);
  const VectorX control = u.size() > 0 ? u : VectorX::Zero(world.nu());
  for (int i = 0; i < steps; ++i)
    EXPECT_EQ(step(world, state, control, workspace, state).status, StepStatus::solved) << "step " << i;
  return state;
}

/// The deepest penetration of all pairs of shapes, by the distance query.
inline double smallest_distance(const World& world, const State& state) {
  Data data(world.model());
  forward_kinematics(world.model(), data, state.q);
  double smallest = 1e9;
  DistanceWorkspace workspace;
  const auto count = static_cast<int>(world.scene().shapes().size());
  for (int a = 0; a < count; ++a)
    for (int b = a + 1; b < count; ++b) {
      const CollisionShape& A = world.scene().shape(world.model(), a);
      const CollisionShape& B = world.scene().shape(world.model(), b);
      // walls
      if (A.shape.is_half_space() && B.shape.is_half_space()) continue;
      const Pose X_A = body_pose(world.model(), data, world.scene().shapes()[a].body) * A.X_BS;
      const Pose X_B = body_pose(world.model(), data, world.scene().shapes()[b].body) * B.X_BS;
      smallest = std::min(smallest, distance(A.shape, X_A, B.shape, X_B, {}, workspace).distance);
    }
  return smallest;
}

inline double energy(const World& world, const State& state) {
  Data data(world.model());
  forward_kinematics(world.model(), data, state.q, state.v);
  return kinetic_energy(world.model(), data, state.v) + potential_energy(world.model(), data, state.q);
}

/// A pendulum with limits and dry friction.
inline Model pendulum(double friction) {
  ModelBuilder builder("pendulum");
  const Shape rod = Capsule{.radius = 0.05, .length = 0.6};
  builder.add_body({.name = "arm", .inertia = mass_properties(rod, 200.0)},
                   {.name = "hinge",
                    .type = JointType::revolute,
                    .X_CJ = Pose::translation({-0.3, 0, 0}),
                    .axis = {0, 1, 0},
                    .dofs = {{.lower = -0.5, .upper = 0.7, .friction = friction}}});
  return builder.build();
}

/// Links with limits on both sides and dry friction, one after another.
inline Model chain_of_links(int count, double limit, double friction) {
  ModelBuilder builder("chain");
  const Shape rod = Capsule{.radius = 0.05, .length = 0.4};
  int parent = kWorld;
  for (int i = 0; i < count; ++i)
    parent = builder.add_body({.name = "link" + std::to_string(i), .inertia = mass_properties(rod, 500.0)},
                              {.name = "joint" + std::to_string(i),
                               .type = JointType::revolute,
                               .X_PJ = Pose::translation({0.2, 0, 0}),
                               .X_CJ = Pose::translation({-0.2, 0, 0}),
                               .axis = {0, 1, 0},
                               .dofs = {{.lower = -limit, .upper = limit, .friction = friction}}},
                              parent);
  return builder.build();
}

}  // namespace tangere::test
