/// Four columns at a time. Cholesky is left-looking: the panel is what it was less all of L to its left, in registers,
/// then factored. LU is right-looking: a panel with pivoting, then one rank-four change of all that is right of it.

#include "tangere/solvers/lcp/boxed_lcp_factor.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tangere/math/vec.hpp"

namespace tangere {
namespace {

constexpr int kPanel = 4;
/// The diagonal is the pivot if it has at least this part of the largest candidate.
constexpr double kKeepDiagonal = 0.1;
constexpr double kSingular = 1e-15;

/// B blocks of eight rows of W columns, less Σ_k L(rows, k) L(columns, k).
template <int W, int B>
inline void less_product(double* rows, const double* left_rows, const double* left_columns, int ld, int terms) {
  Vec8 sum_of[W][B];
  for (int c = 0; c < W; ++c)
    for (int i = 0; i < B; ++i) sum_of[c][i] = load8(rows + c * ld + 8 * i);
  for (int k = 0; k < terms; ++k) {
    const double* left = left_rows + k * ld;
    for (int i = 0; i < B; ++i) {
      const Vec8 l = load8(left + 8 * i);
      for (int c = 0; c < W; ++c) sum_of[c][i] -= l * splat8(left_columns[k * ld + c]);
    }
  }
  for (int c = 0; c < W; ++c)
    for (int i = 0; i < B; ++i) store8(rows + c * ld + 8 * i, sum_of[c][i]);
}

}  // namespace

void RowSystem::resize(int n) {
  n_ = n;
  ld_ = (n + 7) & ~7;
  const std::size_t ld = static_cast<std::size_t>(ld_);
  if (matrix_.size() < ld * ld) matrix_.resize(ld * ld);
  if (panel_.size() < kPanel * ld) {
    panel_.resize(kPanel * ld);
    inverse_.resize(ld);
    scale_.resize(ld);
    permutation_.resize(ld);
  }
}

void RowSystem::pad() {
  for (int j = 0; j < n_; ++j) std::fill(column(j) + n_, column(j) + ld_, 0.0);
}

template <int W>
bool RowSystem::cholesky_panel(int first) {
  double* panel = column(first);
  const double* corner = column(0) + first;
  int r = from(first);
  for (; r + 16 <= ld_; r += 16) less_product<W, 2>(panel + r, column(0) + r, corner, ld_, first);
  for (; r < ld_; r += 8) less_product<W, 1>(panel + r, column(0) + r, corner, ld_, first);
  for (int c = 0; c < W; ++c) {
    const int j = first + c;
    double* l = panel + c * ld_;
    if (!(l[j] > 0.0)) return false;
    const double inverse = 1.0 / std::sqrt(l[j]);
    inverse_[j] = inverse;
    for (int i = from(first); i < ld_; i += 8) {
      const Vec8 scaled = load8(l + i) * splat8(inverse);
      store8(l + i, scaled);
    }
    for (int k = c + 1; k < W; ++k) {
      double* next = panel + k * ld_;
      const Vec8 factor = splat8(l[first + k]);
      for (int i = from(first); i < ld_; i += 8) store8(next + i, load8(next + i) - load8(l + i) * factor);
    }
  }
  return true;
}

bool RowSystem::factor_cholesky() {
  lu_ = false;
  int j = 0;
  for (; j + kPanel <= n_; j += kPanel)
    if (!cholesky_panel<kPanel>(j)) return false;
  switch (n_ - j) {
    case 1:
      return cholesky_panel<1>(j);
    case 2:
      return cholesky_panel<2>(j);
    case 3:
      return cholesky_panel<3>(j);
    default:
      return true;
  }
}

void RowSystem::swap_rows(int i, int j) {
  for (int k = 0; k < n_; ++k) std::swap(column(k)[i], column(k)[j]);
  std::swap(permutation_[i], permutation_[j]);
  std::swap(scale_[i], scale_[j]);
}

bool RowSystem::factor_lu(const double* scale) {
  lu_ = true;
  for (int i = 0; i < n_; ++i) {
    permutation_[i] = i;
    scale_[i] = 1.0 / scale[i];
  }
  for (int first = 0; first < n_; first += kPanel) {
    const int width = std::min(kPanel, n_ - first);
    const int next = first + width;
    for (int c = 0; c < width; ++c) {
      const int j = first + c;
      double* l = column(j);
      // pivot
      int best = j;
      double largest = 0.0;
      for (int i = j; i < n_; ++i) {
        const double size = std::abs(l[i]) * scale_[i];
        if (size > largest) {
          largest = size;
          best = i;
        }
      }
      if (!(largest > kSingular)) return false;
      if (best != j && std::abs(l[j]) * scale_[j] < kKeepDiagonal * largest) swap_rows(best, j);
      // the column of L, and the rest of the panel
      const double inverse = 1.0 / l[j];
      inverse_[j] = inverse;
      for (int i = j + 1; i < n_; ++i) l[i] *= inverse;
      for (int k = j + 1; k < next; ++k) {
        double* u = column(k);
        const double factor = u[j];
        for (int i = j + 1; i < n_; ++i) u[i] -= l[i] * factor;
      }
    }
    if (next == n_) break;
    // L below the panel's square, the rest zero, so that whole registers can be changed
    const int r0 = from(next);
    for (int c = 0; c < kPanel; ++c) {
      double* l = &panel_[c * ld_];
      std::fill(l + r0, l + next, 0.0);
      std::copy(column(first + c) + next, column(first + c) + ld_, l + next);
    }
    const double* l0 = panel_.data();
    const double* l1 = l0 + ld_;
    const double* l2 = l1 + ld_;
    const double* l3 = l2 + ld_;
    const double* a = column(first) + first;
    const double* b = a + ld_;
    const double* c = b + ld_;
    for (int k = next; k < n_; ++k) {
      double* u = column(k);
      // four rows of U, then all that is below
      double* top = u + first;
      top[1] -= a[1] * top[0];
      top[2] -= a[2] * top[0] + b[2] * top[1];
      top[3] -= a[3] * top[0] + b[3] * top[1] + c[3] * top[2];
      const Vec8 u0 = splat8(top[0]);
      const Vec8 u1 = splat8(top[1]);
      const Vec8 u2 = splat8(top[2]);
      const Vec8 u3 = splat8(top[3]);
      for (int r = r0; r < ld_; r += 8)
        store8(u + r, load8(u + r) - load8(l0 + r) * u0 - load8(l1 + r) * u1 - load8(l2 + r) * u2 - load8(l3 + r) * u3);
    }
  }
  return true;
}

void RowSystem::solve(double* x) {
  std::fill(x + n_, x + ld_, 0.0);
  if (lu_) {
    solve_lu(x);
  } else {
    solve_cholesky(x);
  }
}

void RowSystem::solve_cholesky(double* x) const {
  const double* matrix = matrix_.data();
  for (int j = 0; j < n_; ++j) {
    const double* l = matrix + j * ld_;
    const double value = x[j] * inverse_[j];
    // rows above are not of L: the first register is done by hand
    const int whole = from(j) + 8;
    const int end = std::min(whole, n_);
    for (int i = j + 1; i < end; ++i) x[i] -= l[i] * value;
    for (int i = whole; i < ld_; i += 8) store8(x + i, load8(x + i) - load8(l + i) * splat8(value));
    x[j] = value;
  }
  for (int j = n_ - 1; j >= 0; --j) {
    const double* l = matrix + j * ld_;
    const int whole = from(j) + 8;
    const int end = std::min(whole, n_);
    Vec8 products = splat8(0.0);
    for (int i = whole; i < ld_; i += 8) products += load8(l + i) * load8(x + i);
    double value = x[j] - sum(products);
    for (int i = j + 1; i < end; ++i) value -= l[i] * x[i];
    x[j] = value * inverse_[j];
  }
}

void RowSystem::solve_lu(double* x) {
  double* y = panel_.data();
  for (int i = 0; i < n_; ++i) y[i] = x[permutation_[i]];
  std::fill(y + n_, y + ld_, 0.0);
  for (int j = 0; j < n_; ++j) {
    const double* l = column(j);
    const int whole = from(j) + 8;
    const int end = std::min(whole, n_);
    const double value = y[j];
    for (int i = j + 1; i < end; ++i) y[i] -= l[i] * value;
    for (int i = whole; i < ld_; i += 8) store8(y + i, load8(y + i) - load8(l + i) * splat8(value));
  }
  for (int j = n_ - 1; j >= 0; --j) {
    const double* u = column(j);
    const double value = y[j] * inverse_[j];
    const int whole = from(j);
    for (int i = 0; i < whole; i += 8) store8(y + i, load8(y + i) - load8(u + i) * splat8(value));
    for (int i = whole; i < j; ++i) y[i] -= u[i] * value;
    y[j] = value;
  }
  std::copy(y, y + n_, x);
}

}  // namespace tangere
