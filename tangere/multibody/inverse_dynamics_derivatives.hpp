#pragma once

/// Derivatives of the inverse dynamics with respect to state and acceleration.

#include <span>

#include "tangere/multibody/data.hpp"

namespace tangere {

/// nv x nv each; rows are forces. d_q is with respect to the tangent of configuration.hpp.
struct InverseDynamicsDerivatives {
  const RowMatrixX& d_q;
  const RowMatrixX& d_v;
  /// The mass matrix.
  const MatrixX& d_a;
};

/// At (q, v, a), with wrenches that stay as they are in the world while q moves. The force itself is left in the
/// returned reference of `inverse_dynamics_value`.
InverseDynamicsDerivatives inverse_dynamics_derivatives(const Model& model, Data& data, VectorArgument q,
                                                        VectorArgument v, VectorArgument a,
                                                        std::span<const Vector6> wrenches = {});

/// The force at the state of the last inverse_dynamics or inverse_dynamics_derivatives.
[[nodiscard]] const VectorX& inverse_dynamics_value(const Data& data);

}  // namespace tangere
