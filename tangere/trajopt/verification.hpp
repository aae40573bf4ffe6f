#pragma once

/// Verification plays a plan: with hard contact, at its own time step or a finer one, open loop or with
/// feedback.

#include "tangere/trajopt/plan.hpp"
#include "tangere/trajopt/problem.hpp"

namespace tangere {

struct VerifyOptions {
  /// Steps per step of the plan; the controls are held.
  int refine = 1;
  ContactPhase contact = {};
  /// u + K (x ⊖ x of the plan) with these gains, one per step, at its start; open loop if empty. See tracking_gains.
  std::vector<MatrixX> gains = {};

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

struct Verification {
  /// False if the motion ran away at `knot`.
  bool finite = true;
  /// The largest entry of x ⊖ x of the plan over all knots, and at which.
  double strays = 0.0;
  int knot = 0;
  /// The worst equality and inequality along the played motion; inequalities between the knots too.
  double equality = 0.0;
  double inequality = 0.0;
  /// The worst of those inequalities that hold between knots (Term::between_knots), on the plan's own motion: at
  /// `refine` - 1 states of each of its steps, and at the knots.
  double between = 0.0;
  std::string name;
};

/// InputError for a plan of another problem.
[[nodiscard]] Verification verify(const OptimalControl& problem, const Plan& plan, const VerifyOptions& options = {});

/// Gains of a time-varying linear-quadratic regulator along a plan: least Σ ½ state_weight |x ⊖ x_plan|² + ½
/// control_weight |(u - u_plan) / scale|², with the controls' half ranges (or 1) as scale.
[[nodiscard]] std::vector<MatrixX> tracking_gains(const OptimalControl& problem, const Plan& plan, double state_weight,
                                                  double control_weight, const ContactPhase& contact = {});

}  // namespace tangere
