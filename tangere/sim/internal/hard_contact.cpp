#include "tangere/sim/internal/hard_contact.hpp"

#include <algorithm>

#include "tangere/sim/impact/internal/bounce.hpp"
#include "tangere/sim/impact/internal/bounce_chain.hpp"
#include "tangere/sim/tape/warm_start.hpp"

namespace tangere {

HardMemory::HardMemory(const World& world)
    : StepScratch(world),
      velocities(world.model()),
      expected_velocities(world.model()),
      finder(world.model(), world.scene()),
      lcp(world.model()),
      no_force(VectorX::Zero(world.nv())) {}
HardMemory::~HardMemory() = default;

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
void expect(const World& world, ContactProblem& problem, const HardMemory& m) {
  for (Contact& contact : problem.contacts)
    if (contact.restitution > 0.0)
      contact.expected_velocity = normal_velocity(world.model(), m.data, m.expected_velocities, contact);
}

}  // namespace

void find_contacts(const World& world, const State& state, bool with_motions, ContactProblem& problem, HardMemory& m) {
  const Model& model = world.model();
  m.velocities.set(model, m.data, state.v);
  m.expected_velocities.set(model, m.data, m.v_free);
  const WorldOptions& options = world.options();
  m.finder.find({.model = model,
                 .scene = world.scene(),
                 .data = m.data,
                 .velocities = m.velocities,
                 .expected = &m.expected_velocities,
                 .time_step = options.time_step,
                 .margin = options.hard.margin,
                 .options = options.contact},
                problem.contacts, with_motions ? &problem.motions : nullptr);
  expect(world, problem, m);
}

namespace {

/// The rows with v_free as it is.
const LcpSolution& solve_rows_once(const World& world, const State& state, bool with_motions, LcpContact& lcp,
                                   ContactProblem& problem, HardMemory& m) {
  const WorldOptions& options = world.options();
  Stopwatch stopwatch(m.profiling);
  m.fastest = state.v.cwiseAbs().cwiseMax(m.v_free.cwiseAbs());
  m.builder.build({.model = world.model(),
                   .scales = world.scales(),
                   .data = m.data,
                   .velocities = m.velocities,
                   .q = state.q,
                   .fastest = m.fastest,
                   .time_step = options.time_step,
                   .contact = options.contact,
                   .hard = options.hard,
                   .with_motions = with_motions},
                  problem);
  stopwatch.lap(m.result.profile.rows);
  const LcpSolution& solution =
      lcp.solve(world.model(), m.data, problem, m.v_free, {.tolerance = options.hard.tolerance});
  set_impulses(solution, problem);
  m.v_plus = solution.v_plus;
  stopwatch.lap(m.result.profile.contact);
  return solution;
}

}  // namespace

const LcpSolution& solve_rows(const World& world, const State& state, VectorArgument u, bool with_motions,
                              LcpContact& lcp, ContactProblem& problem, HardMemory& m) {
  for (int pass = 0;; ++pass) {
    const LcpSolution& solution = solve_rows_once(world, state, with_motions, lcp, problem, m);
    if (!change_actuation(world, world.options().time_step, state, u, m.v_plus, pass, m)) return solution;
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
  tape.begin(Formulation::lcp);
  tape.q = state.q;
  tape.v = state.v;
  tape.u = u;
  tape.regions.assign(regions.begin(), regions.end());
  tape.v_plus = solution.v_plus;
  tape.status = solution.status == BoxedLcpStatus::solved ? StepStatus::solved : StepStatus::approximate_contact;
  HardTape& hard = tape.hard();
  hard.problem = problem;
  hard.f = solution.f;
  hard.w = solution.w;
  hard.sets = solution.sets;
  hard.restitution_kept = solution.restitution_kept;
  hard.short_of_energy = solution.short_of_energy;
  hard.energy_margin = solution.energy_margin;
}

namespace {

/// Actuators that found no regions leave a step that is not the solution.
void note_regions(HardMemory& m, Tape* tape) {
  if (m.regions_hold) return;
  m.result.status = StepStatus::approximate_contact;
  if (tape != nullptr) tape->status = m.result.status;
}

}  // namespace

bool HardContactMethod::solve(const World& world, const State& state, VectorArgument u, StepEffort, State& next,
                              Tape* tape) {
  const WorldOptions& options = world.options();
  HardMemory& m = memory_;
  StepResult& result = m.result;
  Stopwatch stopwatch(m.profiling);

  m.regions_hold = true;
  smooth_dynamics(world, options.time_step, state, u, m);
  stopwatch.lap(result.profile.dynamics);
  if (!in_range(m.v_free)) return false;

  find_contacts(world, state, tape != nullptr, m.problem, m);
  stopwatch.lap(result.profile.collision);
  if (bounces_inside(world, m)) {
    const BounceOutcome outcome = bounce_step(world, state, u, m, next, tape);
    if (outcome == BounceOutcome::inside) {
      note_regions(m, tape);
      return true;
    }
    result.bounced_at_end = outcome == BounceOutcome::at_end;
    smooth_dynamics(world, options.time_step, state, u, m);
    m.velocities.set(world.model(), m.data, state.v);
  }

  const LcpSolution& solution = solve_rows(world, state, u, tape != nullptr, m.lcp, m.problem, m);
  if (!in_range(m.v_plus)) return false;
  set_result(solution, m.problem, result);
  if (tape != nullptr) record(state, u, m.regions, solution, m.problem, *tape);
  m.delta = options.time_step * (options.integrator == Integrator::semi_implicit ? m.v_plus : state.v);
  advance(world, state.q, m.delta, m.v_plus, next);
  note_regions(m, tape);
  return true;
}

void HardContactMethod::save(WarmStart::Data& to) const { to.hard = memory_.lcp.warm_start(); }

void HardContactMethod::restore(const WarmStart::Data& from) { memory_.lcp.warm_start() = from.hard; }

void HardContactMethod::start_from(const Tape& tape) {
  LcpWarmStart& start = memory_.lcp.warm_start();
  start.keys = tape.hard().problem.keys;
  start.sets = tape.hard().sets;
}

}  // namespace tangere
