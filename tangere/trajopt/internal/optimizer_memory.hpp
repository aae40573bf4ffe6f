#pragma once

/// Memory of an Optimizer: the problem as rows, the iterate with its trial and its best one, the linear-quadratic
/// problem of the iteration, and what is carried from iteration to iteration.

#include <chrono>
#include <limits>
#include <memory>
#include <vector>

#include "tangere/trajopt/internal/between.hpp"
#include "tangere/trajopt/internal/curvature.hpp"
#include "tangere/trajopt/internal/merit_history.hpp"
#include "tangere/trajopt/internal/trial.hpp"
#include "tangere/trajopt/optimizer.hpp"

namespace tangere {

struct Optimizer::Memory {
  Memory(OptimalControl p, OptimizerOptions o);

  OptimalControl problem;
  OptimizerOptions options;
  internal::Workers workers;
  std::vector<std::unique_ptr<Stepper>> steppers;
  /// Rows between knots, then all rows.
  std::vector<Term> inserted;
  internal::Transcription rows;
  /// The size of a control: half of its range, or 1.
  VectorX scale;
  VectorX gradient_scale;

  std::vector<internal::KnotPoint> points;
  std::vector<internal::KnotPoint> trial;
  std::vector<internal::KnotPoint> best;
  /// Points at which the solve began, and the answer of the first restoration.
  std::vector<internal::KnotPoint> guessed;
  std::vector<internal::KnotPoint> restored;
  std::vector<internal::KnotLinear> linear;
  std::vector<LqStage> stages;
  Riccati riccati;
  internal::NewtonStep step;
  internal::Curvature curvature;
  internal::TrialScratch scratch;
  std::vector<VectorX> costates;
  std::vector<MatrixX> hessians;
  VectorX motion;
  VectorX damping;
  VectorX start_damping;
  std::vector<char> failed;
  OptimizeResult result;

  // carried from iteration to iteration
  internal::Multipliers weights;
  internal::MeritHistory history;
  double regularisation = 0.0;
  double last_equality = 0.0;
  int phase = 0;
  int round = 0;
  int round_iterations = 0;
  /// Rounds in a row whose equalities did not fall at the largest penalty.
  int hopeless_rounds = 0;
  int slow = 0;
  int rounding_steps = 0;
  /// Whether A and B of the stages, and all rows, are those of the iterate.
  bool is_linear_fresh = false;
  bool has_fresh_jacobians = false;
  /// Whether the last step was good at the first trial.
  bool first_trial_held = false;
  // curvature: whether it is in use, iterations it rests, and how often the error has hardly fallen
  bool uses_curvature = false;
  int curvature_rests = 0;
  int slow_errors = 0;
  double last_error = 0.0;
  /// Place at which the last trials were not finite, if all were.
  internal::Place blocked;
  // the best iterate of the phase
  bool has_best = false;
  double best_violation = 0.0;
  double best_cost = 0.0;
  bool was_solved = false;
  bool was_restored = false;
  bool is_restoring_linearly = false;
  bool is_shifted = false;
  std::chrono::steady_clock::time_point begin;
  double time_limit = 0.0;

  [[nodiscard]] Stepper& stepper() { return *steppers[phase]; }
  [[nodiscard]] double seconds() const;
  [[nodiscard]] bool in_last_phase() const { return phase + 1 == static_cast<int>(options.phases.size()); }

  // the start of a solve
  void start(const Guess& guess);
  void start_slacks();
  [[nodiscard]] bool enter_phase(internal::Place& bad);
  void resize_rows();

  // an iteration
  [[nodiscard]] bool linearise(internal::Place& bad);
  [[nodiscard]] double assemble(const internal::Totals& now);
  [[nodiscard]] Iteration row_of(const internal::Totals& now, double gradient) const;
  [[nodiscard]] bool feasible(const internal::Totals& now) const;
  [[nodiscard]] double round_error(const internal::Totals& now, double gradient) const;
  [[nodiscard]] bool round_is_over(const internal::Totals& now, double gradient) const;
  [[nodiscard]] bool next_round(const internal::Totals& now, internal::Place& bad);
  void watch_error(const internal::Totals& now, double gradient);
  void keep_best(const internal::Totals& now);
  [[nodiscard]] bool factor();
  [[nodiscard]] bool make_step(const internal::Totals& now, Iteration& row);
  [[nodiscard]] bool search(const internal::Totals& now, Iteration& row);
  [[nodiscard]] bool has_violations_between();

  // the whole of it
  const OptimizeResult& run(bool warm, double most_seconds, const IterationCallback& callback);
  [[nodiscard]] bool restore(const IterationCallback& callback, bool& stopped);
  [[nodiscard]] bool lessen_violations(const IterationCallback& callback, bool& stopped);
  const OptimizeResult& finish(OptimizeStatus status, const internal::Place& place);
  void shift(const VectorX& measured);
  void lift_slacks();
};

}  // namespace tangere
