#include "apps/cli/gradient_width.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::cli {
namespace {

void note_smallest(double value, int step, int column, Extreme& to) {
  if (std::isfinite(value) && (to.step < 0 || value < to.value)) to = {value, step, column};
}

void note_largest(double value, int step, Extreme& to) {
  if (to.step < 0 || value > to.value) to = {value, step, -1};
}

}  // namespace

void GradientWidth::add(int number, const World& world, const Tape& tape, Workspace& workspace) {
  bool tied = false;
  double reach_q = std::numeric_limits<double>::infinity();
  const auto note = [&](const Tape& part) {
    const StepDiagnosis diagnosis = diagnose_step(world, part, workspace);
    tied = tied || !diagnosis.ties.empty() || !diagnosis.tied_impacts.empty();
    const VectorX* reaches[] = {&diagnosis.reach_q, &diagnosis.reach_v, &diagnosis.reach_u};
    for (std::size_t kind = 0; kind < reach.size(); ++kind)
      for (Eigen::Index k = 0; k < reaches[kind]->size(); ++k)
        note_smallest((*reaches[kind])[k], number, static_cast<int>(k), reach[kind]);
    if (diagnosis.reach_q.size() > 0) reach_q = std::min(reach_q, diagnosis.reach_q.minCoeff());
    for (const double value : diagnosis.margins) note_smallest(value, number, -1, margin);
    note_largest(diagnosis.condition, number, condition);
    note_largest(diagnosis.num_clamped - diagnosis.rank, number, repeated);
  };
  note(tape);
  for (int i = 0; i < tape.num_impacts(); ++i) {
    note(tape.impact(i));
    note(tape.after_impact(i));
  }
  ++num_steps;
  if (tied) ++num_tied;
  reaches_q.push_back(reach_q);
}

double GradientWidth::median_reach_q() const {
  if (reaches_q.empty()) return std::numeric_limits<double>::infinity();
  std::vector<double> sorted = reaches_q;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

}  // namespace tangere::cli
