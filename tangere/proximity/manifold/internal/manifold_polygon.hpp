#pragma once

/// Convex polygons in the plane of a patch. Private to the manifold.

#include <span>

#include "tangere/math/types.hpp"

namespace tangere::internal {

/// Two unit vectors that complete the unit vector n to a right-handed frame (u, v, n).
struct PlaneBasis {
  explicit PlaneBasis(const Vector3& n);
  [[nodiscard]] Vector2 operator()(const Vector3& p) const { return {u.dot(p), v.dot(p)}; }

  Vector3 u;
  Vector3 v;
};

[[nodiscard]] inline double cross(const Vector2& a, const Vector2& b) { return a[0] * b[1] - a[1] * b[0]; }

/// The extreme points, counter-clockwise, as indices into `points` (at most 256); points within `tolerance` of the hull
/// of the others count as inside. Returns how many.
int convex_hull(std::span<const Vector2> points, double tolerance, std::span<int> order);

/// Whether x is inside the counter-clockwise polygon, or outside by no more than `tolerance`.
[[nodiscard]] bool contains(std::span<const Vector2> polygon, const Vector2& x, double tolerance);

[[nodiscard]] double area(std::span<const Vector2> polygon);

/// Removes points from `kept` (indices into `points`) down to `max`: again and again the one whose removal costs the
/// hull the least area, of equals the last one going round from `fixed`; never `fixed`, which must be among them.
int reduce(std::span<const Vector2> points, std::span<int> kept, int max, int fixed);

}  // namespace tangere::internal
