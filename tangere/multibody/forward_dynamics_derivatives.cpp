#include "tangere/multibody/forward_dynamics_derivatives.hpp"

#include "tangere/multibody/forward_dynamics.hpp"
#include "tangere/multibody/internal/data_memory.hpp"
#include "tangere/multibody/inverse_dynamics_derivatives.hpp"
#include "tangere/multibody/mass_matrix.hpp"

namespace tangere {

ForwardDynamicsDerivatives forward_dynamics_derivatives(const Model& model, Data& data, VectorArgument q,
                                                        VectorArgument v, VectorArgument tau,
                                                        std::span<const Vector6> wrenches) {
  Data::Memory& m = memory_of(model, data);
  (void)forward_dynamics(model, data, q, v, tau, wrenches);
  (void)inverse_dynamics_derivatives(model, data, q, v, m.acceleration, wrenches);
  factor_mass_matrix(model, data);
  // M⁻¹ times all three at once
  const Eigen::Index nv = model.nv();
  m.need_columns(model.nv());
  Eigen::Map<RowMatrixX, 0, Eigen::OuterStride<>> columns(m.columns.data(), nv, 3 * nv,
                                                          Eigen::OuterStride<>(m.column_stride));
  columns.leftCols(nv) = -m.dtau_dq;
  columns.middleCols(nv, nv) = -m.dtau_dv;
  columns.rightCols(nv).setIdentity();
  solve_mass_matrix_columns(model, data, m.columns.data(), m.column_stride, 3 * model.nv());
  m.da_dq = columns.leftCols(nv);
  m.da_dv = columns.middleCols(nv, nv);
  m.M_inverse = columns.rightCols(nv);
  return {m.da_dq, m.da_dv, m.M_inverse, m.acceleration};
}

}  // namespace tangere
