#pragma once

/// The chain rule over a step with impacts inside (bounce.hpp), for any variables, a column each (private to sim). It
/// keeps its memory from step to step.

#include <vector>

#include "tangere/contact/hard/lcp_derivatives.hpp"
#include "tangere/math/scratch_matrix.hpp"
#include "tangere/sim/internal/lone_body.hpp"
#include "tangere/sim/step.hpp"

namespace tangere {

/// How a part of such a step moves with the state it starts from and with the control: nv columns for q, nv for v, nu
/// for u (an impact has no control).
struct PartMap {
  /// dv⁺.
  ScratchMatrix velocity;
  /// One a row of the part; with RowUse::all only.
  ScratchMatrix impulses;
};

/// The map of an impact; prepares memory for it.
void set_impact_map(const World& world, const Tape& impact, Workspace::Memory& m, LcpDerivatives::RowUse use,
                    PartMap& out);

/// How the parts of such a step move with some variables.
struct BounceColumns {
  /// All zero.
  void reset(int nv, int count, int num_impacts);

  /// The state itself.
  ScratchMatrix q;
  ScratchMatrix v;
  /// dv⁺ of the step without the impacts, and how its impulses move.
  ScratchMatrix before;
  ScratchMatrix impulses_before;
  struct Impact {
    /// dv⁺ of the impact and of the step after it, the states they start from held.
    ScratchMatrix impact;
    ScratchMatrix after;
    /// The distance at the impact, the state there held: one row.
    ScratchMatrix distance;
    /// The impulses of the impact, the state there held; without rows: held too.
    ScratchMatrix impulses;
  };
  /// May be more.
  std::vector<Impact> impacts;
  /// Moments of lone bodies; null: held.
  const MomentColumns* moments = nullptr;
};

/// How the flights of the trees (Flight of workspace_memory.hpp) move.
class FlightColumns {
 public:
  /// From the start of a step.
  void take_off(const World& world, const Tape& tape, const BounceColumns& x);
  /// Position and velocity at an impact, whose time moves so that the distance stays zero.
  void meet(const World& world, const ImpactEvent& event, const ScratchMatrix& distance);
  [[nodiscard]] auto q() const { return q_.view().leftCols(Q_.cols()); }
  [[nodiscard]] auto v() const { return v_.view().leftCols(Q_.cols()); }
  /// Trees that were hit fly on from there: their velocity after the impact, and its change in the step after that.
  void fly_on(const ImpactEvent& event, const Tape& after, const ScratchMatrix& velocity, const ScratchMatrix& change);
  /// The next state: its velocity is half a step back.
  void land(const World& world);

 private:
  void fly(double time_step, double c, double ahead);
  void integrate(const World& world);

  const MomentColumns* moments_ = nullptr;
  VectorX u_;
  VectorX a_;
  VectorX since_;
  ScratchMatrix Q_;
  ScratchMatrix U_;
  ScratchMatrix A_;
  ScratchMatrix Since_;
  /// Derivative of the time of the last impact.
  ScratchMatrix time_;
  // where `fly` went: way and velocity, in the axes of the start, and how these and the state move; one more column
  // for the time
  VectorX way_;
  VectorX velocity_;
  ScratchMatrix d_;
  ScratchMatrix q_;
  ScratchMatrix v_;
};

class BounceChain {
 public:
  /// The maps of all parts; with RowUse::all for impulses too.
  void linearise(const World& world, const Tape& tape, Workspace::Memory& m, LcpDerivatives::RowUse use);
  /// Whether rows contradict each other in any of them (contact/lcp_derivatives.hpp).
  [[nodiscard]] bool contradicts() const { return contradicts_; }
  [[nodiscard]] const PartMap& before() const { return before_; }
  [[nodiscard]] const PartMap& after(int impact) const { return after_[impact]; }

  /// To be filled in for `apply`.
  BounceColumns columns;
  /// How the next state moves with them, and all impulses (impulse_derivatives.hpp) where they are linearised.
  void apply(const World& world, const Tape& tape);
  [[nodiscard]] auto q() const { return flight_.q(); }
  [[nodiscard]] auto v() const { return flight_.v(); }
  [[nodiscard]] ScratchMatrix::ConstView impulses() const { return impulses_.view(); }

 private:
  bool with_impulses_ = false;
  bool contradicts_ = false;
  PartMap before_;
  std::vector<PartMap> impacts_;
  std::vector<PartMap> after_;
  FlightColumns flight_;
  ScratchMatrix velocity_;
  ScratchMatrix change_;
  ScratchMatrix impulses_;
};

}  // namespace tangere
