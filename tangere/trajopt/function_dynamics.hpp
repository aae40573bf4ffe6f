#pragma once

/// Dynamics of the user's own, on vectors: x' = f(x, u) from knot to knot, or ẋ = f(x, u) integrated over the step.

#include <functional>

#include "tangere/trajopt/dynamics.hpp"

namespace tangere {

/// Matrices into which a function writes d out / dx and d out / du.
struct FunctionJacobians {
  MatrixX x;
  MatrixX u;
};

/// `out` has the size of x, the Jacobians theirs (zero); `J` may be null.
using StateFunction =
    std::function<void(const VectorX& x, const VectorX& u, double time_step, VectorX& out, FunctionJacobians* J)>;

class FunctionDynamics final : public Dynamics {
 public:
  /// x' = f(x, u, time step). InputError for sizes below 1 and for no function. Each thread of an optimiser has a copy
  /// of the function.
  FunctionDynamics(int nx, int nu, StateFunction f);

  [[nodiscard]] int nx() const override { return nx_; }
  [[nodiscard]] int ndx() const override { return nx_; }
  [[nodiscard]] int nu() const override { return nu_; }
  [[nodiscard]] std::unique_ptr<Stepper> stepper(const VectorX& time_steps, const ContactPhase& phase,
                                                 int num_threads) const override;

 private:
  int nx_;
  int nu_;
  StateFunction f_;
};

/// One step of the classical Runge-Kutta method over ẋ = f(x, u), with u held. Copies of it may run at once.
[[nodiscard]] StateFunction runge_kutta(int nx, int nu, StateFunction rate);

}  // namespace tangere
