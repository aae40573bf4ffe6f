#pragma once

/// Between vertices and half-spaces, through Qhull.

#include <array>
#include <vector>

#include "tangere/math/types.hpp"

namespace tangere {

/// A convex polyhedron in both descriptions.
struct Hull {
  /// Extreme points only, one a row.
  MatrixX3 vertices;
  /// normals * p ≤ offsets, unit normals, one row a face (coplanar triangles merged).
  MatrixX3 normals;
  VectorX offsets;
  /// Each face's vertices, counter-clockwise seen from outside.
  std::vector<std::vector<int>> faces;
};

/// Convex hull of points (one a row). Throws InputError `vertices` if fewer than four, not finite, or flat.
[[nodiscard]] Hull hull_of_points(const MatrixX3& points);

/// The polyhedron A p ≤ b with b > 0. Throws InputError: `A`/`b` not finite or of different length, a zero row, b not
/// positive (origin not strictly inside), or unbounded (with a direction in which a face is missing). Faces that
/// nowhere touch the polyhedron are absent from the result.
[[nodiscard]] Hull hull_of_half_spaces(const MatrixX3& A, const VectorX& b);

}  // namespace tangere
