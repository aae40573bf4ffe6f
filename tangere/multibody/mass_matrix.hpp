#pragma once

/// The mass matrix, its factors and its inverse.

#include <cstddef>

#include "tangere/multibody/data.hpp"

namespace tangere {

/// M(q) with armature, symmetric, both triangles filled. By composite bodies in world axes. Leaves the poses of
/// kinematics.hpp at q, and no velocities.
const MatrixX& mass_matrix(const Model& model, Data& data, VectorArgument q);

/// M as the last mass_matrix or inverse_dynamics_derivatives left it; InputError before either.
[[nodiscard]] const MatrixX& last_mass_matrix(const Model& model, const Data& data);

/// M = Lᵀ D L, where L has entries only between a coordinate and those on its way to the root: linear in the branches'
/// lengths, no fill. Of the last mass_matrix (or inverse_dynamics_derivatives) of `data`; InputError before that.
void factor_mass_matrix(const Model& model, Data& data);
/// The same of M plus a diagonal (implicit dampers and springs); what solves below is then its inverse.
void factor_mass_matrix(const Model& model, Data& data, VectorArgument diagonal);
/// The diagonal that the last factor_mass_matrix added: zeros, or the one it was given.
[[nodiscard]] const VectorX& factored_diagonal(const Model& model, const Data& data);
/// x = M⁻¹ x, in place, by the last factors.
void solve_mass_matrix(const Model& model, const Data& data, Eigen::Ref<VectorX> x);
/// The same for many columns at once: nv rows of `width` numbers, a multiple of 8, of which the first `count` rounded
/// up to 8 are used.
void solve_mass_matrix_columns(const Model& model, const Data& data, double* x, std::ptrdiff_t width, int count);
/// M⁻¹ by the last factors.
const MatrixX& inverse_mass_matrix(const Model& model, Data& data);

}  // namespace tangere
