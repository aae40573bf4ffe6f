#pragma once

/// Dynamics move a trajectory from one knot to the next: a world with contact (world_dynamics.hpp), or a function of
/// the user's own (function_dynamics.hpp). States are vectors `x` on a manifold and move along tangents `dx`.
///
/// A `Dynamics` is constant and shared between threads; a `Stepper` is the memory of one thread, and remembers the last
/// step at every knot for its Jacobians.

#include <memory>
#include <string>

#include "tangere/multibody/data.hpp"
#include "tangere/sim/step.hpp"

namespace tangere {

/// How contact is solved while an optimiser is in one of its phases. Dynamics without contact ignore it.
struct ContactPhase {
  Formulation formulation = Formulation::lcp;
  /// Smooth contact only: relaxation, tolerance relative to it, and how far pairs see each other (SmoothContact).
  double kappa = 1e-2;
  double tolerance = 1e-3;
  double margin = 0.1;
  /// How much a trial step of smooth contact may try before it counts as failed: steps that need every start are few
  /// and take half of the time. The first motion of a phase may try everything.
  StepEffort trial_effort = StepEffort::full;
  /// A step to a larger velocity counts as failed.
  double max_speed = 1e6;

  [[nodiscard]] bool operator==(const ContactPhase&) const = default;
};

/// Steps along one trajectory, first knot first.
class Stepper {
 public:
  virtual ~Stepper() = default;

  /// Before the first step of a trajectory: the steps that follow depend on nothing before this. A trial may fail where
  /// a step is hard to make (ContactPhase::trial_effort).
  virtual void begin(bool is_trial) = 0;
  /// The state after knot `knot`. False if it is not finite; `next` is then of no use.
  [[nodiscard]] virtual bool step(int knot, const VectorX& x, const VectorX& u, VectorX& next) = 0;
  /// The same with its derivatives d next / dx and d next / du, all tangents. False too if these are not finite.
  [[nodiscard]] virtual bool step_with_jacobians(int knot, const VectorX& x, const VectorX& u, VectorX& next,
                                                 MatrixX& A, MatrixX& B) = 0;
  /// The derivatives of the last step made at `knot`. Several threads, each by its number, may ask at once.
  [[nodiscard]] virtual bool jacobians(int knot, int thread, MatrixX& A, MatrixX& B) = 0;
  /// The step from (x, u) at the length of `knot`, and its derivatives: a function of (x, u) alone that leaves what
  /// `jacobians` reads. For several threads.
  [[nodiscard]] virtual bool linearize(int knot, int thread, const VectorX& x, const VectorX& u, VectorX& next,
                                       MatrixX& A, MatrixX& B) = 0;
  /// The state at the part `tau` of the step from (x, u), and with A and B (both or none) its derivatives. A function
  /// of its arguments alone, for several threads.
  [[nodiscard]] virtual bool between(int knot, int thread, const VectorX& x, const VectorX& u, double tau, VectorX& out,
                                     MatrixX* A, MatrixX* B) = 0;
};

class Dynamics {
 public:
  virtual ~Dynamics() = default;

  /// Numbers of a state, of its tangent and of a control.
  [[nodiscard]] virtual int nx() const = 0;
  [[nodiscard]] virtual int ndx() const = 0;
  [[nodiscard]] virtual int nu() const = 0;

  /// x ⊕ dx; `out` may be x.
  virtual void plus(const VectorX& x, const VectorX& dx, VectorX& out) const { out = x + dx; }
  /// The dx with x_0 ⊕ dx = x_1.
  virtual void minus(const VectorX& x_0, const VectorX& x_1, VectorX& dx) const { dx = x_1 - x_0; }
  /// d minus / dx_1, ndx x ndx.
  virtual void minus_jacobian(const VectorX& x_0, const VectorX& x_1, MatrixX& J) const;

  /// The name of a control and of a tangent coordinate, for messages.
  [[nodiscard]] virtual std::string control_name(int i) const { return "u[" + std::to_string(i) + "]"; }
  [[nodiscard]] virtual std::string state_name(int i) const { return "x[" + std::to_string(i) + "]"; }
  /// Least and largest controls; infinite where there are none.
  virtual void control_limits(VectorX& lower, VectorX& upper) const;
  /// The model whose state [q; v] x is; null if there is none.
  [[nodiscard]] virtual const Model* model() const { return nullptr; }

  /// Whether bodies, shapes and masses of the model are where it says, whatever the state: terms of frames, shapes and
  /// the centre of mass need it.
  [[nodiscard]] virtual bool has_fixed_geometry() const { return true; }

  /// Whether plus and minus are sum and difference.
  [[nodiscard]] virtual bool is_flat() const { return nx() == ndx(); }

  /// Memory for the steps of a trajectory with these time steps, for so many threads. The dynamics must outlive it.
  [[nodiscard]] virtual std::unique_ptr<Stepper> stepper(const VectorX& time_steps, const ContactPhase& phase,
                                                         int num_threads = 1) const = 0;
};

}  // namespace tangere
