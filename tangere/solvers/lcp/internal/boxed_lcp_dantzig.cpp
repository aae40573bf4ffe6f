/// The box problem with frozen friction bounds by principal pivoting (Cottle and Dantzig's method for a box):
///
///   w = (A + C) g + b,   w_i = 0 while lower_i < g_i < upper_i,   w_i ≥ 0 at the lower bound,   w_i ≤ 0 at the upper
///   one
///
/// Rows join one after the other. The one in hand starts from its least force, which is raised or lowered while those
/// that joined before keep their conditions: clamped ones by
///
///   Δg_C = −(A_CC + C_C)⁻¹ A_Ci Δg_i
///
/// until w_i is zero or g_i meets its bound. Whenever another row meets a bound, or a velocity at a bound meets zero,
/// that row changes its set and the way goes on. A + C is positive definite, so that every row gets there; the number
/// of changes is limited all the same, as rounding can make ties go round.
///
/// Departure from the classic codes: bounds are not frozen after a frictionless pass, but follow in rounds, and each
/// round's sets are handed to the Newton method on sets (boxed_lcp_newton.cpp).

#include <cmath>

#include "tangere/solvers/lcp/internal/boxed_lcp_data.hpp"

namespace tangere {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Changes of sets a row, on average.
constexpr int kPivotsPerRow = 8;

}  // namespace

void BoxedLcpSolver::Data::pivot_box(const double* softness) {
  for (int i = 0; i < n; ++i) {
    const LcpBounds box{lower[i], upper[i]};
    g[i] = box.clamp(0.0);
    box_sets[i] = box.lower == box.upper || g[i] == box.lower ? RowSet::lower : RowSet::upper;
  }
  int pivots = kPivotsPerRow * n;
  for (int i = 0; i < n && pivots > 0; ++i) pivots = join_row(i, softness, pivots);
  multiply_add(g.data(), w_g.data());
}

/// Returns the pivots left over; 0 if they did not suffice.
int BoxedLcpSolver::Data::join_row(int i, const double* softness, int pivots) {
  for (; pivots > 0; --pivots) {
    multiply_add(g.data(), w_g.data());
    for (int j = 0; j < n; ++j) w_g[j] += softness[j] * g[j];
    const bool free_to_rise = g[i] < upper[i];
    const bool free_to_fall = g[i] > lower[i];
    if ((w_g[i] >= 0.0 && !free_to_fall) || (w_g[i] <= 0.0 && !free_to_rise)) {
      box_sets[i] = w_g[i] >= 0.0 && !free_to_fall ? RowSet::lower : RowSet::upper;
      return pivots;
    }
    const double direction = w_g[i] < 0.0 ? 1.0 : -1.0;
    if (!solve_drive(i, direction, softness)) return 0;
    if (drive_row(i, direction)) return pivots - 1;
  }
  return 0;
}

/// df and dw as g_i moves along the direction, the clamped rows before it with it.
bool BoxedLcpSolver::Data::solve_drive(int i, double direction, const double* softness) {
  clamped.clear();
  coupled.clear();
  std::fill(position.begin(), position.begin() + n, -1);
  for (int j = 0; j < i; ++j) {
    if (box_sets[j] != RowSet::clamped) continue;
    position[j] = static_cast<int>(clamped.size());
    clamped.push_back(j);
  }
  std::fill(df.begin(), df.begin() + n, 0.0);
  df[i] = direction;
  if (!clamped.empty()) {
    multiply(df.data(), dw.data());
    for (std::size_t k = 0; k < clamped.size(); ++k) right[k] = -dw[clamped[k]];
    if (!factor_clamped(softness) || !solve_factored(right.data())) return false;
    for (std::size_t k = 0; k < clamped.size(); ++k) df[clamped[k]] = right[k];
  }
  multiply(df.data(), dw.data());
  for (int j = 0; j <= i; ++j) dw[j] += softness[j] * df[j];
  return true;
}

/// As far as all sets hold. True if row i has found its own.
bool BoxedLcpSolver::Data::drive_row(int i, double direction) {
  // its velocity meets zero, or its force a bound
  double length = dw[i] * direction > 0.0 ? -w_g[i] / dw[i] : kInfinity;
  int changed = i;
  RowSet to = RowSet::clamped;
  const auto meets = [&](int j, double slack, double slope, RowSet set) {
    if (!(slope < 0.0)) return;
    const double at = std::max(0.0, slack) / -slope;
    if (!(at < length)) return;
    length = at;
    changed = j;
    to = set;
  };
  for (int j = 0; j <= i; ++j) {
    if (j == i || box_sets[j] == RowSet::clamped) {
      if (lower[j] > -kInfinity) meets(j, g[j] - lower[j], df[j], RowSet::lower);
      if (upper[j] < kInfinity) meets(j, upper[j] - g[j], -df[j], RowSet::upper);
    } else if (lower[j] < upper[j]) {
      const double sign = box_sets[j] == RowSet::lower ? 1.0 : -1.0;
      meets(j, sign * w_g[j], sign * dw[j], RowSet::clamped);
    }
  }
  if (length == kInfinity) return true;
  for (int j = 0; j <= i; ++j) g[j] += length * df[j];
  box_sets[changed] = to;
  if (to == RowSet::lower) g[changed] = lower[changed];
  if (to == RowSet::upper) g[changed] = upper[changed];
  return changed == i;
}

}  // namespace tangere
