#include "tangere/trajopt/dynamics.hpp"

#include <limits>

namespace tangere {

void Dynamics::minus_jacobian(const VectorX& /*x_0*/, const VectorX& /*x_1*/, MatrixX& J) const {
  J.setIdentity(ndx(), ndx());
}

void Dynamics::control_limits(VectorX& lower, VectorX& upper) const {
  lower.setConstant(nu(), -std::numeric_limits<double>::infinity());
  upper.setConstant(nu(), std::numeric_limits<double>::infinity());
}

}  // namespace tangere
