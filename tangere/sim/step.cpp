#include "tangere/sim/step.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <Eigen/Geometry>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/inverse_dynamics.hpp"
#include "tangere/multibody/mass_matrix.hpp"
#include "tangere/sim/impact/internal/bounce.hpp"
#include "tangere/sim/impact/internal/bounce_chain.hpp"
#include "tangere/sim/internal/lone_body.hpp"
#include "tangere/sim/internal/smooth_step.hpp"
#include "tangere/sim/internal/workspace_memory.hpp"

namespace tangere {
namespace {

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
  tape->q = state.q;
  tape->v = state.v;
  tape->u = u;
  tape->status = result.status;
  tape->formulation = formulation;
  tape->num_impacts = 0;
  tape->parts.clear();
}

/// Adds the time since the last call to a phase.
class Stopwatch {
 public:
  explicit Stopwatch(bool on) : on_(on) {
    if (on_) last_ = std::chrono::steady_clock::now();
  }
  void lap(double& phase) {
    if (!on_) return;
    const auto now = std::chrono::steady_clock::now();
    phase += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  bool on_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace

Workspace::Memory::Memory(const World& world)
    : data(world.model()),
      velocities(world.model()),
      expected_velocities(world.model()),
      finder(world.model(), world.scene()),
      lcp(world.model()),
      no_force(VectorX::Zero(world.nv())) {
  (void)is_smooth(world, *this);
}
Workspace::Memory::~Memory() = default;

Workspace::Workspace(const World& world) : memory_("Workspace", std::make_unique<Memory>(world)) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
void Workspace::forget() {
  memory_->lcp.warm_start().keys.clear();
  memory_->lcp.warm_start().sets.clear();
  if (memory_->smooth != nullptr) memory_->smooth->contact.warm_start().clear();
}
void Workspace::save(WarmStart& warm_start) const {
  warm_start = memory_->lcp.warm_start();
  if (memory_->smooth != nullptr) warm_start.smooth = memory_->smooth->contact.warm_start();
}
void Workspace::restore(const WarmStart& warm_start) {
  memory_->lcp.warm_start() = warm_start;
  if (memory_->smooth != nullptr) memory_->smooth->contact.warm_start() = warm_start.smooth;
}
const StepResult& Workspace::result() const { return memory_->result; }
void Workspace::set_profiling(bool on) { memory_->profiling = on; }

bool in_range(VectorArgument x) { return (x.array().abs() <= kLargestCoordinate).all(); }
bool in_range(const State& state) { return in_range(state.q) && in_range(state.v); }

void set_frame_acceleration(const World& world, VectorArgument v, VectorX& a) {
  a.setZero(world.nv());
  for (const int k : world.floating_dofs()) a.segment<3>(k) = -v.segment<3>(k + 3).cross(v.segment<3>(k));
}

void set_inertial_velocity(const World& world, VectorArgument v, VectorX& out) {
  out = v;
  for (const LoneBody& body : world.lone_bodies()) out.segment<6>(body.first_v).setZero();
}

namespace {

/// Bias forces and M.
void begin_dynamics(const World& world, const State& state, Workspace::Memory& m) {
  set_frame_acceleration(world, state.v, m.a);
  set_inertial_velocity(world, state.v, m.v_inertial);
  m.bias = inverse_dynamics(world.model(), m.data, state.q, m.v_inertial, m.a);
  (void)mass_matrix(world.model(), m.data, state.q);
}

/// v_free from there, with the regions m.regions.
void set_free_velocity(const World& world, const State& state, VectorArgument u, Workspace::Memory& m) {
  const Model& model = world.model();
  actuate(world, state.q, state.v, u, m.regions, m.tau);
  set_implicit_forces(world, m.regions, m.implicit);
  m.v_free = m.tau - m.bias;
  m.v_free -= m.implicit.damping.cwiseProduct(state.v);
  // their dampers have not seen the velocity
  for (const LoneBody& body : world.lone_bodies())
    for (int k = body.first_v; k < body.first_v + 6; ++k) m.v_free[k] -= model.dofs()[k].damping * state.v[k];
  factor_mass_matrix(model, m.data, m.implicit.inertia);
  solve_mass_matrix(model, m.data, m.v_free);
  m.v_free = state.v + world.options().time_step * m.v_free;
}

}  // namespace

void smooth_dynamics(const World& world, const State& state, VectorArgument u, Workspace::Memory& m) {
  begin_dynamics(world, state, m);
  reset_regions(world, m.regions);
  set_free_velocity(world, state, u, m);
  // contact has the last word: what does not hold here does no harm
  for (int pass = 0; pass < kPassesTogether; ++pass) {
    if (!change_regions(world, state.q, state.v, u, m.v_free, false, m.regions)) return;
    set_free_velocity(world, state, u, m);
  }
}

void smooth_dynamics_held(const World& world, const State& state, VectorArgument u, Workspace::Memory& m) {
  begin_dynamics(world, state, m);
  set_free_velocity(world, state, u, m);
}

bool change_actuation(const World& world, const State& state, VectorArgument u, const VectorX& v_plus, int pass,
                      Workspace::Memory& m) {
  if (!v_plus.allFinite()) return false;
  if (pass == kMostPasses) {
    std::vector<ActuatorRegion> last = m.regions;
    m.regions_hold = m.regions_hold && !change_regions(world, state.q, state.v, u, v_plus, true, last);
    return false;
  }
  if (!change_regions(world, state.q, state.v, u, v_plus, pass >= kPassesTogether, m.regions)) return false;
  set_free_velocity(world, state, u, m);
  return true;
}

void set_impulses(const LcpSolution& solution, ContactProblem& problem) {
  for (const RowBlock& block : problem.blocks) {
    if (block.contact < 0) continue;
    Vector3& impulse = problem.contacts[block.contact].impulse;
    impulse.setZero();
    for (int r = block.first_row; r < block.first_row + block.num_rows; ++r)
      if (const int axis = problem.rows[r].axis; axis < 3) impulse[axis] = solution.f[r];
  }
}

namespace {

/// How fast contacts that bounce would close without rows.
void expect(const World& world, ContactProblem& problem, const Workspace::Memory& m) {
  for (Contact& contact : problem.contacts)
    if (contact.restitution > 0.0)
      contact.expected_velocity = normal_velocity(world.model(), m.data, m.expected_velocities, contact);
}

}  // namespace

void find_contacts(const World& world, const State& state, bool with_motions, ContactProblem& problem,
                   Workspace::Memory& m) {
  const Model& model = world.model();
  m.velocities.set(model, m.data, state.v);
  m.expected_velocities.set(model, m.data, m.v_free);
  m.finder.find(model, world.scene(), m.data, m.velocities, world.options().time_step, world.options().contact,
                problem.contacts, with_motions ? &problem.motions : nullptr, &m.expected_velocities);
  expect(world, problem, m);
}

namespace {

/// The rows with v_free as it is.
const LcpSolution& solve_rows_once(const World& world, const State& state, bool with_motions, LcpContact& lcp,
                                   ContactProblem& problem, Workspace::Memory& m) {
  const WorldOptions& options = world.options();
  Stopwatch stopwatch(m.profiling);
  m.fastest = state.v.cwiseAbs().cwiseMax(m.v_free.cwiseAbs());
  m.builder.build(world.model(), world.scales(), m.data, m.velocities, state.q, m.fastest, options.time_step,
                  options.contact, with_motions, problem);
  stopwatch.lap(m.result.profile.rows);
  const LcpSolution& solution =
      lcp.solve(world.model(), m.data, problem, m.v_free, {.tolerance = options.contact.tolerance});
  set_impulses(solution, problem);
  m.v_plus = solution.v_plus;
  stopwatch.lap(m.result.profile.contact);
  return solution;
}

}  // namespace

const LcpSolution& solve_rows(const World& world, const State& state, VectorArgument u, bool with_motions,
                              LcpContact& lcp, ContactProblem& problem, Workspace::Memory& m) {
  for (int pass = 0;; ++pass) {
    const LcpSolution& solution = solve_rows_once(world, state, with_motions, lcp, problem, m);
    if (!change_actuation(world, state, u, m.v_plus, pass, m)) return solution;
    m.expected_velocities.set(world.model(), m.data, m.v_free);
    expect(world, problem, m);
  }
}

void set_result(const LcpSolution& solution, const ContactProblem& problem, StepResult& result) {
  result.status = solution.status == BoxedLcpStatus::solved ? StepStatus::solved : StepStatus::approximate_contact;
  result.residual = solution.residual;
  result.margin = std::min(solution.margin, solution.energy_margin);
  result.restitution_kept = solution.restitution_kept;
  result.num_islands = solution.num_islands;
  result.stages = solution.stages;
  result.contacts = problem.contacts;
  result.rows = problem.rows;
  result.sets = solution.sets;
  result.impulses = {solution.f.view().data(), static_cast<std::size_t>(solution.f.size())};
}

void record(const State& state, VectorArgument u, ActuatorRegions regions, const LcpSolution& solution,
            const ContactProblem& problem, Tape& tape) {
  tape.q = state.q;
  tape.v = state.v;
  tape.u = u;
  tape.regions.assign(regions.begin(), regions.end());
  tape.v_plus = solution.v_plus;
  tape.problem = problem;
  tape.f = solution.f;
  tape.w = solution.w;
  tape.sets = solution.sets;
  tape.status = solution.status == BoxedLcpStatus::solved ? StepStatus::solved : StepStatus::approximate_contact;
  tape.restitution_kept = solution.restitution_kept;
  tape.short_of_energy = solution.short_of_energy;
  tape.energy_margin = solution.energy_margin;
  tape.formulation = Formulation::lcp;
  tape.num_impacts = 0;
}

void advance(const World& world, VectorArgument q, VectorArgument d, VectorArgument v, State& next) {
  next.q.resize(world.nq());
  // the way first, then the velocities
  next.v = d;
  for (const LoneBody& body : world.lone_bodies()) {
    const int k = body.first_v;
    next.v.segment<6>(k) = LoneMotion(body, d.segment<6>(k), v.segment<6>(k)).displacement();
  }
  integrate(world.model(), q, next.v, next.q);
  next.v = v;
  for (const int k : world.floating_dofs())
    next.v.segment<3>(k) = so3::exp(d.segment<3>(k + 3)).transpose() * v.segment<3>(k);
  for (const LoneBody& body : world.lone_bodies()) {
    const int k = body.first_v;
    next.v.segment<6>(k) = LoneMotion(body, d.segment<6>(k), v.segment<6>(k)).velocity();
  }
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
void begin_with(const StepOptions& options, Workspace& workspace) {
  if (!(options.max_speed > 0.0))
    throw InputError("options.max_speed", "must be positive, got " + internal::to_text(options.max_speed));
  if (options.start == StepStart::last) return;
  if (options.start == StepStart::cold) {
    workspace.forget();
    return;
  }
  if (options.from == nullptr) throw InputError("options.from", "must be a tape to start from it, got none");
  // two half steps end with the second one
  const Tape& tape = options.from->formulation != Formulation::lcp && !options.from->parts.empty()
                         ? options.from->parts.back()
                         : *options.from;
  if (!is_made(tape.status)) throw InputError("options.from", "is of a step that was not made");
  Workspace::Memory& m = workspace.memory();
  if (tape.formulation == Formulation::lcp) {
    m.lcp.warm_start().keys = tape.problem.keys;
    m.lcp.warm_start().sets = tape.sets;
  } else {
    m.lcp.warm_start().smooth = tape.smooth;
    if (m.smooth != nullptr) m.smooth->contact.warm_start() = tape.smooth;
  }
}

/// A step by hard contact. False where the numbers run away before its end.
bool hard_step(const World& world, const State& state, VectorArgument u, Workspace::Memory& m, State& next, Tape* tape,
               StepEffort) {
  const WorldOptions& options = world.options();
  StepResult& result = m.result;
  Stopwatch stopwatch(m.profiling);

  smooth_dynamics(world, state, u, m);
  stopwatch.lap(result.profile.dynamics);
  if (!in_range(m.v_free)) return false;

  find_contacts(world, state, tape != nullptr, m.problem, m);
  stopwatch.lap(result.profile.collision);
  if (bounces_inside(world, m)) {
    const BounceOutcome outcome = bounce_step(world, state, u, m, next, tape);
    if (outcome == BounceOutcome::inside) return true;
    result.bounced_at_end = outcome == BounceOutcome::at_end;
    smooth_dynamics(world, state, u, m);
    m.velocities.set(world.model(), m.data, state.v);
  }

  const LcpSolution& solution = solve_rows(world, state, u, tape != nullptr, m.lcp, m.problem, m);
  if (!in_range(m.v_plus)) return false;
  set_result(solution, m.problem, result);
  if (tape != nullptr) record(state, u, m.regions, solution, m.problem, *tape);
  m.delta = options.time_step * (options.integrator == Integrator::semi_implicit ? m.v_plus : state.v);
  advance(world, state.q, m.delta, m.v_plus, next);
  return true;
}

}  // namespace

const StepResult& step(const World& world, const State& state, VectorArgument u, Workspace& workspace, State& next,
                       Tape* tape, const StepOptions& options) {
  require("q", state.q, world.nq());
  require("v", state.v, world.nv());
  require("u", u, world.nu());
  Workspace::Memory& m = workspace.memory();
  m.result = {};
  m.start = state;  // `next` may be `state`
  m.regions_hold = true;
  const auto make_step = is_smooth(world, m) ? smooth_step : hard_step;
  begin_with(options, workspace);
  const bool made = in_range(m.start) && make_step(world, m.start, u, m, next, tape, options.effort) && in_range(next);
  const bool slow = made && (next.v.array().abs() <= options.max_speed).all();
  if (slow) {
    if (!m.regions_hold) {
      m.result.status = StepStatus::approximate_contact;
      if (tape != nullptr) tape->status = m.result.status;
    }
    return m.result;
  }
  const bool gave_up = m.result.status == StepStatus::gave_up;
  // what was not solved leaves the warm start as it was
  if (!gave_up) workspace.forget();
  const StepStatus status = made ? StepStatus::too_fast : gave_up ? StepStatus::gave_up : StepStatus::not_finite;
  stand_still(m.start, u, world.options().formulation, status, m.result, next, tape);
  return m.result;
}

}  // namespace tangere
