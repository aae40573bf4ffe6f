#pragma once

/// Springs and dampers of the joints (private to multibody).

#include "tangere/multibody/links.hpp"

namespace tangere {

/// τ += damping v + stiffness (q - rest).
inline void subtract_passive_forces(const Links& tree, const double* q, const double* v, double* tau) {
  for (std::size_t k = 0; k < tree.damping.size(); ++k) {
    tau[k] += tree.damping[k] * v[k];
    if (tree.stiffness[k] != 0.0) tau[k] += tree.stiffness[k] * (q[tree.q_of_dof[k]] - tree.rest[k]);
  }
}

}  // namespace tangere
