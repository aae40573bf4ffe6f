#pragma once

/// Feature of one term of a support function in a direction. Private to the manifold.

#include <array>

#include "tangere/proximity/manifold/manifold_features.hpp"

namespace tangere::internal {

struct TermFeature {
  /// 0 a point, 1 a line, 2 a face.
  int dimension = 0;
  /// Corners without center and smooth parts, in the set's frame.
  int count = 0;
  std::array<Corner, kMaxCorners> corners;
  /// Faces only: normal in the set's frame.
  Vector3 normal;
  /// Lines only: unit direction; sine of its angle from perpendicular to n; whether it is on the side of a cylinder or
  /// cone, where it turns with n.
  Vector3 direction;
  double slope = 0.0;
  bool ruled = false;
  /// The normals of the line are those with axis · m = level: the line's own direction and 0, or the axis it turns
  /// about.
  Vector3 axis;
  double level = 0.0;
};

/// `k` is the term's index, n the unit direction in the set's frame, `tolerance` the sine of an angle.
void find_term_feature(const SupportTerms& terms, int k, const Vector3& n, double tolerance, TermFeature& feature);

}  // namespace tangere::internal
