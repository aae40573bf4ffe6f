#pragma once

/// How far points reach in which directions. Private to geometry.

#include <vector>

#include "tangere/math/types.hpp"

namespace tangere::internal {

/// points − mean = U diag(sigma) axesᵀ, largest first; what is missing with fewer than three points is zero.
struct Spread {
  Vector3 mean = Vector3::Zero();
  Vector3 sigma = Vector3::Zero();
  Matrix3 axes = Matrix3::Identity();
  /// The points less their mean.
  std::vector<Vector3> centred;
};

/// Spread of points, one per row, with the same bits wherever they lie in memory.
[[nodiscard]] Spread spread_of(const MatrixX3& points);

}  // namespace tangere::internal
