#include "tangere/math/se3.hpp"

#include <cmath>
#include <string>

#include "tangere/math/error.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/math/stumpff.hpp"

namespace tangere {

Pose Pose::from_quaternion(const Vector3& p, double qx, double qy, double qz, double qw) {
  constexpr double kTolerance = 1e-6;
  if (!p.allFinite()) throw InputError("position", "must be three finite numbers");
  Eigen::Quaterniond q(qw, qx, qy, qz);
  const double length = q.coeffs().stableNorm();
  if (!(std::abs(length - 1.0) <= kTolerance)) {
    throw InputError("quaternion", "must be of unit length up to 1e-6, its length is " + std::to_string(length));
  }
  q.coeffs() /= length;
  return {q.toRotationMatrix(), p};
}

Vector4 Pose::quaternion() const {
  const Eigen::Quaterniond q(R);
  const Vector4 coefficients = q.coeffs().normalized();
  return q.w() < 0.0 ? Vector4(-coefficients) : coefficients;
}

Pose Pose::perturbed(const Vector6& tangent) const { return {R * so3::exp(tangent.tail<3>()), p + tangent.head<3>()}; }

namespace se3 {
namespace {

// [a b; 0 a]: the shape of every 6 x 6 matrix here
Matrix6 block_triangular(const Matrix3& a, const Matrix3& b) {
  Matrix6 M;
  M << a, b, Matrix3::Zero(), a;
  return M;
}

// The upper right block of the left Jacobian (Barfoot, State Estimation for Robotics, eq. 7.86b), with its coefficients
// as Stumpff functions: (2θ - 3 sin θ + θ cos θ) / (2θ⁵) = (c_4 - 3 c_5) / 2.
Matrix3 left_jacobian_coupling(const Vector3& rho, const Vector3& phi) {
  const Stumpff c = stumpff(phi.squaredNorm());
  const Matrix3 V = so3::hat(rho);
  const Matrix3 W = so3::hat(phi);
  const Matrix3 VW = V * W;
  const Matrix3 WV = W * V;
  const Matrix3 WVW = W * VW;
  return 0.5 * V + c.c3 * (WV + VW + WVW) + c.c4 * (W * WV + VW * W - 3.0 * WVW) +
         0.5 * (c.c4 - 3.0 * c.c5) * (WVW * W + W * WVW);
}

// J_r(ξ) = J_l(-ξ)
Matrix3 right_jacobian_coupling(const Vector6& xi) { return left_jacobian_coupling(-xi.head<3>(), -xi.tail<3>()); }

}  // namespace

Pose exp(const Vector6& xi) {
  const Vector3 phi = xi.tail<3>();
  return {so3::exp(phi), so3::right_jacobian(-phi) * xi.head<3>()};
}

Vector6 log(const Pose& X) {
  const Vector3 phi = so3::log(X.R);
  Vector6 xi;
  xi << so3::right_jacobian_inverse(-phi) * X.p, phi;
  return xi;
}

Matrix6 adjoint(const Pose& X) { return block_triangular(X.R, so3::hat(X.p) * X.R); }

Matrix6 small_adjoint(const Vector6& xi) { return block_triangular(so3::hat(xi.tail<3>()), so3::hat(xi.head<3>())); }

Matrix6 right_jacobian(const Vector6& xi) {
  return block_triangular(so3::right_jacobian(xi.tail<3>()), right_jacobian_coupling(xi));
}

Matrix6 right_jacobian_inverse(const Vector6& xi) {
  const Matrix3 inverse = so3::right_jacobian_inverse(xi.tail<3>());
  return block_triangular(inverse, -inverse * right_jacobian_coupling(xi) * inverse);
}

}  // namespace se3
}  // namespace tangere
