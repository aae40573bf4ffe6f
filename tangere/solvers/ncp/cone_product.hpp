#pragma once

/// Products of a mixed cone, one cone at a time, on numbers in memory (not installed).
///
/// A second-order cone of dimension n is v₀ ≥ |v₁|, v₁ of n - 1 numbers; a number ≥ 0 is the case n = 1. The product is
/// a ∘ b = (aᵀb, a₀ b₁ + b₀ a₁) with the identity e = (1, 0, …), and arrow(a) b = a ∘ b.

#include <algorithm>
#include <cmath>
#include <limits>

namespace tangere {

/// a₁ · b₁.
[[nodiscard]] inline double tail_dot(const double* a, const double* b, int n) {
  double sum = 0.0;
  for (int i = 1; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

[[nodiscard]] inline double tail_norm(const double* a, int n) {
  return n == 2 ? std::abs(a[1]) : std::sqrt(tail_dot(a, a, n));
}

/// out = a ∘ b; out is neither a nor b.
inline void cone_product(const double* a, const double* b, int n, double* out) {
  out[0] = a[0] * b[0] + tail_dot(a, b, n);
  for (int i = 1; i < n; ++i) out[i] = a[0] * b[i] + b[0] * a[i];
}

/// a₀² - |a₁|², as a product that keeps its digits near the wall.
[[nodiscard]] inline double cone_determinant(const double* a, int n) {
  const double tail = tail_norm(a, n);
  return (a[0] - tail) * (a[0] + tail);
}

/// out = arrow(a)⁻¹ b, with the determinant of a; out may be b.
inline void cone_divide(const double* a, double determinant, const double* b, int n, double* out) {
  const double head = (a[0] * b[0] - tail_dot(a, b, n)) / determinant;
  const double inverse = 1.0 / a[0];
  for (int i = 1; i < n; ++i) out[i] = (b[i] - head * a[i]) * inverse;
  out[0] = head;
}

/// v₀ - |v₁|: positive inside.
[[nodiscard]] inline double cone_margin(const double* v, int n) { return v[0] - tail_norm(v, n); }

/// The largest t with v + t d in the cone, v inside; infinite if there is none.
[[nodiscard]] inline double cone_step(const double* v, const double* d, int n) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (n == 1) return d[0] < 0.0 ? -v[0] / d[0] : kInfinity;
  // (v + t d)ᵀ J (v + t d) = a t² + 2 b t + c, c > 0; the discriminant is never negative for v inside
  const double a = d[0] * d[0] - tail_dot(d, d, n);
  const double b = v[0] * d[0] - tail_dot(v, d, n);
  const double c = cone_determinant(v, n);
  const double root = std::sqrt(std::max(b * b - a * c, 0.0));
  // the smallest positive root, in the form that does not cancel
  const double slope = root - b;
  return slope > 0.0 ? c / slope : kInfinity;
}

}  // namespace tangere
