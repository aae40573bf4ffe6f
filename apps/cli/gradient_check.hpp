#pragma once

/// The Jacobians of a step against central differences of the step, at states of a simulation.

#include <array>
#include <string_view>

#include "apps/cli/gradient_width.hpp"
#include "tangere/sim/step_derivatives.hpp"

namespace tangere::cli {

/// A block of the Jacobian of a step, and the largest error seen in it, next to its largest entry.
struct BlockError {
  std::string_view name;
  double worst = 0.0;
  /// The step and the coordinate of the column where that was; -1: none.
  int step = -1;
  int column = -1;
};

struct GradientReport {
  int num_steps = 0;
  /// Of those, steps whose contact problem was solved only approximately: not compared.
  int num_approximate = 0;
  /// Of those, steps whose Jacobians say that they are not those of the step: not compared.
  int num_not_exact = 0;
  int num_columns = 0;
  /// Columns left out: the sets, the contacts or their features change on a side however small the difference.
  int num_ties = 0;
  /// Columns left out: the differences are not accurate enough to judge.
  int num_unclear = 0;
  std::array<BlockError, 5> blocks{{{"dq'/dq"}, {"dv'/dq"}, {"dq'/dv"}, {"dv'/dv"}, {"dv'/du"}}};
  /// Hard contact only: what is smooth has no sets to leave.
  GradientWidth width;

  [[nodiscard]] int num_compared() const { return num_columns - num_ties - num_unclear; }
  [[nodiscard]] bool passed() const;
};

/// Largest errors that pass.
inline constexpr double kGradientTolerance = 1e-5;

class GradientCheck {
 public:
  explicit GradientCheck(const World& world);

  /// Compares at the step number `number`, from `state` with this warm start.
  void check(int number, const State& state, VectorArgument u, const WarmStart& warm_start);
  [[nodiscard]] const GradientReport& report() const { return report_; }

 private:
  bool step_from(int column, double by, State& to);
  bool difference_of(int column, double h, VectorX& out);
  void check_column(int number, int column, double first_h);

  /// Whether a step is the same smooth function as the taped one.
  [[nodiscard]] bool same_branch(const StepResult& result) const;

  const World world_;
  Workspace workspace_;
  GradientReport report_;
  /// The acceleration of the lightest coordinate a unit of the strongest control.
  double reach_of_controls_ = 0.0;
  // of the step in hand
  State state_;
  VectorX u_;
  WarmStart warm_start_;
  State next_;
  Tape tape_;
  Tape moved_tape_;
  std::vector<Contact> contacts_;
  MatrixX jacobian_;
  /// What errors of the rows q' and v' are compared with, in the columns of q, v and u.
  std::array<double, 3> size_q_{};
  std::array<double, 3> size_v_{};
};

}  // namespace tangere::cli
