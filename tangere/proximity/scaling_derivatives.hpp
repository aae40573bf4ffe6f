#pragma once

/// Derivatives of the minimum scaling, for the last query of a workspace.
///
/// Pose tangents are [translation in world axes; right rotation R exp(φ)] of A, then of B: 12 numbers. For bundles they
/// are those of the whole bundle's pose, through the part that decides.
///
/// Without smoothing, alpha's gradient is the wrench that the multipliers carry (no linear solve), one supporting
/// direction where alpha has a kink; the Jacobian is that of the solution where it is unique. With smoothing kappa, all
/// are exact derivatives of the central-path point, which exist everywhere but at alpha = 0.

#include "tangere/proximity/scaling.hpp"

namespace tangere {

/// dα / d(pose of A, pose of B). After `zero_scaling`: one subgradient (zero where a centre is inside a half-space).
[[nodiscard]] Vector12 scaling_gradient(ScalingWorkspace& workspace);

/// dα / d(parameters of A), dα / d(parameters of B), in the order of Shape::parameters. Allocates only if the vectors
/// have the wrong size.
void scaling_parameter_gradient(ScalingWorkspace& workspace, VectorX& d_A, VectorX& d_B);

struct ScalingJacobian {
  /// d(x, alpha) / d(poses).
  Matrix4x12 x_alpha;
  /// d(witness point) / d(poses).
  Matrix3x12 p_A;
  Matrix3x12 p_B;
  /// False where x is not unique (`point_freedom` > 0) or alpha has a kink and no smoothing was asked for: the rows of
  /// x are then those of a slightly smoothed problem (finite, but large and of little meaning); alpha's row is still a
  /// supporting wrench.
  bool unique;
};

[[nodiscard]] ScalingJacobian scaling_jacobian(ScalingWorkspace& workspace);

/// d(x, alpha) / d(parameters): 4 rows each.
void scaling_parameter_jacobian(ScalingWorkspace& workspace, Matrix4X& d_A, Matrix4X& d_B);

/// The papers' form of a row over pose tangents: [d/dr_A (3), d/dq_A (4: x y z w), d/dr_B (3), d/dq_B (4)], for unit
/// quaternions as returned by Pose::quaternion.
using Vector14 = Eigen::Matrix<double, 14, 1, Eigen::DontAlign>;
[[nodiscard]] Vector14 quaternion_form(const Vector12& row, const Pose& X_WA, const Pose& X_WB);

}  // namespace tangere
