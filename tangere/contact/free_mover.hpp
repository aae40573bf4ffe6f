#pragma once

/// A rigid body that nothing but contact holds, in the single-level problem (private to contact). Unknowns: the
/// velocity V of its frame's origin and its angular velocity W, both in world axes.
///
///   R⁺ = cay(dt W) R,   r⁺ = r + dt V,   V_c = V + (R⁺ − R) c / dt
///   linear    m (V_c − V_c of the last step) − dt f − Σ F
///   angular   μ(W, dt) − μ(W of the last step, −dt) − dt τ − Σ (l × F + torque)       about the centre of mass
///   μ(W, h) = J W + h/2 W × J W + h²/4 (W · J W) W,   J at the old attitude
///
/// R⁺ μ(w, −h) = R μ(w, h): what flies freely keeps its angular momentum to rounding; with l from the *old* centre to
/// a point shared by both bodies of a pair, so do collisions (single_level.hpp).

#include "tangere/contact/link_moments.hpp"
#include "tangere/contact/smooth_units.hpp"
#include "tangere/math/se3.hpp"

namespace tangere {

/// Rows: 3 or 6; columns: V, W in units.
using Matrix3x6c = Eigen::Matrix<double, 3, 6, Eigen::DontAlign>;

struct FreeMover {
  // constants
  int body = 0;
  int first_v = 0;
  Units units;
  double mass = 0.0;
  Vector3 center_L = Vector3::Zero();
  Matrix3 inertia_L = Matrix3::Zero();  // about the centre

  // of the step
  double time_step = 0.0;
  Pose X_WL;
  Vector3 center = Vector3::Zero();  // the centre of mass, and from the origin
  Vector3 arm = Vector3::Zero();
  Matrix3 J = Matrix3::Zero();
  Vector3 linear_before = Vector3::Zero();
  Vector3 angular_before = Vector3::Zero();
  /// Where it would go without contact.
  Vector3 V_free = Vector3::Zero();

  // iterate
  Vector3 V = Vector3::Zero();
  Vector3 W = Vector3::Zero();
  Vector3 V_saved = Vector3::Zero();
  Vector3 W_saved = Vector3::Zero();

  // of `update`
  Pose X_next;
  Matrix3 E = Matrix3::Identity();  // dθ = dt E dW, world axes
  Vector3 arm_next = Vector3::Zero();
  Vector3 V_c = Vector3::Zero();

  /// `v` of the model's coordinates, force and torque (about the frame's origin) in the frame's axes, gravity apart.
  void begin(const Pose& X, const Vector3& linear, const Vector3& angular, const Vector3& force, const Vector3& torque,
             const Vector3& gravity, double dt);
  void update();
  /// Without contact, in units.
  [[nodiscard]] Vector6 residual() const;
  /// Of the residual by (V, W), in units.
  [[nodiscard]] Matrix6 matrix() const;
  [[nodiscard]] LinkMoments moments() const { return {mass, center_L, inertia_L}; }
  [[nodiscard]] Vector3 velocity_at(const Vector3& x) const { return V + W.cross(x - X_next.p); }
};

/// cay(φ) − 1, applied to a.
[[nodiscard]] Vector3 cayley_shift(const Vector3& phi, const Vector3& a);
/// The rotation vector of cay(φ).
[[nodiscard]] Vector3 cayley_logarithm(const Vector3& phi);
/// R cay(φ + δ) = R cay(φ) exp(D δ) to first order: D = (1 − φ̂/2) / (1 + φ²/4).
[[nodiscard]] Matrix3 cayley_right_jacobian(const Vector3& phi);
/// μ(w, h) and its derivative in w.
[[nodiscard]] Vector3 discrete_momentum(const Matrix3& J, const Vector3& w, double h);
[[nodiscard]] Matrix3 discrete_momentum_derivative(const Matrix3& J, const Vector3& w, double h);

}  // namespace tangere
