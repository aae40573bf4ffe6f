#pragma once

/// Displacement of a smooth step: d of q' = q ⊕ d, dt v⁺ but for quaternions, which move by the Cayley map.

#include "tangere/math/so3.hpp"
#include "tangere/sim/world.hpp"

namespace tangere {

/// on(k) for the angular coordinates of joints that turn by the Cayley map: of trees.
template <class On>
void for_each_turn(const World& world, On&& on) {
  auto lone = world.lone_bodies().begin();
  for (const Joint& joint : world.model().joints()) {
    if (joint.nq == joint.nv) continue;
    if (lone != world.lone_bodies().end() && lone->first_v == joint.first_v)
      ++lone;
    else
      on(joint.first_v + joint.nv - 3);
  }
}

/// d for v⁺. (Lone bodies make their motion of dt v⁺.)
void set_displacement(const World& world, double dt, VectorArgument v_plus, VectorX& d);

}  // namespace tangere
