#pragma once

/// The report of `tangere simulate` about a run.

#include <array>
#include <string>
#include <vector>

#include "apps/cli/gradient_check.hpp"
#include "apps/cli/start_overlaps.hpp"
#include "tangere/contact/smooth_contact.hpp"
#include "tangere/multibody/model.hpp"
#include "tangere/solvers/lcp/boxed_lcp.hpp"

namespace tangere::cli {

struct SimulationReport {
  int steps = 0;
  double time_step = 0.0;
  /// Seconds of the steps alone, without recording and checks.
  double wall_seconds = 0.0;
  /// Points of all steps together, and of the step that had most.
  long num_contacts = 0;
  int max_contacts = 0;
  /// All steps: contact problems, and which stage of the solver answered how many.
  long num_islands = 0;
  std::array<long, kNumBoxedLcpStages> stages{};
  /// Smooth contact: which start led to a solution, and iterations of these.
  std::array<long, kNumSmoothRungs> rungs{};
  long iterations = 0;
  int approximate_steps = 0;
  double largest_residual = 0.0;
  /// At the end.
  double kinetic_energy = 0.0;
  double potential_energy = 0.0;
  std::vector<Pose> poses;
  /// Empty: none.
  std::string recording;
  int num_frames = 0;
  /// Empty: none.
  std::string page;
  std::size_t num_notices = 0;
  std::vector<StartOverlap> overlaps;
  /// Null if they were not checked.
  const GradientReport* gradients = nullptr;
};

void print_text(const World& world, const SimulationReport& report);
void print_json(const World& world, const SimulationReport& report);

}  // namespace tangere::cli
