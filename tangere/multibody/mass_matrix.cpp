/// Composite rigid bodies in world axes, where inertias add without transformation, and the factorisation of
/// Featherstone (2008, table 6.3 and section 6.5) over the tree of coordinates.

#include "tangere/multibody/mass_matrix.hpp"

#include <algorithm>

#include "tangere/multibody/data_memory.hpp"

namespace tangere {

const MatrixX& mass_matrix(const Model& model, Data& data, VectorArgument q) {
  require_size("q", q.size(), model.nq());
  Data::Memory& m = data.memory();
  const Links& tree = model.links();
  place_links(tree, q.data(), m);
  place_in_world(tree, m);
  place_inertias(tree, m);
  std::copy(m.I_W.begin(), m.I_W.end(), m.composite.begin());

  const Eigen::Index nv = model.nv();
  m.M.setZero();
  double* M = m.M.data();
  const int* parent = tree.parent_dof.data();
  for (int i = tree.size() - 1; i >= 0; --i) {
    const Link& link = tree[i];
    const SpatialInertia& I = m.composite[static_cast<std::size_t>(i)];
    if (link.parent >= 0) m.composite[static_cast<std::size_t>(link.parent)] += I;
    for (int k = link.v + link.nv - 1; k >= link.v; --k) {
      const Force IS = I * m.S[static_cast<std::size_t>(k)];
      for (int j = k; j >= 0; j = parent[j]) {
        const double value = dot(m.S[static_cast<std::size_t>(j)], IS);
        M[j * nv + k] = value;
        M[k * nv + j] = value;
      }
      M[k * nv + k] += tree.armature[static_cast<std::size_t>(k)];
    }
  }
  return m.M;
}

void factor_mass_matrix(const Model& model, Data& data) {
  Data::Memory& m = data.memory();
  const Links& tree = model.links();
  const int* parent = tree.parent_dof.data();
  const Eigen::Index nv = model.nv();
  // column k of the symmetric matrix is its row: rows are contiguous in what follows
  m.factor = m.M;
  double* L = m.factor.data();
  for (int k = static_cast<int>(nv) - 1; k >= 0; --k) {
    double* row = L + k * nv;
    const double inverse = 1.0 / row[k];
    row[k] = inverse;
    for (int i = parent[k]; i >= 0; i = parent[i]) {
      const double a = row[i] * inverse;
      double* above = L + i * nv;
      for (int j = i; j >= 0; j = parent[j]) above[j] -= a * row[j];
      row[i] = a;
    }
  }
}

void solve_mass_matrix(const Model& model, const Data& data, Eigen::Ref<VectorX> x) {
  require_size("x", x.size(), model.nv());
  const Data::Memory& m = data.memory();
  const int* parent = model.links().parent_dof.data();
  const int nv = model.nv();
  const double* L = m.factor.data();
  for (int k = nv - 1; k >= 0; --k) {
    const double* row = L + static_cast<std::ptrdiff_t>(k) * nv;
    for (int i = parent[k]; i >= 0; i = parent[i]) x[i] -= row[i] * x[k];
  }
  for (int k = 0; k < nv; ++k) {
    const double* row = L + static_cast<std::ptrdiff_t>(k) * nv;
    double value = x[k] * row[k];
    for (int i = parent[k]; i >= 0; i = parent[i]) value -= row[i] * x[i];
    x[k] = value;
  }
}

const MatrixX& inverse_mass_matrix(const Model& model, Data& data) {
  Data::Memory& m = data.memory();
  const int* parent = model.links().parent_dof.data();
  const Eigen::Index nv = model.nv();
  const double* L = m.factor.data();
  // M⁻¹ = L⁻¹ D⁻¹ L⁻ᵀ, one row of L at a time on all columns; M⁻¹ is symmetric, so rows and columns are one
  MatrixX& W = m.M_inverse;
  W.setZero();
  for (Eigen::Index k = nv - 1; k >= 0; --k) {
    W(k, k) = 1.0;
    const double* row = L + k * nv;
    // columns of L⁻ᵀ, upper triangular: stored by its transpose's columns
    for (int i = parent[k]; i >= 0; i = parent[i]) W.col(i).tail(nv - k) -= row[i] * W.col(k).tail(nv - k);
  }
  // W.col(i) holds row i of L⁻ᵀ (entries from i on); M⁻¹(:, c) = L⁻¹ D⁻¹ (L⁻ᵀ)(:, c)
  for (Eigen::Index k = 0; k < nv; ++k) {
    const double* row = L + k * nv;
    W.col(k) *= row[k];
    for (int i = parent[k]; i >= 0; i = parent[i]) W.col(k) -= row[i] * W.col(i);
  }
  return W;
}

}  // namespace tangere
