#pragma once

/// Natural units of the single-level problem: lengths, masses and speeds of the order of what moves, so that the same
/// scene made a hundred times larger or heavier is the same problem, and κ is relative. Constants of a model and a time
/// step: derivatives do not see them.

#include <vector>

#include "tangere/multibody/model.hpp"

namespace tangere {

struct Units {
  /// Metres, kilograms, metres a second.
  double length = 1.0;
  double mass = 1.0;
  double speed = 1.0;

  [[nodiscard]] double impulse() const { return mass * speed; }
};

/// The speed that goes with a length: √(g l), what a fall over it gives; without gravity, that which crosses a
/// thirty-second of it in a step.
[[nodiscard]] double natural_speed(double length, const Vector3& gravity, double time_step);

/// Units of bodies and coordinates.
class SmoothUnits {
 public:
  SmoothUnits(const Model& model, double time_step);

  /// Length: the reach of its shapes from its own centre; mass: all that hangs from its joint.
  [[nodiscard]] const Units& body(int body) const { return bodies_[static_cast<std::size_t>(body)]; }
  /// Unit of velocity and of momentum of a coordinate.
  [[nodiscard]] double velocity(int dof) const { return velocities_[static_cast<std::size_t>(dof)]; }
  [[nodiscard]] double momentum(int dof) const { return momenta_[static_cast<std::size_t>(dof)]; }
  [[nodiscard]] bool slides(int dof) const { return slides_[static_cast<std::size_t>(dof)]; }
  /// A radian, or the length of a coordinate that slides.
  [[nodiscard]] double position(int dof) const { return positions_[static_cast<std::size_t>(dof)]; }

 private:
  std::vector<Units> bodies_;
  std::vector<double> velocities_;
  std::vector<double> momenta_;
  std::vector<double> positions_;
  std::vector<bool> slides_;
};

}  // namespace tangere
