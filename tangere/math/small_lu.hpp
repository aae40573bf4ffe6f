#pragma once

/// LU factorisation with row pivoting of small matrices in memory, row after row: no allocation, no Eigen module.

#include <cmath>
#include <cstddef>
#include <utility>

namespace tangere {

/// In place: P A = L U. `width` numbers from row to row. False if A is singular or not finite.
inline bool lu_factor(double* A, std::ptrdiff_t width, int n, int* pivots) {
  for (int k = 0; k < n; ++k) {
    int best = k;
    double largest = std::abs(A[k * width + k]);
    for (int i = k + 1; i < n; ++i)
      if (const double size = std::abs(A[i * width + k]); size > largest) {
        largest = size;
        best = i;
      }
    if (!(largest > 0.0) || !std::isfinite(largest)) return false;
    pivots[k] = best;
    if (best != k)
      for (int j = 0; j < n; ++j) std::swap(A[k * width + j], A[best * width + j]);
    const double inverse = 1.0 / A[k * width + k];
    const double* top = A + k * width;
    for (int i = k + 1; i < n; ++i) {
      double* row = A + i * width;
      if (row[k] == 0.0) continue;
      const double factor = row[k] * inverse;
      row[k] = factor;
      for (int j = k + 1; j < n; ++j) row[j] -= factor * top[j];
    }
  }
  return true;
}

/// x = A⁻¹ x by the factors, for `columns` right-hand sides: rows of `stride` numbers.
inline void lu_solve(const double* A, std::ptrdiff_t width, int n, const int* pivots, double* x,
                     std::ptrdiff_t stride = 1, int columns = 1) {
  for (int k = 0; k < n; ++k)
    if (pivots[k] != k)
      for (int c = 0; c < columns; ++c) std::swap(x[k * stride + c], x[pivots[k] * stride + c]);
  for (int i = 1; i < n; ++i)
    for (int k = 0; k < i; ++k) {
      const double factor = A[i * width + k];
      if (factor == 0.0) continue;
      for (int c = 0; c < columns; ++c) x[i * stride + c] -= factor * x[k * stride + c];
    }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) {
      const double factor = A[i * width + k];
      if (factor == 0.0) continue;
      for (int c = 0; c < columns; ++c) x[i * stride + c] -= factor * x[k * stride + c];
    }
    const double inverse = 1.0 / A[i * width + i];
    for (int c = 0; c < columns; ++c) x[i * stride + c] *= inverse;
  }
}

/// x = A⁻ᵀ x by the factors.
inline void lu_solve_transposed(const double* A, std::ptrdiff_t width, int n, const int* pivots, double* x) {
  for (int i = 0; i < n; ++i) {
    x[i] /= A[i * width + i];
    for (int j = i + 1; j < n; ++j) x[j] -= A[i * width + j] * x[i];
  }
  for (int i = n - 1; i > 0; --i)
    for (int j = 0; j < i; ++j) x[j] -= A[i * width + j] * x[i];
  for (int k = n - 1; k >= 0; --k)
    if (pivots[k] != k) std::swap(x[k], x[pivots[k]]);
}

}  // namespace tangere
