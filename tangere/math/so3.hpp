#pragma once

/// Rotations: exponential, logarithm and Jacobians of SO(3). Right perturbations throughout: R exp(φ).

#include "tangere/math/types.hpp"

namespace tangere::so3 {

/// hat(a) b = a × b.
[[nodiscard]] Matrix3 hat(const Vector3& a);
[[nodiscard]] Vector3 vee(const Matrix3& A);
[[nodiscard]] Matrix3 exp(const Vector3& phi);
/// The rotation vector of smallest length; at a half turn one of the two.
[[nodiscard]] Vector3 log(const Matrix3& R);
/// J_r: exp(φ + δ) = exp(φ) exp(J_r(φ) δ) to first order.
[[nodiscard]] Matrix3 right_jacobian(const Vector3& phi);
[[nodiscard]] Matrix3 right_jacobian_inverse(const Vector3& phi);

}  // namespace tangere::so3
