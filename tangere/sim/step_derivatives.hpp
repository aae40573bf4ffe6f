#pragma once

/// Derivatives of a step, from its tape.
///
///   Tape tape;
///   (void)step(world, state, u, workspace, next, &tape);
///   StepJacobians jacobians;
///   if (step_jacobians(world, tape, workspace, jacobians) != GradientQuality::exact) …
///
/// Exact, with the sets of the contact problem and the features of the contacts held: on one side of a tie they are
/// the derivative on that side. Positions move in the tangent of multibody/configuration.hpp.

#include <string_view>

#include "tangere/contact/gradient_quality.hpp"
#include "tangere/sim/step.hpp"

namespace tangere {

enum class GradientMode {
  /// The derivative of the step, sets held.
  exact,
  /// Nimble's heuristic against saddle points (IV-D): a second try takes every contact whose opening would lower the
  /// loss for separating, and every other one for touching and sticking; of both, the one with the larger |dloss/dv|² +
  /// |dloss/dτ|² / dt is answered. Not the derivative of the step where it is the second. Sliding contacts that stay in
  /// touch stay sliding.
  complementarity_aware,
  /// Contacts that were found but do not touch are taken to touch and stick: says what they would do before they do
  /// it. Not the derivative of the step where there are such.
  pre_contact,
  /// Nimble's approximation for contacts that bounce by the discrete rule (BounceMode::discrete): what the moving time
  /// of impact does to positions (VI, Appendix E), right for one impact without gravity. Not the derivative of the
  /// step.
  reflection,
  /// The same by the saltation matrix of an impact at the start of the step: right as the time step goes to 0. Not the
  /// derivative of the step.
  saltation,
};
[[nodiscard]] std::string_view to_string(GradientMode mode);

/// nv x nv, and nv x nu.
struct StepJacobians {
  MatrixX q_q;
  MatrixX q_v;
  MatrixX q_u;
  MatrixX v_q;
  MatrixX v_v;
  MatrixX v_u;

  /// As one system of the state's tangent x = (δq, δv): dx' = A dx + B du. A is 2 nv x 2 nv, B is 2 nv x nu.
  void copy_to(Eigen::Ref<MatrixX> A, Eigen::Ref<MatrixX> B) const;
  [[nodiscard]] MatrixX A() const;
  [[nodiscard]] MatrixX B() const;
};

/// A direction in the space of states and controls, or a gradient there.
struct StateTangent {
  VectorX q;
  VectorX v;
};

/// GradientMode::complementarity_aware needs the gradient of a loss with respect to the next state (InputError without
/// it). Modes other than exact are for hard contact (InputError).
[[nodiscard]] GradientQuality step_jacobians(const World& world, const Tape& tape, Workspace& workspace,
                                             StepJacobians& out, GradientMode mode = GradientMode::exact,
                                             const StateTangent* loss = nullptr);

/// A step and its Jacobians in one call, into the caller's A (2 nv x 2 nv) and B (2 nv x nu): dx' = A dx + B du. NaN
/// where no step was made (workspace.result().status).
[[nodiscard]] GradientQuality linearized_step(const World& world, const State& state, VectorArgument u,
                                              Workspace& workspace, State& next, Eigen::Ref<MatrixX> A,
                                              Eigen::Ref<MatrixX> B, const StepOptions& options = {});

/// The reverse product: from the gradient of a loss with respect to the next state, `g`, to those with respect to state
/// and control.
[[nodiscard]] GradientQuality step_vjp(const World& world, const Tape& tape, Workspace& workspace,
                                       const StateTangent& g, StateTangent& g_state, VectorX& g_u,
                                       GradientMode mode = GradientMode::exact);

/// The forward product: how the next state moves if the state moves by `d` and the control by `du`.
[[nodiscard]] GradientQuality step_jvp(const World& world, const Tape& tape, Workspace& workspace,
                                       const StateTangent& d, VectorArgument du, StateTangent& d_next);

}  // namespace tangere
