#pragma once

/// Derivatives of the dynamics with respect to a model's parameters, and the regressor of the inertial ones.

#include <span>

#include "tangere/multibody/data.hpp"
#include "tangere/multibody/parameters.hpp"

namespace tangere {

/// d(inverse dynamics) / d(parameters) at (q, v, a): nv x the number of parameters, into `out`.
void inverse_dynamics_parameter_derivatives(const Model& model, Data& data, VectorArgument q, VectorArgument v,
                                            VectorArgument a, std::span<const Parameter> parameters, MatrixX& out,
                                            std::span<const Vector6> wrenches = {});

/// d(forward dynamics) / d(parameters) at (q, v, τ).
void forward_dynamics_parameter_derivatives(const Model& model, Data& data, VectorArgument q, VectorArgument v,
                                            VectorArgument tau, std::span<const Parameter> parameters, MatrixX& out,
                                            std::span<const Vector6> wrenches = {});

/// The inverse dynamics is linear in the bodies' moments: τ = Y π + (armature, springs, dampers, wrenches), with ten
/// columns a body for π = (m, m c, I_xx, I_yy, I_zz, I_xy, I_xz, I_yz), the last six about the body's origin.
void inertial_regressor(const Model& model, Data& data, VectorArgument q, VectorArgument v, VectorArgument a,
                        MatrixX& Y);
/// π of all bodies.
[[nodiscard]] VectorX inertial_moments(const Model& model);

}  // namespace tangere
