#pragma once

/// Volume moments and the solids they are taken over. Private to geometry.

#include "tangere/geometry/hull.hpp"
#include "tangere/math/se3.hpp"
#include "tangere/math/types.hpp"

namespace tangere::internal {

/// ∫ dV, ∫ p dV and ∫ p pᵀ dV of a solid: they add over disjoint solids and move with a pose.
struct Moments {
  double volume = 0.0;
  Vector3 first = Vector3::Zero();
  Matrix3 second = Matrix3::Zero();

  Moments& operator+=(const Moments& other);
  [[nodiscard]] Moments posed(const Pose& X) const;
  /// Volume v, centre at the origin, ∫ p pᵀ dV = v diag(spread).
  [[nodiscard]] static Moments centred(double v, const Vector3& spread);
};

/// The tetrahedron (0, a, b, c), negative if it is turned inside out.
[[nodiscard]] Moments tetrahedron_moments(const Vector3& a, const Vector3& b, const Vector3& c);
[[nodiscard]] Moments polyhedron_moments(const Hull& hull);
/// All points within R of a polyhedron; its faces may be degenerate (a flat prism).
[[nodiscard]] Moments rounded_polyhedron_moments(const Hull& given, double R);
/// All points within `radius` of the segment of the given length along x.
[[nodiscard]] Moments capsule_moments(double radius, double length);
[[nodiscard]] Moments ball_moments(double radius);

}  // namespace tangere::internal
