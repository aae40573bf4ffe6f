#pragma once

/// Steps in which impacts bounce (private to sim).
///
/// A step's velocity is read as that in its middle, so that positions lie on the parabolas of free flight. With v_f the
/// step without the contacts that bounce, a tree flies from q at u = (v + v_f) / 2, its velocity changing by a = v_f −
/// v over the step:
///
///   q_x = q ⊕ dt (x u + ½ x² a),   v_x = u + x a            x: the part of the step since then
///
/// until surfaces meet at the part c of the step, where the distance at q_x is 0; from there the trees that meet fly
/// on:
///
///   v_p                             impact at q_c: impulses only, restitution at v_c
///   v_q                             a step from (q_c, v_p), again without what bounces
///   q ← q_c,  u ← v_p,  a ← v_q − v_p
///
/// and so on, earliest first, what touches at the same time together. The end of the step is at x = 1 − c, and v' is
/// half a step earlier, u + (x − ½) a.
///
/// With it the time of impact moves with the state, which is most of the gradient of a motion that bounces:
/// dc = − n dq_c / (n ∂q_c/∂c), n the gradient of the distance.
///
/// Only the trees that meet, and those they touch or are joined to, are treated so, and all others take the step as it
/// is. Rows that hold what rests, friction, loops and mimics act on them as smooth forces do. Where a row has to stop
/// something in the same step, or reaches a tree that is not hit, or if a tree meets something more than
/// `kMostImpacts` times, the whole step follows the discrete rule instead: `StepResult::impacts` is empty, and
/// `bounced_at_end` says so.

#include "tangere/sim/internal/hard_memory.hpp"
#include "tangere/sim/step_derivatives.hpp"

namespace tangere {

/// After contacts were found at `state`: whether some of them bounce, and are to be treated here.
[[nodiscard]] bool bounces_inside(const World& world, const HardMemory& m);

enum class BounceOutcome {
  /// The step is made, with its answer in m.result.
  inside,
  /// It is not; m.problem has its contacts again. What was to bounce is not reached after all, and has no restitution.
  missed,
  /// It is not; m.problem has its contacts again, and impacts follow the discrete rule.
  at_end,
};
[[nodiscard]] BounceOutcome bounce_step(const World& world, const State& state, VectorArgument u, HardMemory& m,
                                        State& next, Tape* tape);

/// Pieces of it, for the approximations (bounce_approximations.cpp) too.
///
/// Memory for impacts, if there is none yet.
void prepare_impacts(const World& world, HardMemory& m);
/// Moves those that bounce from a problem to m.bouncing; m.data has the poses, m.velocities the velocities.
void set_aside_bouncing(const World& world, bool with_motions, ContactProblem& problem, HardMemory& m);
/// The impact of m.impact_problem's contacts on the trees with these coordinates (all where none are given);
/// m.impact_data has the poses, m.velocities the velocities there.
const LcpSolution& solve_impact(const World& world, const State& at, HardMemory& m, std::span<const char> hit = {});
/// A step from there, in m.after_problem: its contacts, and its rows solved.
void contacts_after(const World& world, const State& at, VectorArgument u, bool with_motions, HardMemory& m);
const LcpSolution& solve_after(const World& world, const State& at, VectorArgument u, bool with_motions, HardMemory& m);

/// The impact of a tape as the derivatives want it, with the world's `impact_model`; `zero` (nv) must outlive it.
[[nodiscard]] SolvedStep solved_impact(const Tape& impact, const VectorX& zero);

/// The chain rule over the parts (bounce_chain.hpp), made when it is first asked for.
[[nodiscard]] BounceChain& bounce_chain(HardMemory& m);

/// Derivatives of such a step, and of its impulses; what is null is not asked for.
void bounce_jacobians(const World& world, const Tape& tape, HardMemory& m, StepJacobians* out,
                      ImpulseJacobians* impulses = nullptr);
/// `g_impulses` may be empty.
void bounce_vjp(const World& world, const Tape& tape, HardMemory& m, const StateTangent& g, VectorArgument g_impulses,
                StateTangent& g_state, VectorX& g_u);
void bounce_jvp(const World& world, const Tape& tape, HardMemory& m, const StateTangent& d, VectorArgument du,
                StateTangent& d_next, VectorX* d_impulses = nullptr);

/// Contacts that bounced by the discrete rule: replaces the exact Jacobians `out` by an approximation of those of the
/// motion, GradientMode::reflection or saltation. False if nothing bounced: `out` is as it was.
[[nodiscard]] bool approximate_bounce(const World& world, const Tape& tape, HardMemory& m, GradientMode mode,
                                      StepJacobians& out);

}  // namespace tangere
