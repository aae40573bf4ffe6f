#include "tangere/trajopt/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/math/error.hpp"
#include "tangere/trajopt/internal/optimizer_memory.hpp"

/// One solve:
///
///   for every phase and round                                       contact, μ, ρ, λ
///     until the round is over
///       linearise the dynamics and all rows at the iterate
///       stop, if this is the last phase and it is solved, between the knots too
///       factor the linear-quadratic problem, stiffer until every Q̂uu is definite
///       try the step, shorter and shorter; stiffer where none is good enough

namespace tangere {

using internal::KnotLinear;
using internal::KnotPoint;
using internal::Place;
using internal::Totals;

namespace {

constexpr double kMostRegularisation = 1e10;
/// Trial steps are rolled out below this defect (TrialSteps::hybrid).
constexpr double kSmallDefect = 1e-3;
/// A round is over where its own errors are below this part of μ.
constexpr double kRoundError = 10.0;
/// Bounds that are wide beyond need do not make the gradient's tolerance tighter.
constexpr double kMostGradientScale = 10.0;
/// A round that is not the last is over when two steps in a row gain less than this part of the merit.
constexpr double kSlowProgress = 1e-3;
/// Steps that change the merit by less than this part of it are rounding; so many of them end a solve, where the
/// gradient is within this factor of its tolerance.
constexpr double kRounding = 1e-11;
constexpr int kRoundingSteps = 3;
constexpr double kRoundingGradient = 1e3;
constexpr double kMostMeritWeight = 1e10;
constexpr double kDefectWeight = 1e3;
/// Of the merit's size: below it every step must go down.
constexpr double kSmallChange = 1e-4;

VectorX scale_of_controls(const OptimalControl& problem) {
  VectorX scale = VectorX::Ones(problem.dynamics().nu());
  for (int i = 0; i < scale.size(); ++i) {
    const double range = problem.upper_controls()(i, 0) - problem.lower_controls()(i, 0);
    if (std::isfinite(range)) scale[i] = 0.5 * range;
  }
  return scale;
}

/// Inside the bounds by a hundredth of their range, or of 1.
void put_inside(const OptimalControl& problem, int knot, VectorX& u) {
  for (int i = 0; i < u.size(); ++i) {
    const double lower = problem.lower_controls()(i, knot);
    const double upper = problem.upper_controls()(i, knot);
    const double room = 0.01 * (std::isfinite(upper - lower) ? upper - lower : 1.0);
    if (std::isfinite(lower)) u[i] = std::max(u[i], lower + room);
    if (std::isfinite(upper)) u[i] = std::min(u[i], upper - room);
  }
}

double least_barrier(const OptimizerOptions& options) {
  return 0.1 * std::min(options.tolerance, options.constraint_tolerance);
}

void require_shape(const char* field, const MatrixX& given, int rows, int cols) {
  if (given.rows() != rows || given.cols() != cols)
    throw InputError(field, "must be " + std::to_string(rows) + " x " + std::to_string(cols) + ", got " +
                                std::to_string(given.rows()) + " x " + std::to_string(given.cols()));
  if (!given.allFinite()) throw InputError(field, "must be finite");
}

}  // namespace

Optimizer::Memory::Memory(OptimalControl p, OptimizerOptions o)
    : problem(std::move(p)),
      options(std::move(o)),
      workers(problem.dynamics(), options.num_threads),
      rows(problem, inserted),
      scale(scale_of_controls(problem)),
      gradient_scale(scale.cwiseMin(kMostGradientScale)) {
  const Dynamics& dynamics = problem.dynamics();
  const int num_steps = problem.num_steps();
  const int ndx = dynamics.ndx();
  const int nu = dynamics.nu();
  for (const ContactPhase& contact : options.phases)
    steppers.push_back(dynamics.stepper(problem.horizon().time_steps, contact, workers.num_threads()));
  stages.resize(num_steps + 1);
  for (LqStage& stage : stages) stage.resize(ndx, nu);
  riccati.resize(num_steps, ndx, nu);
  curvature.resize(problem, workers.num_threads());
  step.dx.assign(num_steps + 1, VectorX::Zero(ndx));
  step.du.assign(num_steps + 1, VectorX::Zero(nu));
  resize_rows();
  scratch.A.assign(num_steps, MatrixX::Zero(ndx, ndx));
  scratch.B.assign(num_steps, MatrixX::Zero(ndx, nu));
  costates.assign(num_steps + 2, VectorX::Zero(ndx));
  costates.back().setZero(nu);
  hessians.assign(workers.num_threads(), MatrixX::Zero(ndx + nu, ndx + nu));
  start_damping.setZero(ndx);
  failed.assign(num_steps + 1, 0);
  result.plan.x.assign(num_steps + 1, VectorX::Zero(dynamics.nx()));
  result.plan.u.assign(num_steps, VectorX::Zero(nu));
  result.plan.K.assign(num_steps, MatrixX::Zero(nu, ndx));
  result.log.reserve(options.max_iterations + options.max_rounds + 2);
}

/// Room for all rows; the values of old ones stay, as new ones come after them.
void Optimizer::Memory::resize_rows() {
  rows = internal::Transcription(problem, inserted);
  const std::vector<KnotPoint> old_points = points;
  const std::vector<KnotLinear> old_linear = linear;
  rows.resize(points);
  rows.resize(linear);
  for (std::size_t k = 0; k < old_points.size(); ++k) {
    const Eigen::Index count = std::min(old_points[k].s.size(), points[k].s.size());
    points[k].x = old_points[k].x;
    points[k].u = old_points[k].u;
    points[k].defect = old_points[k].defect;
    points[k].s.head(count) = old_points[k].s.head(count);
    linear[k].z.head(count) = old_linear[k].z.head(count);
    linear[k].lambda = old_linear[k].lambda;
  }
  trial = best = guessed = restored = points;
  step.ds.clear();
  step.dz.clear();
  for (const KnotPoint& point : points) {
    step.ds.push_back(point.s);
    step.dz.push_back(point.s);
  }
  has_best = is_linear_fresh = false;
}

double Optimizer::Memory::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Sets the iterate to the guess, and multipliers and weights to those of the first round.
void Optimizer::Memory::start(const Guess& guess) {
  const int num_steps = problem.num_steps();
  const Dynamics& dynamics = problem.dynamics();
  const bool has_states = guess.x.size() > 0;
  const bool has_controls = guess.u.size() > 0;
  if (has_states) require_shape("guess.x", guess.x, dynamics.nx(), num_steps + 1);
  if (has_controls) require_shape("guess.u", guess.u, dynamics.nu(), num_steps);
  if (!inserted.empty()) {
    inserted.clear();
    resize_rows();
  }
  for (int k = 0; k < num_steps; ++k) {
    if (has_controls) points[k].u = guess.u.col(k);
    if (!has_controls) points[k].u.setZero();
    put_inside(problem, k, points[k].u);
  }
  int bad_knot = 0;
  if (!has_states && !internal::roll_out(problem, *steppers[0], points, bad_knot))
    for (KnotPoint& point : points) point.x = problem.horizon().start;
  if (has_states)
    for (int k = 0; k <= num_steps; ++k) points[k].x = guess.x.col(k);
  if (problem.free_start().empty()) points[0].x = problem.horizon().start;
  weights = {.barrier = options.barrier, .penalty = options.penalty};
  regularisation = std::max(options.regularisation, options.least_regularisation);
  last_equality = std::numeric_limits<double>::infinity();
  phase = round = hopeless_rounds = 0;
  is_shifted = false;
  for (KnotLinear& knot_rows : linear) knot_rows.lambda.setZero();
}

/// Defects and rows of the iterate by the dynamics of the phase.
bool Optimizer::Memory::enter_phase(Place& bad) {
  round_iterations = slow = rounding_steps = slow_errors = 0;
  last_error = std::numeric_limits<double>::infinity();
  is_linear_fresh = has_fresh_jacobians = first_trial_held = has_best = false;
  history.clear();
  workers.set_stepper(&stepper());
  int bad_knot = 0;
  if (!internal::find_defects(problem, stepper(), false, scratch, points, bad_knot)) {
    bad = {bad_knot, "dynamics"};
    return false;
  }
  if (rows.evaluate(points, workers)) return true;
  bad = rows.not_finite(points);
  return false;
}

bool Optimizer::Memory::linearise(Place& bad) {
  if (is_linear_fresh) return true;
  if (!has_fresh_jacobians) {
    workers.run(problem.num_steps(),
                [&](int k, int thread) { failed[k] = !stepper().jacobians(k, thread, stages[k].A, stages[k].B); });
    for (int k = 0; k < problem.num_steps(); ++k)
      if (failed[k] != 0) {
        bad = {k, "derivative of the dynamics"};
        return false;
      }
  }
  is_linear_fresh = has_fresh_jacobians = rows.linearise(points, linear, workers, bad);
  return is_linear_fresh;
}

/// The quadratics of the iterate; answers with the Lagrangian's gradient.
double Optimizer::Memory::assemble(const Totals& /*now*/) {
  internal::assemble(rows, points, linear, weights, workers, hessians, stages);
  return internal::lagrangian_gradient(points, linear, rows, weights, stages, gradient_scale, problem.free_start(),
                                       costates);
}

Iteration Optimizer::Memory::row_of(const Totals& now, double gradient) const {
  return {.iteration = result.iterations,
          .phase = phase,
          .cost = now.cost,
          .defect = now.worst_defect,
          .equality = now.worst_equality,
          .inequality = std::max(0.0, now.worst_inequality),
          .gradient = gradient,
          .barrier = weights.barrier,
          .penalty = weights.penalty,
          .regularisation = regularisation};
}

bool Optimizer::Memory::feasible(const Totals& now) const {
  const double most = options.constraint_tolerance;
  return now.worst_defect <= most && now.worst_equality <= most && now.worst_inequality <= most;
}

double Optimizer::Memory::round_error(const Totals& now, double gradient) const {
  return std::max({gradient, now.worst_defect, now.worst_slack, now.worst_product});
}

/// Where its own problem is solved to a few μ, or nothing much is gained any more.
bool Optimizer::Memory::round_is_over(const Totals& now, double gradient) const {
  if (round_iterations >= options.max_round_iterations) return true;
  // the last rounds must be good enough for the whole
  const bool is_last = weights.barrier <= least_barrier(options);
  const bool may_end_early = options.progress > 0.0 || !is_last || rounding_steps >= kRoundingSteps;
  if (round_iterations > 0 && slow >= 2 && may_end_early && now.worst_defect <= options.constraint_tolerance)
    return true;
  const double enough = is_last ? 0.5 * options.tolerance : std::max(kRoundError * weights.barrier, options.tolerance);
  return round_error(now, gradient) <= enough;
}

/// Multipliers, weights and phase of the next round. False if there is none, or with `bad` where its dynamics are not
/// finite.
bool Optimizer::Memory::next_round(const Totals& now, Place& bad) {
  for (std::size_t k = 0; k < points.size(); ++k) linear[k].lambda += weights.penalty * points[k].c;
  if (options.penalty_always_grows || now.worst_equality > std::max(0.25 * last_equality, options.constraint_tolerance))
    weights.penalty = std::min(weights.penalty * options.penalty_growth, options.max_penalty);
  const bool is_hopeless = weights.penalty >= options.max_penalty &&
                           now.worst_equality > options.constraint_tolerance &&
                           now.worst_equality > 0.9 * last_equality;
  hopeless_rounds = is_hopeless ? hopeless_rounds + 1 : 0;
  last_equality = now.worst_equality;
  weights.barrier = std::max(least_barrier(options), std::min(options.barrier_factor * weights.barrier,
                                                              std::pow(weights.barrier, options.barrier_power)));
  weights.merit = 0.0;
  history.clear();
  regularisation = std::max(regularisation, options.least_regularisation);
  round_iterations = slow = rounding_steps = slow_errors = 0;
  last_error = std::numeric_limits<double>::infinity();
  if (in_last_phase()) return ++round < options.max_rounds && hopeless_rounds < 2;
  ++phase;
  return enter_phase(bad);
}

/// Whether curvature is wanted: errors of a round that hardly fall are what Gauss-Newton leaves out.
void Optimizer::Memory::watch_error(const Totals& now, double gradient) {
  constexpr double kHardly = 0.3;
  constexpr int kPatience = 3;
  constexpr int kPatienceFarOff = 15;
  const double error = round_error(now, gradient);
  ++slow_errors;
  if (error <= kHardly * last_error) {
    slow_errors = 0;
    last_error = error;
  }
  if (options.curvature == CurvatureUse::always) uses_curvature = true;
  // far from the end Gauss-Newton finds the better valleys
  const bool is_near = now.worst_defect < kSmallDefect && weights.barrier < options.barrier;
  const int patience = is_near ? kPatience : kPatienceFarOff;
  if (options.curvature == CurvatureUse::when_slow && in_last_phase() && slow_errors >= patience) uses_curvature = true;
}

/// Feasible before infeasible, then by cost or by violation.
void Optimizer::Memory::keep_best(const Totals& now) {
  const double violation = std::max({now.worst_defect, now.worst_equality, now.worst_inequality});
  const bool is_feasible = feasible(now);
  const bool best_is_feasible = has_best && best_violation <= options.constraint_tolerance;
  const bool is_better = weights.elastic ? true
                         : is_feasible   ? !best_is_feasible || now.cost < best_cost
                                         : !best_is_feasible && violation < best_violation;
  if (has_best && !is_better) return;
  has_best = true;
  best_violation = violation;
  best_cost = now.cost;
  for (std::size_t k = 0; k < points.size(); ++k) {
    best[k].x = points[k].x;
    best[k].u = points[k].u;
  }
}

/// Stiffer until every stage is definite; without curvature where the full Hessian is not.
bool Optimizer::Memory::factor() {
  const auto try_to = [&] {
    damping = regularisation * scale.cwiseAbs2().cwiseInverse();
    start_damping.setConstant(regularisation);
    return riccati.factor(stages, damping) < 0 && riccati.least_start(problem.free_start(), start_damping, step.dx[0]);
  };
  if (uses_curvature && curvature_rests == 0 && !weights.elastic) {
    if (!curvature.find(problem, rows, points, linear, weights, costates, stepper(), workers)) {
      curvature_rests = 3;
    } else {
      curvature.add_to(stages, 1.0);
      if (try_to()) return true;
      curvature.add_to(stages, -1.0);
      curvature_rests = 3;
    }
  } else if (curvature_rests > 0) {
    --curvature_rests;
  }
  for (; regularisation <= kMostRegularisation; regularisation = std::max(10.0 * regularisation, 1e-6))
    if (try_to()) return true;
  return false;
}

/// A part of the step that is good enough becomes the iterate. False if none is.
bool Optimizer::Memory::search(const Totals& now, Iteration& row) {
  const bool always_rolled = options.steps == TrialSteps::rollout || (weights.elastic && !is_restoring_linearly);
  const bool rolled = always_rolled || now.worst_defect < kSmallDefect;
  // ν, large enough that the step goes down; a rollout closes all defects, whatever that costs
  const double infeasibility = now.infeasibility();
  if (always_rolled && now.defects > 0.0) weights.merit = std::max(weights.merit, kDefectWeight);
  if (weights.elastic) weights.merit = std::max(weights.merit, 1.0);
  if (infeasibility > 0.0) {
    const double needed = (step.slope + std::max(step.curvature, 0.0)) / (0.9 * infeasibility);
    if (needed > weights.merit) {
      weights.merit = std::min(2.0 * needed, kMostMeritWeight);
      history.clear();
    }
  }
  const double merit = now.merit(weights);
  const double size = std::abs(merit - now.barrier) + std::abs(now.multipliers);
  history.add(merit, weights.elastic ? 1 : options.memory);
  const double slope = std::min(0.0, step.slope - weights.merit * infeasibility);
  const double rounding = 10.0 * std::numeric_limits<double>::epsilon() * std::abs(merit);
  double alpha = rolled ? 1.0 : internal::longest_step(points, step);
  for (row.trials = 1; row.trials <= 12; ++row.trials, alpha *= row.trials < 4 ? 0.5 : 0.35) {
    scratch.has_jacobians = rolled && row.trials == 1 && first_trial_held && workers.num_threads() == 1;
    const bool finite = rolled
                            ? internal::rollout_trial(problem, points, step, riccati, alpha, stepper(), scratch, trial)
                            : internal::linear_trial(problem, points, step, alpha, stepper(), scratch, trial);
    if (!finite) {
      if (row.trials == 1 || blocked.found()) blocked = {scratch.bad_knot, "dynamics"};
      continue;
    }
    if (!rows.evaluate(trial, workers)) {
      if (row.trials == 1 || blocked.found()) blocked = rows.not_finite(trial);
      continue;
    }
    blocked = {};
    internal::set_slacks(points, step, alpha, trial);
    const double next = internal::totals(rows, trial, linear, weights).merit(weights);
    if (!(next <= history.reference(kSmallChange * size) + 1e-4 * alpha * slope + rounding)) continue;
    internal::move_multipliers(points, step, alpha, weights.barrier, linear);
    std::swap(points, trial);
    const double gain = merit - next;
    slow = gain < (options.progress > 0.0 ? options.progress : kSlowProgress) * size ? slow + 1 : 0;
    rounding_steps = std::abs(gain) <= kRounding * size ? rounding_steps + 1 : 0;
    row.step = alpha;
    first_trial_held = row.trials == 1;
    is_linear_fresh = false;
    has_fresh_jacobians = scratch.has_jacobians;
    if (has_fresh_jacobians)
      for (int k = 0; k < problem.num_steps(); ++k) {
        stages[k].A.swap(scratch.A[k]);
        stages[k].B.swap(scratch.B[k]);
      }
    return true;
  }
  first_trial_held = false;
  return false;
}

/// Stiffer until a part of the step is good enough.
bool Optimizer::Memory::make_step(const Totals& now, Iteration& row) {
  bool stepped = false;
  while (!stepped && factor()) {
    row.regularisation = regularisation;
    row.exact_curvature = uses_curvature && curvature_rests == 0 && !weights.elastic;
    riccati.roll_out(stages, step.dx, step.du);
    internal::complete(rows, points, linear, weights, motion, step);
    stepped = search(now, row);
    if (stepped) break;
    // the quadratics have the curvature in them
    if (row.exact_curvature) {
      internal::assemble(rows, points, linear, weights, workers, hessians, stages);
      curvature_rests = 3;
      continue;
    }
    regularisation = std::max(10.0 * regularisation, 1e-6);
    if (regularisation > kMostRegularisation) break;
  }
  if (!stepped) return false;
  if (row.step > 0.4) regularisation = std::max(regularisation / 3.0, options.least_regularisation);
  if (regularisation < 1e-9) regularisation = options.least_regularisation;
  if (history.stuck()) regularisation = std::max(10.0 * regularisation, 1e-6);
  return true;
}

/// Slacks and their multipliers on the central path.
void Optimizer::Memory::start_slacks() {
  for (std::size_t k = 0; k < points.size(); ++k) {
    points[k].s = (-points[k].h).cwiseMax(options.slack);
    linear[k].z = weights.barrier * points[k].s.cwiseInverse();
  }
}

/// Whether inequalities are violated between knots: rows are put there, and the solve may go on.
bool Optimizer::Memory::has_violations_between() {
  constexpr double kBarrier = 1e-2;
  if (options.between < 2) return false;
  const std::size_t old_count = inserted.size();
  Place worst;
  result.between = internal::insert_between(problem, points, options.between, options.between_tolerance,
                                            workers.memory(0), inserted, worst);
  result.rows_between = static_cast<int>(inserted.size());
  if (inserted.size() == old_count) return false;
  std::vector<Eigen::Index> old_rows;
  for (const KnotPoint& point : points) old_rows.push_back(point.s.size());
  resize_rows();
  weights.barrier = std::max(weights.barrier, std::min(options.barrier, kBarrier));
  weights.merit = 0.0;
  Place bad;
  if (!enter_phase(bad)) return false;
  for (std::size_t k = 0; k < points.size(); ++k)
    for (Eigen::Index i = old_rows[k]; i < points[k].s.size(); ++i) {
      points[k].s[i] = std::max(-points[k].h[i], options.slack);
      linear[k].z[i] = weights.barrier / points[k].s[i];
    }
  return true;
}

const OptimizeResult& Optimizer::Memory::run(bool warm, double most_seconds, const IterationCallback& callback) {
  begin = std::chrono::steady_clock::now();
  time_limit = std::min(most_seconds, options.max_seconds);
  result.log.clear();
  result.iterations = result.rows_between = 0;
  result.between = 0.0;
  blocked = {};
  was_restored = false;
  uses_curvature = uses_curvature && warm;
  curvature_rests = 0;
  Place bad;
  // what ended in rounding does so at once when nothing has changed
  const int kept_rounding = warm && !is_shifted ? rounding_steps : 0;
  if (!enter_phase(bad)) return finish(OptimizeStatus::not_finite, bad);
  rounding_steps = kept_rounding;
  if (!warm) start_slacks();
  for (std::size_t k = 0; k < points.size(); ++k) {
    guessed[k].x = points[k].x;
    guessed[k].u = points[k].u;
  }
  if (is_shifted) lift_slacks();
  for (bool more = true; more;) {
    if (!linearise(bad)) return finish(OptimizeStatus::not_finite, bad);
    const Totals now = internal::totals(rows, points, linear, weights);
    const double gradient = assemble(now);
    keep_best(now);
    Iteration row = row_of(now, gradient);
    const bool settled = options.progress > 0.0 && slow >= 2 && weights.barrier <= options.tolerance;
    const bool is_rounded = rounding_steps >= kRoundingSteps && weights.barrier <= least_barrier(options);
    const double enough = is_rounded ? kRoundingGradient * options.tolerance : options.tolerance;
    const bool stationary = settled || (gradient <= enough && now.worst_product + weights.barrier <= options.tolerance);
    const bool solved = in_last_phase() && feasible(now) && stationary;
    const bool out_of_time = result.iterations >= options.max_iterations || seconds() > time_limit;
    bool stepped = false;
    if (!solved && !out_of_time && !round_is_over(now, gradient)) {
      watch_error(now, gradient);
      stepped = make_step(now, row);
    }
    row.seconds = seconds();
    result.log.push_back(row);
    if (solved && !has_violations_between()) return finish(OptimizeStatus::solved, {});
    if (callback && !callback(row)) return finish(OptimizeStatus::stopped, {});
    if (solved) continue;
    if (out_of_time) {
      const bool by_time = result.iterations < options.max_iterations;
      return finish(by_time ? OptimizeStatus::stopped : OptimizeStatus::stalled, {});
    }
    if (stepped) {
      ++result.iterations;
      ++round_iterations;
      continue;
    }
    if (regularisation > kMostRegularisation)
      regularisation = std::max(options.regularisation, options.least_regularisation);
    more = next_round(now, bad);
    if (bad.found()) return finish(OptimizeStatus::not_finite, bad);
    bool stopped = false;
    if (!more && !feasible(now) && options.steps == TrialSteps::hybrid && !was_restored)
      more = restore(callback, stopped);
    if (stopped) return finish(OptimizeStatus::stopped, {});
    // a plan that is feasible at the knots may still go through something between them
    if (!more && feasible(now) && has_violations_between()) {
      more = true;
      round = 0;
    }
  }
  return finish(OptimizeStatus::stalled, {});
}

const OptimizeResult& Optimizer::Memory::finish(OptimizeStatus status, const Place& place) {
  const bool takes_best = has_best && status != OptimizeStatus::solved && status != OptimizeStatus::not_finite;
  if (takes_best) {
    for (std::size_t k = 0; k < points.size(); ++k) {
      points[k].x = best[k].x;
      points[k].u = best[k].u;
    }
    int bad_knot = 0;
    const bool finite =
        internal::find_defects(problem, stepper(), false, scratch, points, bad_knot) && rows.evaluate(points, workers);
    if (!finite) status = OptimizeStatus::not_finite;
    is_linear_fresh = has_fresh_jacobians = false;
  }
  result.status = status;
  result.knot = place.knot;
  result.name = place.name;
  result.violation = 0.0;
  result.cost = internal::totals(rows, points, linear, weights).cost;
  if (status == OptimizeStatus::stalled && blocked.found()) {
    result.status = OptimizeStatus::not_finite;
    result.knot = blocked.knot;
    result.name = blocked.name;
  }
  if (result.status != OptimizeStatus::not_finite) {
    Place worst = rows.worst(points, result.violation);
    double at_start = 0.0;
    const Place start = rows.worst_at_start(points[0].x, workers.memory(0), at_start);
    const bool starts_wrong = at_start > options.constraint_tolerance;
    if (at_start > result.violation) {
      result.violation = at_start;
      worst = start;
    }
    result.knot = worst.knot;
    result.name = worst.name;
    const bool infeasible = status == OptimizeStatus::stalled && result.violation > options.constraint_tolerance;
    if (infeasible || (starts_wrong && status != OptimizeStatus::stopped)) result.status = OptimizeStatus::infeasible;
  }
  for (std::size_t k = 0; k < points.size(); ++k) {
    result.plan.x[k] = points[k].x;
    if (k + 1 == points.size()) break;
    result.plan.u[k] = points[k].u;
    result.plan.K[k] = riccati.at(static_cast<int>(k)).K;
  }
  result.seconds = seconds();
  return result;
}

Optimizer::Optimizer(OptimalControl problem, OptimizerOptions options) {
  options.verify();
  memory_ = std::make_unique<Memory>(std::move(problem), std::move(options));
}

Optimizer::~Optimizer() = default;
Optimizer::Optimizer(Optimizer&&) noexcept = default;
Optimizer& Optimizer::operator=(Optimizer&&) noexcept = default;

const OptimizeResult& Optimizer::solve(const Guess& guess, const IterationCallback& callback) {
  memory_->start(guess);
  memory_->was_solved = true;
  return memory_->run(false, std::numeric_limits<double>::infinity(), callback);
}

const OptimizeResult& Optimizer::solve_again(const IterationCallback& callback) {
  return solve_within(std::numeric_limits<double>::infinity(), callback);
}

const OptimizeResult& Optimizer::solve_within(double seconds, const IterationCallback& callback) {
  if (!memory_->was_solved) throw InputError("optimizer", "has no solve to go on from");
  if (!(seconds >= 0.0)) throw InputError("seconds", "must not be negative");
  memory_->phase = static_cast<int>(memory_->options.phases.size()) - 1;
  memory_->round = 0;
  return memory_->run(true, seconds, callback);
}

void Optimizer::shift(const VectorX& measured) { memory_->shift(measured); }

void Optimizer::set_least_regularisation(double least) {
  OptimizerOptions& options = memory_->options;
  options.least_regularisation = options.regularisation = least;
  options.verify();
}

void Optimizer::set_start(const VectorX& start) { memory_->problem.set_start(start); }

const OptimalControl& Optimizer::problem() const { return memory_->problem; }
const OptimizerOptions& Optimizer::options() const { return memory_->options; }
const OptimizeResult& Optimizer::result() const { return memory_->result; }

}  // namespace tangere
