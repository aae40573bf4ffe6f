#pragma once

/// Rigid motions. A `Pose` X_WB is the pose of frame B in frame W: p_W = R_WB p_B + p_WB, and in X_WA * X_AB the
/// inner letters meet. Twists are [linear; angular].
///
/// Two tangents are in use (docs/conventions.md):
///  * the group's: X exp(ξ), with ξ = [linear; angular] in the body frame (the functions of this file);
///  * the pair queries': [translation in world axes; body-frame right perturbation of R], i.e.
///    p ← p + δr, R ← R exp(φ) (`perturbed`).

#include <Eigen/Geometry>

#include "tangere/math/types.hpp"

namespace tangere {

struct Pose {
  Matrix3 R = Matrix3::Identity();
  Vector3 p = Vector3::Zero();

  Pose() = default;
  Pose(const Matrix3& rotation, const Vector3& translation) : R(rotation), p(translation) {}

  [[nodiscard]] static Pose translation(const Vector3& p) { return {Matrix3::Identity(), p}; }
  [[nodiscard]] static Pose rotation(const Matrix3& R) { return {R, Vector3::Zero()}; }
  /// The quaternion must be of unit length up to 1e-6 (it is normalised); otherwise InputError.
  [[nodiscard]] static Pose from_quaternion(const Vector3& p, double qx, double qy, double qz, double qw);

  /// Coefficients x y z w, w >= 0.
  [[nodiscard]] Vector4 quaternion() const;
  [[nodiscard]] Pose inverse() const { return {R.transpose(), -(R.transpose() * p)}; }
  [[nodiscard]] Pose operator*(const Pose& other) const { return {R * other.R, R * other.p + p}; }
  [[nodiscard]] Vector3 operator*(const Vector3& point) const { return R * point + p; }

  /// Moved by the pair queries' tangent: p + tangent.head<3>(), R exp(tangent.tail<3>()).
  [[nodiscard]] Pose perturbed(const Vector6& tangent) const;
};

namespace se3 {

[[nodiscard]] Pose exp(const Vector6& xi);
[[nodiscard]] Vector6 log(const Pose& X);
/// Ad_X: twists of B to twists of W for X = X_WB.
[[nodiscard]] Matrix6 adjoint(const Pose& X);
/// ad_ξ, so that ad_ξ η = [ξ, η].
[[nodiscard]] Matrix6 small_adjoint(const Vector6& xi);
/// J_r: exp(ξ + δ) = exp(ξ) exp(J_r(ξ) δ) to first order.
[[nodiscard]] Matrix6 right_jacobian(const Vector6& xi);
[[nodiscard]] Matrix6 right_jacobian_inverse(const Vector6& xi);

}  // namespace se3
}  // namespace tangere
