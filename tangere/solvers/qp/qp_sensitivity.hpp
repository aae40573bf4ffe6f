#pragma once

/// Derivatives of the solution of a quadratic program (qp.hpp) by the implicit function theorem: of x and z with
/// respect to Q, q, G and h, forwards and backwards (DiffPills eq. 10-17).
///
///   Q δx + Gᵀδz = -a,   a = δQ x + δq + δGᵀz
///   G δx + δs   = -b,   b = δG x - δh,        z ∘ δs + s ∘ δz = 0
///
/// At a relaxation κ all rows take part, by Q + Gᵀdiag(z/s)G. At the solution itself the strictly active rows are
/// equations and the others are left out: solved in the null space of the active rows, so that nothing is divided by
/// a slack that goes to zero. Where the minimiser is not unique (`freedom` > 0), the directions in which it may slide
/// are held.
///
/// Corrections: (13) is ½ (d_x xᵀ + x d_xᵀ); (17) needs the inverse of its matrix.

#include <vector>

#include "tangere/solvers/qp/qp.hpp"

namespace tangere {

class QpSensitivity {
 public:
  /// Linearises at a solution. `relaxed`: the solution was stopped at κ > 0. Both objects must stay until the last
  /// call of the functions below.
  void linearise(const QpProblem& problem, const QpSolution& solution, bool relaxed);

  /// Dimension of the set of minimisers around x; 0: unique, and always 0 at a relaxation.
  [[nodiscard]] int freedom() const { return freedom_; }
  /// More strictly active rows than x has room for: z is not unique, and derivatives in G and h are one of many.
  [[nodiscard]] bool dependent() const { return dependent_; }
  /// Row i is strictly active (meaningless at a relaxation).
  [[nodiscard]] bool active(int i) const { return active_[i] != 0; }

  /// δx (n numbers) and, if `dz` is not null, δz (m) for given a (n) and b (m; null: zero).
  void solve(const double* a, const double* b, double* dx, double* dz = nullptr) const;

  /// Forward: δx for a change of all data.
  void forward(const QpProblem& change, Eigen::Ref<VectorX> dx);
  /// Backward: ∂ℓ/∂(Q, q, G, h) from ∂ℓ/∂x. Q's is symmetric: half of it stands for either of two equal entries.
  void backward(const Eigen::Ref<const VectorX>& dl_dx, QpProblem& gradient) const;

  /// One Newton step with the active rows as equations, which takes a solution of the interior point to rounding; rows
  /// between active and not may change sides. `solution` must be the one linearised. False, and nothing changed, where
  /// no step keeps all signs.
  bool refine(QpSolution& solution);

 private:
  void find_active_rows();
  void reduce();
  void orthogonalise();
  void factor_reduced(const double* A, int size);
  [[nodiscard]] double stationarity(const double* x, const double* z, double* a) const;
  bool refine_once(QpSolution& solution, int& wrong);
  void solve_reduced(const double* rhs, double* dx) const;

  static constexpr int kN = kMaxQpVariables;

  const QpProblem* problem_ = nullptr;
  const QpSolution* solution_ = nullptr;
  int n_ = 0;
  bool relaxed_ = false;
  bool dependent_ = false;
  int freedom_ = 0;
  std::vector<char> active_;
  /// Independent active rows, at most n: which, their orthonormal basis (rows of Y) and G_i = Σ_k T(i, k) Y_k.
  int num_equations_ = 0;
  int equation_[kN] = {};
  double Y_[kN * kN] = {};
  double T_[kN * kN] = {};
  /// Rows of Z: an orthonormal basis of what is left free (at a relaxation: everything).
  int num_free_ = 0;
  double Z_[kN * kN] = {};
  /// Pivoted Cholesky of the reduced matrix Z (Q or M) Zᵀ; rank pivots are used.
  int rank_ = 0;
  int pivot_[kN] = {};
  double L_[kN * kN] = {};
  std::vector<double> scratch_;
  std::vector<double> refined_z_;
  std::vector<double> step_z_;
};

}  // namespace tangere
