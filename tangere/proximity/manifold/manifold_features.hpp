#pragma once

/// Feature of a convex set in a direction: a face, a line or a point, as corners that are smooth functions of the
/// direction. Not installed.
///
/// With S = center ⊕ terms ⊕ ball (support_terms.hpp), a corner is a choice of one point a term:
///
///   s(n) = fixed + Σ_rims ρ u(n) + Σ_ellipsoids E² n / |E n| + radius n,     u(n) = n's part across the axis,
///   normalised
///
/// The derivative ds/dn is the Hessian of the support function of that choice; it vanishes along n.

#include <array>
#include <cstdint>

#include "tangere/geometry/support_terms.hpp"
#include "tangere/math/types.hpp"
#include "tangere/proximity/manifold.hpp"

namespace tangere::internal {

struct Corner {
  /// The part that does not depend on the direction, in the set's frame.
  Vector3 fixed = Vector3::Zero();
  /// Terms (by index, the first 32) whose disc contributes its rim, and which of the two discs.
  std::uint32_t rims = 0;
  std::uint32_t second_disc = 0;
  int id = 0;
};

/// The corner's point for the unit direction n.
[[nodiscard]] Vector3 corner_point(const SupportTerms& terms, const Corner& corner, const Vector3& n);
/// Its derivative in n (symmetric).
[[nodiscard]] Matrix3 corner_hessian(const SupportTerms& terms, const Corner& corner, const Vector3& n);

inline constexpr int kMaxCorners = 64;

struct Feature {
  /// 0 a point, 1 a line with two corners, 2 a face with its corners counter-clockwise about m. A half-space: a face
  /// without corners.
  int dimension = 0;
  int count = 0;
  std::array<Corner, kMaxCorners> corners;
  FeatureKind kind = FeatureKind::vertex;
  /// The normal of the feature itself (a point: n; a line: n turned to be perpendicular to it; a face: its own), and
  /// its derivative in n. Padding goes along it, so that all points lie on the surface however n is tilted.
  Vector3 m;
  Matrix3 dm_dn;
  /// A cap: the true outline of a face whose corners are points of its rim.
  bool disc = false;
  /// The corners stand for a round outline that is not a disc (sums with a cylinder or cone): it lies outside theirs.
  bool inscribed = false;
  Vector3 disc_center;
  double disc_radius = 0.0;
  /// A measure of how round the feature is, for the place of the contact point. Infinite for faces.
  double roundness = 0.0;
};

/// The feature of the set along the unit vector n, faces and lines counted as such within the angle `tolerance`.
void find_feature(const SupportTerms& terms, const Vector3& n, double tolerance, Feature& feature);

/// max n · p over the set.
[[nodiscard]] double support_value(const SupportTerms& terms, const Vector3& n);

/// Name of one corner of a feature, or of the line between two.
[[nodiscard]] ContactFeature corner_feature(const SupportTerms& terms, const Feature& feature, int i);
[[nodiscard]] ContactFeature edge_feature(const SupportTerms& terms, const Feature& feature, int i, int j);

}  // namespace tangere::internal
