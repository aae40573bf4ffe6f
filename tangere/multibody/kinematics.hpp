#pragma once

/// Poses, velocities and accelerations of bodies. First call one of the `forward_kinematics`, then whatever is wanted.
///
/// The velocity of a body is [linear; angular] in world axes, linear of the body's origin; accelerations are its time
/// derivative (no gravity in them), and Jacobians map v to it: V = J v, V̇ = J a + J̇ v.

#include "tangere/multibody/data.hpp"

namespace tangere {

void forward_kinematics(const Model& model, Data& data, VectorArgument q);
void forward_kinematics(const Model& model, Data& data, VectorArgument q, VectorArgument v);
void forward_kinematics(const Model& model, Data& data, VectorArgument q, VectorArgument v, VectorArgument a);

/// X_WB.
[[nodiscard]] Pose body_pose(const Model& model, const Data& data, int body);
[[nodiscard]] Vector6 body_velocity(const Model& model, const Data& data, int body);
[[nodiscard]] Vector6 body_acceleration(const Model& model, const Data& data, int body);

/// J and J̇, 6 x nv.
using Matrix6X = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::DontAlign>;
using Matrix3X = Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::DontAlign>;
void body_jacobian(const Model& model, const Data& data, int body, Matrix6X& J);
void body_jacobian_rate(const Model& model, const Data& data, int body, Matrix6X& J_dot);

/// Centre of all mass, its velocity and acceleration, its Jacobian and that one's rate. InputError for a massless
/// model.
[[nodiscard]] Vector3 center_of_mass(const Model& model, const Data& data);
[[nodiscard]] Vector3 center_of_mass_velocity(const Model& model, const Data& data);
[[nodiscard]] Vector3 center_of_mass_acceleration(const Model& model, const Data& data);
void center_of_mass_jacobian(const Model& model, const Data& data, Matrix3X& J);
void center_of_mass_jacobian_rate(const Model& model, const Data& data, Matrix3X& J_dot);

/// The wrench (world axes, about the world's origin) of a force and a torque at a point of the world.
[[nodiscard]] Vector6 wrench_at(const Vector3& point, const Vector3& force, const Vector3& torque = Vector3::Zero());

}  // namespace tangere
