#include "tangere/contact/smooth/smooth_units.hpp"

#include <algorithm>
#include <cmath>

namespace tangere {
namespace {

/// Metres and kilograms, of what has neither shape nor mass.
constexpr double kSomeLength = 0.1;
constexpr double kSomeMass = 1e-3;
/// Without gravity: the part of the length that a step at unit speed crosses at most, and the largest √(c l / dt), by
/// which κ speeds up what touches (times √κ): what nothing slows must not be flung apart, however large [m/s].
constexpr double kPartOfLength = 1.0 / 32.0;
constexpr double kFastestKick = 250.0;
/// Steps of the fall that gives a speed.
constexpr double kLongestFall = 100.0;

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

SmoothUnits::SmoothUnits(const Model& model) : gravity_(model.gravity().norm()) {
  bodies_.resize(static_cast<std::size_t>(model.num_bodies()));
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const BodySpec& body = model.body(static_cast<int>(b)).spec;
    Units& units = bodies_[b];
    units.mass = body.inertia.mass;
    units.length = 0.0;
    for (const CollisionShape& shape : body.shapes) {
      std::vector<Radii>& radii = parts_.emplace_back();
      for (const ConvexPart& part : shape.shape.parts()) {
        radii.push_back({part.set->outer_radius, part.set->inner_radius});
        if (std::isfinite(radii.back().outer)) units.length = std::max(units.length, radii.back().outer);
      }
    }
    if (units.length == 0.0 && units.mass > 0.0) units.length = std::sqrt(body.inertia.inertia.trace() / units.mass);
  }
  // children come after their parents: masses are summed, lengths handed down to who has none
  for (std::size_t b = bodies_.size(); b-- > 0;) {
    const int parent = model.body(static_cast<int>(b)).parent;
    if (parent == kWorld) continue;
    Units& of_parent = bodies_[parent];
    of_parent.mass += bodies_[b].mass;
    if (of_parent.length == 0.0) of_parent.length = bodies_[b].length;
  }
  for (Units& units : bodies_) {
    if (units.length == 0.0) units.length = kSomeLength;
    if (units.mass == 0.0) units.mass = kSomeMass;
  }
}

double SmoothUnits::speed(double length, double time_step) const {
  if (!(gravity_ > 0.0))
    return std::min(kPartOfLength * length / time_step, kFastestKick * kFastestKick * time_step / length);
  return std::min(std::sqrt(gravity_ * length), kLongestFall * time_step * gravity_);
}

Units SmoothUnits::body(int body, double time_step) const {
  Units units = bodies_[body];
  units.speed = speed(units.length, time_step);
  return units;
}

CoordinateUnits::CoordinateUnits(const Model& model, const SmoothUnits& units, double time_step) {
  coordinates_.resize(static_cast<std::size_t>(model.nv()));
  for (int b = 0; b < model.num_bodies(); ++b) {
    const Units body = units.body(b, time_step);
    const Joint& joint = model.joint(b);
    for (int k = 0; k < joint.nv; ++k) {
      Coordinate& to = coordinates_[joint.first_v + k];
      to.slides = is_sliding(joint.spec, k);
      to.position = to.slides ? body.length : 1.0;
      to.velocity = to.slides ? body.speed : body.speed / body.length;
      to.momentum = body.impulse() * (to.slides ? 1.0 : body.length);
    }
  }
}

}  // namespace tangere
