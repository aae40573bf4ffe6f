#pragma once

/// Trajectory optimisation: one Newton iteration on one Riccati recursion.
///
///   Optimizer optimizer(problem);
///   const OptimizeResult& result = optimizer.solve({}, [](const Iteration& it) { return true; });
///
/// minimise Σ ½ w r(x, u)²   with   x_{k+1} = f(x_k, u_k),  c(x, u) = 0,  h(x, u) ≤ 0
///
/// Inequalities have slacks, h + s = 0, s z = μ (primal-dual interior point); equalities multipliers and a penalty,
/// λᵀc + ½ ρ c² (augmented Lagrangian). Both vanish into the quadratic of their knot, so each iteration is one
/// linear-quadratic problem of the trajectory (solvers/riccati.hpp). Steps are tried shorter and shorter until
///
///   φ = cost + λᵀc + ½ ρ c² - μ Σ log s + ν (|defects|₁ + |h + s|₁)
///
/// falls below the largest of its last values. Where a round of these has converged, λ += ρ c, μ falls, and contact
/// goes over to its next phase.

#include <functional>
#include <memory>

#include "tangere/trajopt/plan.hpp"
#include "tangere/trajopt/problem.hpp"

namespace tangere {

/// How a trial trajectory comes from a step.
enum class TrialSteps {
  /// Linear while the dynamics have defects (above 1e-3), rolled out then. For given dynamics.
  hybrid,
  /// Rolled out through the dynamics with feedback, defects shrinking by 1 - α (FDDP). Needed with contact, whose
  /// linearisation is of no use off the manifold of feasible motions.
  rollout,
};

/// When the Hessian of the Lagrangian has the curvature of dynamics and constraints too, by differences of their
/// Jacobians (as many evaluations of those as there are coordinates). Gauss-Newton is used where the full one is not
/// definite.
enum class CurvatureUse {
  never,
  /// In the last phase, once the errors do not fall fast: at the end most often.
  when_slow,
  always,
};

struct OptimizerOptions {
  /// Tolerance of the gradient and of constraints. A round ends earlier where `progress` says so.
  double tolerance = 1e-6;
  double constraint_tolerance = 1e-6;
  int max_iterations = 500;
  TrialSteps steps = TrialSteps::hybrid;
  CurvatureUse curvature = CurvatureUse::when_slow;
  /// One after the other; the last one is what the plan is made for.
  std::vector<ContactPhase> phases = {ContactPhase{}};
  /// μ at first, its factor from round to round, and the power of it that it falls to if that is less.
  double barrier = 0.1;
  double barrier_factor = 0.2;
  double barrier_power = 1.5;
  /// μ after a shift, if it is less.
  double shift_barrier = 1e-4;
  /// Least slack at the start, in units of the constraints.
  double slack = 0.01;
  /// ρ at first, its factor, and whether it grows in every round or only where equalities do not fall to a quarter.
  double penalty = 100.0;
  double penalty_growth = 10.0;
  bool penalty_always_grows = false;
  double max_penalty = 1e8;
  /// Added to the curvature in controls scaled to ±1: at first, and at least.
  double regularisation = 0.0;
  double least_regularisation = 0.0;
  /// How many of the last values of φ a new one is compared with.
  int memory = 8;
  /// A round is also over when φ falls by less than this part of it twice in a row (0: never), and after so many
  /// iterations.
  double progress = 0.0;
  int max_round_iterations = 200;
  /// Rounds in the last phase.
  int max_rounds = 30;
  /// Seconds; the best plan so far is answered then.
  double max_seconds = 1e30;
  /// Inequalities that hold between knots too are looked at in this many parts of every step of a solved plan; rows are
  /// put where they are violated by more than the tolerance, and the solve goes on (0: never).
  int between = 10;
  double between_tolerance = 1e-4;
  /// Threads for derivatives (0: all of the machine): the answer is the same, bit for bit.
  int num_threads = 1;

  /// For dynamics that find their own contacts: smooth contact first, then sharper, then hard (trial settings in
  /// docs/optimise.md).
  [[nodiscard]] static OptimizerOptions through_contact();
  /// The same with hard contact alone, for tasks whose contacts are there from the start.
  [[nodiscard]] static OptimizerOptions hard_contact();

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

/// A start: states (nx x knots) and controls (nu x steps). Without controls they are zero, or the nearest inside
/// their bounds; without states they are what the controls lead to.
struct Guess {
  MatrixX x = {};
  MatrixX u = {};

  /// States on the way from the start to `goal`, evenly.
  [[nodiscard]] static Guess line(const OptimalControl& problem, const VectorX& goal);
};

/// Sees every iteration; false stops the solve with the best plan so far.
using IterationCallback = std::function<bool(const Iteration& iteration)>;

class Optimizer {
 public:
  /// Keeps a copy of the problem. InputError for wrong options.
  explicit Optimizer(OptimalControl problem, OptimizerOptions options = {});
  ~Optimizer();
  Optimizer(Optimizer&&) noexcept;
  Optimizer& operator=(Optimizer&&) noexcept;

  /// InputError for a guess of wrong sizes.
  const OptimizeResult& solve(const Guess& guess = {}, const IterationCallback& callback = {});
  /// From the last answer, with its multipliers, in the last phase. Needs a solve before (InputError).
  const OptimizeResult& solve_again(const IterationCallback& callback = {});
  /// The same, for so many seconds at most: then the best plan so far is answered, as `stopped`.
  const OptimizeResult& solve_within(double seconds, const IterationCallback& callback = {});

  /// Receding horizon: all moves on by one knot, the last one twice, and the start is `measured`. For problems whose
  /// knots are alike. Nothing is allocated. Needs a solve before (InputError).
  void shift(const VectorX& measured);

  /// The option of that name, from the next solve on; also where regularisation starts.
  void set_least_regularisation(double least);
  /// Another start of the same problem.
  void set_start(const VectorX& start);

  [[nodiscard]] const OptimalControl& problem() const;
  [[nodiscard]] const OptimizerOptions& options() const;
  [[nodiscard]] const OptimizeResult& result() const;

  struct Memory;

 private:
  std::unique_ptr<Memory> memory_;
};

}  // namespace tangere
