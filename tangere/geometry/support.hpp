#pragma once

/// Support maps: the point of a shape farthest in a direction.

#include "tangere/geometry/shape.hpp"

namespace tangere {

/// argmax over p in the shape of n · p, in the shape's frame; n need not be of unit length. For a bundle, over all
/// parts. For a half-space the answer exists only along its normal: NaN otherwise. n = 0 gives any point of the shape.
[[nodiscard]] Vector3 support(const Shape& shape, const Vector3& n);

}  // namespace tangere
