#pragma once

/// The outward sweep that all derivatives of the dynamics share (private to multibody).

#include "tangere/multibody/internal/data_memory.hpp"

namespace tangere {

/// The matrix C of B (a, b) = (2 b × P, C b): -tr(I) ŵ + 2 ŵ I - 2 ĥ v̂.
[[nodiscard]] inline Columns3 coriolis_matrix(const SpatialInertia& I, const Motion& V) {
  const double trace = I.I.c[0][0] + I.I.c[1][1] + I.I.c[2][2];
  const Columns3 turn = hat(V.w);
  const Columns3 slide = hat(V.v);
  Columns3 C;
  for (int k = 0; k < 3; ++k) C.c[k] = 2.0 * (cross(V.w, I.I.c[k]) - cross(I.h, slide.c[k])) - trace * turn.c[k];
  return C;
}

/// After place_in_world: V_W, A_W, ψ̇, ψ̈ and Ṡ + ψ̇ of every coordinate, and each link's own inertia (composite),
/// momentum, C (coriolis) and force (F_W), not yet summed over the tree.
void sweep_outwards(const Links& tree, const double* v, const double* a, Data::Memory& m);

}  // namespace tangere
