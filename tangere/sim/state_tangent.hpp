#pragma once

/// States move by tangents x = (δq, δv), 2 nv numbers: q ⊕ δq (multibody/configuration.hpp) and v + δv.

#include "tangere/multibody/configuration.hpp"
#include "tangere/sim/world.hpp"

namespace tangere {

/// state ⊕ x. `out` may be `state`.
void plus(const Model& model, const State& state, VectorArgument x, State& out);
/// The x with from ⊕ x = to.
void minus(const Model& model, const State& to, const State& from, Eigen::Ref<VectorX> x);

/// d(state ⊕ x) / d(state) and / dx, 2 nv x 2 nv.
void plus_jacobians(const Model& model, const State& state, VectorArgument x, MatrixX& d_state, MatrixX& d_x);
/// dx / d(to) and / d(from).
void minus_jacobians(const Model& model, const State& to, const State& from, MatrixX& d_to, MatrixX& d_from);

}  // namespace tangere
