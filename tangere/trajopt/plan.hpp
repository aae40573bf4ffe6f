#pragma once

/// The answer of an optimiser.

#include <string>
#include <string_view>
#include <vector>

#include "tangere/math/types.hpp"

namespace tangere {

enum class OptimizeStatus {
  /// Feasible to the tolerance, and as good as any near it.
  solved,
  /// No step leads on, or the iterations are used up: the plan is feasible, and the best iterate of the last phase.
  stalled,
  /// The same, while a constraint is violated: `knot`, `name` and `violation` say which one most. With given dynamics
  /// the plan is one whose violations have the least sum of squares of all near it.
  infeasible,
  /// The callback said so, or the time was up: the plan is the best iterate of its phase.
  stopped,
  /// A function or the dynamics answered with what is not finite, at the start, at the iterate, or wherever a step from
  /// it leads: `knot` and `name`.
  not_finite,
};
[[nodiscard]] std::string_view to_string(OptimizeStatus status);

/// A trajectory: a state per knot, a control and the feedback du = K dx around it per step.
struct Plan {
  std::vector<VectorX> x;
  std::vector<VectorX> u;
  std::vector<MatrixX> K;
};

/// One row of the log: the iterate, and the step that was made from it.
struct Iteration {
  int iteration = 0;
  /// The phase of contact it belongs to.
  int phase = 0;
  double cost = 0.0;
  /// The largest defect of the dynamics, equality, and inequality that is violated.
  double defect = 0.0;
  double equality = 0.0;
  double inequality = 0.0;
  /// The largest entry of the Lagrangian's gradient, relative to its multipliers.
  double gradient = 0.0;
  double barrier = 0.0;
  double penalty = 0.0;
  double regularisation = 0.0;
  /// The part of the step that was taken (0: none), and how many were tried.
  double step = 0.0;
  int trials = 0;
  /// Whether the Hessian had the curvature of dynamics and constraints.
  bool exact_curvature = false;
  /// Whether only violations counted, after a round that ended infeasible.
  bool restoring = false;
  /// Seconds since the solve began.
  double seconds = 0.0;
};

struct OptimizeResult {
  OptimizeStatus status = OptimizeStatus::stalled;
  /// The worst constraint, or what is not finite; -1 and empty if there is none.
  int knot = -1;
  std::string name;
  double violation = 0.0;
  int iterations = 0;
  /// Rows put between knots (OptimizerOptions::between), and the worst violation left there.
  int rows_between = 0;
  double between = 0.0;
  double cost = 0.0;
  double seconds = 0.0;
  Plan plan;
  std::vector<Iteration> log;
};

}  // namespace tangere
