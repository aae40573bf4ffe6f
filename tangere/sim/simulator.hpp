#pragma once

/// A world and all that its steps need, in one object.
///
///   Simulator sim(World(load_scene("half_cheetah.xml")));
///   State x = sim.step(sim.world().default_state(), u);
///   Linearization L = sim.linearize();                      dx' = L.A dx + L.B du,  dx = (δq, δv)
///   if (L.quality != GradientQuality::exact) …
///   StepReport report = sim.report();
///
/// Answers are values: nothing in them ends with the next step. Loops that must not allocate use step.hpp.

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "tangere/sim/step_derivatives.hpp"
#include "tangere/sim/step_parameters.hpp"
#include "tangere/sim/step_report.hpp"

namespace tangere {

/// How the next state moves with state, control and parameters. States move by their tangents (δq, δv), 2 nv numbers
/// (multibody/configuration.hpp).
struct Linearization {
  /// 2 nv x 2 nv.
  MatrixX A;
  /// 2 nv x nu.
  MatrixX B;
  /// 2 nv x the number of parameters that were asked for.
  MatrixX P;
  GradientQuality quality = GradientQuality::exact;
};

/// The gradient of a loss on the next state with respect to what the step began with.
struct StepGradient {
  StateTangent state;
  VectorX control;
  VectorX parameters;
  GradientQuality quality = GradientQuality::exact;
};

class Simulator {
 public:
  explicit Simulator(World world);

  [[nodiscard]] const World& world() const { return world_; }
  /// Steps are made in another way from now on, with the warm start of the last one (World::with).
  void change(const WorldChanges& changes) { world_ = world_.with(changes); }

  /// The state after a step from `state`. Throws InputError for wrong sizes and numbers that are not finite.
  State step(const State& state, VectorArgument u, const StepOptions& options = {});
  /// Many steps, one a column of `controls`; the last state.
  State run(const State& state, const Eigen::Ref<const MatrixX>& controls);
  /// The next step starts cold.
  void forget() { workspace_.forget(); }

  // of the last step; InputError before the first one

  [[nodiscard]] StepReport report() const;
  /// `loss`: see step_jacobians.
  [[nodiscard]] Linearization linearize(GradientMode mode = GradientMode::exact, const StateTangent* loss = nullptr);
  /// Also by parameters of the world: `cube.mass`, `cube.0.friction`, … (step_parameters.hpp).
  [[nodiscard]] Linearization linearize(std::span<const std::string_view> parameters);
  [[nodiscard]] Linearization linearize(std::initializer_list<std::string_view> parameters) {
    return linearize(std::span(parameters.begin(), parameters.size()));
  }
  /// From the gradient of a loss with respect to the next state, as tangents (tangent_gradient).
  [[nodiscard]] StepGradient gradient(const StateTangent& next, GradientMode mode = GradientMode::exact);
  [[nodiscard]] StepGradient gradient(const StateTangent& next, std::span<const std::string_view> parameters);
  [[nodiscard]] StepGradient gradient(const StateTangent& next, std::initializer_list<std::string_view> parameters) {
    return gradient(next, std::span(parameters.begin(), parameters.size()));
  }
  [[nodiscard]] const Tape& tape() const;
  [[nodiscard]] Workspace& workspace() { return workspace_; }

 private:
  World world_;
  Workspace workspace_;
  Tape tape_;
  StepReport report_;
  StepJacobians jacobians_;
  bool has_stepped_ = false;
};

}  // namespace tangere
