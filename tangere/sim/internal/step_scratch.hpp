#pragma once

/// Numbers that the steps of every formulation work with, and the smooth dynamics that they share.

#include <chrono>
#include <vector>

#include "tangere/multibody/data.hpp"
#include "tangere/sim/actuation.hpp"
#include "tangere/sim/step.hpp"
#include "tangere/sim/step_derivatives.hpp"

namespace tangere {

struct StepScratch {
  explicit StepScratch(const World& world);

  Data data;
  VectorX tau;
  /// Regions of the actuators, what they and the joints add to M with them, and whether they hold in the whole step so
  /// far.
  std::vector<ActuatorRegion> regions;
  ImplicitForces implicit;
  bool regions_hold = true;
  /// The inverse dynamics of what is not in tau.
  VectorX bias;
  VectorX a;
  VectorX v_inertial;
  VectorX v_free;
  VectorX v_plus;
  VectorX delta;
  StepResult result;
  bool profiling = false;

  // derivatives
  ActuationDerivatives actuation;
  MatrixX block_q;
  MatrixX block_v;
  VectorX displacement;
  VectorX grad_q;
  VectorX grad_v;
  VectorX other_tau;
  StepJacobians event;
};

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

/// Whether all numbers are ones that steps take (kLargestCoordinate). False for NaN too.
[[nodiscard]] bool in_range(VectorArgument x);
[[nodiscard]] bool in_range(const State& state);

/// a = −ω × v at the linear coordinates of floating joints, 0 elsewhere: their acceleration in axes that do not turn is
/// zero.
void set_frame_acceleration(const World& world, VectorArgument v, VectorX& a);
/// v, but 0 for lone bodies: what turning axes do to these is in `advance`, so that their inverse dynamics are those of
/// bodies at rest.
void set_inertial_velocity(const World& world, VectorArgument v, VectorX& out);

/// v_free: where the velocities would go without contact in a step of `dt`, and the regions of the actuators there.
/// Leaves poses at q and the factors of M.
void smooth_dynamics(const World& world, double dt, const State& state, VectorArgument u, StepScratch& m);
/// The same with the regions m.regions.
void smooth_dynamics_held(const World& world, double dt, const State& state, VectorArgument u, StepScratch& m);
/// The next pass of the actuators (actuation.hpp), after the pass that led to v⁺: true if regions have changed and
/// v_free with them, so that what follows from it has to be solved again.
[[nodiscard]] bool change_actuation(const World& world, double dt, const State& state, VectorArgument u,
                                    const VectorX& v_plus, int pass, StepScratch& m);
/// q' = q ⊕ d; v' = v, in the axes at the end: linear velocities of floating joints, and all of lone bodies, which
/// also turn by more than d so that they keep their energy (lone_body.hpp).
void advance(const World& world, VectorArgument q, VectorArgument d, VectorArgument v, State& next);

/// InputError for a tape that is not of this world, or of a step that has no derivatives.
void require_tape(const World& world, const Tape& tape);
/// InputError for wrong sizes.
void require_tangent(const World& world, const char* name, const StateTangent& tangent);
void require_control(const World& world, VectorArgument du);
/// Quality that a step's status gives its derivatives: whether its contact was solved.
[[nodiscard]] GradientQuality quality_of(StepStatus status);

}  // namespace tangere
