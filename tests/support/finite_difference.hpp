#pragma once

/// The one finite-difference helper of all tests: a sweep of halved steps, extrapolated (Ridders), so that no test has
/// to guess a step or loosen a tolerance.
///
/// Functions are given in the tangent, f(δ) with δ = 0 the point of interest, so the same call serves vectors and
/// manifolds:
///
///   const MatrixX J = finite_difference([&](const VectorX& d) -> VectorX { return g(x + d); }, n, m);
///   const MatrixX J = finite_difference([&](const VectorX& d) -> VectorX { return h(X.perturbed(d)); }, 6, m, 0.1);

#include <functional>

#include "tangere/math/types.hpp"

namespace tangere::test {

using VectorFunction = std::function<VectorX(const VectorX&)>;
using ScalarFunction = std::function<double(const VectorX&)>;

enum class Side { both, forward, backward };

struct DifferenceOptions {
  /// The largest step. The function should be smooth within it; where it is not, smaller steps take over at some loss.
  double scale = 0.1;
  /// Central differences, or one-sided ones at a kink.
  Side side = Side::both;
  /// Relative error of one evaluation of f.
  double noise = 1e-15;
  /// And its absolute error, of functions that are differences of larger numbers.
  double floor = 0.0;
  /// Number of steps: scale, scale / 2, scale / 4, …
  int num_steps = 12;
};

struct Difference {
  /// m x n.
  MatrixX jacobian;
  /// Estimated absolute error of each entry.
  MatrixX error;
};

/// Derivative of f: Rⁿ -> Rᵐ at zero, with the estimated error.
[[nodiscard]] Difference difference(const VectorFunction& f, int n, int m, const DifferenceOptions& options = {});

/// The m x n derivative alone.
[[nodiscard]] MatrixX finite_difference(const VectorFunction& f, int n, int m, double scale = 0.1);

/// The m x n derivative from one side: columns are limits of (f(± h e_i) - f(0)) / ± h.
[[nodiscard]] MatrixX one_sided_difference(const VectorFunction& f, int n, int m, Side side, double scale = 0.1);

/// The gradient (n) of a scalar function.
[[nodiscard]] VectorX finite_difference_gradient(const ScalarFunction& f, int n, double scale = 0.1);

}  // namespace tangere::test
