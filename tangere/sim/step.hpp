#pragma once

/// One step of a world.
///
///   Workspace workspace(world);
///   State next = state;
///   const StepResult& result = step(world, state, u, workspace, next);
///
/// Kinematics and smooth dynamics at (q, v); contacts and all other rows at q; v⁺ from the complementarity problem;
/// then
///
///   q' = q ⊕ dt v⁺,   v' = v⁺, the velocities of free joints turned into the new frame
///
/// Dampers, springs and servos act at the end of the step: M is M + dt damping + dt² stiffness throughout, and so are
/// the force ranges of actuators (actuation.hpp).
///
/// A free joint's velocities are in body axes, which turn: what that does is left out of the bias forces and done to
/// the velocity afterwards. So what flies freely keeps its linear momentum to rounding, and a body that nothing hangs
/// from its angular momentum and its energy too (lone_body.hpp).

#include <array>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tangere/contact/contact.hpp"
#include "tangere/contact/row.hpp"
#include "tangere/math/owned.hpp"
#include "tangere/sim/world.hpp"

namespace tangere {

/// Positions and velocities of a step are below this, and forces of one by smooth contact: it leaves room for the
/// squares and products that contact forms of them.
inline constexpr double kLargestCoordinate = 1e20;

enum class StepStatus {
  solved,
  /// The contact problem was not solved to its tolerance, and the best impulses found are applied; or the actuators
  /// found no regions of their force ranges that hold at the end of the step (actuation.hpp).
  approximate_contact,
  // The others make no step: the next state is the old one; there are no contacts, rows or impulses, no derivatives.

  /// The numbers run away: a position or a velocity is or would be beyond kLargestCoordinate, or not finite.
  not_finite,
  /// A velocity would be above StepOptions::max_speed.
  too_fast,
  /// Smooth contact was not solved by the effort that StepOptions::effort allows.
  gave_up,
};
[[nodiscard]] std::string_view to_string(StepStatus status);
/// Whether there is a next state.
[[nodiscard]] constexpr bool is_made(StepStatus status) {
  return status == StepStatus::solved || status == StepStatus::approximate_contact;
}

/// Seconds of each phase; all zero unless asked for.
struct StepProfile {
  double dynamics = 0.0;
  double collision = 0.0;
  double rows = 0.0;
  double contact = 0.0;
};

struct StepResult {
  StepStatus status = StepStatus::solved;
  /// Residual and margin of the contact problem (LcpSolution). The margin is that of the rows or of the energy of an
  /// impact, whichever is smaller.
  double residual = 0.0;
  double margin = std::numeric_limits<double>::infinity();
  int num_islands = 0;
  std::array<int, kNumBoxedLcpStages> stages{};
  /// With their impulses. Valid until the next step.
  std::span<const Contact> contacts{};
  /// Contacts that bounced inside the step, impact after impact.
  std::span<const Contact> impacts{};
  /// Whether impacts were to bounce inside the step (BounceMode::event) and did so by the discrete rule, at its end:
  /// a normal or a limit stops the same bodies in this step, a row pushes them and others, or bodies that float against
  /// each other, or one of them meets something more than kMostImpacts times.
  bool bounced_at_end = false;
  /// Below 1 where impacts keep only a part of their restitution, as they would gain energy by it
  /// (contact/hard/lcp.hpp): the smallest part. Derivatives know that of impacts inside the step and of smooth contact
  /// (contact/smooth/internal/rebound_energy.hpp); by the discrete rule of hard contact they hold it, and say so.
  double restitution_kept = 1.0;
  /// All rows of the step, their sets and impulses. Valid until the next step.
  std::span<const Row> rows{};
  std::span<const RowSet> sets{};
  std::span<const double> impulses{};
  StepProfile profile;
  /// Smooth contact: how its islands were solved.
  SmoothStatistics smooth;
};

/// Most impacts of one tree inside one step.
inline constexpr int kMostImpacts = 4;

struct HardTape;
struct SmoothTape;

/// The record of a step that its derivatives read (step_derivatives.hpp): the part that every formulation has, and
/// that of the one which made the step.
class Tape {
 public:
  Tape();
  ~Tape();
  Tape(const Tape& other);
  Tape& operator=(const Tape& other);
  Tape(Tape&& other) noexcept;
  Tape& operator=(Tape&& other) noexcept;

  VectorX q;
  VectorX v;
  VectorX u;
  VectorX v_plus;
  /// Regions of the actuators, as the step has them.
  std::vector<ActuatorRegion> regions;
  StepStatus status = StepStatus::solved;
  /// The formulation of the world that made it.
  Formulation formulation = Formulation::lcp;

  /// Impacts inside the step (BounceMode::event), earliest first, two parts each: the impact, and the step after it.
  /// The above is then the step without them.
  [[nodiscard]] bool bounced() const { return num_impacts() > 0; }
  [[nodiscard]] int num_impacts() const;
  [[nodiscard]] const Tape& impact(int i) const;
  [[nodiscard]] const Tape& after_impact(int i) const;
  /// Contacts of all impacts.
  [[nodiscard]] std::size_t num_impact_contacts() const;

  /// The part of the formulation (sim/tape); InputError for a tape of another one, or of a step that was not made.
  [[nodiscard]] const HardTape& hard() const { return has_hard() ? *hard_ : (refuse(), *hard_); }
  [[nodiscard]] const SmoothTape& smooth() const { return has_smooth() ? *smooth_ : (refuse(), *smooth_); }
  [[nodiscard]] HardTape& hard() { return has_hard() ? *hard_ : (refuse(), *hard_); }
  [[nodiscard]] SmoothTape& smooth() { return has_smooth() ? *smooth_ : (refuse(), *smooth_); }
  /// Begins a record by a formulation, without impacts or halves. Memory of the last one stays.
  void begin(Formulation by);

 private:
  [[nodiscard]] bool has_hard() const { return formulation == Formulation::lcp && hard_ != nullptr; }
  [[nodiscard]] bool has_smooth() const { return formulation != Formulation::lcp && smooth_ != nullptr; }
  [[noreturn, gnu::cold]] void refuse() const;

  std::unique_ptr<HardTape> hard_;
  std::unique_ptr<SmoothTape> smooth_;
};

/// The contact of a step, for the next one to start from.
class WarmStart {
 public:
  WarmStart();
  ~WarmStart();
  WarmStart(const WarmStart& other);
  WarmStart& operator=(const WarmStart& other);
  WarmStart(WarmStart&& other) noexcept;
  WarmStart& operator=(WarmStart&& other) noexcept;

  struct Data;
  /// Cold where there was none.
  [[nodiscard]] Data& data();
  [[nodiscard]] const Data* given() const { return data_.get(); }

 private:
  std::unique_ptr<Data> data_;
};

/// Memory of steps and of their derivatives, and the warm start. One per thread. Nothing is allocated for up to as many
/// contacts, rows and impacts as it has seen, but by derivatives in sizes of shapes and by the approximations of a
/// bounce (GradientMode::reflection and saltation); with smooth contact also by derivatives of articulated bodies in
/// parameters and of steps made in halves.
///
/// Serves one world, or others of the same model (InputError else). Worlds made by World::with take turns in it without
/// losing the warm start; with smooth contact, memory of the last four of them is kept. A step of any other world
/// starts cold.
class Workspace {
 public:
  explicit Workspace(const World& world);
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  /// The next step starts cold. With warm starts a step depends on the last one where the problem has several
  /// solutions or sets that tie.
  void forget();
  /// Warm starts, to make a step again as it was.
  void save(WarmStart& warm_start) const;
  void restore(const WarmStart& warm_start);
  /// Result of the last step; valid until the next one.
  [[nodiscard]] const StepResult& result() const;
  /// Whether steps fill `StepResult::profile`.
  void set_profiling(bool on);

  struct Memory;
  [[nodiscard]] Memory& memory() { return *memory_; }
  [[nodiscard]] const Memory& memory() const { return *memory_; }

 private:
  Owned<Memory> memory_;
};

/// The start of a step's contact.
enum class StepStart {
  /// The last step of the workspace.
  last,
  /// Nothing: the step is a function of its arguments alone.
  cold,
  /// The step that left the tape StepOptions::from; nothing where that was by the other kind of contact, hard or
  /// smooth.
  tape,
};

/// How much smooth contact tries before it gives up (SmoothRung). Hard contact always makes a step.
enum class StepEffort {
  /// The warm start; the cold one if there is none.
  warm,
  /// The warm and the cold start.
  cold,
  /// Every start, and halves of the step.
  full,
};

struct StepOptions {
  StepStart start = StepStart::last;
  /// StepStart::tape.
  const Tape* from = nullptr;
  StepEffort effort = StepEffort::full;
  /// The largest velocity of a coordinate after the step, in its units.
  double max_speed = kLargestCoordinate;
};

/// `next` may be `state`. With a tape, what derivatives need is recorded. Throws InputError for wrong sizes and numbers
/// that are not finite; `next` is then as it was.
const StepResult& step(const World& world, const State& state, VectorArgument u, Workspace& workspace, State& next,
                       Tape* tape = nullptr, const StepOptions& options = {});

}  // namespace tangere
