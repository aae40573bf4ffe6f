#pragma once

/// Parameters of a world as numbers without bounds, z, so that every step of a search is possible:
///
///   masses, sizes, frictions, springs …   θ = e^z
///   restitution                           θ = 1 / (1 + e^-z)
///   placements, centres, gravity          θ = scale z
///   `<body>.density`                      mass and inertia e^z times those at the start
///   `<body>.inertial`                     mass e^a, centre l t, and the second moments about it m L Lᵀ, with L upper
///                                         triangular, its diagonal l e^d and the rest l s: every z is a body that
///                                         exists
///
/// with l the body's radius of gyration at the start. Inertia about the centre is I = tr(m L Lᵀ) 1 - m L Lᵀ.

#include <string>
#include <vector>

#include "tangere/sim/step_parameters.hpp"

namespace tangere::internal {

struct Unknown {
  enum class Kind { free, positive, part, density, inertial };
  std::string name;
  Kind kind = Kind::free;
  /// Its parameters: all equal to the one number, or the ten of a body.
  int first_parameter = 0;
  int num_parameters = 1;
  /// Its numbers in z.
  int first = 0;
  int size = 1;
  double scale = 1.0;
  /// Kind::density: the values at the start.
  VectorX base{};
};

class Unknowns {
 public:
  /// Names of parameters (sim/step_parameters.hpp), several of one value as `a = b = c`, `<body>.density` and
  /// `<body>.inertial`.
  /// InputError for others, and for values from which they cannot start (a friction of 0).
  Unknowns(const World& world, const std::vector<std::string>& names);

  [[nodiscard]] int size() const { return static_cast<int>(start_.size()); }
  [[nodiscard]] const std::vector<StepParameter>& parameters() const { return parameters_; }
  [[nodiscard]] const std::vector<Unknown>& list() const { return unknowns_; }
  /// Values of the world.
  [[nodiscard]] const VectorX& start() const { return start_; }
  [[nodiscard]] std::string number_name(int i) const;
  /// Values of the parameters, and their derivative in z.
  [[nodiscard]] VectorX values(const VectorX& z) const;
  [[nodiscard]] MatrixX jacobian(const VectorX& z) const;

 private:
  void add_density(const World& world, const std::string& body);
  void add_inertial(const World& world, const std::string& body);
  void add_number(const World& world, const std::string& name);

  std::vector<StepParameter> parameters_;
  std::vector<Unknown> unknowns_;
  VectorX start_;
};

}  // namespace tangere::internal
