/// Lemke's path, followed from set to set: w = A f + b + τ c + C f, from τ = 1 to τ = 0.
///
/// The covering vector c makes a solution at τ = 1 known. From there the solution moves along straight pieces, one for
/// each choice of sets,
///
///   f_C' = -(A_CC + A_CS E + C_C)⁻¹ c_C,   f_S' = E f_C'
///
/// and a piece ends where a force meets a bound or a velocity meets zero: that row changes its set. On the next piece τ
/// goes whichever way takes that row inside its new set; it may rise for a while.
///
///   from afar   c > 0 on the rows that bound friction, so large that none of them carries more than its lower bound;
///               the others are a convex box problem. The copositive form of the problem (friction as a difference of
///               two, one slack a row) has no ray but the one that we come from, so with C > 0 the path ends at τ = 0.
///   from best   c is what the best forces so far leave unbalanced. Nothing is promised, but from the forces of the
///               last step it is a few pieces long.
///   from sets   likewise, from the forces and sets where the interior point ends: rows that tie are left.
///
/// Departures from the textbook: no tableau, each piece is factored anew (no drift, no extra unknowns) or, where A is
/// given by its parts, has the last one's factors brought up to date (boxed_lcp_sparse.cpp); ties are kept away by
/// drawing c at random, not by lexicographic order; a friction row whose bound is zero has no force to pivot on, its
/// set only follows the sign of its velocity.

#include <cmath>

#include "tangere/math/random.hpp"
#include "tangere/solvers/lcp/internal/boxed_lcp_data.hpp"

namespace tangere {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Sets tried at the end, where the compliance is not that of the path.
constexpr int kPolish = 16;
/// From there the path that promises nothing seldom comes back.
constexpr double kFarthest = 8.0;
/// How far velocities that are covered are moved to their side, in units of max |b / d|.
constexpr double kPush = 1e-3;

}  // namespace

bool BoxedLcpSolver::Data::lemke_from_best(int most_pieces) {
  if (best_residual == kInfinity) return false;
  start_from_best(search.data());
  return follow_path(search.data(), most_pieces, kFarthest) && set_newton(kPolish, BoxedLcpStage::lemke);
}

bool BoxedLcpSolver::Data::lemke_from_afar(std::uint64_t seed) {
  const int most_pieces = 100 + 20 * n;
  start_from_afar(search.data(), seed);
  if (follow_path(search.data(), most_pieces, kInfinity) && set_newton(kPolish, BoxedLcpStage::lemke)) return true;
  if (search_is_asked) return false;
  start_from_afar(asked.data(), seed);
  return follow_path(asked.data(), most_pieces, kInfinity) && set_newton(kPolish, BoxedLcpStage::lemke);
}

bool BoxedLcpSolver::Data::lemke_from_sets(int most_pieces) {
  for (const bool friction : {false, true}) {
    for (int i = 0; i < n; ++i) {
      if ((rows[i].normal >= 0) != friction) continue;
      const LcpBounds box = bounds(i, g.data());
      g[i] = sets[i] == RowSet::lower ? box.lower : sets[i] == RowSet::upper ? box.upper : box.clamp(f[i]);
    }
  }
  start_from_forces(search.data());
  return follow_path(search.data(), most_pieces, kFarthest) && set_newton(kPolish, BoxedLcpStage::lemke);
}

void BoxedLcpSolver::Data::start_from_best(const double* softness) {
  std::copy(best_f.begin(), best_f.begin() + n, g.begin());
  project(g.data());
  start_from_forces(softness);
}

void BoxedLcpSolver::Data::start_from_forces(const double* softness) {
  multiply_add(g.data(), w_g.data());
  Random random(0);
  for (int i = 0; i < n; ++i) {
    const LcpBounds box = bounds(i, g.data());
    const double w_i = w_g[i] + softness[i] * g[i];
    const double push = random.uniform(0.5, 1.5) * kPush * d[i] * b_scale;
    cover[i] = 0.0;
    if (box.lower == box.upper) {
      sets[i] = w_i > 0.0 ? RowSet::lower : RowSet::upper;
    } else if (g[i] <= box.lower) {
      sets[i] = RowSet::lower;
      cover[i] = std::max(0.0, push - w_i);
    } else if (g[i] >= box.upper) {
      sets[i] = RowSet::upper;
      cover[i] = std::min(0.0, -push - w_i);
    } else {
      sets[i] = RowSet::clamped;
      cover[i] = -w_i;
    }
  }
}

void BoxedLcpSolver::Data::start_from_afar(const double* softness, std::uint64_t seed) {
  // rows that bound friction at their lower bounds
  for (int i = 0; i < n; ++i) {
    const bool friction = rows[i].normal >= 0;
    const double most = friction ? rows[i].friction * rows[rows[i].normal].lower : 0.0;
    lower[i] = friction ? -most : rows[i].lower;
    upper[i] = friction ? most : rows[i].upper;
    cover[i] = 0.0;
  }
  for (int i = 0; i < n; ++i) {
    const int normal = rows[i].normal;
    if (normal < 0 || rows[i].friction == 0.0) continue;
    upper[normal] = lower[normal];
    cover[normal] = 1.0;
  }
  // the others
  std::fill(g.begin(), g.begin() + n, 0.0);
  minimise_box(softness);
  Random random(seed);
  for (int i = 0; i < n; ++i) {
    sets[i] = box_sets[i];
    if (cover[i] == 0.0) continue;
    sets[i] = RowSet::lower;
    const double w_i = w_g[i] + softness[i] * lower[i];
    cover[i] = std::max(0.0, -w_i) + random.uniform(0.5, 1.5) * d[i] * b_scale;
  }
}

bool BoxedLcpSolver::Data::follow_path(const double* softness, int most_pieces, double farthest) {
  // the methods on sets see the problem at τ and this C meanwhile
  const double* b_asked = b;
  b = b_path.data();
  soft = softness;
  accuracy = kPathAccuracy;
  const bool arrived = follow_pieces(b_asked, most_pieces, farthest);
  b = b_asked;
  soft = asked.data();
  accuracy = kFullAccuracy;
  return arrived;
}

bool BoxedLcpSolver::Data::solve_piece(const double* b_asked, double tau) {
  for (int i = 0; i < n; ++i) b_path[i] = b_asked[i] + tau * cover[i];
  const int factored = factorisations;
  read_sets();
  if (!factor_clamped(soft)) return false;
  // f and w go on where they were as long as the factors are only brought up to date
  const bool afresh = sparse == nullptr || tau == 1.0 || factorisations != factored;
  if (afresh) {
    if (!solve_forces()) return false;
    multiply_add(f.data(), w.data());
    for (int i = 0; i < n; ++i) w[i] += soft[i] * f[i];
  }
  std::fill(df.begin(), df.begin() + n, 0.0);
  if (!clamped.empty()) {
    for (std::size_t k = 0; k < clamped.size(); ++k) right[k] = -cover[clamped[k]];
    if (!solve_factored(right.data())) return false;
    for (std::size_t k = 0; k < clamped.size(); ++k) df[clamped[k]] = right[k];
    for (const Coupled& c : coupled) df[c.row] = c.ratio * df[rows[c.row].normal];
  }
  multiply(df.data(), dw.data());
  for (int i = 0; i < n; ++i) dw[i] += soft[i] * df[i] + cover[i];
  return true;
}

void BoxedLcpSolver::Data::advance(double change_of_tau) {
  for (int i = 0; i < n; ++i) {
    f[i] += change_of_tau * df[i];
    w[i] += change_of_tau * dw[i];
  }
}

bool BoxedLcpSolver::Data::follow_pieces(const double* b_asked, int most_pieces, double farthest) {
  double tau = 1.0;
  double direction = -1.0;
  int changed = -1;
  RowSet before = RowSet::clamped;
  for (int piece = 0; piece < most_pieces; ++piece) {
    if (!solve_piece(b_asked, tau)) return false;
    // the way that takes the row which changed inside its new set
    if (changed >= 0) {
      const int normal = rows[changed].normal;
      const double d_bound = normal < 0 ? 0.0 : rows[changed].friction * df[normal];
      double rate = 0.0;
      if (sets[changed] != RowSet::clamped) {
        rate = sets[changed] == RowSet::lower ? dw[changed] : -dw[changed];
      } else {
        rate = before == RowSet::lower ? df[changed] + d_bound : d_bound - df[changed];
      }
      if (rate == 0.0) return false;
      direction = rate > 0.0 ? 1.0 : -1.0;
    }
    // the first row to leave its set
    double step = direction < 0.0 ? tau : kInfinity;
    changed = -1;
    RowSet to = RowSet::clamped;
    const auto meets = [&](int i, double slack, double slope, RowSet set) {
      if (!(slope * direction < 0.0)) return;
      const double length = std::max(0.0, slack) / std::abs(slope);
      if (!(length < step)) return;
      step = length;
      changed = i;
      to = set;
    };
    for (int i = 0; i < n; ++i) {
      const BoxedLcpRow& row = rows[i];
      if (sets[i] == RowSet::lower) {
        meets(i, w[i], dw[i], RowSet::clamped);
      } else if (sets[i] == RowSet::upper) {
        meets(i, -w[i], -dw[i], RowSet::clamped);
      } else if (row.normal < 0) {
        if (row.lower > -kInfinity) meets(i, f[i] - row.lower, df[i], RowSet::lower);
        if (row.upper < kInfinity) meets(i, row.upper - f[i], -df[i], RowSet::upper);
      } else {
        const double most = row.friction * f[row.normal];
        const double slope = row.friction * df[row.normal];
        meets(i, f[i] + most, df[i] + slope, RowSet::lower);
        meets(i, most - f[i], slope - df[i], RowSet::upper);
      }
    }
    if (changed < 0) return direction < 0.0;
    tau += direction * step;
    if (tau > farthest) return false;
    advance(direction * step);
    before = sets[changed];
    const LcpBounds box = bounds(changed, f.data());
    const int normal = rows[changed].normal;
    if (box.lower == box.upper && (normal < 0 || sets[normal] != RowSet::clamped || rows[changed].friction == 0.0)) {
      // no room to pivot into: the same piece goes on
      sets[changed] = before == RowSet::lower ? RowSet::upper : RowSet::lower;
      changed = -1;
    } else {
      sets[changed] = to;
    }
  }
  return false;
}

}  // namespace tangere
