#pragma once

/// Actuators turn controls into generalised forces.

#include <limits>
#include <string>

namespace tangere {

/// force = gear · clamp(output), output by kind:
///   motor      gain u
///   position   gain (u - length) - damping speed
///   velocity   gain (u - speed)
///   affine     gain u + bias - stiffness length - damping speed
/// with length = gear q, speed = gear v, u clamped to the control range and the output to the force range.
struct Actuator {
  enum class Kind { motor, position, velocity, affine };

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  std::string name{};
  Kind kind = Kind::motor;
  /// The velocity coordinate it acts on (`Model::dof_name`).
  int dof = 0;
  double gear = 1.0;
  double gain = 1.0;
  /// Kind::position and Kind::affine.
  double damping = 0.0;
  double lower_control = -kInfinity;
  double upper_control = kInfinity;
  double lower_force = -kInfinity;
  double upper_force = kInfinity;
  /// Kind::affine.
  double bias = 0.0;
  double stiffness = 0.0;
};

/// The one law of all kinds: gain u + bias - stiffness length - damping speed.
struct ActuatorLaw {
  double gain = 1.0;
  double bias = 0.0;
  double stiffness = 0.0;
  double damping = 0.0;
};

[[nodiscard]] inline ActuatorLaw law_of(const Actuator& actuator) {
  switch (actuator.kind) {
    case Actuator::Kind::motor:
      break;
    case Actuator::Kind::position:
      return {.gain = actuator.gain, .stiffness = actuator.gain, .damping = actuator.damping};
    case Actuator::Kind::velocity:
      return {.gain = actuator.gain, .damping = actuator.gain};
    case Actuator::Kind::affine:
      return {actuator.gain, actuator.bias, actuator.stiffness, actuator.damping};
  }
  return {.gain = actuator.gain};
}

}  // namespace tangere
