#pragma once

/// Cholesky and LU over padded columns, in place, for the row systems of boxed_lcp.hpp (a few to a few hundred
/// unknowns). Not installed.

#include <vector>

#include "tangere/math/aligned.hpp"

namespace tangere {

/// One square system K x = r. Columns are 64-byte aligned and padded with zeros to whole registers.
///
///   system.resize(n);
///   fill system.column(j)[from(j)…n - 1]     Cholesky reads rows ≥ j, LU all of them
///   if (system.factor_cholesky()) system.solve(x);
class RowSystem {
 public:
  /// Forgets the matrix. Allocates only beyond the largest size seen.
  void resize(int n);
  [[nodiscard]] int size() const { return n_; }
  [[nodiscard]] double* column(int j) { return matrix_.data() + j * ld_; }
  /// Cholesky overwrites column j from here on.
  [[nodiscard]] static int from(int j) { return j & ~7; }
  /// Zeros below the matrix, in every column.
  void pad();

  /// K = L Lᵀ. False if a pivot is not positive.
  [[nodiscard]] bool factor_cholesky();
  /// P K = L U. Pivots are compared as fractions of `scale` of their rows; the diagonal is kept if it is not much
  /// smaller than the largest. False if all of a column are below 1e-15.
  [[nodiscard]] bool factor_lu(const double* scale);

  /// x: the right side, then the solution; n entries, aligned and padded like a column (its padding is overwritten).
  void solve(double* x);

 private:
  template <int W>
  bool cholesky_panel(int first);
  void solve_cholesky(double* x) const;
  void solve_lu(double* x);
  void swap_rows(int i, int j);

  int n_ = 0;
  int ld_ = 0;
  bool lu_ = false;
  AlignedVector matrix_;
  /// 1 / L_jj or 1 / U_jj.
  AlignedVector inverse_;
  /// The panel of L in hand, zero above its rows; later the permuted right side.
  AlignedVector panel_;
  AlignedVector scale_;
  std::vector<int> permutation_;
};

}  // namespace tangere
