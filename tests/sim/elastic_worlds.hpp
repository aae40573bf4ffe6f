#pragma once

/// Worlds without gravity whose bodies bounce, and states on their way to an impact; for tests of its energy.

#include <cmath>
#include <numbers>

#include "tangere/geometry/mass_properties.hpp"
#include "tangere/math/random.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/energy.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/sim/world.hpp"

namespace tangere::test {

/// Hard contact.
inline WorldOptions by(BounceMode bounce) {
  WorldOptions options;
  options.time_step = 0.01;
  options.hard.bounce = bounce;
  return options;
}

inline double energy_of(const World& world, const VectorX& q, const VectorX& v) {
  Data data(world.model());
  forward_kinematics(world.model(), data, q, v);
  return kinetic_energy(world.model(), data, v);
}

inline CollisionShape colliding(const char* name, const Shape& shape, double friction, double restitution) {
  return {.name = name, .shape = shape, .friction = friction, .restitution = restitution};
}

inline void add_floor(ModelBuilder& builder) {
  builder.add_body({.name = "floor", .shapes = {colliding("floor", HalfSpace{Vector3::UnitZ(), 0.0}, 1.0, 1.0)}},
                   {.name = "floor"});
}

inline void add_box(ModelBuilder& builder, const char* name, double friction, double restitution) {
  const Shape box = Box{.size = {0.4, 0.3, 0.2}};
  builder.add_body(
      {.name = name, .inertia = mass_properties(box), .shapes = {colliding(name, box, friction, restitution)}},
      {.name = name, .type = JointType::free});
}

inline World without_gravity(ModelBuilder builder, const WorldOptions& options = by(BounceMode::event)) {
  builder.set_gravity(Vector3::Zero());
  return World(builder.build(), {}, options);
}

inline World tumbling_box(double friction, double restitution, const WorldOptions& options = by(BounceMode::event)) {
  ModelBuilder builder("box");
  add_floor(builder);
  add_box(builder, "box", friction, restitution);
  return without_gravity(std::move(builder), options);
}

inline World two_boxes(double friction, double restitution, const WorldOptions& options = by(BounceMode::event)) {
  ModelBuilder builder("boxes");
  add_box(builder, "one", friction, restitution);
  add_box(builder, "other", friction + 0.05, restitution);
  return without_gravity(std::move(builder), options);
}

/// Two links that hang from a pivot beside the floor, with a rotor in the second.
inline World arm(double friction, double restitution, const WorldOptions& options = by(BounceMode::event)) {
  ModelBuilder builder("arm");
  add_floor(builder);
  const Shape link = Capsule{.radius = 0.05, .length = 0.4};
  int parent = kWorld;
  for (const char* name : {"upper", "lower"}) {
    const bool first = parent == kWorld;
    CollisionShape shape = colliding(name, link, friction, restitution);
    shape.X_BS = Pose(so3::exp({0.0, 0.5 * std::numbers::pi, 0.0}), {0.0, 0.0, -0.25});
    if (first) shape.group = shape.mask = 0;
    MassProperties inertia = mass_properties(link);
    inertia.center = {0.0, 0.0, -0.25};
    parent = builder.add_body({.name = name, .inertia = inertia, .shapes = {shape}},
                              {.name = name,
                               .type = JointType::revolute,
                               .X_PJ = Pose::translation({0.0, 0.0, first ? 0.9 : -0.5}),
                               .axis = Vector3::UnitY(),
                               .dofs = {{.armature = first ? 0.0 : 0.02}}},
                              parent);
  }
  return without_gravity(std::move(builder), options);
}

/// Somewhere above the floor, on its way down.
inline State random_fall(const World& world, Random& random) {
  State state{neutral_configuration(world.model()), VectorX::Zero(world.nv())};
  const Pose pose(random.rotation(), {0.0, 0.0, 0.4});
  state.q << pose.p, pose.quaternion();
  state.v << pose.R.transpose() * Vector3{random.uniform(-3, 3), random.uniform(-3, 3), -3.0},
      10.0 * random.unit_vector();
  return state;
}

inline State random_crash(const World& world, Random& random) {
  State state{neutral_configuration(world.model()), VectorX::Zero(world.nv())};
  for (const int i : {0, 1}) {
    const Pose pose(random.rotation(), {i == 0 ? -0.4 : 0.4, 0.0, 0.0});
    state.q.segment<7>(7 * i) << pose.p, pose.quaternion();
    state.v.segment<6>(6 * i) << pose.R.transpose() *
                                     Vector3{i == 0 ? 2.0 : -2.0, random.uniform(-3, 3), random.uniform(-3, 3)},
        10.0 * random.unit_vector();
  }
  return state;
}

/// The lower link swings down to the floor.
inline State random_swing(const World&, Random& random) {
  State state{VectorX(2), VectorX(2)};
  state.q << random.uniform(-0.6, 0.6), random.uniform(1.0, 2.0) * (random.uniform(0, 1) < 0.5 ? -1.0 : 1.0);
  state.v << random.uniform(-3, 3), -std::copysign(random.uniform(2, 8), state.q[1]);
  return state;
}

}  // namespace tangere::test
