#pragma once

/// Forward dynamics: the acceleration that a generalised force gives; the inverse of inverse_dynamics.

#include <span>

#include "tangere/multibody/data.hpp"

namespace tangere {

/// By articulated bodies, cost linear in the bodies. Wrenches as in inverse_dynamics.
const VectorX& forward_dynamics(const Model& model, Data& data, VectorArgument q, VectorArgument v, VectorArgument tau,
                                std::span<const Vector6> wrenches = {});

}  // namespace tangere
