#include "tangere/trajopt/optimizer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/trajopt/internal/merit_history.hpp"
#include "tangere/trajopt/internal/trial.hpp"

/// One solve:
///
///   for every phase and round                                       contact, μ, ρ, λ
///     until the round is over
///       linearise the dynamics and all rows at the iterate
///       stop, if this is the last phase and it is solved
///       factor the linear-quadratic problem, stiffer until every Q̂uu is definite
///       try the step, shorter and shorter; stiffer where none is good enough

namespace tangere {

using internal::KnotLinear;
using internal::KnotPoint;
using internal::MeritHistory;
using internal::Multipliers;
using internal::NewtonStep;
using internal::Place;
using internal::Totals;
using internal::Transcription;

namespace {

constexpr double kMostRegularisation = 1e10;
/// Trial steps are rolled out below this defect (TrialSteps::hybrid).
constexpr double kSmallDefect = 1e-3;
/// A round is over where its own errors are below this part of μ.
constexpr double kRoundError = 10.0;
constexpr double kMostMeritWeight = 1e10;
constexpr double kDefectWeight = 1e3;
/// Of the merit's size: below it every step must go down.
constexpr double kSmallChange = 1e-4;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The size of a control: half of its range, or 1.
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

}  // namespace

struct Optimizer::Memory {
  Memory(OptimalControl p, OptimizerOptions o)
      : problem(std::move(p)),
        options(std::move(o)),
        rows(problem),
        knot(problem.dynamics()),
        scale(scale_of_controls(problem)) {
    const Dynamics& dynamics = problem.dynamics();
    const int num_steps = problem.num_steps();
    for (const ContactPhase& contact : options.phases)
      steppers.push_back(dynamics.stepper(problem.horizon().time_steps, contact));
    rows.resize(points);
    rows.resize(trial);
    rows.resize(linear);
    stages.resize(num_steps + 1);
    for (LqStage& stage : stages) stage.resize(dynamics.ndx(), dynamics.nu());
    riccati.resize(num_steps, dynamics.ndx(), dynamics.nu());
    step.dx.assign(num_steps + 1, VectorX::Zero(dynamics.ndx()));
    step.du.assign(num_steps + 1, VectorX::Zero(dynamics.nu()));
    for (const KnotPoint& point : points) {
      step.ds.push_back(point.s);
      step.dz.push_back(point.s);
    }
    costates.assign(num_steps + 2, VectorX::Zero(dynamics.ndx()));
    costates.back().setZero(dynamics.nu());
    result.plan.x.assign(num_steps + 1, VectorX::Zero(dynamics.nx()));
    result.plan.u.assign(num_steps, VectorX::Zero(dynamics.nu()));
    result.plan.K.assign(num_steps, MatrixX::Zero(dynamics.nu(), dynamics.ndx()));
    result.log.reserve(options.max_iterations + 1);
    hessian.setZero(dynamics.ndx() + dynamics.nu(), dynamics.ndx() + dynamics.nu());
  }

  OptimalControl problem;
  OptimizerOptions options;
  Transcription rows;
  KnotMemory knot;
  VectorX scale;
  std::vector<std::unique_ptr<Stepper>> steppers;
  std::vector<KnotPoint> points;
  std::vector<KnotPoint> trial;
  std::vector<KnotLinear> linear;
  std::vector<LqStage> stages;
  Riccati riccati;
  NewtonStep step;
  internal::TrialScratch scratch;
  std::vector<VectorX> costates;
  MatrixX hessian;
  VectorX motion;
  VectorX damping;
  OptimizeResult result;

  // what a solve carries from iteration to iteration
  Multipliers weights;
  MeritHistory history;
  double regularisation = 0.0;
  double last_equality = 0.0;
  int phase = 0;
  int round = 0;
  int round_iterations = 0;
  int slow = 0;

  void start(const Guess& guess);
  const OptimizeResult& run(bool warm, const IterationCallback& callback);
  void start_slacks();
  [[nodiscard]] bool enter_phase(Place& bad);
  [[nodiscard]] bool linearise(Place& bad);
  [[nodiscard]] bool in_last_phase() const { return phase + 1 == static_cast<int>(options.phases.size()); }
  [[nodiscard]] bool feasible(const Totals& now) const;
  [[nodiscard]] bool round_is_over(const Totals& now, double gradient) const;
  [[nodiscard]] bool next_round(const Totals& now, Place& bad);
  [[nodiscard]] bool factor();
  [[nodiscard]] bool search(const Totals& now, Iteration& row);
  const OptimizeResult& finish(OptimizeStatus status, const Totals& now, const Place& place, double seconds);
};

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

/// Sets the iterate to the guess, and multipliers and weights to those of the first round.
void Optimizer::Memory::start(const Guess& guess) {
  const int num_steps = problem.num_steps();
  const Dynamics& dynamics = problem.dynamics();
  const bool has_states = guess.x.size() > 0;
  const bool has_controls = guess.u.size() > 0;
  if (has_states && (guess.x.rows() != dynamics.nx() || guess.x.cols() != num_steps + 1))
    throw InputError("guess.x", "must be " + std::to_string(dynamics.nx()) + " x " + std::to_string(num_steps + 1) +
                                    ", got " + std::to_string(guess.x.rows()) + " x " + std::to_string(guess.x.cols()));
  if (has_controls && (guess.u.rows() != dynamics.nu() || guess.u.cols() != num_steps))
    throw InputError("guess.u", "must be " + std::to_string(dynamics.nu()) + " x " + std::to_string(num_steps) +
                                    ", got " + std::to_string(guess.u.rows()) + " x " + std::to_string(guess.u.cols()));
  if (!guess.x.allFinite()) throw InputError("guess.x", "must be finite");
  if (!guess.u.allFinite()) throw InputError("guess.u", "must be finite");
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
  points[0].x = problem.horizon().start;
  weights = {.barrier = options.barrier, .penalty = options.penalty, .merit = 0.0};
  regularisation = std::max(options.regularisation, options.least_regularisation);
  last_equality = std::numeric_limits<double>::infinity();
  phase = round = 0;
  for (KnotLinear& knot_rows : linear) knot_rows.lambda.setZero();
}

/// Defects and rows of the iterate by the dynamics of the phase.
bool Optimizer::Memory::enter_phase(Place& bad) {
  round_iterations = slow = 0;
  history.clear();
  int bad_knot = 0;
  if (!internal::find_defects(problem, *steppers[phase], scratch, points, bad_knot)) {
    bad = {bad_knot, "dynamics"};
    return false;
  }
  if (rows.evaluate(points, knot)) return true;
  bad = rows.not_finite(points);
  return false;
}

bool Optimizer::Memory::linearise(Place& bad) {
  for (int k = 0; k < problem.num_steps(); ++k)
    if (!steppers[phase]->jacobians(k, stages[k].A, stages[k].B)) {
      bad = {k, "derivative of the dynamics"};
      return false;
    }
  return rows.linearise(points, linear, knot, bad);
}

bool Optimizer::Memory::feasible(const Totals& now) const {
  const double most = options.constraint_tolerance;
  return now.worst_defect <= most && now.worst_equality <= most && now.worst_inequality <= most;
}

/// Where its own problem is solved to a few μ, or nothing much is gained any more.
bool Optimizer::Memory::round_is_over(const Totals& now, double gradient) const {
  if (round_iterations >= options.max_round_iterations) return true;
  if (round_iterations > 0 && slow >= 2 && now.worst_defect <= options.constraint_tolerance) return true;
  const double error = std::max({gradient, now.worst_defect, now.worst_slack, now.worst_product});
  return error <= std::max(kRoundError * weights.barrier, options.tolerance);
}

/// Multipliers, weights and phase of the next round. False if there is none, or with `bad` where its dynamics are not
/// finite.
bool Optimizer::Memory::next_round(const Totals& now, Place& bad) {
  for (std::size_t k = 0; k < points.size(); ++k) linear[k].lambda += weights.penalty * points[k].c;
  if (options.penalty_always_grows || now.worst_equality > std::max(0.25 * last_equality, options.constraint_tolerance))
    weights.penalty = std::min(weights.penalty * options.penalty_growth, options.max_penalty);
  last_equality = now.worst_equality;
  weights.barrier =
      std::max(0.1 * std::min(options.tolerance, options.constraint_tolerance),
               std::min(options.barrier_factor * weights.barrier, std::pow(weights.barrier, options.barrier_power)));
  weights.merit = 0.0;
  history.clear();
  regularisation = std::max(regularisation, options.least_regularisation);
  round_iterations = slow = 0;
  if (in_last_phase()) return ++round < options.max_rounds;
  ++phase;
  return enter_phase(bad);
}

/// Stiffer until every stage is definite.
bool Optimizer::Memory::factor() {
  for (; regularisation <= kMostRegularisation; regularisation = std::max(10.0 * regularisation, 1e-6)) {
    damping = regularisation * scale.cwiseAbs2().cwiseInverse();
    if (riccati.factor(stages, damping) < 0) return true;
  }
  return false;
}

/// A part of the step that is good enough becomes the iterate. False if none is.
bool Optimizer::Memory::search(const Totals& now, Iteration& row) {
  const bool rolled = options.steps == TrialSteps::rollout || now.worst_defect < kSmallDefect;
  // ν, large enough that the step goes down; a rollout closes all defects, whatever that costs
  const double infeasibility = now.infeasibility();
  if (options.steps == TrialSteps::rollout && now.defects > 0.0) weights.merit = std::max(weights.merit, kDefectWeight);
  if (infeasibility > 0.0) {
    const double needed = (step.slope + std::max(step.curvature, 0.0)) / (0.9 * infeasibility);
    if (needed > weights.merit) {
      weights.merit = std::min(2.0 * needed, kMostMeritWeight);
      history.clear();
    }
  }
  const double merit = now.merit(weights.merit);
  const double size = now.cost + std::abs(now.multipliers) + weights.merit * infeasibility;
  history.add(merit, options.memory);
  const double slope = std::min(0.0, step.slope - weights.merit * infeasibility);
  const double rounding = 10.0 * std::numeric_limits<double>::epsilon() * std::abs(merit);
  double alpha = rolled ? 1.0 : internal::longest_step(points, step);
  for (row.trials = 1; row.trials <= 12; ++row.trials, alpha *= row.trials < 4 ? 0.5 : 0.35) {
    const bool finite = rolled
                            ? internal::rollout_trial(problem, points, riccati, alpha, *steppers[phase], scratch, trial)
                            : internal::linear_trial(problem, points, step, alpha, *steppers[phase], scratch, trial);
    if (!finite || !rows.evaluate(trial, knot)) continue;
    internal::set_slacks(points, step, alpha, trial);
    const double next = internal::totals(rows, trial, linear, weights).merit(weights.merit);
    if (!(next <= history.reference(kSmallChange * size) + 1e-4 * alpha * slope + rounding)) continue;
    internal::move_multipliers(points, step, alpha, weights.barrier, linear);
    std::swap(points, trial);
    slow = merit - next < options.progress * size ? slow + 1 : 0;
    row.step = alpha;
    return true;
  }
  return false;
}

/// Slacks and their multipliers on the central path.
void Optimizer::Memory::start_slacks() {
  for (std::size_t k = 0; k < points.size(); ++k) {
    points[k].s = (-points[k].h).cwiseMax(options.slack);
    linear[k].z = weights.barrier * points[k].s.cwiseInverse();
  }
}

const OptimizeResult& Optimizer::Memory::run(bool warm, const IterationCallback& callback) {
  const auto begin = std::chrono::steady_clock::now();
  result.log.clear();
  result.iterations = 0;
  Place bad;
  Totals now;
  if (!enter_phase(bad)) return finish(OptimizeStatus::not_finite, now, bad, seconds_since(begin));
  if (!warm) start_slacks();
  for (bool more = true; more;) {
    if (!linearise(bad)) return finish(OptimizeStatus::not_finite, now, bad, seconds_since(begin));
    internal::assemble(rows, points, linear, weights, hessian, stages);
    now = internal::totals(rows, points, linear, weights);
    const double gradient = internal::lagrangian_gradient(points, linear, rows, weights, stages, scale, costates);
    Iteration row{.iteration = result.iterations,
                  .phase = phase,
                  .cost = now.cost,
                  .defect = now.worst_defect,
                  .equality = now.worst_equality,
                  .inequality = std::max(0.0, now.worst_inequality),
                  .gradient = gradient,
                  .barrier = weights.barrier,
                  .penalty = weights.penalty,
                  .regularisation = regularisation};
    const bool settled = options.progress > 0.0 && slow >= 2 && weights.barrier <= options.tolerance;
    const bool stationary =
        settled || (gradient <= options.tolerance && now.worst_product + weights.barrier <= options.tolerance);
    const bool solved = in_last_phase() && feasible(now) && stationary;
    const bool out_of_time = result.iterations >= options.max_iterations || seconds_since(begin) > options.max_seconds;
    bool stepped = false;
    if (!solved && !out_of_time && !round_is_over(now, gradient)) {
      while (!stepped && factor()) {
        row.regularisation = regularisation;
        riccati.roll_out(stages, step.dx, step.du);
        internal::complete(rows, points, linear, weights, motion, step);
        stepped = search(now, row);
        if (!stepped) regularisation = std::max(10.0 * regularisation, 1e-6);
        if (!stepped && regularisation > kMostRegularisation) break;
      }
      if (stepped && row.step > 0.4) regularisation = std::max(regularisation / 3.0, options.least_regularisation);
      if (stepped && regularisation < 1e-9) regularisation = options.least_regularisation;
      if (stepped && history.stuck()) regularisation = std::max(10.0 * regularisation, 1e-6);
    }
    result.log.push_back(row);
    if (solved) return finish(OptimizeStatus::solved, now, {}, seconds_since(begin));
    if (callback && !callback(row)) return finish(OptimizeStatus::stopped, now, {}, seconds_since(begin));
    if (out_of_time) {
      const bool by_time = result.iterations < options.max_iterations;
      return finish(by_time ? OptimizeStatus::stopped : OptimizeStatus::stalled, now, {}, seconds_since(begin));
    }
    if (stepped) {
      ++result.iterations;
      ++round_iterations;
      continue;
    }
    if (regularisation > kMostRegularisation)
      regularisation = std::max(options.regularisation, options.least_regularisation);
    more = next_round(now, bad);
    if (bad.found()) return finish(OptimizeStatus::not_finite, now, bad, seconds_since(begin));
  }
  return finish(OptimizeStatus::stalled, now, {}, seconds_since(begin));
}

const OptimizeResult& Optimizer::Memory::finish(OptimizeStatus status, const Totals& now, const Place& place,
                                                double seconds) {
  result.status = status;
  result.knot = place.knot;
  result.name = place.name;
  result.violation = 0.0;
  result.cost = now.cost;
  result.seconds = seconds;
  if (status != OptimizeStatus::not_finite) {
    const Place worst = rows.worst(points, result.violation);
    result.knot = worst.knot;
    result.name = worst.name;
  }
  if (status == OptimizeStatus::stalled && result.violation > options.constraint_tolerance)
    result.status = OptimizeStatus::infeasible;
  for (std::size_t k = 0; k < points.size(); ++k) {
    result.plan.x[k] = points[k].x;
    if (k + 1 == points.size()) break;
    result.plan.u[k] = points[k].u;
    result.plan.K[k] = riccati.at(static_cast<int>(k)).K;
  }
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
  return memory_->run(false, callback);
}

const OptimizeResult& Optimizer::solve_again(const IterationCallback& callback) {
  memory_->phase = static_cast<int>(memory_->options.phases.size()) - 1;
  memory_->round = 0;
  return memory_->run(true, callback);
}

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
