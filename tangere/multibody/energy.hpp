#pragma once

/// Energy and momentum.

#include "tangere/multibody/data.hpp"
#include "tangere/multibody/kinematics.hpp"

namespace tangere {

/// ½ vᵀ M v, armature included. After forward_kinematics with v.
[[nodiscard]] double kinetic_energy(const Model& model, const Data& data, VectorArgument v);
/// Potential energy of gravity (zero at the world's origin) and of the joints' springs. After forward_kinematics.
[[nodiscard]] double potential_energy(const Model& model, const Data& data, VectorArgument q);
/// [linear; angular about the centre of mass], world axes. After forward_kinematics with v. Armature has no part.
[[nodiscard]] Vector6 centroidal_momentum(const Model& model, const Data& data);
/// The matrix A with momentum = A v, and its rate: momentum rate = A a + Ȧ v. After forward_kinematics (with v).
void centroidal_matrix(const Model& model, const Data& data, Matrix6X& A);
void centroidal_matrix_rate(const Model& model, const Data& data, Matrix6X& A_dot);

}  // namespace tangere
