#pragma once

/// The one place that knows Qhull (its reentrant C interface). Private to geometry.

#include <vector>

#include "tangere/math/types.hpp"

namespace tangere::internal {

/// normal · x ≤ offset with a unit normal, and the input points that span it, counter-clockwise seen from outside.
struct HullFacet {
  Vector3 normal;
  double offset;
  std::vector<int> points;
};

struct QhullResult {
  /// The points lie in a plane (up to rounding) with the normal `flat_normal`; there are no facets then.
  bool flat = false;
  Vector3 flat_normal = Vector3::Zero();
  /// Coplanar facets merged.
  std::vector<HullFacet> facets;
};

/// Area-weighted normal of a polygon over points, one a row (Newell): averages the rounding of its points.
[[nodiscard]] Vector3 polygon_normal(const MatrixX3& points, const std::vector<int>& polygon);

/// Facets of the convex hull of finite points (one a row), in an order that depends on the points alone.
[[nodiscard]] QhullResult convex_hull(const MatrixX3& points);

}  // namespace tangere::internal
