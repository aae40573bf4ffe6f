#pragma once

/// Cholesky factorisation of a small symmetric positive semidefinite matrix that survives singular ones. Private to
/// solvers.

#include <cmath>

namespace tangere::internal {

/// L Lᵀ = M for M of N rows (row-major with the given stride, lower part read). A pivot lost to rounding is taken as
/// infinite: the solution has a zero there.
template <int N, int Stride = N>
struct SmallCholesky {
  static constexpr double kLostPivot = 1e-15;

  double L[N * N];
  double inverse[N];

  void factor(const double* M) {
    for (int j = 0; j < N; ++j) {
      double pivot = M[Stride * j + j];
      for (int k = 0; k < j; ++k) pivot -= L[N * j + k] * L[N * j + k];
      const bool lost = !(pivot > kLostPivot * M[Stride * j + j]);
      inverse[j] = lost ? 0.0 : 1.0 / std::sqrt(pivot);
      for (int i = j + 1; i < N; ++i) {
        double entry = M[Stride * i + j];
        for (int k = 0; k < j; ++k) entry -= L[N * i + k] * L[N * j + k];
        L[N * i + j] = entry * inverse[j];
      }
    }
  }

  /// v ← M⁻¹ v.
  void solve(double* v) const {
    for (int i = 0; i < N; ++i) {
      for (int k = 0; k < i; ++k) v[i] -= L[N * i + k] * v[k];
      v[i] *= inverse[i];
    }
    for (int i = N - 1; i >= 0; --i) {
      for (int k = i + 1; k < N; ++k) v[i] -= L[N * k + i] * v[k];
      v[i] *= inverse[i];
    }
  }
};

}  // namespace tangere::internal
