#pragma once

/// Going over the cones of a complementarity problem (private to solvers).

#include "tangere/solvers/ncp/ncp.hpp"

namespace tangere {

/// Calls on(first, dimension) for every cone, numbers one by one.
template <class On>
void for_each_cone(std::span<const NcpCone> cones, On&& on) {
  for (const NcpCone& cone : cones) {
    if (cone.kind == NcpCone::Kind::second_order) {
      on(cone.first, cone.size);
      continue;
    }
    for (int i = cone.first; i < cone.first + cone.size; ++i) on(i, 1);
  }
}

}  // namespace tangere
