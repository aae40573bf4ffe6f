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

}  // namespace tangere
