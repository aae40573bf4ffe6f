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
  VectorX grad_q;
  VectorX grad_v;
};

/// a = −ω × v at the linear coordinates of free joints, 0 elsewhere: their acceleration in axes that do not turn is
/// zero.
void set_frame_acceleration(const World& world, VectorArgument v, VectorX& a);

}  // namespace tangere
