#include "tangere/sim/step_report.hpp"

namespace tangere {

void copy_report(const StepResult& result, StepReport& out) {
  out.status = result.status;
  out.residual = result.residual;
  out.margin = result.margin;
  out.restitution_kept = result.restitution_kept;
  out.bounced_at_end = result.bounced_at_end;
  out.num_islands = result.num_islands;
  out.contacts.assign(result.contacts.begin(), result.contacts.end());
  out.impacts.assign(result.impacts.begin(), result.impacts.end());
  out.rows.assign(result.rows.begin(), result.rows.end());
  out.sets.assign(result.sets.begin(), result.sets.end());
  out.impulses.assign(result.impulses.begin(), result.impulses.end());
  out.profile = result.profile;
  out.smooth = result.smooth;
}

StepReport report_of(const StepResult& result) {
  StepReport out;
  copy_report(result, out);
  return out;
}

}  // namespace tangere
