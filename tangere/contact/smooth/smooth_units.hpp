#pragma once

/// Natural units of smooth contact: lengths, masses and speeds of the order of what moves, so that the same scene made
/// a hundred times larger or heavier is the same problem, and κ is relative. Constants of a model: a world with other
/// parameters keeps the units of the one it came from, so that derivatives do not see them.

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

/// Lengths and masses of bodies, of their shapes' parts and of coordinates.
class SmoothUnits {
 public:
  explicit SmoothUnits(const Model& model);

  /// The speed that goes with a length: √(g l), what a fall over it gives, or over a hundred steps if that is less: so
  /// that what carries a weight over a step is never below a hundredth, and κ relaxes forces where steps are short.
  /// Without gravity, the speed which crosses a thirty-second of it in a step, or less for what is large.
  [[nodiscard]] double speed(double length, double time_step) const;
  /// A speed divided by that of one step of free fall; 0 without gravity.
  [[nodiscard]] double falls(double speed, double time_step) const {
    return gravity_ > 0.0 ? speed / (gravity_ * time_step) : 0.0;
  }
  /// Metres that a step of free fall adds to a step's way.
  [[nodiscard]] double fall(double time_step) const { return gravity_ * time_step * time_step; }
  /// Length: the largest reach of its shapes from their own centres; mass: all that hangs from its joint.
  [[nodiscard]] Units body(int body, double time_step) const;
  [[nodiscard]] double mass(int body) const { return bodies_[body].mass; }
  [[nodiscard]] double length(int body) const { return bodies_[body].length; }
  /// The reach of a convex part of a shape (collision_scene.hpp numbers these) from its centre.
  [[nodiscard]] double part_length(int shape, int part) const { return parts_[shape][part].outer; }
  /// The radius of a ball about its centre that is inside it.
  [[nodiscard]] double inner_length(int shape, int part) const { return parts_[shape][part].inner; }

 private:
  std::vector<Units> bodies_;
  struct Radii {
    double outer = 0.0;
    double inner = 0.0;
  };
  std::vector<std::vector<Radii>> parts_;
  double gravity_ = 0.0;
};

/// Units of velocity, momentum and position of the coordinates, at a time step.
class CoordinateUnits {
 public:
  CoordinateUnits(const Model& model, const SmoothUnits& units, double time_step);

  [[nodiscard]] double velocity(int dof) const { return of(dof).velocity; }
  [[nodiscard]] double momentum(int dof) const { return of(dof).momentum; }
  /// A radian, or the length of a coordinate that slides.
  [[nodiscard]] double position(int dof) const { return of(dof).position; }
  [[nodiscard]] bool slides(int dof) const { return of(dof).slides; }

 private:
  struct Coordinate {
    double velocity = 1.0;
    double momentum = 1.0;
    double position = 1.0;
    bool slides = false;
  };
  [[nodiscard]] const Coordinate& of(int dof) const { return coordinates_[dof]; }

  std::vector<Coordinate> coordinates_;
};

}  // namespace tangere
