#include "tangere/geometry/bounds.hpp"

#include <cmath>
#include <limits>

#include "tangere/geometry/support.hpp"

namespace tangere {

Aabb bounds(const Shape& shape, const Pose& X_WS) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();

  // the box around each part's box would be loose: each part in world axes
  if (const auto* bundle = shape.get_if<Bundle>()) {
    Aabb box{Vector3::Constant(kInfinity), Vector3::Constant(-kInfinity)};
    for (const ShapePart& part : bundle->parts) {
      const Aabb other = bounds(part.shape, X_WS * part.X);
      box.lower = box.lower.cwiseMin(other.lower);
      box.upper = box.upper.cwiseMax(other.upper);
    }
    return box;
  }

  // the support is NaN where a half-space goes on for ever
  Aabb box;
  for (int k = 0; k < 3; ++k) {
    const Vector3 axis = X_WS.R.row(k).transpose();
    const double upper = axis.dot(support(shape, axis));
    const double lower = axis.dot(support(shape, -axis));
    box.upper[k] = std::isnan(upper) ? kInfinity : X_WS.p[k] + upper;
    box.lower[k] = std::isnan(lower) ? -kInfinity : X_WS.p[k] + lower;
  }
  return box;
}

}  // namespace tangere
