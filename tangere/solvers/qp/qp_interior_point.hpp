#pragma once

/// The quadratic program of qp.hpp by a primal-dual interior point: Mehrotra's predictor and corrector (DiffPills
/// §II-B, Algorithm 6), then, if asked to stop at a relaxation κ, Newton steps on s ∘ z = κ e until the point is on the
/// central path.
///
/// Departures: it stops on the gap and on both residuals, all relative (the paper: a norm of the conditions); Algorithm
/// 6 as printed solves K δ = -v, here signs are those of (7)-(9); the slack's step is -r_p - G δx, which keeps the
/// primal residual at rounding; where the origin is strictly feasible (h > 0), it starts there.

#include <limits>

#include "tangere/math/owned.hpp"
#include "tangere/solvers/qp/qp.hpp"

namespace tangere {

struct QpOptions {
  /// Stop when the gap sᵀz is at most gap_tolerance |objective|, or gap_floor if that is larger, and never more than
  /// gap_ceiling, and both relative residuals are below residual_tolerance. A negative floor: 1e-14 times the size of
  /// the objective's terms, which is where rounding begins.
  double gap_tolerance = 1e-10;
  double gap_floor = -1.0;
  double gap_ceiling = std::numeric_limits<double>::infinity();
  double residual_tolerance = 1e-10;
  int max_iterations = 60;
  /// Stop at the point of the central path with s ∘ z = κ e (to 1e-10, relative); 0: at the solution. It is a smooth
  /// function of the data, unique whenever the feasible set is bounded with an interior.
  double kappa = 0.0;

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

class QpInteriorPoint {
 public:
  QpInteriorPoint();
  ~QpInteriorPoint();
  QpInteriorPoint(QpInteriorPoint&&) noexcept;
  QpInteriorPoint& operator=(QpInteriorPoint&&) noexcept;

  /// Solves; `problem` is taken as verified. The reference is valid until the next solve. Without rows: -Q⁻¹q.
  const QpSolution& solve(const QpProblem& problem, const QpOptions& options = {}) &;

  [[nodiscard]] const QpSolution& solution() const;
  /// To be changed by those who refine it (QpSensitivity::refine).
  [[nodiscard]] QpSolution& solution();

 private:
  struct Data;
  Owned<Data> data_;
};

}  // namespace tangere
