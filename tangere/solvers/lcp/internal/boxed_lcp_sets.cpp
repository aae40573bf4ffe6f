/// Newton's method on the sets. With clamped rows C, sliding rows S (f_S = E f_C, E = ± friction in the column of the
/// normal) and rows at constant bounds B,
///
///   (A_CC + A_CS E + C_C) f_C = -(b_C + A_CB f_B)
///
/// and the next sets are those of the projection of f - w' / d, w' = A f + b + C f, C the compliances. Symmetric
/// without sliding rows (Cholesky), not symmetric with them (LU). The normal force that bounds a friction row is
/// projected too, so that a contact which closes starts by sticking if its velocities say so.

#include <cmath>

#include "tangere/solvers/lcp/internal/boxed_lcp_data.hpp"

namespace tangere {
namespace {

/// Most work of the whole chain on factorisations, Σ m³: some tenths of a second, and 100 of full size.
constexpr double kMostWork = 4e9;
constexpr double kMostFullSize = 100.0;
/// The part of what would stop all rows that counts as their force where there is less.
constexpr double kNoForce = 1e-3;

}  // namespace

bool BoxedLcpSolver::Data::solve_sets() {
  read_sets();
  return factor_clamped(soft) && solve_forces();
}

void BoxedLcpSolver::Data::read_sets() {
  clamped.clear();
  coupled.clear();
  // there is nothing at an infinite bound
  for (int i = 0; i < n; ++i) {
    if (rows[i].normal >= 0 || sets[i] == RowSet::clamped) continue;
    const double bound = sets[i] == RowSet::upper ? rows[i].upper : rows[i].lower;
    if (std::abs(bound) == std::numeric_limits<double>::infinity()) sets[i] = RowSet::clamped;
  }
  for (int i = 0; i < n; ++i) {
    position[i] = -1;
    if (sets[i] == RowSet::clamped) {
      position[i] = static_cast<int>(clamped.size());
      clamped.push_back(i);
    } else if (const int normal = rows[i].normal; normal >= 0 && sets[normal] == RowSet::clamped) {
      const double ratio = sets[i] == RowSet::upper ? rows[i].friction : -rows[i].friction;
      if (ratio != 0.0) coupled.push_back({i, ratio});
    }
  }
}

bool BoxedLcpSolver::Data::solve_forces() {
  // constant bounds, normals among them; then friction, which follows its normal
  for (int i = 0; i < n; ++i)
    if (rows[i].normal < 0) f[i] = sets[i] == RowSet::upper ? rows[i].upper : rows[i].lower;
  for (int i = 0; i < n; ++i) {
    const int normal = rows[i].normal;
    if (normal < 0) continue;
    const double ratio = sets[i] == RowSet::upper ? rows[i].friction : -rows[i].friction;
    f[i] = sets[normal] == RowSet::clamped ? 0.0 : ratio * f[normal];
  }
  if (!solve_clamped(f.data())) return false;
  for (const Coupled& c : coupled) f[c.row] = c.ratio * f[rows[c.row].normal];
  return true;
}

bool BoxedLcpSolver::Data::solve_clamped(double* force) {
  const int m = static_cast<int>(clamped.size());
  if (m == 0) return true;
  // the right side: what the others do to the clamped rows
  if (sparse != nullptr) {
    std::fill_n(body_vector.begin(), sparse->vector_size(), 0.0);
    for (int i = 0; i < n; ++i)
      if (position[i] < 0 && force[i] != 0.0) sparse->add_velocity(i, force[i], body_vector.data());
    for (int r = 0; r < m; ++r) right[r] = -b[clamped[r]] - sparse->along(clamped[r], body_vector.data());
  } else {
    for (int r = 0; r < m; ++r) right[r] = -b[clamped[r]];
    for (int i = 0; i < n; ++i) {
      if (position[i] >= 0 || force[i] == 0.0) continue;
      const double* from = column(i);
      for (int r = 0; r < m; ++r) right[r] -= from[clamped[r]] * force[i];
    }
  }
  if (!solve_factored(right.data())) return false;
  for (int r = 0; r < m; ++r) force[clamped[r]] = right[r];
  return true;
}

bool BoxedLcpSolver::Data::factor_clamped(const double* softness) {
  factored_softness = softness;
  if (clamped.empty()) return true;
  if (!may_spend()) return false;
  return sparse != nullptr ? factor_sparse(softness) : factor_dense(softness);
}

bool BoxedLcpSolver::Data::may_spend() {
  const double size = static_cast<double>(clamped.size());
  const double cost = sparse != nullptr ? sparse_cost() : size * size * size;
  if (work > kMostWork + kMostFullSize * cost) return false;
  work += cost;
  return true;
}

bool BoxedLcpSolver::Data::factor_dense(const double* softness) {
  const int m = static_cast<int>(clamped.size());
  const int* at = clamped.data();
  const bool symmetric = coupled.empty();
  ++factorisations;
  system.resize(m);
  for (int k = 0; k < m; ++k) {
    const double* from = column(at[k]);
    double* to = system.column(k);
    for (int r = symmetric ? RowSystem::from(k) : 0; r < m; ++r) to[r] = from[at[r]];
    to[k] += softness[at[k]];
  }
  for (const Coupled& c : coupled) {
    const double* from = column(c.row);
    double* to = system.column(position[rows[c.row].normal]);
    for (int r = 0; r < m; ++r) to[r] += c.ratio * from[at[r]];
  }
  system.pad();
  if (symmetric) return system.factor_cholesky();
  for (int r = 0; r < m; ++r) pivot_scale[r] = d[at[r]];
  return system.factor_lu(pivot_scale.data());
}

bool BoxedLcpSolver::Data::solve_factored(double* x) {
  if (sparse != nullptr) return solve_sparse(factored_softness, x);
  system.solve(x);
  return true;
}

double BoxedLcpSolver::Data::assess() {
  double worst = 0.0;
  double scale = kNoForce * b_scale;
  double finite = 0.0;
  const auto projected = [&](int i) { return f[i] - (w[i] + soft[i] * f[i]) * inverse_d[i]; };
  for (int i = 0; i < n; ++i) {
    const double p = projected(i);
    const BoxedLcpRow& row = rows[i];
    worst = std::max(worst, std::abs(f[i] - bounds(i, f.data()).clamp(p)));
    scale = std::max(scale, std::abs(f[i]));
    finite += p * 0.0;
    if (row.normal < 0) {
      next[i] = LcpBounds{row.lower, row.upper}.set_of(p);
    } else {
      const BoxedLcpRow& normal = rows[row.normal];
      const double most = row.friction * LcpBounds{normal.lower, normal.upper}.clamp(projected(row.normal));
      next[i] = LcpBounds{-most, most}.set_of(p);
    }
  }
  if (finite != 0.0) return std::numeric_limits<double>::infinity();
  return scale > 0.0 ? worst / scale : worst;
}

void BoxedLcpSolver::Data::offer(double residual, BoxedLcpStage stage) {
  if (!(residual < best_residual)) return;
  best_residual = residual;
  best_stage = stage;
  std::swap(best_f, f);
  std::swap(best_w, w);
  std::copy(sets.begin(), sets.begin() + n, best_sets.begin());
}

bool BoxedLcpSolver::Data::set_newton(int steps, BoxedLcpStage stage) {
  for (int step = 0; step < steps; ++step) {
    if (!solve_sets()) return false;
    multiply_add(f.data(), w.data());
    const double residual = assess();
    offer(residual, stage);
    if (residual <= tolerance) return true;
    if (residual == std::numeric_limits<double>::infinity() || std::equal(sets.begin(), sets.begin() + n, next.begin()))
      return false;
    std::swap(sets, next);
  }
  return false;
}

}  // namespace tangere
