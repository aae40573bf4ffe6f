#pragma once

/// Inverse dynamics: the generalised force that gives an acceleration.
///
///   τ = M(q) a + c(q, v) + g(q) + damping v + stiffness (q - rest) - Σ Jᵀ wrench
///
/// M includes the armature. Coulomb friction and limits are not part of it.

#include <span>

#include "tangere/multibody/data.hpp"

namespace tangere {

/// By recursive Newton-Euler, cost linear in the bodies. `wrenches`: none, or one a body, [force; torque] in world axes
/// about the world's origin, acting on the body (kinematics.hpp: wrench_at). Throws InputError for wrong sizes.
const VectorX& inverse_dynamics(const Model& model, Data& data, VectorArgument q, VectorArgument v, VectorArgument a,
                                std::span<const Vector6> wrenches = {});

/// The same at a = 0: what gravity, velocity, springs and dampers do.
const VectorX& bias_forces(const Model& model, Data& data, VectorArgument q, VectorArgument v,
                           std::span<const Vector6> wrenches = {});

}  // namespace tangere
