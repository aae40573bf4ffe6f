#pragma once

/// Small dense quadratic programs: the data and the answer, shared by the two solvers (qp_interior_point.hpp,
/// qp_active_set.hpp) and by their derivatives (qp_sensitivity.hpp).
///
///   minimise  ½ xᵀQ x + qᵀx + c   subject to   G x + s = h,  s ≥ 0                          (DiffPills eq. 1)
///
///   Q x + q + Gᵀz = 0,   s ∘ z = κ e,   s, z ≥ 0      (κ = 0: the solution)                  (DiffPills eq. 3-6)
///
/// Q is symmetric positive semidefinite, of at most `kMaxQpVariables` rows; G has any number of rows. Problems and
/// answers keep the memory of the largest size they ever had: reused, they allocate nothing.
///
///   QpProblem problem;
///   problem.resize(2, 4);
///   problem.Q() << …;  problem.q() << …;  problem.G() << …;  problem.h() << …;
///   QpInteriorPoint solver;
///   const QpSolution& answer = solver.solve(problem);

#include <string_view>
#include <vector>

#include "tangere/math/types.hpp"

namespace tangere {

inline constexpr int kMaxQpVariables = 6;

using RowMajorX = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor | Eigen::DontAlign>;
using VectorMap = Eigen::Map<VectorX>;
using ConstVectorMap = Eigen::Map<const VectorX>;
using MatrixMap = Eigen::Map<RowMajorX>;
using ConstMatrixMap = Eigen::Map<const RowMajorX>;

/// The data of a program. Also its gradient: one number for each number of the data.
class QpProblem {
 public:
  QpProblem() = default;
  QpProblem(const MatrixX& Q, const VectorX& q, const MatrixX& G, const VectorX& h);

  /// Sets the size; the numbers are then to be written anew.
  void resize(int num_variables, int num_rows);
  [[nodiscard]] int num_variables() const { return n_; }
  [[nodiscard]] int num_rows() const { return m_; }

  [[nodiscard]] MatrixMap Q() { return {Q_, n_, n_}; }
  [[nodiscard]] VectorMap q() { return {q_, n_}; }
  [[nodiscard]] MatrixMap G() { return {G_.data(), m_, n_}; }
  [[nodiscard]] VectorMap h() { return {h_.data(), m_}; }
  [[nodiscard]] ConstMatrixMap Q() const { return {Q_, n_, n_}; }
  [[nodiscard]] ConstVectorMap q() const { return {q_, n_}; }
  [[nodiscard]] ConstMatrixMap G() const { return {G_.data(), m_, n_}; }
  [[nodiscard]] ConstVectorMap h() const { return {h_.data(), m_}; }

  /// c of the objective: it moves no solution, but relative gaps are relative to the objective with it.
  double constant = 0.0;

  [[nodiscard]] double objective(const Eigen::Ref<const VectorX>& x) const;

  /// Throws InputError naming the first thing wrong: more than `kMaxQpVariables` variables, numbers that are not
  /// finite, Q not symmetric or with a negative diagonal.
  void verify() const;

 private:
  int n_ = 0;
  int m_ = 0;
  double Q_[kMaxQpVariables * kMaxQpVariables] = {};
  double q_[kMaxQpVariables] = {};
  std::vector<double> G_;
  std::vector<double> h_;
};

enum class QpStatus {
  /// Gap and both residuals are below the tolerances (with κ: s ∘ z = κ e as well).
  solved,
  /// Not within the iteration limit: look at gap and residuals. Infeasible and unbounded programs end here or below.
  iteration_limit,
  /// Rounding, or a direction in which there is no way on.
  numerical_limit,
};
[[nodiscard]] std::string_view to_string(QpStatus status);

class QpSolution {
 public:
  void resize(int num_variables, int num_rows);
  [[nodiscard]] int num_variables() const { return n_; }
  [[nodiscard]] int num_rows() const { return static_cast<int>(s_.size()); }

  /// The minimiser; where it is not unique, a point inside the set of minimisers.
  [[nodiscard]] VectorMap x() { return {x_, n_}; }
  /// Slacks h - G x and multipliers (the paper's λ).
  [[nodiscard]] VectorMap s() { return {s_.data(), num_rows()}; }
  [[nodiscard]] VectorMap z() { return {z_.data(), num_rows()}; }
  [[nodiscard]] ConstVectorMap x() const { return {x_, n_}; }
  [[nodiscard]] ConstVectorMap s() const { return {s_.data(), num_rows()}; }
  [[nodiscard]] ConstVectorMap z() const { return {z_.data(), num_rows()}; }

  QpStatus status = QpStatus::numerical_limit;
  double objective = 0.0;
  /// sᵀz.
  double gap = 0.0;
  /// |G x + s - h|∞ and |Q x + q + Gᵀz|∞, relative to the largest of their terms.
  double primal_residual = 0.0;
  double dual_residual = 0.0;
  int iterations = 0;

 private:
  int n_ = 0;
  double x_[kMaxQpVariables] = {};
  std::vector<double> s_;
  std::vector<double> z_;
};

}  // namespace tangere
