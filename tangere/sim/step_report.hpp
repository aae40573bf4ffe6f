#pragma once

/// The report of a step, as a value. (StepResult has the same without copies, until the next step.)

#include <vector>

#include "tangere/sim/step.hpp"

namespace tangere {

struct StepReport {
  StepStatus status = StepStatus::solved;
  /// See StepResult.
  double residual = 0.0;
  double margin = std::numeric_limits<double>::infinity();
  double restitution_kept = 1.0;
  bool bounced_at_end = false;
  int num_islands = 0;
  /// Contacts with their impulses, and those that bounced inside the step.
  std::vector<Contact> contacts;
  std::vector<Contact> impacts;
  /// Hard contact: all rows of the step, their sets and impulses.
  std::vector<Row> rows;
  std::vector<RowSet> sets;
  std::vector<double> impulses;
  StepProfile profile;
  SmoothStatistics smooth;
};

/// The vectors keep their memory.
void copy_report(const StepResult& result, StepReport& out);
[[nodiscard]] StepReport report_of(const StepResult& result);

}  // namespace tangere
