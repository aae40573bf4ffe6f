/// A primal–dual interior point on the rows, for crowds: as many bodies collide at once, sets of the last step are of
/// little use, and the paths from set to set are as long as there are rows. Its steps are some tens, whatever the
/// number of rows.
///
/// With slacks s of the bounds and multipliers λ, for every row
///
///   w + c f = λ_l − λ_u,   s_l = f − lower,   s_u = upper − f,   s λ = κ d
///
/// where the bounds of friction are ∓ μ f_n: s_l = μ f_n + f, s_u = μ f_n − f. The steps are those of Newton's method
/// at κ → 0 (Mehrotra's predictor and corrector). Slacks and multipliers eliminated, p = λ / s, σ = 1 / (p_l + p_u +
/// c):
///
///   Δf = σ (g − j Δx − μ (p_l − p_u) Δf_n),   M Δx = Jᵀ Δf
///
/// which is the matrix of boxed_lcp_sparse.cpp with other stiffnesses: own = σ, shared = − σ μ (p_l − p_u) σ_n.
/// Friction that follows its normal makes the problem one that is not monotone, so that nothing is promised: where the
/// steps get stuck, the path they aim at turns, and is followed itself (boxed_lcp_turns.cpp). The answer is made of the
/// sets where s and λ / d tell which is the smaller, by the Newton method on sets.

#include <cmath>

#include "tangere/solvers/lcp/internal/boxed_lcp_data.hpp"

namespace tangere {
namespace {

constexpr int kMostSteps = 60;
constexpr double kToTheBoundary = 0.99;
constexpr double kNoProgress = 1e-3;
/// Least product s λ / d that a step may leave, as a part of the mean, and the factor that shortens a step that leaves
/// less.
constexpr double kLeastProduct = 1e-3;
constexpr double kShorter = 0.8;
constexpr int kMostShorter = 12;
/// Sets are read where the mean of s λ / d is so small, relative to the largest force (squared); then again at less.
constexpr double kFirstLook = 1e-3;
constexpr double kNextLook = 3e-2;
constexpr double kLastLook = 1e-9;
/// Most pieces of Lemke's path from there.
constexpr int kPiecesToTheEnd = 40;
/// Sets tried after each look.
constexpr int kPolish = 4;
/// Turning points of its path (boxed_lcp_turns.cpp), one after the other.
struct PathStart {
  double scale;
  double longest_step;
  int most_steps;
};
constexpr PathStart kPathStarts[] = {
    {1.0, 0.5, 600}, {3.0, 0.5, 300}, {10.0, 0.3, 300}, {0.3, 0.5, 600}, {1.0, 0.8, 300}};

}  // namespace

void BoxedLcpSolver::Data::reserve_interior() {
  for (int side = 0; side < 2; ++side)
    for (AlignedVector* x :
         {&side_slack[side], &side_dual[side], &slack_step[side], &dual_step[side], &second_order[side],
          &tangent.slack[side], &tangent.dual[side], &kept.slack[side], &kept.dual[side]})
      if (x->size() < d.size()) x->resize(d.size());
  for (AlignedVector* x : {&tangent.force, &kept.force})
    if (x->size() < d.size()) x->resize(d.size());
}

bool BoxedLcpSolver::Data::is_bounded(int i, int side) const {
  if (rows[i].normal >= 0) return rows[i].friction > 0.0;
  return std::abs(side == 0 ? rows[i].lower : rows[i].upper) < std::numeric_limits<double>::infinity();
}

bool BoxedLcpSolver::Data::is_fixed(int i) const {
  return rows[i].normal >= 0 ? rows[i].friction == 0.0 : rows[i].lower == rows[i].upper;
}

/// Everything inside its bounds by about what would stop the rows, times `scale`, on the path of κ = that squared.
void BoxedLcpSolver::Data::start_interior(double scale) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += b[i] * b[i] * inverse_d[i] * inverse_d[i];
  const double force = scale * std::sqrt(sum / n);
  for (const bool friction : {false, true}) {
    for (int i = 0; i < n; ++i) {
      if ((rows[i].normal >= 0) != friction) continue;
      if (friction) {
        f[i] = 0.0;
      } else if (is_bounded(i, 0)) {
        f[i] = is_bounded(i, 1) ? 0.5 * (rows[i].lower + rows[i].upper) : rows[i].lower + force;
      } else {
        f[i] = is_bounded(i, 1) ? rows[i].upper - force : 0.0;
      }
      for (int side = 0; side < 2; ++side)
        side_slack[side][i] = side_dual[side][i] = slack_step[side][i] = dual_step[side][i] = 0.0;
      if (is_fixed(i)) continue;
      const LcpBounds box = bounds(i, f.data());
      for (int side = 0; side < 2; ++side) {
        if (!is_bounded(i, side)) continue;
        side_slack[side][i] = side == 0 ? f[i] - box.lower : box.upper - f[i];
        side_dual[side][i] = force * force * d[i] / side_slack[side][i];
      }
    }
  }
}

/// Sets each row's addition to K.
void BoxedLcpSolver::Data::set_interior_stiffness() {
  const auto hardness = [&](int i, int side) {
    return is_bounded(i, side) ? side_dual[side][i] / side_slack[side][i] : 0.0;
  };
  stiffness.assign(static_cast<std::size_t>(n), {});
  for (int i = 0; i < n; ++i)
    if (!is_fixed(i)) stiffness[i].own = 1.0 / (hardness(i, 0) + hardness(i, 1) + soft[i]);
  for (int i = 0; i < n; ++i) {
    if (rows[i].normal < 0 || is_fixed(i)) continue;
    stiffness[i].shared =
        -stiffness[i].own * rows[i].friction * (hardness(i, 0) - hardness(i, 1)) * stiffness[rows[i].normal].own;
  }
}

/// Steps of forces, slacks and multipliers towards s λ = κ d; w has the velocities at f.
void BoxedLcpSolver::Data::interior_direction(double kappa, bool corrected) {
  const SparseRows& s = *sparse;
  // multipliers with the slacks held: h = κ d / s − λ
  const auto held = [&](int i, int side) {
    if (!is_bounded(i, side)) return 0.0;
    const double product = kappa * d[i] - (corrected ? second_order[side][i] : 0.0);
    return product / side_slack[side][i] - side_dual[side][i];
  };
  std::fill_n(body_vector.begin(), s.vector_size(), 0.0);
  // right: σ g, and what friction gets of its normal's
  for (int i = 0; i < n; ++i) {
    right[i] = 0.0;
    if (is_fixed(i)) continue;
    const double left_over = w[i] + soft[i] * f[i] - (side_dual[0][i] - side_dual[1][i]);
    right[i] = factored_stiffness[i].own * (held(i, 0) - held(i, 1) - left_over);
  }
  for (int i = 0; i < n; ++i) {
    const int normal = rows[i].normal;
    const bool follows = normal >= 0 && factored_stiffness[i].shared != 0.0;
    const double force =
        right[i] + (follows ? right[normal] / factored_stiffness[normal].own * factored_stiffness[i].shared : 0.0);
    if (force != 0.0) s.add_wrench(i, force, body_vector.data());
  }
  lu.solve(body_vector.data());
  for (const bool friction : {false, true}) {
    for (int i = 0; i < n; ++i) {
      if ((rows[i].normal >= 0) != friction) continue;
      df[i] = 0.0;
      for (int side = 0; side < 2; ++side) slack_step[side][i] = dual_step[side][i] = 0.0;
      if (is_fixed(i)) continue;
      df[i] = right[i] - factored_stiffness[i].own * s.along(i, body_vector.data());
      const double opening = friction ? rows[i].friction * df[rows[i].normal] : 0.0;
      if (friction && factored_stiffness[rows[i].normal].own > 0.0)
        df[i] += factored_stiffness[i].shared / factored_stiffness[rows[i].normal].own * df[rows[i].normal];
      for (int side = 0; side < 2; ++side) {
        if (!is_bounded(i, side)) continue;
        slack_step[side][i] = opening + (side == 0 ? df[i] : -df[i]);
        dual_step[side][i] = held(i, side) - side_dual[side][i] / side_slack[side][i] * slack_step[side][i];
      }
    }
  }
}

/// The longest step, up to 1, that keeps all slacks and multipliers positive.
double BoxedLcpSolver::Data::interior_length() const {
  double length = 1.0;
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < n; ++i) {
      if (is_fixed(i) || !is_bounded(i, side)) continue;
      if (slack_step[side][i] < 0.0) length = std::min(length, -side_slack[side][i] / slack_step[side][i]);
      if (dual_step[side][i] < 0.0) length = std::min(length, -side_dual[side][i] / dual_step[side][i]);
    }
  }
  return length;
}

/// The products s λ / d after a step of this length.
BoxedLcpSolver::Data::Products BoxedLcpSolver::Data::interior_products(double length) const {
  Products out;
  int count = 0;
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < n; ++i) {
      if (is_fixed(i) || !is_bounded(i, side)) continue;
      const double product = (side_slack[side][i] + length * slack_step[side][i]) *
                             (side_dual[side][i] + length * dual_step[side][i]) * inverse_d[i];
      out.mean += product;
      out.least = std::min(out.least, product);
      ++count;
    }
  }
  if (count > 0) out.mean /= count;
  return out;
}

void BoxedLcpSolver::Data::interior_sets() {
  for (const bool friction : {false, true}) {
    for (int i = 0; i < n; ++i) {
      if ((rows[i].normal >= 0) != friction) continue;
      const auto at_bound = [&](int side) {
        return is_bounded(i, side) && side_slack[side][i] * d[i] < side_dual[side][i];
      };
      const bool idle = is_fixed(i) || (friction && sets[rows[i].normal] != RowSet::clamped);
      sets[i] = idle || at_bound(0) ? RowSet::lower : at_bound(1) ? RowSet::upper : RowSet::clamped;
    }
  }
}

/// Predictor and corrector; `careful` trusts what is of second order as far as the first step goes. False if there is
/// no step to make.
bool BoxedLcpSolver::Data::interior_step(double gap, bool careful) {
  set_interior_stiffness();
  if (!factor_bodies()) return false;
  interior_direction(0.0, false);
  const double ahead = interior_length();
  const double ratio = gap > 0.0 ? interior_products(ahead).mean / gap : 0.0;
  const double weight = careful ? ahead : 1.0;
  for (int side = 0; side < 2; ++side)
    for (int i = 0; i < n; ++i) second_order[side][i] = weight * slack_step[side][i] * dual_step[side][i];
  interior_direction(ratio * ratio * ratio * gap, true);
  double length = std::min(1.0, kToTheBoundary * interior_length());
  if (!(length > kNoProgress)) return false;
  for (int k = 0; k < kMostShorter; ++k) {
    const Products products = interior_products(length);
    if (products.least >= kLeastProduct * products.mean) break;
    length *= kShorter;
  }
  move_interior(length);
  return true;
}

void BoxedLcpSolver::Data::move_interior(double length) {
  for (int i = 0; i < n; ++i) f[i] += length * df[i];
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < n; ++i) {
      side_slack[side][i] += length * slack_step[side][i];
      side_dual[side][i] += length * dual_step[side][i];
    }
  }
}

double BoxedLcpSolver::Data::largest_force() const {
  double out = 0.0;
  for (int i = 0; i < n; ++i) out = std::max(out, std::abs(f[i]));
  return out;
}

bool BoxedLcpSolver::Data::try_interior_sets() {
  interior_sets();
  std::copy(f.begin(), f.begin() + n, g.begin());
  if (set_newton(kPolish, BoxedLcpStage::interior_point)) return true;
  std::copy(g.begin(), g.begin() + n, f.begin());
  return false;
}

bool BoxedLcpSolver::Data::interior_point() {
  // problems that one start fails on are seldom those that another does; near ties, Lemke's path is what is left to go
  for (const bool careful : {false, true})
    if (follow_interior(1.0, careful) || lemke_from_best(kPiecesToTheEnd)) return true;
  for (const PathStart& start : kPathStarts)
    if (follow_turns(start.scale, start.longest_step, start.most_steps) || lemke_from_best(kPiecesToTheEnd))
      return true;
  return false;
}

bool BoxedLcpSolver::Data::follow_interior(double scale, bool careful) {
  start_interior(scale);
  double look = kFirstLook;
  for (int step = 0; step < kMostSteps && may_spend(); ++step) {
    const double gap = interior_products(0.0).mean;
    const double largest = largest_force();
    if (!(largest < std::numeric_limits<double>::infinity())) return false;
    if (std::sqrt(gap) <= look * largest) {
      if (try_interior_sets()) return true;
      if (look < kLastLook) return false;
      look *= kNextLook;
    }
    multiply_add(f.data(), w.data());
    if (!interior_step(gap, careful)) return false;
  }
  return false;
}

}  // namespace tangere
