#pragma once

/// The conic rows of each shape, one function a shape: checks the specification (InputError names the field) and lays
/// out the set. Private to geometry.

#include "tangere/geometry/convex_set.hpp"
#include "tangere/geometry/shape.hpp"

namespace tangere::internal {

[[nodiscard]] ConvexSet make_set(const Sphere& sphere);
[[nodiscard]] ConvexSet make_set(const Ellipsoid& ellipsoid);
[[nodiscard]] ConvexSet make_set(const Box& box);
[[nodiscard]] ConvexSet make_set(const Polytope& polytope);
[[nodiscard]] ConvexSet make_set(const RoundedPolytope& rounded);
[[nodiscard]] ConvexSet make_set(const Capsule& capsule);
[[nodiscard]] ConvexSet make_set(const Cylinder& cylinder);
[[nodiscard]] ConvexSet make_set(const Cone& cone);
[[nodiscard]] ConvexSet make_set(const PaddedPolygon& polygon);
[[nodiscard]] ConvexSet make_set(const HalfSpace& half_space);
[[nodiscard]] ConvexSet make_set(const MinkowskiSum& sum);

/// The terms of a set's support function, from its specification and the core that `make_set` found.
[[nodiscard]] std::shared_ptr<const SupportTerms> support_terms(const ShapeSpec& spec, const ConvexSet& set);

/// Collects the rows of one set. Columns: p is 0..2, then `kAlpha`, `kAux` + k, and `constant()`.
class RowBuilder {
 public:
  static constexpr int kAlpha = 3;
  static constexpr int kAux = 4;

  RowBuilder(int num_aux, int num_orthant, int num_cones);

  [[nodiscard]] int constant() const { return kAux + num_aux_; }
  /// First row of a cone.
  [[nodiscard]] int cone(int index) const { return num_orthant_ + 4 * index; }
  double& operator()(int row, int column) { return S_(row, column); }
  /// ∂(row, column)/∂parameter += value; zeros are dropped.
  void derivative(int parameter, int row, int column, double value);
  /// |p - y| ≤ alpha radius as cone `index`, y the first `dimension` auxiliaries; `parameter` is the radius.
  void ball_around_aux(int index, int dimension, double radius, int parameter);
  /// The set; radii, core and aux_start (zero) are left to the caller.
  [[nodiscard]] ConvexSet build(int num_parameters) const;

 private:
  int num_aux_;
  int num_orthant_;
  int num_cones_;
  MatrixX S_;
  std::vector<RowDerivative> derivatives_;
};

}  // namespace tangere::internal
