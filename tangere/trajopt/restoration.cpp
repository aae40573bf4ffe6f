#include <algorithm>
#include <cmath>

#include "tangere/trajopt/internal/optimizer_memory.hpp"

/// Restoration: where a solve has ended infeasible, violations alone are made as small as can be,
///
///   minimise Σ ½ c² + ½ max(h, 0)²   with   x_{k+1} = f(x_k, u_k)   and bounds on controls,
///
/// from the last iterate and, if that leads nowhere, from the guess. Either there is a feasible trajectory, from which
/// the solve begins anew; or the place of the least violation is known.

namespace tangere {

using internal::KnotPoint;
using internal::Place;
using internal::Totals;

namespace {

void take_trajectory(const std::vector<KnotPoint>& from, std::vector<KnotPoint>& to) {
  for (std::size_t k = 0; k < to.size(); ++k) {
    to[k].x = from[k].x;
    to[k].u = from[k].u;
  }
}

}  // namespace

bool Optimizer::Memory::restore(const IterationCallback& callback, bool& stopped) {
  was_restored = true;
  is_restoring_linearly = false;
  bool is_feasible = lessen_violations(callback, stopped);
  if (!is_feasible && !stopped) {
    const double least = best_violation;
    take_trajectory(best, restored);
    take_trajectory(guessed, points);
    is_restoring_linearly = true;
    is_feasible = lessen_violations(callback, stopped);
    if (!is_feasible && !(best_violation < least)) {
      take_trajectory(restored, best);
      best_violation = least;
    }
  }
  // equalities that cost little would be given up again
  constexpr double kStiffer = 1e3;
  weights = {.barrier = options.barrier, .penalty = std::min(kStiffer * options.penalty, options.max_penalty)};
  if (!is_feasible) return false;
  regularisation = std::max(options.regularisation, options.least_regularisation);
  round = hopeless_rounds = 0;
  for (internal::KnotLinear& knot_rows : linear) knot_rows.lambda.setZero();
  Place bad;
  if (!enter_phase(bad)) return false;
  start_slacks();
  return true;
}

/// From the iterate; whether it has become feasible, or nearly.
bool Optimizer::Memory::lessen_violations(const IterationCallback& callback, bool& stopped) {
  constexpr int kMostIterations = 100;
  constexpr double kBarrier = 1e-10;
  constexpr double kProgress = 1e-6;
  const double feasible_enough = std::max(10.0 * options.constraint_tolerance, 1e-4);
  weights = {.barrier = kBarrier, .penalty = 1.0, .elastic = true};
  regularisation = 1e-6;
  Place bad;
  if (!enter_phase(bad)) return false;
  for (std::size_t k = 0; k < points.size(); ++k) {
    points[k].s = (-points[k].h).cwiseMax(1e-6);
    linear[k].z = weights.barrier * points[k].s.cwiseInverse();
  }
  double last = std::numeric_limits<double>::infinity();
  int slow_steps = 0;
  for (int i = 0; i < kMostIterations && !stopped; ++i) {
    if (!linearise(bad)) return false;
    const Totals now = internal::totals(rows, points, linear, weights);
    const double gradient = assemble(now);
    keep_best(now);
    if (std::max({now.worst_defect, now.worst_equality, now.worst_inequality}) <= feasible_enough) return true;
    Iteration row = row_of(now, gradient);
    row.restoring = true;
    const double merit = now.merit(weights);
    slow_steps = merit > (1.0 - kProgress) * last ? slow_steps + 1 : 0;
    last = merit;
    const bool more = slow_steps < 3 && seconds() <= time_limit;
    const bool stepped = more && make_step(now, row);
    if (row.step < 0.3) regularisation *= 10.0;
    row.seconds = seconds();
    result.log.push_back(row);
    stopped = callback && !callback(row);
    if (!stepped) return false;
    ++result.iterations;
  }
  return false;
}

}  // namespace tangere
