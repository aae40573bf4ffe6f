/// Composite rigid bodies in world axes, where inertias add without transformation, and the factorisation of
/// Featherstone (2008, table 6.3 and section 6.5) over the tree of coordinates.
///
/// Row k of M and of L is kept along the way from the root to k (links.hpp). The way to a coordinate on the way is the
/// beginning of that, so the updates of the factorisation run over contiguous numbers.

#include "tangere/multibody/mass_matrix.hpp"

#include <algorithm>

#include "tangere/math/error.hpp"
#include "tangere/multibody/internal/data_memory.hpp"

namespace tangere {
namespace {

void require_factors(const Data::Memory& m) {
  if (m.mass_order < 2) throw InputError("data", "call mass_matrix and factor_mass_matrix first");
}

}  // namespace

const MatrixX& last_mass_matrix(const Model& model, const Data& data) {
  const Data::Memory& m = memory_of(model, data);
  if (m.mass_order < 1) throw InputError("data", "call mass_matrix first");
  return m.M;
}

const MatrixX& mass_matrix(const Model& model, Data& data, VectorArgument q) {
  require_configuration(model, q);
  Data::Memory& m = memory_of(model, data);
  const Links& tree = model.links();
  place_links(tree, q.data(), m);
  place_in_world(tree, m);
  for (std::size_t i = 0; i < tree.links.size(); ++i) m.composite[i] = transformed(m.X_W[i], tree.links[i].inertia);
  for (int i = tree.size() - 1; i >= 0; --i) {
    const Link& link = tree[i];
    const SpatialInertia& I = m.composite[i];
    if (link.parent >= 0) m.composite[link.parent] += I;
    for (int k = link.v; k < link.v + link.nv; ++k) {
      const Force IS = I * m.S[k];
      const int* way = tree.way_to(k);
      double* row = m.M_rows.data() + static_cast<std::ptrdiff_t>(k) * tree.stride;
      const int length = tree.way_length[k];
      for (int d = 0; d < length; d += 4) {
        const auto product = [&](int e) {
          const Motion& S = m.S[way[d + e]];
          return S.v * IS.f + S.w * IS.n;
        };
        store4(row + d, sums(product(0), product(1), product(2), product(3)));
      }
      row[length - 1] += tree.armature[k];
    }
  }
  spread_mass_matrix(tree, m);
  return m.M;
}

void spread_mass_matrix(const Links& tree, Data::Memory& m) {
  m.mass_order = 1;
  const auto nv = static_cast<Eigen::Index>(m.S.size());
  // between branches there is nothing, once and for all
  if (m.M.rows() != nv) m.M.setZero(nv, nv);
  double* M = m.M.data();
  for (Eigen::Index k = 0; k < nv; ++k) {
    const int* way = tree.way_to(static_cast<int>(k));
    const double* row = m.M_rows.data() + k * tree.stride;
    for (int d = 0; d < tree.way_length[k]; ++d) {
      M[k * nv + way[d]] = row[d];
      M[way[d] * nv + k] = row[d];
    }
  }
}

namespace {

/// L_rows has M and gets the factors.
void factor_rows(const Model& model, Data::Memory& m) {
  m.mass_order = 2;
  const Links& tree = model.links();
  const std::ptrdiff_t stride = tree.stride;
  double* L = m.L_rows.data();
  for (int k = model.nv() - 1; k >= 0; --k) {
    double* row = L + k * stride;
    const int* way = tree.way_to(k);
    const int last = tree.way_length[k] - 1;
    const double inverse = 1.0 / row[last];
    row[last] = inverse;
    for (int d = last - 1; d >= 0; --d) {
      const double a = row[d] * inverse;
      const Vec4 aa = splat4(a);
      double* above = L + way[d] * stride;
      // whole blocks of four: beyond the row's end nothing is read that counts
      for (int e = 0; e <= d; e += 4) store4(above + e, load4(above + e) - aa * load4(row + e));
      m.scratch[d] = a;
    }
    for (int d = 0; d < last; ++d) row[d] = m.scratch[d];
  }
}

void copy_rows(Data::Memory& m) {
  if (m.mass_order < 1) throw InputError("data", "call mass_matrix first");
  std::copy_n(m.M_rows.data(), m.M_rows.size(), m.L_rows.data());
}

}  // namespace

void factor_mass_matrix(const Model& model, Data& data) {
  Data::Memory& m = memory_of(model, data);
  copy_rows(m);
  m.factored_diagonal.setZero();
  factor_rows(model, m);
}

void factor_mass_matrix(const Model& model, Data& data, VectorArgument diagonal) {
  require_vector("diagonal", diagonal, model.nv());
  Data::Memory& m = memory_of(model, data);
  copy_rows(m);
  m.factored_diagonal = diagonal;
  const Links& tree = model.links();
  for (int k = 0; k < model.nv(); ++k)
    m.L_rows[static_cast<std::size_t>(k) * static_cast<std::size_t>(tree.stride) +
             static_cast<std::size_t>(tree.way_length[k]) - 1] += diagonal[k];
  factor_rows(model, m);
}

const VectorX& factored_diagonal(const Model& model, const Data& data) {
  const Data::Memory& m = memory_of(model, data);
  require_factors(m);
  return m.factored_diagonal;
}

void solve_mass_matrix(const Model& model, const Data& data, Eigen::Ref<VectorX> x) {
  require_size("x", x.size(), model.nv());
  const Data::Memory& m = memory_of(model, data);
  require_factors(m);
  const Links& tree = model.links();
  for (int k = model.nv() - 1; k >= 0; --k) {
    const double* row = m.L_rows.data() + static_cast<std::ptrdiff_t>(k) * tree.stride;
    const int* way = tree.way_to(k);
    for (int d = 0; d < tree.way_length[k] - 1; ++d) x[way[d]] -= row[d] * x[k];
  }
  for (int k = 0; k < model.nv(); ++k) {
    const double* row = m.L_rows.data() + static_cast<std::ptrdiff_t>(k) * tree.stride;
    const int* way = tree.way_to(k);
    const int last = tree.way_length[k] - 1;
    double value = x[k] * row[last];
    for (int d = 0; d < last; ++d) value -= row[d] * x[way[d]];
    x[k] = value;
  }
}

namespace {

/// N times eight columns through both triangles: N chains of operations, so that none waits for the last.
template <int N>
void solve_columns_of(const Links& tree, const double* L, std::ptrdiff_t width, double* x) {
  const auto nv = static_cast<int>(tree.parent_dof.size());
  const std::ptrdiff_t stride = tree.stride;
  Vec8 value[N];
  const auto subtract = [&](double a, const double* from) {
    for (int n = 0; n < N; ++n) value[n] -= splat8(a) * load8(from + 8 * n);
  };
  for (int k = nv - 1; k >= 0; --k) {
    const int at = tree.way_length[k] - 1;
    double* own = x + k * width;
    for (int n = 0; n < N; ++n) value[n] = load8(own + 8 * n);
    const int end = tree.first_beyond[static_cast<std::size_t>(k) + 1];
    for (int e = tree.first_beyond[k]; e < end; ++e) {
      const int j = tree.beyond[e];
      subtract(L[j * stride + at], x + j * width);
    }
    for (int n = 0; n < N; ++n) store8(own + 8 * n, value[n]);
  }
  for (int k = 0; k < nv; ++k) {
    const double* row = L + k * stride;
    const int* way = tree.way_to(k);
    const int last = tree.way_length[k] - 1;
    double* own = x + k * width;
    for (int n = 0; n < N; ++n) value[n] = splat8(row[last]) * load8(own + 8 * n);
    for (int d = 0; d < last; ++d) subtract(row[d], x + way[d] * width);
    for (int n = 0; n < N; ++n) store8(own + 8 * n, value[n]);
  }
}

}  // namespace

void solve_mass_matrix_columns(const Model& model, const Data& data, double* x, std::ptrdiff_t width, int count) {
  const Data::Memory& m = memory_of(model, data);
  require_factors(m);
  if (width % 8 != 0 || width < count)
    throw InputError("width", "must be a multiple of 8 and not below the number of columns");
  const Links& tree = model.links();
  const double* L = m.L_rows.data();
  int left = (count + 7) / 8;
  for (; left >= 4; left -= 4, x += 32) solve_columns_of<4>(tree, L, width, x);
  if (left == 3) solve_columns_of<3>(tree, L, width, x);
  if (left == 2) solve_columns_of<2>(tree, L, width, x);
  if (left == 1) solve_columns_of<1>(tree, L, width, x);
}

const MatrixX& inverse_mass_matrix(const Model& model, Data& data) {
  Data::Memory& m = memory_of(model, data);
  require_factors(m);
  const Eigen::Index nv = model.nv();
  m.need_columns(model.nv());
  Eigen::Map<RowMatrixX, 0, Eigen::OuterStride<>> columns(m.columns.data(), nv, nv,
                                                          Eigen::OuterStride<>(m.column_stride));
  columns.setIdentity();
  solve_mass_matrix_columns(model, data, m.columns.data(), m.column_stride, model.nv());
  m.M_inverse = columns;
  return m.M_inverse;
}

}  // namespace tangere
