#pragma once

/// What is in a Workspace (private to sim).

#include "tangere/contact/collision_scene.hpp"
#include "tangere/contact/lcp.hpp"
#include "tangere/contact/lcp_derivatives.hpp"
#include "tangere/sim/actuation.hpp"
#include "tangere/sim/step.hpp"

namespace tangere {

struct Workspace::Memory {
  explicit Memory(const World& world);

  Data data;
  BodyVelocities velocities;
  ContactFinder finder;
  ProblemBuilder builder;
  LcpContact lcp;
  ContactProblem problem;
  VectorX tau;
  VectorX a;
  VectorX v_free;
  VectorX v_plus;
  VectorX delta;
  StepResult result;
  bool profiling = false;

  // derivatives
  ActuationDerivatives actuation;
  LcpDerivatives derivatives;
  MatrixX block_q;
  MatrixX block_v;
  VectorX displacement;
  VectorX grad_q;
  VectorX grad_v;
  VectorX other_q;
  VectorX other_v;
  VectorX other_tau;
  std::vector<RowSet> other_sets;
};

/// a = −ω × v at the linear coordinates of free joints, 0 elsewhere: their acceleration in axes that do not turn is
/// zero.
void set_frame_acceleration(const World& world, VectorArgument v, VectorX& a);

/// A tape, as the derivatives want it, after `actuation_derivatives` for it.
[[nodiscard]] SolvedStep solved_step(const World& world, const Tape& tape, const Workspace::Memory& m);
/// Actuators and rows of a tape, linearised. InputError if it is not of this world.
void linearise(const World& world, const Tape& tape, Workspace::Memory& m);

}  // namespace tangere
