#pragma once

/// Records of a step by hard contact that are its own.

#include <limits>
#include <vector>

#include "tangere/contact/hard/lcp.hpp"
#include "tangere/sim/step.hpp"

namespace tangere {

/// An impact inside a step (sim/impact/internal/bounce.hpp).
struct ImpactEvent {
  /// The part of the step before it.
  double time = 0.0;
  /// Whether that moves with the state: not for what overlaps already at the start, or at the impact before it.
  bool moves = true;
  /// The distance that is zero there: its gradient (nv), and its contact among those of the impact.
  VectorX normal;
  int contact = -1;
  /// How much farther apart the next of those that bounce together are, metres; infinite if it is alone. 0 is a tie:
  /// which of them meets first changes with the state, and the derivative has two sides.
  double lead = std::numeric_limits<double>::infinity();
  /// The coordinates of the trees that meet (1).
  std::vector<char> dofs;
};

struct HardTape {
  ContactProblem problem;
  /// Impulses, velocities less their targets, and sets, one per row.
  ScratchVector f;
  ScratchVector w;
  std::vector<RowSet> sets;
  /// See LcpSolution.
  double restitution_kept = 1.0;
  std::vector<int> short_of_energy;
  double energy_margin = std::numeric_limits<double>::infinity();
  /// Impacts inside the step, earliest first, and their parts (Tape::impact). Both may be longer.
  int num_impacts = 0;
  std::vector<ImpactEvent> events;
  std::vector<Tape> parts;
};

}  // namespace tangere
