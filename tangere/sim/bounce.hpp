#pragma once

/// Steps in which an impact bounces (private to sim).
///
/// A step's velocity is read as that in its middle, so that positions lie on the parabola of free flight; the impact
/// happens at the part c of the step when the surfaces meet:
///
///   v_f                                        the step without the contacts that bounce
///   q_c = q ⊕ dt [(c + k) v_f − k v]           k = (c² − c) / 2;   c ∈ [0, 1]: the distance at q_c is 0
///   v_c = (c + ½) v_f − (c − ½) v              in the axes at q_c
///   v_p                                        impact at q_c: impulses only, restitution at v_c
///   v_q                                        a step from (q_c, v_p)
///   v' = v_p − (c − ½) (v_q − v_p)
///   q' = q_c ⊕ dt [(1 − c) v' − k (v_q − v_p)]
///
/// With it the time of impact moves with the state, which is most of the gradient of a motion that bounces:
/// dc = − n dq_c / (n ∂q_c/∂c), n the gradient of the distance.
///
/// Only the trees that meet are treated so, and all others take the step as it is. It holds where nothing but smooth
/// forces and the one impact act on these trees: if another row pushes them in the same step (a second impact, a
/// contact that rests, a limit, a constraint), the whole step follows the discrete rule instead, `StepResult::impacts`
/// is empty.

#include "tangere/sim/step_derivatives.hpp"
#include "tangere/sim/workspace_memory.hpp"

namespace tangere {

/// After contacts were found at `state`: whether some of them bounce, and are to be treated here.
[[nodiscard]] bool bounces_inside(const World& world, const Workspace::Memory& m);

/// The whole step, with its answer in m.result. False if it does not hold: m.problem has its contacts again, those that
/// will not be reached after all without restitution.
[[nodiscard]] bool bounce_step(const World& world, const State& state, VectorArgument u, Workspace::Memory& m,
                               State& next, Tape* tape);

/// Jacobians of such a step.
void bounce_jacobians(const World& world, const Tape& tape, Workspace& workspace, StepJacobians& out);

}  // namespace tangere
