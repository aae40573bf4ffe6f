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
/// Dampers and springs act at the end of the step: M is M + dt damping + dt² stiffness throughout.
///
/// A free joint's velocities are in body axes, which turn: what that does is left out of the bias forces and done to
/// the velocity afterwards. So what flies freely keeps its linear momentum to rounding, and a body that nothing hangs
/// from its angular momentum and its energy too (lone_body.hpp; hard contact).

#include <array>
#include <limits>
#include <memory>
#include <span>

#include "tangere/contact/lcp.hpp"
#include "tangere/contact/smooth_warm_start.hpp"
#include "tangere/sim/world.hpp"

namespace tangere {

/// Positions and velocities of a step are below this, and forces of one by smooth contact: it leaves room for the
/// squares and products that contact forms of them.
inline constexpr double kLargestCoordinate = 1e20;

enum class StepStatus {
  solved,
  /// The contact problem was not solved to its tolerance: the best impulses found are applied.
  approximate_contact,
  /// The numbers run away: a position or a velocity is or would be beyond kLargestCoordinate, or not finite. The next
  /// state is the old one; there are no contacts, rows or impulses, and no derivatives.
  not_finite,
};

/// Seconds of each phase; all zero unless asked for.
struct StepProfile {
  double dynamics = 0.0;
  double collision = 0.0;
  double rows = 0.0;
  double contact = 0.0;
};

struct StepResult {
  StepStatus status = StepStatus::solved;
  /// Of the contact problem: see LcpSolution.
  double residual = 0.0;
  double margin = std::numeric_limits<double>::infinity();
  int num_islands = 0;
  std::array<int, kNumBoxedLcpStages> stages{};
  /// With their impulses. Valid until the next step.
  std::span<const Contact> contacts{};
  /// Those that bounced inside the step.
  std::span<const Contact> impacts{};
  /// All rows of the step, their sets and impulses. Valid until the next step.
  std::span<const Row> rows{};
  std::span<const RowSet> sets{};
  std::span<const double> impulses{};
  StepProfile profile;
  /// Smooth contact: how its islands were solved.
  SmoothStatistics smooth;
};

/// What a step leaves behind for its derivatives (step_derivatives.hpp).
struct Tape {
  VectorX q;
  VectorX v;
  VectorX u;
  VectorX v_plus;
  ContactProblem problem;
  /// Impulses and sets, one a row.
  ScratchVector f;
  ScratchVector w;
  std::vector<RowSet> sets;
  StepStatus status = StepStatus::solved;
  /// Of the world that made it.
  Formulation formulation = Formulation::lcp;
  /// Where something bounced inside the step (bounce.hpp), the rest of it: the impact, and the step after it. The above
  /// is then the step up to the impact.
  std::vector<Tape> parts;
  /// The part of the step before the impact (negative without one), and the gradient of the distance there (nv).
  double impact_time = -1.0;
  VectorX impact_normal;
  /// The contact of that distance, among those of the impact.
  int impact_contact = -1;
  /// Smooth contact: the contact that was solved, where the step was made in one; two half steps are `parts`.
  SmoothWarmStart smooth;
  /// The coordinates of the trees that bounced (1); the others took the step as it is.
  std::vector<char> bouncing_dofs;
  [[nodiscard]] bool bounced() const { return impact_time >= 0.0; }
};

/// Memory of steps and of their derivatives, and the warm start. One per thread; nothing is allocated once it has seen
/// as many contacts.
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
  /// Whether steps fill `StepResult::profile`.
  void set_profiling(bool on);

  struct Memory;
  [[nodiscard]] Memory& memory() { return *memory_; }

 private:
  std::unique_ptr<Memory> memory_;
};

/// `next` may be `state`. With a tape, what derivatives need is recorded. Throws InputError for wrong sizes and numbers
/// that are not finite; `next` is then as it was.
const StepResult& step(const World& world, const State& state, VectorArgument u, Workspace& workspace, State& next,
                       Tape* tape = nullptr);

}  // namespace tangere
