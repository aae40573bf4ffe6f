#include "tangere/contact/smooth_units.hpp"

#include <algorithm>
#include <cmath>

namespace tangere {
namespace {

/// Metres and kilograms, of what has neither shape nor mass.
constexpr double kSomeLength = 0.1;
constexpr double kSomeMass = 1e-3;
/// Without gravity: the part of the length that a step at unit speed crosses.
constexpr double kPartOfLength = 1.0 / 32.0;

double reach_of(const BodySpec& body) {
  double reach = 0.0;
  for (const CollisionShape& shape : body.shapes)
    for (const ConvexPart& part : shape.shape.parts())
      if (std::isfinite(part.set->outer_radius)) reach = std::max(reach, part.set->outer_radius);
  if (reach == 0.0 && body.inertia.mass > 0.0) reach = std::sqrt(body.inertia.inertia.trace() / body.inertia.mass);
  return reach;
}

bool is_sliding(const JointSpec& joint, int k) {
  switch (joint.type) {
    case JointType::prismatic:
    case JointType::translation2:
    case JointType::translation3:
      return true;
    case JointType::planar:
      return k < 2;
    case JointType::free:
      return k < 3;
    default:
      return false;
  }
}

}  // namespace

double natural_speed(double length, const Vector3& gravity, double time_step) {
  const double g = gravity.norm();
  return g > 0.0 ? std::sqrt(g * length) : kPartOfLength * length / time_step;
}

SmoothUnits::SmoothUnits(const Model& model, double time_step) {
  const auto count = static_cast<std::size_t>(model.num_bodies());
  bodies_.resize(count);
  for (std::size_t b = 0; b < count; ++b) {
    bodies_[b].mass = model.body(static_cast<int>(b)).spec.inertia.mass;
    bodies_[b].length = reach_of(model.body(static_cast<int>(b)).spec);
  }
  // children come after their parents: masses are summed, lengths handed down to who has none
  for (std::size_t b = count; b-- > 0;) {
    const int parent = model.body(static_cast<int>(b)).parent;
    if (parent == kWorld) continue;
    Units& of_parent = bodies_[static_cast<std::size_t>(parent)];
    of_parent.mass += bodies_[b].mass;
    if (of_parent.length == 0.0) of_parent.length = bodies_[b].length;
  }
  velocities_.resize(static_cast<std::size_t>(model.nv()));
  momenta_.resize(velocities_.size());
  positions_.resize(velocities_.size());
  slides_.resize(velocities_.size());
  for (std::size_t b = 0; b < count; ++b) {
    Units& units = bodies_[b];
    if (units.length == 0.0) units.length = kSomeLength;
    if (units.mass == 0.0) units.mass = kSomeMass;
    units.speed = natural_speed(units.length, model.gravity(), time_step);
    const Joint& joint = model.joint(static_cast<int>(b));
    for (int k = 0; k < joint.nv; ++k) {
      const auto dof = static_cast<std::size_t>(joint.first_v + k);
      const bool linear = is_sliding(joint.spec, k);
      slides_[dof] = linear;
      positions_[dof] = linear ? units.length : 1.0;
      velocities_[dof] = linear ? units.speed : units.speed / units.length;
      momenta_[dof] = units.impulse() * (linear ? 1.0 : units.length);
    }
  }
}

}  // namespace tangere
