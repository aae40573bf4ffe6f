#pragma once

/// Points on the surface of a convex shape, dense enough to draw their hull. Private to geometry.

#include "tangere/geometry/hull.hpp"
#include "tangere/geometry/shape.hpp"

namespace tangere::internal {

/// On the surface of a polyhedron padded by a ball: the corners of its flat faces, and the curved parts at a step of a
/// turn / resolution.
[[nodiscard]] MatrixX3 rounded_surface_points(const Hull& core, double radius, int resolution);

/// S such that the directions S u, u over the unit sphere, spread the support points evenly however long or thin the
/// shape: S = Q^(-1/2) with half-widths w(n)² ≈ nᵀ Q n, exactly for an ellipsoid.
[[nodiscard]] Matrix3 even_directions(const Shape& shape);

/// Support points of a bounded convex shape over a sphere of directions, and close around the normal of each flat face.
[[nodiscard]] MatrixX3 support_points(const Shape& shape, int resolution);

}  // namespace tangere::internal
