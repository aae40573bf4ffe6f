#pragma once

/// What turns a control into a generalised force.

#include <limits>
#include <string>

namespace tangere {

/// force = clamp(gear · output), output by kind:
///   motor      gain u
///   position   gain (u - gear q) - damping (gear v)
///   velocity   gain (u - gear v)
/// with u clamped to the control range and the output to the force range.
struct Actuator {
  enum class Kind { motor, position, velocity };

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  std::string name{};
  Kind kind = Kind::motor;
  /// The velocity coordinate it acts on (`Model::dof_name`).
  int dof = 0;
  double gear = 1.0;
  double gain = 1.0;
  double damping = 0.0;
  double lower_control = -kInfinity;
  double upper_control = kInfinity;
  double lower_force = -kInfinity;
  double upper_force = kInfinity;
};

}  // namespace tangere
