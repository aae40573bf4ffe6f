#include "tangere/contact/free_mover.hpp"

#include <cmath>

#include <Eigen/Geometry>

#include "tangere/math/so3.hpp"

namespace tangere {

Vector3 cayley_shift(const Vector3& phi, const Vector3& a) {
  const Vector3 turned = phi.cross(a);
  return (turned + 0.5 * phi.cross(turned)) / (1.0 + 0.25 * phi.squaredNorm());
}

Vector3 cayley_logarithm(const Vector3& phi) {
  const double half = 0.5 * phi.norm();
  // atan(x) / x
  const double ratio = half < 1e-4 ? 1.0 - half * half / 3.0 : std::atan(half) / half;
  return ratio * phi;
}

Matrix3 cayley_right_jacobian(const Vector3& phi) {
  return (Matrix3::Identity() - 0.5 * so3::hat(phi)) / (1.0 + 0.25 * phi.squaredNorm());
}

Vector3 discrete_momentum(const Matrix3& J, const Vector3& w, double h) {
  const Vector3 L = J * w;
  return L + 0.5 * h * w.cross(L) + (0.25 * h * h * w.dot(L)) * w;
}

Matrix3 discrete_momentum_derivative(const Matrix3& J, const Vector3& w, double h) {
  const Vector3 L = J * w;
  Matrix3 out = J + 0.5 * h * (so3::hat(w) * J - so3::hat(L));
  out += 0.25 * h * h * (w.dot(L) * Matrix3::Identity() + 2.0 * w * L.transpose());
  return out;
}

void FreeMover::begin(const Pose& X, const Vector3& linear, const Vector3& angular, const Vector3& force,
                      const Vector3& torque, const Vector3& gravity, double dt) {
  time_step = dt;
  X_WL = X;
  arm = X.R * center_L;
  center = X.p + arm;
  J = X.R * inertia_L * X.R.transpose();
  const Vector3 W_old = X.R * angular;
  const Vector3 V_old = X.R * linear;
  const Vector3 F = X.R * force;
  // the centre's velocity over the last step: (R − cay(−dt W) R) c / dt
  const Vector3 center_velocity = V_old - cayley_shift(-dt * W_old, arm) / dt;
  linear_before = mass * (center_velocity + dt * gravity) + dt * F;
  angular_before = discrete_momentum(J, W_old, -dt) + dt * (X.R * torque - arm.cross(F));
  V_free = V_old + dt * (gravity + F / mass);
}

void FreeMover::update() {
  const Vector3 phi = time_step * W;
  const double scale = 1.0 / (1.0 + 0.25 * phi.squaredNorm());
  const Matrix3 hat = so3::hat(phi);
  const Matrix3 C = Matrix3::Identity() + scale * (hat + 0.5 * hat * hat);
  X_next = {C * X_WL.R, X_WL.p + time_step * V};
  E = scale * (Matrix3::Identity() + 0.5 * hat);
  arm_next = C * arm;
  V_c = V + (arm_next - arm) / time_step;
}

Vector6 FreeMover::residual() const {
  Vector6 r;
  r.head<3>() = (mass * V_c - linear_before) / units.impulse();
  r.tail<3>() = (discrete_momentum(J, W, time_step) - angular_before) / (units.impulse() * units.length);
  return r;
}

Matrix6 FreeMover::matrix() const {
  Matrix6 A = Matrix6::Zero();
  const double scale = mass / units.mass;
  A.topLeftCorner<3, 3>().diagonal().setConstant(scale);
  if (!arm.isZero(0.0)) A.topRightCorner<3, 3>() = -(scale / units.length) * so3::hat(arm_next) * E;
  A.bottomRightCorner<3, 3>() =
      discrete_momentum_derivative(J, W, time_step) / (units.mass * units.length * units.length);
  return A;
}

}  // namespace tangere
