#pragma once

/// Axis-aligned bounds.

#include "tangere/geometry/shape.hpp"

namespace tangere {

struct Aabb {
  Vector3 lower;
  Vector3 upper;
};

/// The tightest box around the shape posed at X_WS, in world axes. Infinite where a half-space is.
[[nodiscard]] Aabb bounds(const Shape& shape, const Pose& X_WS = {});

}  // namespace tangere
