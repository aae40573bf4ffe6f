#pragma once

/// Derivatives of the forward dynamics: a = M⁻¹ (τ - bias), so da = M⁻¹ (dτ - d(inverse dynamics at a)).

#include <span>

#include "tangere/multibody/data.hpp"

namespace tangere {

/// nv x nv each; rows are accelerations.
struct ForwardDynamicsDerivatives {
  const RowMatrixX& d_q;
  const RowMatrixX& d_v;
  /// M⁻¹.
  const MatrixX& d_tau;
  const VectorX& acceleration;
};

ForwardDynamicsDerivatives forward_dynamics_derivatives(const Model& model, Data& data, VectorArgument q,
                                                        VectorArgument v, VectorArgument tau,
                                                        std::span<const Vector6> wrenches = {});

}  // namespace tangere
