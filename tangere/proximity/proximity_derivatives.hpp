#pragma once

/// Derivatives of the proximity, for the last query of a workspace.
///
/// Pose tangents are [translation in world axes; right rotation R exp(φ)] of A, then of B: 12 numbers.
///
/// Without smoothing φ is an optimal value, so its gradient is that of |c_A - c_B|² with the closest points frozen in
/// their bodies (no linear solve, and defined for parallel cores too); it is zero where the cores cross. The closest
/// points move with the quadratic program's solution. With smoothing, all are exact derivatives of the central-path
/// point.

#include "tangere/proximity/proximity.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"

namespace tangere {

/// dφ / d(pose of A, pose of B).
[[nodiscard]] Vector12 proximity_gradient(ProximityWorkspace& workspace);

/// The same in the paper's form: [d/dr_A (3), d/dq_A (4: x y z w), d/dr_B (3), d/dq_B (4)]   (DiffPills eq. 27, 28, 33,
/// 34).
[[nodiscard]] Vector14 proximity_quaternion_gradient(ProximityWorkspace& workspace);

/// dφ / d(parameters of A), dφ / d(parameters of B), in the order of Shape::parameters. Allocates only if the vectors
/// have the wrong size. Where more faces meet in the closest point than a corner needs, one of many.
void proximity_parameter_gradient(ProximityWorkspace& workspace, VectorX& d_A, VectorX& d_B);

struct ProximityJacobian {
  /// d(closest point of the core) / d(poses).
  Matrix3x12 c_A;
  Matrix3x12 c_B;
  /// d(point of the shape) / d(poses).
  Matrix3x12 p_A;
  Matrix3x12 p_B;
  /// d(normal) / d(poses); zero where the cores cross.
  Matrix3x12 normal;
  /// False where the closest points are not unique (`point_freedom` > 0), their sliding being held in the rows above,
  /// and where the cores cross.
  bool unique;
};

[[nodiscard]] ProximityJacobian proximity_jacobian(ProximityWorkspace& workspace);

}  // namespace tangere
