#pragma once

/// A trajectory to be optimised, as a value: dynamics, knots, costs and constraints.
///
///   OptimalControl problem(std::make_shared<WorldDynamics>(world), {.start = x_0, .time_steps = constant_steps(80,
///   0.01)}); problem.add(ControlCost{.weight = weight(1e-3)}); problem.add(ControlBounds{.lower = weight(-200), .upper
///   = weight(200)}); problem.add(Reach{.target = goal});

#include <memory>
#include <vector>

#include "tangere/trajopt/constraints.hpp"

namespace tangere {

struct Horizon {
  VectorX start;
  /// Seconds between knots: one knot more than there are steps.
  VectorX time_steps;
  /// Tangent coordinates of the start that are to be chosen (parameters of the world, say): those whose entry is not
  /// zero; none if empty.
  VectorX free_start = {};
};

[[nodiscard]] inline VectorX constant_steps(int count, double time_step) { return VectorX::Constant(count, time_step); }
/// A vector of one entry, which stands for all.
[[nodiscard]] inline VectorX all_of(double value) { return VectorX::Constant(1, value); }

/// A cost or a constraint, and where it acts.
struct Term {
  enum class Kind { cost, equality, inequality };
  std::string name;
  Kind kind = Kind::cost;
  std::shared_ptr<const KnotFunction> function;
  /// Costs only: the weight.
  VectorX weight{};
  bool per_second = false;
  /// Inequalities only: whether they are to hold between their knots too.
  bool between_knots = false;
  /// From the first knot on, both included.
  int first = 0;
  int last = 0;
};

class OptimalControl {
 public:
  /// Throws InputError for sizes that do not fit, time steps that are not positive and a start that is not finite.
  OptimalControl(std::shared_ptr<const Dynamics> dynamics, Horizon horizon);

  /// All throw InputError, naming the term, for sizes, knots and bodies that do not fit.
  void add(const StateCost& cost);
  void add(const ControlCost& cost);
  void add(const FrameCost& cost);
  void add(const CenterOfMassCost& cost);
  void add(const ResidualCost& cost);
  void add(const ControlBounds& bounds);
  void add(const StateBounds& bounds);
  void add(const Reach& reach);
  void add(const ReachFrame& reach);
  void add(const FrameBounds& bounds);
  void add(const Equality& equality);
  void add(const Inequality& inequality);
  /// A term of any function (with its own knots already counted from the start).
  void add(Term term, Knots knots);

  [[nodiscard]] const Dynamics& dynamics() const { return *dynamics_; }
  [[nodiscard]] const std::shared_ptr<const Dynamics>& shared_dynamics() const { return dynamics_; }
  [[nodiscard]] const Horizon& horizon() const { return horizon_; }
  [[nodiscard]] int num_steps() const { return static_cast<int>(horizon_.time_steps.size()); }
  [[nodiscard]] const std::vector<Term>& terms() const { return terms_; }
  /// Bounds of the controls, knot by knot (nu x steps).
  [[nodiscard]] const MatrixX& lower_controls() const { return lower_; }
  [[nodiscard]] const MatrixX& upper_controls() const { return upper_; }

  /// Tangent coordinates of the start that are free.
  [[nodiscard]] const std::vector<int>& free_start() const { return free_start_; }

  /// Another start: InputError for a wrong size or what is not finite.
  void set_start(const VectorX& start);
  /// The same problem with other dynamics of the same sizes.
  [[nodiscard]] OptimalControl with_dynamics(std::shared_ptr<const Dynamics> dynamics) const;

 private:
  std::shared_ptr<const Dynamics> dynamics_;
  Horizon horizon_;
  std::vector<Term> terms_;
  std::vector<int> free_start_;
  MatrixX lower_;
  MatrixX upper_;
};

}  // namespace tangere
