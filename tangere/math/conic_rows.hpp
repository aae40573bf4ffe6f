#pragma once

/// Conic rows: the affine image s(u, y) that a cone constraint speaks of, laid out for the solver.
///
///   s = S_u u + S_y y + s_0,     s in R₊ᵐ × Q × … × Q
///
/// u (4)  the shared variables: for shapes the point p (3) and the scaling alpha
/// y (ny) auxiliary variables that only these rows know
///
/// A second-order cone Q is s₀ ≥ |(s₁, s₂, …)|. All cones of one set of rows have the same (padded) dimension: 4 for
/// every shape; a 3-cone carries a last row of zeros. The order of rows is: the m orthant rows, then the cones one
/// after the other.

#include <memory>

#include "tangere/math/types.hpp"

namespace tangere {

/// The number of shared variables.
inline constexpr int kShared = 4;

/// The most auxiliary variables that one set of rows may have.
inline constexpr int kMaxAux = 64;

/// Orthant rows are padded with zero rows to a multiple of this.
inline constexpr int kRowPadding = 4;

/// The numbers of the rows. Everything is 32-byte aligned, and in one block with this: what the solvers in
/// lanes read comes first.
struct ConicRowsView {
  int num_aux = 0;
  int num_orthant = 0;
  int padded_orthant = 0;
  int num_cones = 0;
  int cone_dimension = 4;

  // the orthant rows by rows: 4 numbers of S_u each, and num_aux of S_y each
  const double* orthant_rows_u = nullptr;
  const double* orthant_rows_y = nullptr;
  // for each cone, columns of cone_dimension numbers: 4 of S_u; num_aux of S_y; s_0
  const double* cone_u = nullptr;
  const double* cone_y = nullptr;
  // a start of y, linear in u: 4 columns of num_aux
  const double* aux_start = nullptr;
  const double* cone_offset = nullptr;
  // the orthant rows by columns, padded_orthant long each: 4 of S_u, num_aux of S_y, s_0
  const double* orthant_u = nullptr;
  const double* orthant_y = nullptr;
  const double* orthant_offset = nullptr;
  // for each cone, with J = diag(1, -1, …, -1): S_uᵀ J S_u (4 x 4), S_yᵀ J S_u (num_aux x 4), S_yᵀ J S_y (num_aux x
  // num_aux)
  const double* form_uu = nullptr;
  const double* form_yu = nullptr;
  const double* form_yy = nullptr;
};

class ConicRows {
 public:
  ConicRows();
  /// Moving is copying: what was moved from keeps its rows.
  ConicRows(const ConicRows&) = default;
  ConicRows& operator=(const ConicRows&) = default;
  ~ConicRows() = default;

  /// `S` has num_orthant + cone_dimension * num_cones rows and the columns [u (4) | y (num_aux) | s_0 (1)];
  /// cone_dimension is a multiple of 4. The start of y is zero, or `aux_start` u.
  ConicRows(int num_aux, int num_orthant, int num_cones, MatrixX S, int cone_dimension = 4);
  ConicRows(int num_aux, int num_orthant, int num_cones, MatrixX S, int cone_dimension, const MatrixX4& aux_start);

  [[nodiscard]] int num_aux() const { return view_->num_aux; }
  [[nodiscard]] int num_orthant() const { return view_->num_orthant; }
  [[nodiscard]] int num_cones() const { return view_->num_cones; }
  [[nodiscard]] int cone_dimension() const { return view_->cone_dimension; }
  [[nodiscard]] int num_rows() const { return num_orthant() + cone_dimension() * num_cones(); }
  /// Barrier degree: one per orthant row, two per cone.
  [[nodiscard]] int degree() const { return num_orthant() + 2 * num_cones(); }

  /// The rows as given: (num_rows) x (4 + num_aux + 1).
  [[nodiscard]] const MatrixX& matrix() const { return S_; }

  /// The rows as the solver reads them.
  [[nodiscard]] const ConicRowsView& view() const { return *view_; }

 private:
  // shared by copies
  std::shared_ptr<const ConicRowsView> view_;
  MatrixX S_;
};

}  // namespace tangere
