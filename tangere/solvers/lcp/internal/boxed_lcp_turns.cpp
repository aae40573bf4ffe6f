/// The path of the interior point (boxed_lcp_interior.cpp) where it turns.
///
/// The points with w + c f = λ_l − λ_u and s λ = κ d are a curve in (f, s, λ, κ). With friction κ need not fall along
/// it: where bodies jam it turns, rises for a while, and falls on another branch. Steps to ever smaller κ end at such a
/// turn; here the curve itself is followed, by Newton's steps at right angles to its tangent
///
///   T = κ dx/dκ,   Δx = Δx_Newton + (β + way) T,   κ ← κ (1 + β + way)
///
/// with lengths and angles relative to the values. Which way is onward is the sign of the determinant of the equations,
/// which changes at every turn, and that is the sign of det K: all else that is eliminated has positive pivots. Steps
/// that do not come back to the curve are taken again, shorter. Too long ones may still come down on another curve,
/// which may be closed: then another start with other steps is needed.

#include <cmath>

#include "tangere/solvers/lcp/internal/boxed_lcp_data.hpp"

namespace tangere {
namespace {

constexpr int kMostCorrections = 4;
constexpr double kToTheBoundary = 0.9;
/// s λ / (κ d) − 1 of what is on the curve.
constexpr double kNear = 0.7;
/// κ falls by less in a step.
constexpr double kLargestFall = 0.9;
/// How steps get longer and shorter, and where they end.
constexpr double kLonger = 1.5;
constexpr double kShorter = 0.3;
constexpr double kShortest = 1e-4;
/// √κ relative to the largest force where sets are read first, how much later again, and where rounding ends it.
constexpr double kFirstLook = 1e-3;
constexpr double kNextLook = 0.3;
constexpr double kLastLook = 1e-7;
/// Most pieces of Lemke's path from there: rows that tie.
constexpr int kPiecesToTheEnd = 100;

}  // namespace

/// The tangent, and Newton's step at κ in df, slack_step and dual_step: steps are linear in the κ they aim at.
void BoxedLcpSolver::Data::set_tangent(double kappa) {
  interior_direction(0.0, false);
  std::copy_n(df.begin(), n, tangent.force.begin());
  for (int side = 0; side < 2; ++side) {
    std::copy_n(slack_step[side].begin(), n, tangent.slack[side].begin());
    std::copy_n(dual_step[side].begin(), n, tangent.dual[side].begin());
  }
  interior_direction(kappa, false);
  for (int i = 0; i < n; ++i) tangent.force[i] = df[i] - tangent.force[i];
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < n; ++i) {
      tangent.slack[side][i] = slack_step[side][i] - tangent.slack[side][i];
      tangent.dual[side][i] = dual_step[side][i] - tangent.dual[side][i];
    }
  }
}

double BoxedLcpSolver::Data::turning_step(double& kappa, double reach) {
  multiply_add(f.data(), w.data());
  set_interior_stiffness();
  if (!factor_bodies()) return 0.0;
  set_tangent(kappa);
  double square = 1.0;
  double across = 0.0;
  double largest = 1.0;
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < n; ++i) {
      if (is_fixed(i) || !is_bounded(i, side)) continue;
      const double t_slack = tangent.slack[side][i] / side_slack[side][i];
      const double t_dual = tangent.dual[side][i] / side_dual[side][i];
      square += t_slack * t_slack + t_dual * t_dual;
      across += t_slack * slack_step[side][i] / side_slack[side][i] + t_dual * dual_step[side][i] / side_dual[side][i];
      largest = std::max({largest, std::abs(t_slack), std::abs(t_dual)});
    }
  }
  const double onward = lu.determinant_sign() > 0 ? -1.0 : 1.0;
  const double along = std::max(-kLargestFall, -across / square + onward * reach / largest);
  for (int i = 0; i < n; ++i) df[i] += along * tangent.force[i];
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < n; ++i) {
      slack_step[side][i] += along * tangent.slack[side][i];
      dual_step[side][i] += along * tangent.dual[side][i];
    }
  }
  const double room = interior_length();
  const double length = room < 1.0 ? kToTheBoundary * room : 1.0;
  move_interior(length);
  kappa *= 1.0 + length * along;
  return length;
}

double BoxedLcpSolver::Data::away_from_path(double kappa) const {
  double out = 0.0;
  for (int side = 0; side < 2; ++side)
    for (int i = 0; i < n; ++i)
      if (!is_fixed(i) && is_bounded(i, side))
        out = std::max(out, std::abs(side_slack[side][i] * side_dual[side][i] * inverse_d[i] / kappa - 1.0));
  return out;
}

void BoxedLcpSolver::Data::keep_interior() {
  std::copy_n(f.begin(), n, kept.force.begin());
  for (int side = 0; side < 2; ++side) {
    std::copy_n(side_slack[side].begin(), n, kept.slack[side].begin());
    std::copy_n(side_dual[side].begin(), n, kept.dual[side].begin());
  }
}

void BoxedLcpSolver::Data::restore_interior() {
  std::copy_n(kept.force.begin(), n, f.begin());
  for (int side = 0; side < 2; ++side) {
    std::copy_n(kept.slack[side].begin(), n, side_slack[side].begin());
    std::copy_n(kept.dual[side].begin(), n, side_dual[side].begin());
  }
}

bool BoxedLcpSolver::Data::follow_turns(double scale, double longest, int most_steps) {
  start_interior(scale);
  double kappa = interior_products(0.0).mean;
  double kept_kappa = 0.0;
  double reach = longest;
  double length = 0.0;
  double look = kFirstLook;
  int corrections = 0;
  for (int step = 0; step < most_steps && may_spend(); ++step) {
    const double largest = largest_force();
    if (!(largest < std::numeric_limits<double>::infinity())) return false;
    if (std::sqrt(kappa) <= look * largest) {
      if (try_interior_sets()) return true;
      if (look < kLastLook) {
        interior_sets();
        return lemke_from_sets(kPiecesToTheEnd);
      }
      look *= kNextLook;
    }
    bool onward = length == 1.0 && away_from_path(kappa) < kNear;
    if (onward) {
      keep_interior();
      kept_kappa = kappa;
      if (corrections <= 1) reach = std::min(longest, kLonger * reach);
      corrections = 0;
    } else if (kept_kappa > 0.0 && ++corrections > kMostCorrections) {
      // again, not as far
      restore_interior();
      kappa = kept_kappa;
      reach *= kShorter;
      if (reach < kShortest) return false;
      corrections = 0;
      onward = true;
    }
    length = turning_step(kappa, onward ? reach : 0.0);
    if (length == 0.0 && kept_kappa == 0.0) return false;
  }
  return false;
}

}  // namespace tangere
