#include "tangere/sim/internal/smooth_contact.hpp"

#include <algorithm>
#include <string>

#include "tangere/math/so3.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/sim/internal/smooth_displacement.hpp"
#include "tangere/sim/tape/smooth_tape.hpp"
#include "tangere/sim/tape/warm_start.hpp"

namespace tangere {
namespace {

SmoothContact options_at(const World& world, const StepSettings& settings) {
  SmoothContact out = world.options().smooth;
  out.kappa = settings.kappa;
  out.smallest_part = settings.smallest_part;
  return out;
}

StepSettings settings_of(const World& world) {
  const WorldOptions& options = world.options();
  return {options.time_step, options.smooth.kappa, options.smooth.smallest_part};
}

/// The contacts of another part of the step, into those so far: one a pair of sets, as it was last, with all of its
/// impulse.
void add_contacts(std::span<const Contact> part, std::vector<Contact>& all) {
  const std::size_t before = all.size();
  for (const Contact& contact : part) {
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(before);
    const auto same = std::find_if(all.begin(), end, [&](const Contact& other) {
      return other.shape_A == contact.shape_A && other.shape_B == contact.shape_B &&
             other.feature_A == contact.feature_A && other.feature_B == contact.feature_B;
    });
    if (same == end) {
      all.push_back(contact);
      continue;
    }
    const Vector3 earlier = same->frame * same->impulse;
    *same = contact;
    same->impulse += same->frame.transpose() * earlier;
  }
}

SmoothRung last_rung(StepEffort effort) {
  if (effort == StepEffort::full) return SmoothRung::ones;
  return effort == StepEffort::warm ? SmoothRung::warm : SmoothRung::cold;
}

}  // namespace

SmoothLevel::SmoothLevel(const World& world, const StepSettings& settings_)
    : settings(settings_),
      contact(world.model(), world.scene(), world.scales().smooth(), settings.time_step, options_at(world, settings),
              world.options().contact, world.options().formulation == Formulation::bilevel),
      derivatives(contact.model()) {}

SmoothLevel& SmoothLevel::half(const World& world) {
  if (half_ == nullptr)
    half_ = std::make_unique<SmoothLevel>(
        world, StepSettings{0.5 * settings.time_step, settings.kappa, std::min(1.0, 2.0 * settings.smallest_part)});
  return *half_;
}

SmoothContactMethod::SmoothContactMethod(const World& world)
    : world_number_(world.number()),
      parts_number_(world.parts_number()),
      options_(world.options()),
      m_(world),
      whole_(world, settings_of(world)) {}

void set_displacement(const World& world, double dt, VectorArgument v_plus, VectorX& d) {
  d = dt * v_plus;
  for_each_turn(world, [&](int k) {
    const Vector3 phi = d.segment<3>(k);
    d.segment<3>(k) = cayley_logarithm(phi);
  });
}

void begin_free(const World& world, double dt, const State& state, VectorArgument u, StepScratch& m) {
  actuate(world, state.q, state.v, u, m.regions, m.tau);
  set_implicit_forces(world, dt, m.regions, m.implicit);
  forward_kinematics(world.model(), m.data, state.q);
  m.v_free = state.v;
}

/// Forces, and where they would go; poses and M in the data.
void SmoothContactMethod::begin(SmoothLevel& level, const World& world, const State& state, VectorArgument u) {
  data_of_ = &level;
  const double dt = level.settings.time_step;
  if (level.contact.problem().tree != nullptr) {
    smooth_dynamics(world, dt, state, u, m_);
    return;
  }
  reset_regions(world, m_.regions);
  (void)change_regions(world, dt, state.q, state.v, u, state.v, false, m_.regions);
  begin_free(world, dt, state, u, m_);
}

bool SmoothContactMethod::solve(const World& world, const State& state, VectorArgument u, StepEffort effort,
                                State& next, Tape* tape) {
  return make(whole_, world, state, u, effort, next, tape, m_.result);
}

bool SmoothContactMethod::make(SmoothLevel& level, const World& world, const State& state, VectorArgument u,
                               StepEffort effort, State& next, Tape* tape, StepResult& result) {
  const double dt = level.settings.time_step;
  m_.regions_hold = true;
  Stopwatch stopwatch(m_.profiling);
  begin(level, world, state, u);
  stopwatch.lap(result.profile.dynamics);
  const SmoothSolution* solved = nullptr;
  for (int pass = 0;; ++pass) {
    if (!in_range(m_.tau) || !in_range(m_.v_free)) return false;
    solved = &level.contact.solve(m_.data, smooth_state(state.q, state.v, m_), last_rung(effort));
    if (solved->statistics.failures > 0 || !change_actuation(world, dt, state, u, solved->v_plus, pass, m_)) break;
  }
  stopwatch.lap(result.profile.contact);
  const SmoothSolution& solution = *solved;
  if (tape != nullptr) {
    tape->begin(world.options().formulation);
    tape->q = state.q;
    tape->v = state.v;
    tape->u = u;
    tape->regions = m_.regions;
    tape->smooth().time_step = dt;
  }
  if (effort != StepEffort::full && solution.status != NcpStatus::solved) {
    result.status = StepStatus::gave_up;
    return false;
  }
  if (solution.statistics.failures + solution.num_gaining > 0 && level.settings.smallest_part < 1.0)
    return make_halves(level, world, state, u, next, tape, result);
  result.status = solution.status == NcpStatus::solved ? StepStatus::solved : StepStatus::approximate_contact;
  result.residual = solution.residual;
  result.num_islands = solution.num_islands;
  result.contacts = solution.contacts;
  result.smooth = solution.statistics;
  result.restitution_kept = solution.restitution_kept;
  m_.v_plus = solution.v_plus;
  if (tape != nullptr) {
    tape->v_plus = m_.v_plus;
    tape->smooth().contact = level.contact.warm_start();
  }
  if (!m_.v_plus.allFinite()) return false;
  if (result.status != StepStatus::solved) level.contact.warm_start().clear();
  if (!m_.regions_hold) result.status = StepStatus::approximate_contact;
  if (tape != nullptr) tape->status = result.status;
  set_displacement(world, dt, m_.v_plus, m_.delta);
  advance(world, state.q, m_.delta, m_.v_plus, next);
  return true;
}

bool SmoothContactMethod::make_halves(SmoothLevel& level, const World& world, const State& state, VectorArgument u,
                                      State& next, Tape* tape, StepResult& all) {
  SmoothLevel& half = level.half(world);
  half.contact.warm_start().clear();
  // what no start solved is no start for the next step
  level.contact.warm_start().clear();
  // islands that were solved are counted as they were, the others as halved if both halves are solved
  const SmoothSolution& whole = level.contact.solution();
  SmoothStatistics statistics;
  statistics.rungs = whole.statistics.rungs;
  const int num_halved = whole.statistics.failures + whole.num_gaining;
  all.num_islands = whole.num_islands;
  level.contacts.clear();
  if (tape != nullptr) tape->smooth().halves.resize(2);
  for (std::size_t i = 0; i < 2; ++i) {
    StepResult part;
    State& to = i == 0 ? level.between : next;
    Tape* part_tape = tape != nullptr ? &tape->smooth().halves[i] : nullptr;
    const bool made =
        make(half, world, i == 0 ? state : level.between, u, StepEffort::full, to, part_tape, part) && in_range(to);
    statistics.failures += part.smooth.failures;
    statistics.iterations += part.smooth.iterations;
    statistics.max_iterations = std::max(statistics.max_iterations, part.smooth.max_iterations);
    if (!made) return false;
    if (part.status != StepStatus::solved) all.status = part.status;
    all.residual = std::max(all.residual, part.residual);
    all.restitution_kept = std::min(all.restitution_kept, part.restitution_kept);
    add_contacts(part.contacts, level.contacts);
  }
  if (all.status == StepStatus::solved) statistics.rungs[static_cast<std::size_t>(SmoothRung::half_steps)] = num_halved;
  all.smooth = statistics;
  all.contacts = level.contacts;
  if (tape != nullptr) tape->status = all.status;
  return true;
}

void SmoothContactMethod::save(WarmStart::Data& to) const { to.smooth = whole_.contact.warm_start(); }

void SmoothContactMethod::restore(const WarmStart::Data& from) { whole_.contact.warm_start() = from.smooth; }

void SmoothContactMethod::start_from(const Tape& tape) {
  // two half steps end with the second one
  const Tape* last = &tape;
  while (!last->smooth().halves.empty()) last = &last->smooth().halves.back();
  whole_.contact.warm_start() = last->smooth().contact;
}

}  // namespace tangere
