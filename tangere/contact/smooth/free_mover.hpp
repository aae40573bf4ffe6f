#pragma once

/// A rigid body that nothing but contact holds, in the single-level problem (not installed). Unknowns: the
/// velocity V of its frame's origin and its angular velocity W over the step, both in world axes.
///
///   R⁺ = cay(dt W) R,   r⁺ = r + dt V,   V_c = V + (R⁺ − R) c / dt
///   linear    m V_c − (P + dt f + Σ F)                       P = m (v + ω × c)
///   angular   ν(W, dt) − (L + dt τ + Σ (l × F + torque))     L = J ω about the centre of mass, J at the old attitude
///   ν(W, h) = J W + h/2 W × J W                              the implicit midpoint rule of Euler's equations
///
/// P and L are the body's momentum; what is in brackets is the momentum after the step, and the answer is the velocity
/// v̂ of which it is the momentum at the old attitude: by it the body moves and has its new velocities
/// (sim/internal/lone_body.hpp; the same rule, so the same turn). So momentum is kept to rounding however well the
/// problem is solved: in flight, and with l from the *old* centre to a point shared by both bodies of a pair in
/// collisions too (single_level.hpp).

#include <vector>

#include "tangere/contact/options.hpp"
#include "tangere/contact/scene/link_moments.hpp"
#include "tangere/contact/smooth/smooth_units.hpp"
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
  Matrix3 inverse_L = Matrix3::Zero();

  // of the step
  double time_step = 0.0;
  Pose X_WL;
  Vector3 center = Vector3::Zero();  // the centre of mass, and from the origin
  Vector3 arm = Vector3::Zero();
  Matrix3 J = Matrix3::Zero();
  Vector3 linear_before = Vector3::Zero();  // with the forces of the step
  Vector3 angular_before = Vector3::Zero();
  /// Velocity it would have without contact.
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
  /// Derivative of the residual in (V, W), in units.
  [[nodiscard]] Matrix6 matrix() const;

  /// v̂, in the old axes, from the residual with contact (units); that of V and W where it is zero.
  [[nodiscard]] Vector6 velocity_after(const Vector6& residual) const;
  /// The iterate of a solved step.
  void set_velocity_after(const Vector6& v);
  /// dv̂ by (V, W), all in the old axes, after `update`; and by the body's moments at fixed V and W.
  [[nodiscard]] Matrix6 velocity_after_derivative() const;
  [[nodiscard]] Vector6 velocity_after_change(const LinkMoments& change) const;

  [[nodiscard]] LinkMoments moments() const { return {mass, center_L, inertia_L}; }
  [[nodiscard]] Vector3 velocity_at(const Vector3& x) const { return V + W.cross(x - X_next.p); }
};

/// cay(φ) − 1, applied to a.
[[nodiscard]] Vector3 cayley_shift(const Vector3& phi, const Vector3& a);
/// The rotation vector of cay(φ).
[[nodiscard]] Vector3 cayley_logarithm(const Vector3& phi);
/// R cay(φ + δ) = R cay(φ) exp(D δ) to first order: D = (1 − φ̂/2) / (1 + φ²/4).
[[nodiscard]] Matrix3 cayley_right_jacobian(const Vector3& phi);
/// ν(w, h) and its derivative in w.
[[nodiscard]] Vector3 midpoint_momentum(const Matrix3& J, const Vector3& w, double h);
[[nodiscard]] Matrix3 midpoint_momentum_derivative(const Matrix3& J, const Vector3& w, double h);

/// The turn d of ν(d, 1) = J a, and the inverse of ν's derivative there: by Newton's method from a, which converges
/// unless a body turns by about a radian a step. What it then ends with keeps the momentum too.
struct MidpointTurn {
  Vector3 turn;
  Matrix3 inverse;
};
[[nodiscard]] MidpointTurn midpoint_turn(const Matrix3& J, const Vector3& a);

/// By link, whether it is such a body: no tree, no armature, no loop.
[[nodiscard]] std::vector<char> find_free_movers(const Model& model, const ContactOptions& options);

}  // namespace tangere
