#pragma once

/// Mass, centre of mass and inertia of a homogeneous shape.

#include <span>

#include "tangere/geometry/mesh.hpp"
#include "tangere/geometry/shape.hpp"

namespace tangere {

struct MassProperties {
  double mass;
  /// Centre of mass in the shape's frame.
  Vector3 center;
  /// About the centre of mass, in the shape's axes.
  Matrix3 inertia;
};

/// Throws InputError for a half-space (infinite) and for density ≤ 0. Bundles add their parts (overlaps count
/// twice). Minkowski sums with a cylinder, a cone or an ellipsoid are integrated over a surface of support points, good
/// to 1e-6, in some tenths of a second; everything else in closed form or over exact faces.
[[nodiscard]] MassProperties mass_properties(const Shape& shape, double density = 1000.0);

/// Mass properties of what a closed mesh encloses. Throws InputError `mesh` if its volume is not positive: open, or
/// inside out.
[[nodiscard]] MassProperties mass_properties(const TriangleMesh& mesh, double density = 1000.0);

/// The same body seen from another frame: X = X_NewOld.
[[nodiscard]] MassProperties posed(const MassProperties& body, const Pose& X);
/// Mass properties of several bodies held together, all given in one frame.
[[nodiscard]] MassProperties combined(std::span<const MassProperties> bodies);

}  // namespace tangere
