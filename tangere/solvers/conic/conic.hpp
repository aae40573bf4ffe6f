#pragma once

/// Small dense cone programs by a primal-dual interior point.
///
///   minimise  cᵀx   subject to   h - G x = s in K = R₊ᵐ × Q_{q₁} × Q_{q₂} × …,      dual:  c + Gᵀz = 0,  z in K (DCOL
///   eq. 1-5)
///
/// Nesterov–Todd scaling, Mehrotra's predictor and corrector, and a last phase of Newton steps on s ∘ z = κ e that ends
/// at a well-centred point (solvers/conic/conic_engine.hpp has the algorithm). Meant for tens of variables and rows:
/// everything is laid out when the solver is made, a solve allocates nothing.
///
///   ConicSolver solver(program);
///   const ConicSolution& answer = solver.solve();
///   if (answer.status == ConicStatus::solved) use(answer.x);

#include <iosfwd>
#include <string_view>
#include <vector>

#include "tangere/math/owned.hpp"
#include "tangere/math/types.hpp"

namespace tangere {

struct ConicProgram {
  VectorX c;
  MatrixX G;
  VectorX h;
  /// The first rows of G and h are the orthant's …
  int num_orthant = 0;
  /// … then come the second-order cones, of these dimensions (at least 2, at most 32): s₀ ≥ |(s₁, …)|.
  std::vector<int> cones;

  /// Throws InputError naming the first thing wrong: sizes, numbers that are not finite, more than 68 variables, G
  /// without full column rank.
  void verify() const;
};

enum class ConicStatus {
  /// Gap and both residuals are below the tolerances (with κ: the point is on the central path).
  solved,
  /// Not within the iteration limit: look at gap and residuals. Infeasible and unbounded programs end here or below.
  iteration_limit,
  /// Rounding, or a direction in which there is no way on.
  numerical_limit,
};
[[nodiscard]] std::string_view to_string(ConicStatus status);

struct ConicOptions {
  /// gap, primal residual / (1 + |h|∞) and dual residual / (1 + |c|∞) ≤ absolute_tolerance + relative_tolerance |cᵀx|.
  double relative_tolerance = 1e-9;
  double absolute_tolerance = 1e-12;
  int max_iterations = 100;
  /// Stop at the point of the central path with s ∘ z = κ e; 0: at the solution.
  double kappa = 0.0;
  /// Start from the last solution, moved back into the interior, instead of afresh.
  bool warm_start = false;

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

struct ConicSolution {
  ConicStatus status = ConicStatus::numerical_limit;
  VectorX x;
  VectorX s;
  VectorX z;
  double objective = 0.0;
  /// sᵀz.
  double gap = 0.0;
  /// |h - G x - s|∞ and |c + Gᵀz|∞.
  double primal_residual = 0.0;
  double dual_residual = 0.0;
  int iterations = 0;
};

class ConicSolver {
 public:
  explicit ConicSolver(ConicProgram program);
  ~ConicSolver();
  ConicSolver(ConicSolver&&) noexcept;
  ConicSolver& operator=(ConicSolver&&) noexcept;

  /// The reference stays valid until the next solve.
  const ConicSolution& solve(const ConicOptions& options = {}) &;

  [[nodiscard]] const ConicProgram& program() const;

 private:
  struct Data;
  Owned<Data> data_;
};

/// A program as text, to keep a hard case as a test: every number with all its digits,
/// `read_conic_program(write_conic_program(p))` is p to the bit.
void write_conic_program(std::ostream& out, const ConicProgram& program);
/// Throws InputError with the line where the text is not a program.
[[nodiscard]] ConicProgram read_conic_program(std::istream& in);

}  // namespace tangere
