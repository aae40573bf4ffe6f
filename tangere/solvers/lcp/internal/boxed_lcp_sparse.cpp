/// The systems of the clamped rows where A is given by its parts. With x = M⁻¹ N f_C, N = J_Cᵀ + J_Sᵀ E,
///
///   (A_CC + A_CS E + C) f_C = r     ⇔     K x = N C⁻¹ r,   f_C = C⁻¹ (r − J_C x),   K = M + N C⁻¹ J_C
///
/// K is as large as there are coordinates, however many rows repeat each other, and couples only bodies that touch. It
/// has the stiffness 1 / C in it, so digits are lost: f_C is improved by what it leaves of r, measured with A itself.
///
/// A row i with its normal n adds j_iᵀ (own j_i + shared j_n) to K: own = 1 / c_i while it is clamped, shared = ±
/// friction / c_n while it slides. So a row that changes its set changes K by a matrix of rank one. Factors of nearby
/// sets are kept and the changes U Vᵀ since then (u = j_iᵀ, v of the differences of own and shared) taken into account
/// by
///
///   (K₀ + U Vᵀ)⁻¹ = K₀⁻¹ − Y (I + Vᵀ Y)⁻¹ Vᵀ K₀⁻¹,   Y = K₀⁻¹ U
///
/// which makes the pieces of Lemke's path cost a few solutions each instead of a factorisation.

#include <cmath>

#include "tangere/math/small_lu.hpp"
#include "tangere/math/vec.hpp"
#include "tangere/solvers/lcp/internal/boxed_lcp_data.hpp"

namespace tangere {
namespace {

constexpr int kMostImprovements = 6;
/// Largest residual r by the diagonal, relative to the largest force.
constexpr double kTooMuch = 1e-9;
/// Rows stiffened by less than this part of their mass are not in K: the interior point keeps away from them.
constexpr double kNoStiffness = 1e-10;
/// Rows that may have changed their sets since K was factored.
constexpr std::size_t kMostUpdates = 32;

}  // namespace

/// Bodies that rows or M hold together.
void BoxedLcpSolver::Data::connect_nodes() {
  const SparseRows& s = *sparse;
  lu.begin(s.num_nodes);
  for (const SparseRows::MassBlock& block : s.mass_blocks) lu.connect(block.row, block.column);
  for (int i = 0; i < n; ++i) {
    // friction that slides acts with the force of its normal
    const int other = rows[i].normal < 0 ? i : rows[i].normal;
    for (int p = s.first[i]; p < s.first[i + 1]; ++p) {
      for (int q = p + 1; q < s.first[i + 1]; ++q) lu.connect(s.node[p], s.node[q]);
      for (int q = s.first[other]; q < s.first[other + 1]; ++q) lu.connect(s.node[p], s.node[q]);
    }
  }
  lu.order();
}

/// K += wrench of row i times factor, along row j.
void BoxedLcpSolver::Data::add_stiffness(int i, int j, double factor) {
  const SparseRows& s = *sparse;
  for (int q = s.first[j]; q < s.first[j + 1]; ++q) {
    const double* along = s.J.data() + SparseRows::kStride * q;
    for (int p = s.first[i]; p < s.first[i + 1]; ++p) {
      const Vec8 wrench = load8(s.J.data() + SparseRows::kStride * p);
      double* to = lu.block(s.node[p], s.node[q]);
      for (int c = 0; c < BlockLu::kSize; ++c, to += SparseRows::kStride) {
        const double scale = along[c] * factor;
        store8(to, load8(to) + wrench * splat8(scale));
      }
    }
  }
}

/// Sets each row's addition to K, for `clamped` and `coupled`.
void BoxedLcpSolver::Data::set_stiffness(const double* softness) {
  stiffness.assign(static_cast<std::size_t>(n), {});
  for (const int i : clamped) stiffness[i].own = 1.0 / softness[i];
  for (const Coupled& c : coupled) stiffness[c.row].shared = c.ratio / softness[rows[c.row].normal];
}

bool BoxedLcpSolver::Data::factor_sparse(const double* softness) {
  set_stiffness(softness);
  if (update_factors()) return true;
  return factor_bodies();
}

bool BoxedLcpSolver::Data::factor_bodies() {
  const SparseRows& s = *sparse;
  lu.clear();
  for (std::size_t k = 0; k < s.mass_blocks.size(); ++k) {
    const double* from = s.M.data() + SparseRows::kBlock * k;
    std::copy_n(from, SparseRows::kBlock, lu.block(s.mass_blocks[k].row, s.mass_blocks[k].column));
  }
  for (int i = 0; i < n; ++i) {
    if (stiffness[i].own * d[i] > kNoStiffness) add_stiffness(i, i, stiffness[i].own);
    if (std::abs(stiffness[i].shared) * d[i] > kNoStiffness) add_stiffness(i, rows[i].normal, stiffness[i].shared);
  }
  ++factorisations;
  updates.clear();
  std::swap(factored_stiffness, stiffness);
  has_factors = lu.factor();
  return has_factors;
}

/// False if too much has changed.
bool BoxedLcpSolver::Data::update_factors() {
  if (!has_factors) return false;
  changed_rows.clear();
  for (int i = 0; i < n; ++i)
    if (!(stiffness[i] == factored_stiffness[i])) changed_rows.push_back(i);
  if (updates.size() + changed_rows.size() > kMostUpdates) return false;
  for (const int i : changed_rows) {
    add_update({i, stiffness[i].own - factored_stiffness[i].own, stiffness[i].shared - factored_stiffness[i].shared});
    factored_stiffness[i] = stiffness[i];
  }
  if (changed_rows.empty()) return true;
  const int k = static_cast<int>(updates.size());
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < k; ++j) capacitance_lu[i * k + j] = capacitance[static_cast<std::size_t>(i) * kMostUpdates + j];
  return lu_factor(capacitance_lu.data(), k, k, capacitance_pivots.data());
}

/// v x of a change.
double BoxedLcpSolver::Data::along_update(const Update& update, const double* x) const {
  double out = update.own == 0.0 ? 0.0 : update.own * sparse->along(update.row, x);
  if (update.shared != 0.0) out += update.shared * sparse->along(rows[update.row].normal, x);
  return out;
}

double* BoxedLcpSolver::Data::response(std::size_t k) { return responses.data() + k * sparse->vector_size(); }

/// A column of Y, and of I + Vᵀ Y a row and a column.
void BoxedLcpSolver::Data::add_update(const Update& update) {
  const std::size_t k = updates.size();
  updates.push_back(update);
  double* y = response(k);
  std::fill_n(y, sparse->vector_size(), 0.0);
  sparse->add_wrench(update.row, 1.0, y);
  lu.solve(y);
  for (std::size_t a = 0; a <= k; ++a) {
    capacitance[a * kMostUpdates + k] = along_update(updates[a], y);
    capacitance[k * kMostUpdates + a] = along_update(update, response(a));
  }
  capacitance[k * kMostUpdates + k] += 1.0;
}

/// K⁻¹ x, in place.
void BoxedLcpSolver::Data::solve_bodies(double* x) {
  lu.solve(x);
  const int k = static_cast<int>(updates.size());
  if (k == 0) return;
  for (int a = 0; a < k; ++a) weights[a] = along_update(updates[a], x);
  lu_solve(capacitance_lu.data(), k, k, capacitance_pivots.data(), weights.data());
  const auto size = static_cast<Eigen::Index>(sparse->vector_size());
  Eigen::Map<VectorX, Eigen::Aligned64> out(x, size);
  for (std::size_t a = 0; a < updates.size(); ++a)
    out -= weights[a] * Eigen::Map<const VectorX, Eigen::Aligned64>(response(a), size);
}

void BoxedLcpSolver::Data::spread(const double* clamped_force, double* force) const {
  std::fill(force, force + n, 0.0);
  for (std::size_t k = 0; k < clamped.size(); ++k) force[clamped[k]] = clamped_force[k];
  for (const Coupled& c : coupled) force[c.row] = c.ratio * force[rows[c.row].normal];
}

bool BoxedLcpSolver::Data::solve_sparse(const double* softness, double* x) {
  std::copy_n(x, clamped.size(), asked_right.begin());
  if (improve(softness, x)) return true;
  if (updates.empty()) return false;
  // too many digits were lost on the way here: afresh
  return factor_bodies() && improve(softness, x);
}

bool BoxedLcpSolver::Data::improve(const double* softness, double* x) {
  const SparseRows& s = *sparse;
  const std::size_t m = clamped.size();
  for (std::size_t k = 0; k < m; ++k) clamped_stiffness[k] = 1.0 / softness[clamped[k]];
  std::copy_n(asked_right.begin(), m, left.begin());
  std::fill_n(x, m, 0.0);
  double before = std::numeric_limits<double>::infinity();
  for (int pass = 0; pass < kMostImprovements; ++pass) {
    // x of what is left, and the forces of that
    for (std::size_t k = 0; k < m; ++k) change[k] = left[k] * clamped_stiffness[k];
    spread(change.data(), spread_force.data());
    std::fill_n(body_vector.begin(), s.vector_size(), 0.0);
    for (int i = 0; i < n; ++i)
      if (spread_force[i] != 0.0) s.add_wrench(i, spread_force[i], body_vector.data());
    solve_bodies(body_vector.data());
    for (std::size_t k = 0; k < m; ++k)
      x[k] += (left[k] - s.along(clamped[k], body_vector.data())) * clamped_stiffness[k];
    // what they leave
    spread(x, spread_force.data());
    std::fill_n(body_vector.begin(), s.vector_size(), 0.0);
    for (int i = 0; i < n; ++i)
      if (spread_force[i] != 0.0) s.add_velocity(i, spread_force[i], body_vector.data());
    double worst = 0.0;
    double largest = 0.0;
    for (std::size_t k = 0; k < m; ++k) {
      const int i = clamped[k];
      left[k] = asked_right[k] - s.along(i, body_vector.data()) - softness[i] * x[k];
      worst = std::max(worst, std::abs(left[k]) * inverse_d[i]);
      largest = std::max(largest, std::abs(x[k]));
    }
    if (worst <= accuracy * largest) return true;
    if (!(worst < 0.5 * before)) return worst <= kTooMuch * largest;
    before = worst;
  }
  return before <= kTooMuch;
}

void BoxedLcpSolver::Data::reserve_bodies() {
  reserve_interior();
  has_factors = false;
  updates.clear();
  updates.reserve(kMostUpdates);
  changed_rows.reserve(static_cast<std::size_t>(n));
  stiffness.resize(static_cast<std::size_t>(n));
  factored_stiffness.resize(static_cast<std::size_t>(n));
  capacitance.resize(kMostUpdates * kMostUpdates);
  capacitance_lu.resize(kMostUpdates * kMostUpdates);
  capacitance_pivots.resize(kMostUpdates);
  weights.resize(kMostUpdates);
  if (body_vector.size() < sparse->vector_size()) {
    body_vector.resize(sparse->vector_size());
    responses.resize(kMostUpdates * sparse->vector_size());
  }
}

}  // namespace tangere
