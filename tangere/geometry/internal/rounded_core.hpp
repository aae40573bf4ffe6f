#pragma once

/// Shapes that are a polytope (or polygon, segment, point) padded by a ball, and sums of such. Private to geometry.

#include <optional>

#include "tangere/geometry/hull.hpp"
#include "tangere/geometry/shape.hpp"

namespace tangere::internal {

/// The shape is all points within `radius` (zero or more) of the hull of `points`.
struct RoundedCore {
  enum class Dimension { point, segment, polygon, solid };
  Dimension dimension;
  double radius;
  /// One point, the segment's two ends, or unused.
  MatrixX3 points;
  /// Hull of the solid; a polygon is a prism of height zero: both sides are faces, and each edge has one without area.
  Hull hull;
};

/// Empty for ellipsoids, cylinders, cones, half-spaces, bundles, and sums with one of them.
[[nodiscard]] std::optional<RoundedCore> rounded_core(const Shape& shape);

}  // namespace tangere::internal
