#pragma once

/// Boxed linear complementarity with friction: the contact problem in the space of its rows.
///
///   w = A f + b + C f,   C = diag(compliances)
///   w_i = 0 while lower_i < f_i < upper_i,   w_i ≥ 0 at the lower bound,   w_i ≤ 0 at the upper bound
///
/// A is symmetric and positive semidefinite (J M⁻¹ Jᵀ), of any rank: the compliance makes f unique where rows repeat
/// each other. The bounds of a friction row are ± friction f[normal], of the final f. Rows:
///
///   normal      lower 0, upper ∞
///   tangential  normal = row of its normal, friction ≥ 0
///   equality    lower -∞, upper ∞
///   dry friction of a joint   lower -c, upper c
///
///   BoxedLcpSolver solver;
///   const BoxedLcpSolution& solution = solver.solve(A, b, rows, {}, sets_of_the_last_step);
///
/// A chain of methods, each answer verified, the first that verifies taken: the sets of the last step; a few Newton
/// steps on the sets; Lemke's path from there; an interior point where A is given by its parts; Lemke's path from afar
/// where its pieces are cheap (few rows, or A by its parts); Dantzig's pivoting for few rows, and a Newton method on
/// the penalised primal, both with lagged friction bounds; Lemke's path where it was not first; all again from other
/// starts. What is best of all is answered with its residual if none does. `BoxedLcpOptions::only` picks one method, to
/// see what it can do alone.

#include <limits>
#include <span>
#include <vector>

#include "tangere/math/owned.hpp"
#include "tangere/math/scratch_matrix.hpp"
#include "tangere/solvers/lcp/row_set.hpp"
#include "tangere/solvers/lcp/sparse_rows.hpp"

namespace tangere {

struct BoxedLcpRow {
  double lower = 0.0;
  double upper = std::numeric_limits<double>::infinity();
  /// The row whose force bounds this one; -1 without (then lower and upper hold).
  int normal = -1;
  double friction = 0.0;
  /// Velocity an impulse; 0: the one of the options.
  double compliance = 0.0;
};

enum class BoxedLcpStatus {
  solved,
  /// The best found does not meet the tolerance.
  approximate,
};

struct BoxedLcpOptions {
  /// Compliance of rows without their own, as a fraction of their diagonal of A. 1e-12 to 1e-2.
  double compliance = 1e-8;
  /// On |f_i - projection(f_i - w_i / d_i)|, d_i = A_ii and its compliance, relative to max |f| (or a thousandth of max
  /// |b_i / d_i|, if that is larger): far below the compliance, or sets would not be told apart where rows repeat each
  /// other.
  double tolerance = 1e-9;
  /// One method of the chain alone, from a cold start: dantzig, primal_newton, lemke or, where A is given by its parts,
  /// interior_point. None: all of them.
  BoxedLcpStage only = BoxedLcpStage::none;

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

struct BoxedLcpSolution {
  ScratchVector f;
  /// A f + b, without the compliance: the velocities of the rows less their targets.
  ScratchVector w;
  std::vector<RowSet> sets;
  BoxedLcpStatus status = BoxedLcpStatus::solved;
  /// The method whose answer it is.
  BoxedLcpStage stage = BoxedLcpStage::none;
  /// The residual that the tolerance bounds.
  double residual = 0.0;
  /// Factorisations, of all methods tried.
  int factorisations = 0;
};

/// Memory and the last answer. Allocates nothing for up to as many rows as it has solved before. One per thread.
class BoxedLcpSolver {
 public:
  BoxedLcpSolver();
  ~BoxedLcpSolver();
  BoxedLcpSolver(BoxedLcpSolver&&) noexcept;
  BoxedLcpSolver& operator=(BoxedLcpSolver&&) noexcept;

  /// `previous`: the sets to try first, empty or one a row. The answer is valid until the next solve. Throws InputError
  /// for sizes that disagree, entries that are not finite, diagonals that are not positive, and rows that cannot be.
  [[nodiscard]] const BoxedLcpSolution& solve(const Eigen::Ref<const MatrixX>& A, const Eigen::Ref<const VectorX>& b,
                                              std::span<const BoxedLcpRow> rows, const BoxedLcpOptions& options = {},
                                              std::span<const RowSet> previous = {});
  /// The same with A by its parts: for many rows between many bodies.
  [[nodiscard]] const BoxedLcpSolution& solve(const SparseRows& A, const Eigen::Ref<const VectorX>& b,
                                              std::span<const BoxedLcpRow> rows, const BoxedLcpOptions& options = {},
                                              std::span<const RowSet> previous = {});

 private:
  struct Data;
  Owned<Data> data_;
};

}  // namespace tangere
