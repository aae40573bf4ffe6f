#pragma once

/// Points that ride on bodies: where they are, how they move, and what a loss on them says about the configuration.
///
///   const Vector3 hand = point_position(model, q, "hand", {0, 0, 0.1});
///   VectorX g = point_gradient(model, q, "hand", {0, 0, 0.1}, hand - goal);      // of ½ |hand − goal|², a tangent
///
/// In loops, without allocation, after forward_kinematics: the functions that take `data`.

#include <string_view>

#include "tangere/multibody/kinematics.hpp"

namespace tangere {

/// p_W of the point p_B of a body. InputError for a body that the model does not have.
[[nodiscard]] Vector3 point_position(const Model& model, VectorArgument q, std::string_view body,
                                     const Vector3& p_B = Vector3::Zero());
/// From the gradient of a loss with respect to that position, in world axes, to the one with respect to q (nv numbers).
[[nodiscard]] VectorX point_gradient(const Model& model, VectorArgument q, std::string_view body, const Vector3& p_B,
                                     const Vector3& dl_dp_W);

[[nodiscard]] Vector3 point_position(const Model& model, const Data& data, int body, const Vector3& p_B);
/// dp_W / dq, 3 x nv. `J_body` is memory.
void point_jacobian(const Model& model, const Data& data, int body, const Vector3& p_B, Matrix6X& J_body, Matrix3X& J);

}  // namespace tangere
