#include <cmath>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/trajopt/optimizer.hpp"

namespace tangere {

std::string_view to_string(OptimizeStatus status) {
  switch (status) {
    case OptimizeStatus::solved:
      return "solved";
    case OptimizeStatus::stalled:
      return "stalled";
    case OptimizeStatus::infeasible:
      return "infeasible";
    case OptimizeStatus::stopped:
      return "stopped";
    case OptimizeStatus::not_finite:
      return "not_finite";
  }
  return "unknown";
}

OptimizerOptions OptimizerOptions::hard_contact() {
  OptimizerOptions options;
  options.tolerance = 1e-4;
  options.constraint_tolerance = 1e-3;
  options.steps = TrialSteps::rollout;
  options.curvature = CurvatureUse::never;
  options.barrier = 1e-2;
  options.barrier_power = 1.0;
  options.slack = 1e-2;
  options.penalty = 10.0;
  options.penalty_growth = 3.0;
  options.penalty_always_grows = true;
  options.regularisation = 1.0;
  options.least_regularisation = 1.0;
  options.progress = 1e-3;
  options.max_round_iterations = 20;
  options.max_rounds = 8;
  return options;
}

OptimizerOptions OptimizerOptions::through_contact() {
  OptimizerOptions options = hard_contact();
  options.phases = {{.formulation = Formulation::single_level, .kappa = 1e-2},
                    {.formulation = Formulation::single_level, .kappa = 2e-3},
                    {.formulation = Formulation::single_level, .kappa = 1e-3},
                    {.formulation = Formulation::lcp}};
  return options;
}

void OptimizerOptions::verify() const {
  const auto above = [](const char* field, double value, double limit) {
    if (!(value > limit && std::isfinite(value)))
      throw InputError(field, "must be above " + internal::to_text(limit) + ", got " + internal::to_text(value));
  };
  const auto at_least = [](const char* field, double value, double limit) {
    if (!(value >= limit))
      throw InputError(field, "must be at least " + internal::to_text(limit) + ", got " + internal::to_text(value));
  };
  above("tolerance", tolerance, 0.0);
  above("constraint_tolerance", constraint_tolerance, 0.0);
  at_least("max_iterations", max_iterations, 0);
  at_least("max_round_iterations", max_round_iterations, 1);
  at_least("max_rounds", max_rounds, 1);
  at_least("memory", memory, 1);
  if (phases.empty()) throw InputError("phases", "must have at least one entry");
  above("barrier", barrier, 0.0);
  above("barrier_factor", barrier_factor, 0.0);
  if (barrier_factor >= 1.0)
    throw InputError("barrier_factor", "must be below 1, got " + internal::to_text(barrier_factor));
  at_least("barrier_power", barrier_power, 1.0);
  above("slack", slack, 0.0);
  above("penalty", penalty, 0.0);
  at_least("penalty_growth", penalty_growth, 1.0);
  at_least("max_penalty", max_penalty, penalty);
  at_least("regularisation", regularisation, 0.0);
  at_least("least_regularisation", least_regularisation, 0.0);
  at_least("progress", progress, 0.0);
  at_least("max_seconds", max_seconds, 0.0);
  at_least("between", between, 0);
  above("between_tolerance", between_tolerance, 0.0);
  at_least("num_threads", num_threads, 0);
}

Guess Guess::line(const OptimalControl& problem, const VectorX& goal) {
  const Dynamics& dynamics = problem.dynamics();
  const VectorX& start = problem.horizon().start;
  if (goal.size() != dynamics.nx())
    throw InputError("goal",
                     "must have " + std::to_string(dynamics.nx()) + " entries, got " + std::to_string(goal.size()));
  VectorX way, part, x;
  dynamics.minus(start, goal, way);
  Guess guess{.x = MatrixX(dynamics.nx(), problem.num_steps() + 1)};
  for (int k = 0; k <= problem.num_steps(); ++k) {
    part = static_cast<double>(k) / problem.num_steps() * way;
    dynamics.plus(start, part, x);
    guess.x.col(k) = x;
  }
  return guess;
}

}  // namespace tangere
