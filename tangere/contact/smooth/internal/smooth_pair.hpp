#pragma once

/// A pair of convex sets in the single-level problem (private to contact), all in the pair's units: lengths in l,
/// velocities in c, impulses in m c.
///
///   collision  f_A + f_B = 0,   a_A + a_B = 1                     (smooth_side.hpp)
///   contact    s_γ = α − 1 − d κ − b,   γ s_γ = κ                 (b: rebound.hpp)
///   friction   β₀ = friction γ,   η₁ = (Tᵀ v_rel, ρ n · ω_rel),   β ∘ η = κ e
///   impulse    F = γ n + T β₁₂ and the torque ρ β₃ n, on B, at x;   n = (f_B − f_A) / |f_B − f_A|
///
/// The equations are triangular once the poses are known: (x, α) of the collision is a 4 x 4 system, γ follows from α,
/// and the friction law gives β₁ by a closed form. So a pair needs no matrix beyond 4 x 4, and what is left of it is
/// how its impulse answers to the twists (δ, dθ) of A and B and to their relative velocity: a matrix 6 x 18.
///
/// With a cone of friction nothing depends on how T lies about n: it is carried from iterate to iterate by the smallest
/// rotation that takes n to the new n, so that dT_k = −n (T_k · dn). With a pyramid it matters: t₁ ∥ a − n (n·a),
/// t₂ = n × t₁, with an axis a of one of the sets (`axes_of_B`), its x axis unless that is near n, then its y axis. T
/// then spins about n as well, dT_k = −n (T_k · dn) + n × T_k dψ, with
///
///   dψ = (t₂ · (dθ × a) − (n·a) (t₂ · dn)) / |a − n (n·a)|,     dθ the turn of that set.

#include "tangere/contact/smooth/internal/smooth_side.hpp"
#include "tangere/contact/smooth_contact.hpp"

namespace tangere {

using Matrix3x6 = Eigen::Matrix<double, 3, 6, Eigen::DontAlign>;
using Matrix6x18 = Eigen::Matrix<double, 6, 18, Eigen::DontAlign>;

/// Motion of a side at the end of the step: velocity of its material at x, and its spin.
struct SideVelocity {
  Vector3 at_x = Vector3::Zero();
  Vector3 spin = Vector3::Zero();
};

/// How z and s of the contact and of the friction lie in memory: γ; then one cone (β₀, β₁ …) or cones (β₀, β_k).
struct PairNumbers {
  double* z = nullptr;
  double* s = nullptr;
};

class SmoothPair {
 public:
  /// Entries of z that contact and friction take.
  [[nodiscard]] int num_contact_rows() const;
  /// Directions of friction: 0, 2, or 3 with torsion.
  void set_friction(double coefficient, double radius, FrictionShape form);

  /// γ, s_γ, β and η at the start.
  void start(double nu);
  /// Residuals at (x, α) and the poses of the sides; answers with the largest. `shift` is d κ + b.
  double evaluate(double shift, const SideVelocity& A, const SideVelocity& B);
  /// Response. `frozen_normal` leaves out how n moves.
  bool factor(bool frozen_normal);
  /// The next `respond` and `recover` are with second-order terms, times `weight`, along the last `recover`, which gave
  /// this dz of the contact (not read for 0, which is without). Those where the contact point moves, far along faces:
  /// levers, slip, and places in sets that turn.
  void bend(double weight, const double* dz);
  /// The part of the response that does not depend on the bodies: F and torque about x, for complementarity residuals
  /// of A, B and of the contact rows.
  void respond(const double* r_A, const double* r_B, const double* r, Vector6& out);
  /// Steps of everything, from the twists of the sides (δ, dθ) and the changes of their velocities (at fixed x).
  void recover(const double* r_A, const double* r_B, const double* r_contact, const Vector6& xi_A, const Vector6& xi_B,
               const Vector6& dU_A, const Vector6& dU_B, double* dz_A, double* ds_A, double* dz_B, double* ds_B,
               double* dz, double* ds, double* dy_A, double* dy_B);

  /// The same of contact and friction alone.
  void recover_contact(const double* r_contact, const Vector6& xi_A, const Vector6& xi_B, const Vector6& dU, double* dz,
                       double* ds);

  /// The impulse on B: force and torque about x.
  [[nodiscard]] Vector6 impulse() const;

  /// The rate of α at the end of the step, by the last `evaluate`.
  [[nodiscard]] double opening() const { return 0.5 * length_ * n.dot(v_rel_); }

  SmoothSide A;
  SmoothSide B;
  PairNumbers at;

  Vector3 x = Vector3::Zero();
  double alpha = 1.0;
  /// Steps of the last `recover`.
  Vector3 dx = Vector3::Zero();
  double dalpha = 0.0;

  Vector3 n = Vector3::UnitZ();
  Eigen::Matrix<double, 3, 2, Eigen::DontAlign> T = Eigen::Matrix<double, 3, 2, Eigen::DontAlign>::Zero();
  /// d(F, torque + dx × F) / d(ξ_A, ξ_B, U_B − U_A).
  Matrix6x18 Y;

  /// Pyramid: T follows an axis of B, else one of A.
  bool axes_of_B = false;

  /// Which sides can move: the response to the others is not computed.
  bool moves_A = true;
  bool moves_B = true;

  /// s_γ = α − 1 − shift + compliance γ.
  double compliance = 0.0;
  int num_friction = 0;
  double friction = 0.0;
  double torsion_radius = 0.0;
  FrictionShape shape = FrictionShape::cone;

  /// Both sides' derivatives that the residual's own parameters need (single_level_derivatives.cpp).
  struct Outside {
    /// Changes of (f, a) of A and B at fixed variables, the rows' own included.
    Vector4 g_A = Vector4::Zero();
    Vector4 g_B = Vector4::Zero();
    /// dβ₀ − friction dγ.
    double beta_0 = 0.0;
    /// The gap that the pair keeps.
    double gap = 0.0;
  };
  /// The impulse's change for such, poses and velocities held.
  [[nodiscard]] Vector6 respond_outside(const Outside& outside) const;

 private:
  /// −γ / stiffness is dγ/dα.
  [[nodiscard]] double stiffness() const { return at.s[0] + compliance * at.z[0]; }
  struct Change {
    Vector3 x;
    double alpha;
    Vector3 n;
    /// Spin of T about n, beyond the turn of n itself.
    double spin;
    double gamma;
    Vector3 e;
    Vector3 b;
  };
  void carry_tangents(const Vector3& new_n);
  void fix_tangents(const Vector3& new_n);
  /// How the velocity along the directions of friction changes with x, n and the spin.
  [[nodiscard]] Vector3 slip_change(const Change& change) const;
  void friction_law();
  /// Columns [First, First + Count) of the response.
  template <int First, int Count>
  void respond_to_twists(const Vector6& W);
  [[nodiscard]] double beta_0(int k) const;
  [[nodiscard]] double eta_0(int k) const;
  [[nodiscard]] int tail_index(int k) const;
  [[nodiscard]] Vector6 impulse_change(const Change& change) const;
  void collision_change(const Vector4& g_A, const Vector4& g_B, const Vector4& right, Change& change) const;

  // residuals
  Vector4 r_g_ = Vector4::Zero();
  double r_gap_ = 0.0;
  Vector3 r_beta_ = Vector3::Zero();
  Vector3 r_eta_ = Vector3::Zero();
  double length_ = 1.0;  // |f_B − f_A|
  Vector3 v_rel_ = Vector3::Zero();
  Vector3 w_rel_ = Vector3::Zero();
  bool frozen_normal_ = false;
  // the spin of a pyramid's T about n, by n and by the turn of the set whose axis it follows
  Vector3 spin_by_normal_ = Vector3::Zero();
  Vector3 spin_by_turn_ = Vector3::Zero();

  // H_A + H_B, factored
  Eigen::Matrix<double, 4, 4, Eigen::RowMajor | Eigen::DontAlign> H_;
  int pivots_[4] = {};
  using Matrix4x12R = Eigen::Matrix<double, 4, 12, Eigen::RowMajor | Eigen::DontAlign>;
  Matrix4x12R X_xi_;
  Matrix3x12 e_xi_;
  Matrix3x6 e_U_;
  Matrix3x12 b_xi_;
  Matrix3x6 b_U_;
  // db = inverse_ (r₂ − b r₁ / β₀) − Lambda_ de + lambda_ dβ₀
  Matrix3 Lambda_;
  Vector3 lambda_;
  Matrix3 inverse_;
  Change own_;

  // of the last `recover`, and of `bend`
  Vector6 xi_A_ = Vector6::Zero();
  Vector6 xi_B_ = Vector6::Zero();
  Vector3 dw_A_ = Vector3::Zero();
  Vector3 dw_B_ = Vector3::Zero();
  bool bent_ = false;
  Vector3 bent_A_ = Vector3::Zero();
  Vector3 bent_B_ = Vector3::Zero();
  Vector3 bent_slip_ = Vector3::Zero();
  Vector3 bent_torque_ = Vector3::Zero();
};

}  // namespace tangere
