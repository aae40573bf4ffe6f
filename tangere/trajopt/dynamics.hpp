#pragma once

/// Dynamics move a trajectory from one knot to the next: a world with contact (world_dynamics.hpp), or a function of
/// the user's own (function_dynamics.hpp). States are vectors `x` on a manifold and move along tangents `dx`.
///
/// A `Dynamics` is constant and shared between threads; a `Stepper` is the memory of one thread, and remembers the last
/// step at every knot for its Jacobians.

#include <memory>
#include <string>

#include "tangere/multibody/data.hpp"
#include "tangere/sim/world.hpp"

namespace tangere {

/// How contact is solved while an optimiser is in one of its phases. Dynamics without contact ignore it.
struct ContactPhase {
  Formulation formulation = Formulation::lcp;
  /// Smooth contact only: relaxation, tolerance relative to it, and how far pairs see each other (SmoothContact).
  double kappa = 1e-2;
  double tolerance = 1e-3;
  double margin = 0.1;

  [[nodiscard]] bool operator==(const ContactPhase&) const = default;
};

/// Steps along one trajectory, first knot first.
class Stepper {
 public:
  virtual ~Stepper() = default;

  /// Before the first step of a trajectory: the steps that follow depend on nothing before this.
  virtual void begin() = 0;
  /// The state after knot `knot`. False if it is not finite; `next` is then of no use.
  [[nodiscard]] virtual bool step(int knot, const VectorX& x, const VectorX& u, VectorX& next) = 0;
  /// d next / dx and d next / du of the last step made at `knot`, all tangents. False if they are not finite.
  [[nodiscard]] virtual bool jacobians(int knot, MatrixX& A, MatrixX& B) = 0;
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

  /// Memory for the steps of a trajectory with these time steps. The dynamics must outlive it.
  [[nodiscard]] virtual std::unique_ptr<Stepper> stepper(const VectorX& time_steps,
                                                         const ContactPhase& phase) const = 0;
};

}  // namespace tangere
