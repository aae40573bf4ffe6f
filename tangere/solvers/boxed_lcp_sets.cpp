/// Newton's method on the sets. With clamped rows C, sliding rows S (f_S = E f_C, E = ± friction in the column of the
/// normal) and rows at constant bounds B,
///
///   (A_CC + A_CS E + C_C) f_C = -(b_C + A_CB f_B)
///
/// and the next sets are those of the projection of f - w' / d, w' = A f + b + C f, C the compliances. Symmetric
/// without sliding rows (Cholesky), not symmetric with them (LU). The normal force that bounds a friction row is
/// projected too, so that a contact which closes starts by sticking if its velocities say so.

#include <cmath>

#include "tangere/solvers/boxed_lcp_data.hpp"

namespace tangere {
namespace {

/// What the whole chain may spend on factorisations, Σ m³: some tenths of a second, and 100 of full size.
constexpr double kMostWork = 4e9;
constexpr double kMostFullSize = 100.0;
/// The part of what would stop all rows that counts as their force where there is less.
constexpr double kNoForce = 1e-3;

}  // namespace

bool BoxedLcpSolver::Data::solve_sets() {
  clamped.clear();
  coupled.clear();
  // constant bounds, normals among them
  for (int i = 0; i < n; ++i) {
    const BoxedLcpRow& row = rows[i];
    RowSet& set = sets[i];
    if (row.normal >= 0) continue;
    const double bound = set == RowSet::upper ? row.upper : row.lower;
    if (set != RowSet::clamped && std::abs(bound) == std::numeric_limits<double>::infinity()) set = RowSet::clamped;
    f[i] = bound;
  }
  // friction follows its normal
  for (int i = 0; i < n; ++i) {
    const BoxedLcpRow& row = rows[i];
    if (sets[i] == RowSet::clamped) {
      position[i] = static_cast<int>(clamped.size());
      clamped.push_back(i);
      continue;
    }
    position[i] = -1;
    if (row.normal < 0) continue;
    const double ratio = sets[i] == RowSet::upper ? row.friction : -row.friction;
    if (sets[row.normal] != RowSet::clamped) {
      f[i] = ratio * f[row.normal];
    } else {
      f[i] = 0.0;
      if (ratio != 0.0) coupled.push_back({i, ratio});
    }
  }
  if (!solve_clamped(soft, f.data())) return false;
  for (const Coupled& c : coupled) f[c.row] = c.ratio * f[rows[c.row].normal];
  return true;
}

bool BoxedLcpSolver::Data::solve_clamped(const double* softness, double* force) {
  const int m = static_cast<int>(clamped.size());
  if (m == 0) return true;
  const int* at = clamped.data();
  const bool symmetric = coupled.empty();
  if (work > kMostWork + kMostFullSize * n * n * n) return false;
  work += 1.0 * m * m * m;
  ++factorisations;
  system.resize(m);
  // the matrix
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
  // the right side
  for (int r = 0; r < m; ++r) right[r] = -b[at[r]];
  for (int i = 0; i < n; ++i) {
    if (position[i] >= 0 || force[i] == 0.0) continue;
    const double* from = column(i);
    for (int r = 0; r < m; ++r) right[r] -= from[at[r]] * force[i];
  }

  if (symmetric) {
    if (!system.factor_cholesky()) return false;
  } else {
    for (int r = 0; r < m; ++r) pivot_scale[r] = d[at[r]];
    if (!system.factor_lu(pivot_scale.data())) return false;
  }
  system.solve(right.data());
  for (int r = 0; r < m; ++r) force[at[r]] = right[r];
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
