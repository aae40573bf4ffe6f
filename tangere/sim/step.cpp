#include "tangere/sim/step.hpp"

#include <cmath>
#include <string>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/sim/internal/workspace_memory.hpp"

namespace tangere {
namespace {

const StepResult kNoResult;

void require(const char* name, VectorArgument x, int size) {
  if (x.size() != size)
    throw InputError(name, "must have " + std::to_string(size) + " entries, got " + std::to_string(x.size()));
  if (x.allFinite()) return;
  for (Eigen::Index i = 0; i < x.size(); ++i)
    if (!std::isfinite(x[i]))
      throw InputError(std::string(name) + "[" + std::to_string(i) + "]",
                       "must be finite, got " + internal::to_text(x[i]));
}

/// The state as it was, nothing else to tell.
void stand_still(const State& state, VectorArgument u, Formulation formulation, StepStatus status, StepResult& result,
                 State& next, Tape* tape) {
  const StepProfile profile = result.profile;
  result = {};
  result.status = status;
  result.profile = profile;
  next = state;
  if (tape == nullptr) return;
  tape->begin(formulation);
  tape->q = state.q;
  tape->v = state.v;
  tape->u = u;
  tape->status = result.status;
}

}  // namespace

Workspace::Workspace(const World& world) : memory_("Workspace", std::make_unique<Memory>(world)) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
void Workspace::forget() { memory_->forget(); }

void Workspace::save(WarmStart& warm_start) const {
  WarmStart::Data& to = warm_start.data();
  to = memory_->start_of_others;
  if (memory_->hard != nullptr) memory_->hard->save(to);
  if (!memory_->smooth.empty()) memory_->smooth.front()->save(to);
}

void Workspace::restore(const WarmStart& warm_start) {
  if (warm_start.given() == nullptr) {
    memory_->forget();
    return;
  }
  const WarmStart::Data& from = *warm_start.given();
  memory_->start_of_others = from;
  if (memory_->hard != nullptr) memory_->hard->restore(from);
  if (!memory_->smooth.empty()) memory_->smooth.front()->restore(from);
}

const StepResult& Workspace::result() const { return memory_->last != nullptr ? memory_->last->result() : kNoResult; }

void Workspace::set_profiling(bool on) {
  memory_->profiling = on;
  if (memory_->hard != nullptr) memory_->hard->set_profiling(on);
  for (const auto& one : memory_->smooth) one->set_profiling(on);
}

std::string_view to_string(StepStatus status) {
  switch (status) {
    case StepStatus::solved:
      return "solved";
    case StepStatus::approximate_contact:
      return "approximate_contact";
    case StepStatus::not_finite:
      return "not_finite";
    case StepStatus::too_fast:
      return "too_fast";
    case StepStatus::gave_up:
      return "gave_up";
  }
  return "unknown";
}

namespace {

/// The warm start that was asked for.
void begin_with(const StepOptions& options, Formulation formulation, Workspace::Memory& memory) {
  if (!(options.max_speed > 0.0))
    throw InputError("options.max_speed", "must be positive, got " + internal::to_text(options.max_speed));
  if (options.start == StepStart::last) return;
  if (options.start == StepStart::cold) {
    memory.forget();
    return;
  }
  if (options.from == nullptr) throw InputError("options.from", "must be a tape to start from it, got none");
  if (!is_made(options.from->status)) throw InputError("options.from", "is of a step that was not made");
  // hard contact has nothing of smooth contact to start from, nor the other way round
  if ((options.from->formulation == Formulation::lcp) == (formulation == Formulation::lcp))
    memory.last->start_from(*options.from);
  else
    memory.forget();
}

}  // namespace

const StepResult& step(const World& world, const State& state, VectorArgument u, Workspace& workspace, State& next,
                       Tape* tape, const StepOptions& options) {
  require("q", state.q, world.nq());
  require("v", state.v, world.nv());
  require("u", u, world.nu());
  Workspace::Memory& m = workspace.memory();
  ContactMethod& method = m.method_of(world);
  m.last = &method;
  StepResult& result = method.result();
  result = {};
  m.start = state;  // `next` may be `state`
  begin_with(options, world.options().formulation, m);
  const bool made = in_range(m.start) && method.solve(world, m.start, u, options.effort, next, tape) && in_range(next);
  if (made && (next.v.array().abs() <= options.max_speed).all()) return result;
  const bool gave_up = result.status == StepStatus::gave_up;
  // what was not solved leaves the warm start as it was
  if (!gave_up) m.forget();
  const StepStatus status = made ? StepStatus::too_fast : gave_up ? StepStatus::gave_up : StepStatus::not_finite;
  stand_still(m.start, u, world.options().formulation, status, result, next, tape);
  return result;
}

}  // namespace tangere
