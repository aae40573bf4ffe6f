#pragma once

/// How well posed a step was: which rows are near another set, which repeat each other, and how far the derivatives
/// amplify errors.
///
///   const StepDiagnosis diagnosis = diagnose_step(world, tape, workspace);
///   if (!diagnosis.ties.empty()) …   // the derivative has two sides, and differences give something between them
///
/// Not for hot loops: it makes dense decompositions.

#include <limits>
#include <vector>

#include "tangere/sim/step.hpp"

namespace tangere {

struct StepDiagnosis {
  /// One a row of the tape: how far it is from another set, relative to the largest impulse of the step. Forces from
  /// their bounds; velocities of rows at a bound by the impulse that would stop them. Infinite where a row has no other
  /// set: friction of what does not press, rows that nothing can move, and all if nothing pushes.
  std::vector<double> margins;
  /// Rows whose margin is below the tolerance.
  std::vector<int> ties;
  /// Contacts (of the tape's problem) that take part, and whose place or frame has no derivative: edges that touch in
  /// parallel, coincident centres. It is taken to ride on one body, and the derivatives are not those of the step.
  std::vector<int> rough_contacts;
  /// Rows that are clamped (their velocity is the target, their impulse inside its bounds), and how many of these are
  /// independent, judged at 1e-9 of the largest. Fewer: forces are shared by the compliance.
  int num_clamped = 0;
  int rank = 0;
  /// Condition number of the system that the derivatives solve (rows scaled alike): digits lost are its decimal
  /// logarithm. 1 without rows.
  double condition = 1.0;
  /// How far each coordinate of q, v and u can go, alone, until a row changes its set: the smallest over the rows of
  /// what is left over how fast it goes. To first order in q and v; exact in u, in which a step is linear while its
  /// sets hold. Infinite where no row depends on it. Differences have to stay below.
  VectorX reach_q;
  VectorX reach_v;
  VectorX reach_u;
  /// How far from 0 the energy is that an impact would gain (LcpSolution); infinite if none can. 0 is a tie.
  double energy_margin = std::numeric_limits<double>::infinity();
  /// Impacts inside the step in which several contacts meet at the same time (ImpactEvent::lead below the tolerance,
  /// in metres): the derivative has two sides.
  std::vector<int> tied_impacts;
};

/// Diagnosis of the whole step, or of the part before an impact inside it. The impacts (tape.impact(i)) and the parts
/// after them can be asked too; reaches of an impact are left empty.
[[nodiscard]] StepDiagnosis diagnose_step(const World& world, const Tape& tape, Workspace& workspace,
                                          double tie_tolerance = 1e-9);

}  // namespace tangere
