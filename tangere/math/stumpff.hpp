#pragma once

/// Stumpff functions, the coefficients of the exponential maps and their Jacobians:
///
///   c_n(x) = Σ_k (-x)ᵏ / (2k + n)!,      x = θ² ≥ 0
///   c_0 = cos θ,  c_1 = sin θ / θ,  c_2 = (1 - cos θ) / θ²,  c_3 = (θ - sin θ) / θ³,  …
///   x c_n = 1 / (n - 2)! - c_(n-2)
///
/// Analytic at zero, and accurate to a few units in the last place everywhere but at their zeros.

namespace tangere {

struct Stumpff {
  double c0;
  double c1;
  double c2;
  double c3;
  double c4;
  double c5;
};

[[nodiscard]] Stumpff stumpff(double x);

}  // namespace tangere
