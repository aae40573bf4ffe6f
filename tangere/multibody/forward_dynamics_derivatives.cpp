#include "tangere/multibody/forward_dynamics_derivatives.hpp"

#include "tangere/multibody/data_memory.hpp"
#include "tangere/multibody/forward_dynamics.hpp"
#include "tangere/multibody/inverse_dynamics_derivatives.hpp"
#include "tangere/multibody/mass_matrix.hpp"

namespace tangere {

ForwardDynamicsDerivatives forward_dynamics_derivatives(const Model& model, Data& data, VectorArgument q,
                                                        VectorArgument v, VectorArgument tau,
                                                        std::span<const Vector6> wrenches) {
  Data::Memory& m = data.memory();
  (void)forward_dynamics(model, data, q, v, tau, wrenches);
  (void)inverse_dynamics_derivatives(model, data, q, v, m.acceleration, wrenches);
  factor_mass_matrix(model, data);
  (void)inverse_mass_matrix(model, data);
  m.da_dq.noalias() = -m.M_inverse * m.dtau_dq;
  m.da_dv.noalias() = -m.M_inverse * m.dtau_dv;
  return {m.da_dq, m.da_dv, m.M_inverse, m.acceleration};
}

}  // namespace tangere
