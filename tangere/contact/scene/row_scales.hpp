#pragma once

/// How easily bodies and coordinates move, in general: inverse masses and inertias at the neutral configuration. They
/// scale the compliance of rows, and are constants, so that the forces that the compliance makes unique have
/// derivatives.

#include <vector>

#include "tangere/contact/smooth/smooth_units.hpp"
#include "tangere/multibody/model.hpp"

namespace tangere {

class RowScales {
 public:
  explicit RowScales(const Model& model);

  /// Velocity an impulse between two bodies at their surfaces, mean over directions. 1 / kg and 1 / (kg m²); 0 for the
  /// world.
  [[nodiscard]] double linear(int body_A, int body_B) const { return of(linear_, body_A) + of(linear_, body_B); }
  [[nodiscard]] double angular(int body_A, int body_B) const { return of(angular_, body_A) + of(angular_, body_B); }
  [[nodiscard]] double coordinate(int dof) const { return coordinate_[dof]; }
  /// Kilograms of all that is connected with either body and moves.
  [[nodiscard]] double connected_mass(int body_A, int body_B) const;
  /// Units of smooth contact.
  [[nodiscard]] const SmoothUnits& smooth() const { return smooth_; }

 private:
  [[nodiscard]] static double of(const std::vector<double>& scales, int body) { return body < 0 ? 0.0 : scales[body]; }

  std::vector<double> linear_;
  std::vector<double> angular_;
  std::vector<double> coordinate_;
  /// The first coordinate of each body's tree (-1: fixed), and the mass of the tree it is the first of.
  std::vector<int> tree_;
  std::vector<double> tree_mass_;
  SmoothUnits smooth_;
};

}  // namespace tangere
