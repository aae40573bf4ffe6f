#pragma once

/// Equations between the coordinates of the trees in the single-level problem (private to contact): loops (welds,
/// connected points) and mimics, with an impulse λ each row.
///
///   r = (g(q⁺) − (1 − correction) g(q)) / (dt c) + compliance λ = 0
///   M̃ (v⁺ − v_free) − … − N(q⁺) λ = 0
///
///   connect   g = R_Aᵀ (p_B − p_A)                 λ: a force on B at p_B in the axes of A, the opposite on A
///   weld      the same, and log(R_Aᵀ R_B)          λ: also a torque, likewise
///   mimic     g = q_i − multiplier q_j − offset    λ: on i, − multiplier λ on j
///
/// in units (speed c, momenta) of the lighter body. What is assembled stays so to rounding, what is not closes as in
/// hard contact by `ContactOptions::correction` of the gap a step. The compliance makes λ unique where rows repeat each
/// other (a planar loop).
///
/// To the problem an equality is a few coordinates of the tree, some listed twice, and matrices over them.

#include <array>
#include <span>
#include <vector>

#include "tangere/contact/options.hpp"
#include "tangere/contact/smooth/internal/tree_mover.hpp"

namespace tangere {

/// How an impulse of a pair or of a loop acts on its sides: on B as it is, on A (0) its opposite.
[[nodiscard]] constexpr double sign_of(int side) { return side == 0 ? -1.0 : 1.0; }
[[nodiscard]] constexpr double sign_of(std::size_t side) { return side == 0 ? -1.0 : 1.0; }

class SmoothEquality {
 public:
  static SmoothEquality loop(const LoopConstraint& constraint, const Model& model, const SmoothUnits& units,
                             const CoordinateUnits& coordinates, double time_step, const ContactOptions& options);
  static SmoothEquality mimic(int joint, const Model& model, const CoordinateUnits& coordinates, double time_step,
                              const ContactOptions& options);

  [[nodiscard]] int num_rows() const { return num_rows_; }
  [[nodiscard]] bool is_loop() const { return is_loop_; }
  [[nodiscard]] double compliance() const { return compliance_; }
  /// Coordinates of the model.
  [[nodiscard]] std::span<const int> dofs() const { return dofs_; }

  /// The gap before the step.
  void begin(const Model& model, const Data& data, VectorArgument q);
  /// r, a row each, at the tree's iterate; N λ is taken off the tree's `residual`.
  void evaluate(TreeMover& tree, const double* lambda, double* r, double* residual);
  /// G, N and T at the last `evaluate`.
  void linearise(TreeMover& tree);
  /// And those by q⁺ and q.
  void differentiate(const TreeMover& tree, const Data& data);

  /// dr/dv⁺ (rows x dofs), d(N λ)/dλ (dofs x rows), d(N λ)/dv⁺ (dofs x dofs); in units.
  MatrixX G;
  MatrixX N;
  MatrixX T;
  /// dr and d(N λ) by q⁺ at fixed v⁺, and dr by q at fixed q⁺, in the tangents of the model's coordinates.
  MatrixX G_next;
  MatrixX T_next;
  MatrixX G_old;

  // loops, for placements of joints: after `differentiate`
  [[nodiscard]] int body(int side) const { return bodies_[side]; }
  /// The point that twists are about, after the step and before.
  [[nodiscard]] const Vector3& point() const { return B_.p; }
  [[nodiscard]] const Vector3& old_point() const { return old_B_.p; }
  /// On B, about the point: force and torque, SI.
  [[nodiscard]] const Vector6& impulse() const { return W_; }
  [[nodiscard]] const TreeMover::Columns& columns(int side) const { return columns_[side]; }
  /// How r changes as A and B are carried by twists, after the step and before; and the impulse.
  [[nodiscard]] Vector6 carried_gap(const std::array<Vector6, 2>& next, const std::array<Vector6, 2>& old) const;
  [[nodiscard]] Vector6 carried_impulse(const std::array<Vector6, 2>& next) const;

 private:
  void resize();
  /// d(g) of the rows by the twist of B against A about the point, over dt c.
  [[nodiscard]] Matrix6 gap_rate(const Matrix3& axes, const Vector3& turn) const;

  bool is_loop_ = false;
  int num_rows_ = 0;
  std::vector<int> dofs_;
  double time_step_ = 0.0;
  double keep_ = 1.0;  // 1 − correction
  double compliance_ = 0.0;
  const CoordinateUnits* coordinates_ = nullptr;

  // loops
  std::array<int, 2> bodies_{kWorld, kWorld};
  Pose X_AC_;
  Pose X_BC_;
  Units units_;
  Pose A_;
  Pose B_;
  Pose old_A_;
  Pose old_B_;
  Vector3 turn_ = Vector3::Zero();
  Vector3 old_turn_ = Vector3::Zero();
  Vector6 W_ = Vector6::Zero();
  std::array<TreeMover::Columns, 2> columns_;
  std::array<MatrixX, 2> turning_;
  Matrix6X old_motions_;

  // mimics
  std::array<int, 2> q_{};
  double multiplier_ = 1.0;
  double offset_ = 0.0;

  Vector6 old_gap_ = Vector6::Zero();
};

}  // namespace tangere
