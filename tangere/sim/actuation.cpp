#include "tangere/sim/actuation.hpp"

#include <algorithm>

#include "tangere/multibody/links.hpp"

namespace tangere {
namespace {

/// The force of one actuator and its partial derivatives.
struct Response {
  double force = 0.0;
  double d_q = 0.0;
  double d_v = 0.0;
  double d_u = 0.0;
};

Response respond(const Actuator& a, double q, double v, double u) {
  const double held = std::clamp(u, a.lower_control, a.upper_control);
  double output = 0.0;
  double d_q = 0.0;
  double d_v = 0.0;
  switch (a.kind) {
    case Actuator::Kind::motor:
      output = a.gain * held;
      break;
    case Actuator::Kind::position:
      output = a.gain * (held - a.gear * q) - a.damping * a.gear * v;
      d_q = -a.gain * a.gear;
      d_v = -a.damping * a.gear;
      break;
    case Actuator::Kind::velocity:
      output = a.gain * (held - a.gear * v);
      d_v = -a.gain * a.gear;
      break;
  }
  const double force = std::clamp(output, a.lower_force, a.upper_force);
  if (force != output) return {.force = a.gear * force};
  return {.force = a.gear * force, .d_q = a.gear * d_q, .d_v = a.gear * d_v, .d_u = held == u ? a.gear * a.gain : 0.0};
}

double position_of(const World& world, VectorArgument q, int dof) {
  return q[world.model().links().q_of_dof[static_cast<std::size_t>(dof)]];
}

}  // namespace

void actuate(const World& world, VectorArgument q, VectorArgument v, VectorArgument u, VectorX& tau) {
  if (world.actuators().empty()) {
    tau = u;
    return;
  }
  tau.setZero(world.nv());
  for (std::size_t i = 0; i < world.actuators().size(); ++i) {
    const Actuator& actuator = world.actuators()[i];
    tau[actuator.dof] +=
        respond(actuator, position_of(world, q, actuator.dof), v[actuator.dof], u[static_cast<Eigen::Index>(i)]).force;
  }
}

void actuation_derivatives(const World& world, VectorArgument q, VectorArgument v, VectorArgument u,
                           ActuationDerivatives& out) {
  out.d_q.setZero(world.nv());
  out.d_v.setZero(world.nv());
  out.d_u.setOnes(world.nu());
  for (std::size_t i = 0; i < world.actuators().size(); ++i) {
    const Actuator& actuator = world.actuators()[i];
    const Response response =
        respond(actuator, position_of(world, q, actuator.dof), v[actuator.dof], u[static_cast<Eigen::Index>(i)]);
    out.d_q[actuator.dof] += response.d_q;
    out.d_v[actuator.dof] += response.d_v;
    out.d_u[static_cast<Eigen::Index>(i)] = response.d_u;
  }
}

}  // namespace tangere
