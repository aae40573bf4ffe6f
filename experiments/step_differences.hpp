#pragma once

/// Jacobians of a step by differences of the step itself, the way Nimble's benchmark takes them: every perturbed step
/// starts from the same warm start, and a perturbation that changes rows, sets or contact features is halved until it
/// does not. Unlike there, a perturbed step serves the rows of q' and of v' at once.

#include "tangere/sim/step_derivatives.hpp"

namespace tangere::experiments {

class StepDifferences {
 public:
  /// At (state, u), after the warm start of the step that led there.
  StepDifferences(const World& world, State state, VectorX u, WarmStart warm_start);

  /// (f(h) - f(-h)) / 2 h with h = 1e-7.
  void central(StepJacobians& out);
  /// Ridders' extrapolation: factor 1.4, 10 steps, until errors grow twofold; from steps 1e-4 in q, 1e-2 in v, 1 in u.
  void ridders(StepJacobians& out);

  /// Coordinates without a perturbation that keeps everything, at the last call.
  [[nodiscard]] int ties() const { return ties_; }

 private:
  template <class Column>
  void differentiate(StepJacobians& out, double step_q, double step_v, double step_u, Column&& column);
  /// (q', v') as a tangent from where the step goes, if coordinate k of (q, v, u) moves by t. Whether all was kept.
  bool moved(int k, double t, VectorX& out);
  [[nodiscard]] bool keeps(const StepResult& result) const;

  const World& world_;
  State state_;
  VectorX u_;
  WarmStart warm_start_;
  Workspace workspace_;
  State next_;
  Tape tape_;
  int ties_ = 0;
  State from_;
  State to_;
  VectorX u_from_;
  VectorX delta_;
  VectorX high_;
  VectorX low_;
  MatrixX tableau_;
  MatrixX previous_;
};

}  // namespace tangere::experiments
