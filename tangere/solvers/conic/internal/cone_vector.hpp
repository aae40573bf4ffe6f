#pragma once

/// Vectors of a second-order cone and its Nesterov–Todd scaling, in registers.
///
/// A cone of dimension ≤ 4 C is held in C short vectors (unused entries are zero and stay zero). J = diag(1, -1, …,
/// -1), det v = vᵀ J v. With p = √(det s · det z), ω = p / det s and
///
///   a = (ω J s + z) / √(2 (p + sᵀz))
///
/// the scaling W with W z = W⁻¹ s = λ has   W⁻² = 2 a aᵀ - ω J,   W⁻¹ = [a₀ a₁ᵀ; a₁ √ω I + a₁ a₁ᵀ / (√ω + a₀)],   det λ
/// = p: no explicit inverse of an arrow matrix, two roots and two divisions.

#include <algorithm>
#include <cmath>

#include "tangere/math/vec.hpp"

namespace tangere {

template <int C>
struct ConeVector {
  Vec4 v[C];

  [[nodiscard]] double head() const { return v[0][0]; }
};

template <int C>
[[nodiscard, gnu::always_inline]] inline ConeVector<C> operator+(ConeVector<C> a, const ConeVector<C>& b) {
  for (int k = 0; k < C; ++k) a.v[k] += b.v[k];
  return a;
}
template <int C>
[[nodiscard, gnu::always_inline]] inline ConeVector<C> operator-(ConeVector<C> a, const ConeVector<C>& b) {
  for (int k = 0; k < C; ++k) a.v[k] -= b.v[k];
  return a;
}
template <int C>
[[nodiscard, gnu::always_inline]] inline ConeVector<C> operator-(ConeVector<C> a) {
  for (int k = 0; k < C; ++k) a.v[k] = -a.v[k];
  return a;
}
template <int C>
[[nodiscard, gnu::always_inline]] inline ConeVector<C> operator*(double t, ConeVector<C> a) {
  for (int k = 0; k < C; ++k) a.v[k] *= t;
  return a;
}
template <int C>
[[nodiscard, gnu::always_inline]] inline double dot(const ConeVector<C>& a, const ConeVector<C>& b) {
  Vec4 products = a.v[0] * b.v[0];
  for (int k = 1; k < C; ++k) products += a.v[k] * b.v[k];
  return sum(products);
}
/// J a.
template <int C>
[[nodiscard, gnu::always_inline]] inline ConeVector<C> reflect(ConeVector<C> a) {
  a.v[0] *= Vec4{1, -1, -1, -1};
  for (int k = 1; k < C; ++k) a.v[k] = -a.v[k];
  return a;
}
/// The identity element e.
template <int C>
[[nodiscard, gnu::always_inline]] inline ConeVector<C> cone_identity() {
  ConeVector<C> e{};
  e.v[0] = Vec4{1, 0, 0, 0};
  return e;
}
/// a₀² - |a₁|².
template <int C>
[[nodiscard, gnu::always_inline]] inline double det(const ConeVector<C>& a) {
  return dot(a, reflect(a));
}
/// a with its first entry replaced.
template <int C>
[[nodiscard, gnu::always_inline]] inline ConeVector<C> with_head(ConeVector<C> a, double head) {
  a.v[0][0] = head;
  return a;
}

/// a ∘ b = (aᵀb, a₀ b₁ + b₀ a₁).
template <int C>
[[nodiscard, gnu::always_inline]] inline ConeVector<C> jordan_product(const ConeVector<C>& a, const ConeVector<C>& b) {
  return with_head(a.head() * b + b.head() * a, dot(a, b));
}

template <int C>
struct ConeScaling {
  ConeVector<C> a;
  ConeVector<C> lambda;
  double omega;
  double inverse_eta;  // √ω
  double tail_factor;  // 1 / (√ω + a₀)
  double det_lambda;   // p
  double det_s;
  double det_z;
  double inverse_det_s;
  double inverse_det_z;

  /// W⁻² x.
  [[nodiscard, gnu::always_inline]] ConeVector<C> inverse_squared(const ConeVector<C>& x) const {
    return (2.0 * dot(a, x)) * a - omega * reflect(x);
  }
  /// W⁻¹ x.
  [[nodiscard, gnu::always_inline]] ConeVector<C> inverse(const ConeVector<C>& x) const {
    const double full = dot(a, x);
    const double x0 = x.head();
    const double tail = full - a.head() * x0;
    return with_head(inverse_eta * x + (x0 + tail * tail_factor) * a, full);
  }
};

/// The scaling at an interior pair (s, z).
template <int C>
[[nodiscard, gnu::always_inline]] inline ConeScaling<C> scale_cone(const ConeVector<C>& s, const ConeVector<C>& z) {
  ConeScaling<C> w;
  w.det_s = det(s);
  w.det_z = det(z);
  w.det_lambda = std::sqrt(w.det_s * w.det_z);
  const double inverse_p = 1.0 / w.det_lambda;
  w.inverse_det_s = w.det_z * inverse_p * inverse_p;
  w.inverse_det_z = w.det_s * inverse_p * inverse_p;
  w.omega = w.det_z * inverse_p;
  w.inverse_eta = std::sqrt(w.omega);
  w.a = (1.0 / std::sqrt(2.0 * (w.det_lambda + dot(s, z)))) * (w.omega * reflect(s) + z);
  w.tail_factor = 1.0 / (w.inverse_eta + w.a.head());
  w.lambda = w.inverse(s);
  return w;
}

/// λ \ (t ∘ t): the x with λ ∘ x = t ∘ t.
template <int C>
[[nodiscard, gnu::always_inline]] inline ConeVector<C> divide_square(const ConeScaling<C>& w, const ConeVector<C>& t) {
  const double t0 = t.head();
  const ConeVector<C> square = with_head((2.0 * t0) * t, dot(t, t));
  const double l0 = w.lambda.head();
  const double inverse_l0 = 1.0 / l0;
  const double x0 = dot(w.lambda, reflect(square)) / w.det_lambda;
  return with_head(inverse_l0 * (square - x0 * w.lambda), x0);
}

/// 1 / (the largest t with v + t d in the cone), not positive if there is none; `det_v` = det v, `inverse` its
/// reciprocal. (vᵀJd)² ≥ det v det d holds for v inside the cone, so a negative discriminant is rounding.
template <int C>
[[nodiscard, gnu::always_inline]] inline double boundary_ratio(const ConeVector<C>& v, const ConeVector<C>& d,
                                                               double det_v, double inverse) {
  const ConeVector<C> reflected = reflect(d);
  const double b = dot(v, reflected);
  const double discriminant = b * b - det_v * dot(d, reflected);
  return (std::sqrt(std::max(discriminant, 0.0)) - b) * inverse;
}

}  // namespace tangere
