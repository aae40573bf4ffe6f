#pragma once

/// From controls to generalised forces.

#include "tangere/multibody/data.hpp"
#include "tangere/sim/world.hpp"

namespace tangere {

/// τ of all actuators (of the control itself if there are none). No checks of sizes.
void actuate(const World& world, VectorArgument q, VectorArgument v, VectorArgument u, VectorX& tau);

/// dτ: diagonal in q and v; in u one entry an actuator, on its coordinate. Zero where a range is reached.
struct ActuationDerivatives {
  VectorX d_q;
  VectorX d_v;
  VectorX d_u;
};
void actuation_derivatives(const World& world, VectorArgument q, VectorArgument v, VectorArgument u,
                           ActuationDerivatives& out);

/// Columns of τ to columns of u, of which there are nu already.
template <class Tau, class Control>
void to_controls(const World& world, const ActuationDerivatives& actuation, const Tau& d_tau, Control&& d_u) {
  if (world.actuators().empty()) {
    d_u = d_tau;
    return;
  }
  for (int i = 0; i < world.nu(); ++i)
    d_u.col(i) = actuation.d_u[i] * d_tau.col(world.actuators()[static_cast<std::size_t>(i)].dof);
}

}  // namespace tangere
