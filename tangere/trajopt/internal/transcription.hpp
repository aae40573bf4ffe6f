#pragma once

/// A problem as rows per knot, and their values and derivatives along a trajectory.

#include <memory>
#include <span>
#include <vector>

#include "tangere/math/task_pool.hpp"
#include "tangere/solvers/riccati.hpp"
#include "tangere/trajopt/problem.hpp"

namespace tangere::internal {

/// Which rows of a knot belong to which term.
struct TermRows {
  const Term* term = nullptr;
  int first = 0;
  int size = 0;
  bool is_linear = false;
};

struct KnotLayout {
  std::vector<TermRows> costs;
  std::vector<TermRows> equalities;
  std::vector<TermRows> inequalities;
  /// Constraints on the given start, which nothing can be done about.
  std::vector<TermRows> given;
  /// Whether an inequality is one on controls.
  std::vector<char> on_controls;
  int num_costs = 0;
  int num_equalities = 0;
  int num_inequalities = 0;
  /// The weights of the costs, with time steps.
  VectorX weight;
  double time = 0.0;
  double time_step = 0.0;
};

/// A knot of a trajectory: state, control, values of all rows, slacks, and the defect f(x, u) ⊖ x of the next knot.
struct KnotPoint {
  VectorX x;
  VectorX u;
  VectorX defect;
  VectorX r;
  VectorX c;
  VectorX h;
  VectorX s;
};

/// Jacobians of a knot's rows over (dx, du), row after row, and its multipliers.
struct KnotLinear {
  RowMatrixX r;
  RowMatrixX c;
  RowMatrixX h;
  VectorX lambda;
  VectorX z;
};

/// The place of a value that is not finite.
struct Place {
  int knot = -1;
  std::string name{};
  [[nodiscard]] bool found() const { return knot >= 0; }
};

/// Threads for loops over knots, each with its own memory. What is done at a knot depends on the knot alone.
class Workers {
 public:
  Workers(const Dynamics& dynamics, int num_threads);

  template <class F>
  void run(int count, F&& task) {
    if (pool_ == nullptr) {
      for (int k = 0; k < count; ++k) task(k, 0);
      return;
    }
    pool_->run(count, 1, [&task](int k, int thread) { task(k, thread); });
  }

  [[nodiscard]] KnotMemory& memory(int thread) { return memories_[thread]; }
  [[nodiscard]] int num_threads() const { return static_cast<int>(memories_.size()); }
  /// The stepper for states between knots.
  void set_stepper(Stepper* stepper);

 private:
  std::unique_ptr<TaskPool> pool_;
  std::vector<KnotMemory> memories_;
};

/// The penalty of equalities, and the least multiplier of inequalities that counts.
struct GradientWeights {
  double penalty = 0.0;
  double least_multiplier = 0.0;
};

class Transcription {
 public:
  /// With rows between knots beside the problem's own. Both must outlive it.
  Transcription(const OptimalControl& problem, std::span<const Term> between);

  [[nodiscard]] const KnotLayout& at(int knot) const { return knots_[knot]; }
  [[nodiscard]] int num_knots() const { return static_cast<int>(knots_.size()); }
  void resize(std::vector<KnotPoint>& points) const;
  void resize(std::vector<KnotLinear>& linear) const;

  /// All rows at the states and controls of `points`. False where one is not finite.
  [[nodiscard]] bool evaluate(std::vector<KnotPoint>& points, Workers& workers) const;
  /// Their Jacobians. The place of the first one that is not finite is left in `bad`.
  [[nodiscard]] bool linearise(std::vector<KnotPoint>& points, std::vector<KnotLinear>& linear, Workers& workers,
                               Place& bad) const;
  /// The first row that is not finite.
  [[nodiscard]] Place not_finite(const std::vector<KnotPoint>& points) const;
  /// The constraint that is violated most, and by how much.
  [[nodiscard]] Place worst(const std::vector<KnotPoint>& points, double& violation) const;
  /// The same of the constraints on the given start.
  [[nodiscard]] Place worst_at_start(const VectorX& start, KnotMemory& memory, double& violation) const;

  /// The sum of rows times multipliers at (x, u), rows that are linear left out: its gradient over (dx, du).
  void add_gradient(int knot, const VectorX& x, const VectorX& u, const KnotPoint& point, const KnotLinear& multipliers,
                    const GradientWeights& weights, KnotMemory& memory, KnotLinear& scratch, VectorX& gradient) const;

 private:
  [[nodiscard]] Knot knot_at(int k, const VectorX& x, const VectorX& u, KnotMemory& memory) const;

  const OptimalControl* problem_;
  std::vector<KnotLayout> knots_;
};

}  // namespace tangere::internal
