#pragma once

/// Derivatives of the impulses of a step: losses on forces.
///
///   VectorX impulses;
///   step_impulses(tape, impulses);
///   VectorX g_impulses = …;                                              // dloss/dimpulses
///   step_vjp(world, tape, workspace, g, g_impulses, g_state, g_u);
///
/// The impulses of a step (N s, N m s; the force of a row is its impulse over the time step) are, in this order,
///
///   those of the rows of the tape        tape.f, which is StepResult::impulses: rows as in tape.problem.rows
///   those of each impact inside it       tape.impact(i).f, rows as in tape.impact(i).problem.rows
///
/// If something bounced inside the step, the first are those of the step without what bounced, and an impact's are
/// what its contacts pushed at that moment (StepResult::impacts). The tangents of friction are those of the contact's
/// frame (Contact). Sets are held, as for the next state. Where rows repeat each other (four corners of a box) it is
/// the compliance that shares the impulse out, and derivatives of single rows lose as many digits as it is small, as
/// the impulses themselves do; sums over the contacts of a body do not.
///
/// Hard contact only: InputError for tapes of another formulation.

#include <span>

#include "tangere/sim/step_derivatives.hpp"
#include "tangere/sim/step_parameters.hpp"

namespace tangere {

[[nodiscard]] int num_impulses(const Tape& tape);
void step_impulses(const Tape& tape, VectorX& out);

/// num_impulses(tape) rows (zero where a row is at a fixed bound); nv and nu columns.
struct ImpulseJacobians {
  MatrixX q;
  MatrixX v;
  MatrixX u;
};

[[nodiscard]] GradientQuality impulse_jacobians(const World& world, const Tape& tape, Workspace& workspace,
                                                ImpulseJacobians& out);

/// num_impulses(tape) x the number of parameters. Notes of step_parameter_jacobians hold here too.
[[nodiscard]] GradientQuality impulse_parameter_jacobians(const World& world, const Tape& tape, Workspace& workspace,
                                                          std::span<const StepParameter> parameters, MatrixX& out);

/// The reverse product for a loss on the next state and on the impulses. GradientMode::exact.
[[nodiscard]] GradientQuality step_vjp(const World& world, const Tape& tape, Workspace& workspace,
                                       const StateTangent& g, VectorArgument g_impulses, StateTangent& g_state,
                                       VectorX& g_u);

/// The forward product, of both.
[[nodiscard]] GradientQuality step_jvp(const World& world, const Tape& tape, Workspace& workspace,
                                       const StateTangent& d, VectorArgument du, StateTangent& d_next,
                                       VectorX& d_impulses);

}  // namespace tangere
