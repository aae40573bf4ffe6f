#include "tangere/sim/quasi_static.hpp"

#include <utility>

namespace tangere {

StepStatus quasi_static_step(const World& world, VectorArgument q, VectorArgument u, Workspace& workspace,
                             VectorX& next, Tape* tape) {
  const State state{q, VectorX::Zero(world.nv())};
  State after = state;
  const StepStatus status = step(world, state, u, workspace, after, tape, {.start = StepStart::cold}).status;
  next = std::move(after.q);
  return status;
}

GradientQuality quasi_static_jacobians(const World& world, const Tape& tape, Workspace& workspace, MatrixX& q_q,
                                       MatrixX& q_u) {
  StepJacobians jacobians;
  const GradientQuality quality = step_jacobians(world, tape, workspace, jacobians);
  q_q = std::move(jacobians.q_q);
  q_u = std::move(jacobians.q_u);
  return quality;
}

}  // namespace tangere
