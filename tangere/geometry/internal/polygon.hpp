#pragma once

/// Corners of convex polygons, from half-planes or points. Private to geometry.

#include "tangere/math/types.hpp"

namespace tangere::internal {

/// Corners of {C w ≤ d} with d > 0, counter-clockwise, one a row. Throws InputError: `C`/`d` not finite or of different
/// length, a zero row, d not positive, or unbounded (with a direction in which an edge is missing).
[[nodiscard]] MatrixX2 polygon_corners(const MatrixX2& C, const VectorX& d);

/// Corners of the convex hull of points in the plane, counter-clockwise, one a row.
[[nodiscard]] MatrixX2 convex_polygon(const MatrixX2& points);

}  // namespace tangere::internal
