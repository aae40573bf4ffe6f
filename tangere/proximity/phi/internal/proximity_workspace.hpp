#pragma once

/// Record of a proximity query that its derivatives read (private to proximity).

#include <memory>

#include "tangere/proximity/proximity.hpp"
#include "tangere/solvers/qp/qp_interior_point.hpp"
#include "tangere/solvers/qp/qp_sensitivity.hpp"

namespace tangere {

/// A core {E u : C u ≤ d}, E the first `dimension` columns of the unit matrix; its rows are the orthant rows of the
/// shape's set at alpha = 1, in p or, for padded shapes, in the auxiliaries.
struct Core {
  /// A copy, which keeps the set alive as long as the derivatives may be asked for.
  std::shared_ptr<const ConvexSet> set;
  int dimension = 0;
  /// First column of the core coordinates in the set's rows.
  int first_column = 0;
  double radius = 0.0;
  /// Radius of a ball about the origin that contains the core.
  double size = 0.0;

  [[nodiscard]] int num_rows() const { return set->rows.num_orthant(); }
};

struct ProximityWorkspace::Data {
  Core core_A;
  Core core_B;
  Pose X_WA;
  Pose X_WB;
  Matrix3 R_AB;
  /// Unit of length of the quadratic program.
  double unit = 1.0;
  /// Its variables are the core coordinates of A, then of B, in units of `unit`. Empty for two points.
  QpProblem problem;
  QpInteriorPoint solver;
  /// Also the answer of the active set.
  QpSensitivity sensitivity;
  QpProblem gradient;
  /// Closest points in their bodies' frames, and v = c_A - c_B in A's frame.
  Vector3 w_A;
  Vector3 w_B;
  Vector3 v;
  Vector3 normal;
  double distance = 0.0;
  bool smoothed = false;
  bool crossing = false;
  bool has_query = false;

  [[nodiscard]] int num_variables() const { return core_A.dimension + core_B.dimension; }
  [[nodiscard]] double padding() const { return core_A.radius + core_B.radius; }
};

/// Throws InputError if there was no query yet.
[[nodiscard]] ProximityWorkspace::Data& queried(ProximityWorkspace& workspace);

}  // namespace tangere
