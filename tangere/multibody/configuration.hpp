#pragma once

/// The configuration manifold: coordinates q move along velocities v (joint.hpp says which are which).
///
/// For the angles and lengths q ⊕ δ is the sum; a quaternion moves by R exp(δ), and a free joint's position by R δ: the
/// derivative of everything with respect to q in this library is with respect to this δ.

#include "tangere/math/random.hpp"
#include "tangere/multibody/data.hpp"

namespace tangere {

/// Zero, and identity quaternions.
[[nodiscard]] VectorX neutral_configuration(const Model& model);
/// Uniform within the limits (where there are none: angles in ±π, lengths in ±1 m), uniform over rotations;
/// mimic joints follow.
[[nodiscard]] VectorX random_configuration(const Model& model, Random& random);
/// Every mimic joint where its source tells it to be.
void follow_mimics(const Model& model, Eigen::Ref<VectorX> q);

/// q ⊕ δ. `out` may be q itself. Quaternions come out normalised.
void integrate(const Model& model, VectorArgument q, VectorArgument delta, Eigen::Ref<VectorX> out);
/// The δ with q_0 ⊕ δ = q_1.
void difference(const Model& model, VectorArgument q_0, VectorArgument q_1, Eigen::Ref<VectorX> delta);

/// d(q ⊕ δ) / dq and d(q ⊕ δ) / dδ, nv x nv, block diagonal.
void integrate_jacobians(const Model& model, VectorArgument q, VectorArgument delta, MatrixX& d_q, MatrixX& d_delta);
/// d(difference) / dq_0 and / dq_1.
void difference_jacobians(const Model& model, VectorArgument q_0, VectorArgument q_1, MatrixX& d_q_0, MatrixX& d_q_1);

/// From the gradient of a loss with respect to the numbers in q (nq) to the one along q ⊕ δ (nv): positions of free
/// joints turn from world axes into body axes, quaternions become rotations. What only changes a quaternion's length
/// has no effect.
[[nodiscard]] VectorX tangent_gradient(const Model& model, VectorArgument q, VectorArgument dl_dq);

}  // namespace tangere
