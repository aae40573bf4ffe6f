#pragma once

/// Derivatives of a step, from its tape.
///
///   Tape tape;
///   (void)step(world, state, u, workspace, next, &tape);
///   StepJacobians jacobians;
///   step_jacobians(world, tape, workspace, jacobians);
///
/// Exact, with the sets of the contact problem and the features of the contacts held: on one side of a tie they are
/// the derivative on that side. Positions move in the tangent of multibody/configuration.hpp.

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
  /// Where contacts bounce by the discrete rule (BounceMode::discrete): Nimble's approximation of what the moving time
  /// of impact does to positions (VI, Appendix E), right for one impact without gravity. Not the derivative of the
  /// step.
  reflection,
  /// Likewise, by the saltation matrix of an impact at the start of the step: right as the time step goes to 0. Not the
  /// derivative of the step.
  saltation,
};

/// nv x nv, and nv x nu.
struct StepJacobians {
  MatrixX q_q;
  MatrixX q_v;
  MatrixX q_u;
  MatrixX v_q;
  MatrixX v_v;
  MatrixX v_u;
};

/// True if they are not those of the step. With `exact` that is so where the place or the frame of a contact that takes
/// part has no derivative (StepDiagnosis::rough_contacts), where impacts by the discrete rule keep only a part of their
/// restitution (StepResult::restitution_kept), which is held, and after smooth contact that was not solved
/// (StepStatus::approximate_contact), whose derivatives leave out what hovers (SmoothOptions::prune_hovering) or that
/// found no part of its restitution to keep (contact/rebound_energy.hpp), or where overlapping bodies have one centre.
/// complementarity_aware needs a loss: it is
/// exact here.
bool step_jacobians(const World& world, const Tape& tape, Workspace& workspace, StepJacobians& out,
                    GradientMode mode = GradientMode::exact);

/// A direction in the space of states and controls, or a gradient there.
struct StateTangent {
  VectorX q;
  VectorX v;
};

/// The reverse product: from the gradient of a loss with respect to the next state, `g`, to those with respect to state
/// and control. True if it is not the derivative of the step, as above.
bool step_vjp(const World& world, const Tape& tape, Workspace& workspace, const StateTangent& g, StateTangent& g_state,
              VectorX& g_u, GradientMode mode = GradientMode::exact);

/// The forward product: how the next state moves if the state moves by `d` and the control by `du`. True as above.
bool step_jvp(const World& world, const Tape& tape, Workspace& workspace, const StateTangent& d, VectorArgument du,
              StateTangent& d_next);

}  // namespace tangere
