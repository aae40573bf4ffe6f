#include "tangere/contact/smooth/free_mover.hpp"

#include <cmath>
#include <limits>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "tangere/math/so3.hpp"

namespace tangere {
namespace {

constexpr int kMostTurnSteps = 12;

}  // namespace

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

Vector3 midpoint_momentum(const Matrix3& J, const Vector3& w, double h) {
  const Vector3 L = J * w;
  return L + 0.5 * h * w.cross(L);
}

Matrix3 midpoint_momentum_derivative(const Matrix3& J, const Vector3& w, double h) {
  return J + 0.5 * h * (so3::hat(w) * J - so3::hat(J * w));
}

MidpointTurn midpoint_turn(const Matrix3& J, const Vector3& a) {
  const Vector3 target = J * a;
  MidpointTurn out{a, Matrix3::Identity()};
  double last = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kMostTurnSteps; ++i) {
    const Vector3 residual = midpoint_momentum(J, out.turn, 1.0) - target;
    out.inverse = midpoint_momentum_derivative(J, out.turn, 1.0).inverse();
    const Vector3 change = out.inverse * residual;
    const double size = change.squaredNorm();
    // down to rounding, where it no longer shrinks
    if (!(size < last) || size == 0.0) break;
    out.turn -= change;
    last = size;
  }
  return out;
}

std::vector<char> find_free_movers(const Model& model, const ContactOptions& options) {
  const Links& links = model.links();
  std::vector<char> single = find_lone_links(model);
  for (std::size_t i = 0; i < links.links.size(); ++i) {
    if (single[i] == 0) continue;
    for (int k = links.links[i].v; k < links.links[i].v + 6; ++k)
      if (links.armature[k] != 0.0) single[i] = 0;
  }
  if (!options.constraints) return single;
  for (const LoopConstraint& constraint : model.constraints())
    for (const int body : {constraint.body_A, constraint.body_B}) {
      const int link = body == kWorld ? -1 : links.bodies[body].link;
      if (link >= 0) single[link] = 0;
    }
  return single;
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
  linear_before = mass * (V_old + W_old.cross(arm) + dt * gravity) + dt * F;
  angular_before = J * W_old + dt * (X.R * torque - arm.cross(F));
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
  r.tail<3>() = (midpoint_momentum(J, W, time_step) - angular_before) / (units.impulse() * units.length);
  return r;
}

Matrix6 FreeMover::matrix() const {
  Matrix6 A = Matrix6::Zero();
  const double scale = mass / units.mass;
  A.topLeftCorner<3, 3>().diagonal().setConstant(scale);
  if (!arm.isZero(0.0)) A.topRightCorner<3, 3>() = -(scale / units.length) * so3::hat(arm_next) * E;
  A.bottomRightCorner<3, 3>() =
      midpoint_momentum_derivative(J, W, time_step) / (units.mass * units.length * units.length);
  return A;
}

Vector6 FreeMover::velocity_after(const Vector6& residual) const {
  const Matrix3 Rt = X_WL.R.transpose();
  const Vector3 linear = mass * V_c - units.impulse() * residual.head<3>();
  const Vector3 angular = midpoint_momentum(J, W, time_step) - (units.impulse() * units.length) * residual.tail<3>();
  const Vector3 spin = inverse_L * (Rt * angular);
  Vector6 v;
  v << Rt * linear / mass - spin.cross(center_L), spin;
  return v;
}

void FreeMover::set_velocity_after(const Vector6& v) {
  const Vector3 spin = v.tail<3>();
  const Vector3 turn = midpoint_turn(inertia_L, time_step * spin).turn;
  W = X_WL.R * turn / time_step;
  V = X_WL.R * (v.head<3>() + spin.cross(center_L) - cayley_shift(turn, center_L) / time_step);
}

Matrix6 FreeMover::velocity_after_derivative() const {
  const Vector3 w = X_WL.R.transpose() * W;
  const Matrix3 spin = inverse_L * midpoint_momentum_derivative(inertia_L, w, time_step);
  Matrix6 out = Matrix6::Identity();
  out.bottomRightCorner<3, 3>() = spin;
  if (center_L.isZero(0.0)) return out;
  // V_c = V + (X c − c) / dt, with δ(X c) = X (D dt δw × c)
  const Matrix3 X = X_WL.R.transpose() * X_next.R;
  const Matrix3 hat = so3::hat(center_L);
  out.topRightCorner<3, 3>() = hat * spin - X * hat * cayley_right_jacobian(time_step * w);
  return out;
}

Vector6 FreeMover::velocity_after_change(const LinkMoments& change) const {
  const Matrix3 Rt = X_WL.R.transpose();
  const Vector3 w = Rt * W;
  const Vector3 spin = inverse_L * (Rt * midpoint_momentum(J, W, time_step));
  Vector6 out;
  out.tail<3>() = inverse_L * (midpoint_momentum(change.inertia, w, time_step) - change.inertia * spin);
  out.head<3>() = cayley_shift(time_step * w, change.center) / time_step - spin.cross(change.center) -
                  Vector3(out.tail<3>()).cross(center_L);
  return out;
}

}  // namespace tangere
