#pragma once

/// The motions of the coordinates between the root and a body, about any point: Jacobians that are as short as the way.
/// After whatever leaves the poses in `Data` (kinematics.hpp, mass_matrix.hpp, inverse_dynamics_derivatives.hpp).
///
/// Twists are [linear; angular] in world axes; linear is the velocity of the body's point at `about`, which is fixed in
/// the world.

#include <span>
#include <vector>

#include "tangere/math/owned.hpp"
#include "tangere/multibody/data.hpp"
#include "tangere/multibody/kinematics.hpp"

namespace tangere {

/// The coordinates that move a body, from the root; empty for what is fixed to the world (and for kWorld).
[[nodiscard]] std::span<const int> way_of(const Model& model, int body);

/// One column for each of way_of: the twist of the body a unit of that coordinate.
void way_columns(const Model& model, const Data& data, int body, const Vector3& about, Eigen::Ref<Matrix6X> columns);

/// One number for each of way_of: what a wrench (force, and torque about the point) on the body does along it.
void way_forces(const Model& model, const Data& data, int body, const Vector3& about, const Vector6& wrench,
                double* out);

/// The velocities of all bodies at other v than the last kinematics', poses unchanged.
class BodyVelocities {
 public:
  explicit BodyVelocities(const Model& model);
  ~BodyVelocities();
  BodyVelocities(BodyVelocities&&) noexcept;
  BodyVelocities& operator=(BodyVelocities&&) noexcept;

  void set(const Model& model, const Data& data, VectorArgument v);
  [[nodiscard]] Vector6 twist(const Model& model, const Data& data, int body, const Vector3& about) const;
  /// d(twist) / dq along the way: S × (V − V_parent), one column for each of way_of.
  void twist_derivatives(const Model& model, const Data& data, int body, const Vector3& about,
                         Eigen::Ref<Matrix6X> columns) const;

 private:
  struct Memory;
  Owned<Memory> memory_;
};

/// S × T of twists about one point.
[[nodiscard]] Vector6 twist_bracket(const Vector6& S, const Vector6& T);

/// The twist about `about` of a frame placed at X in P, as component x y z rx ry rz of its placement moves.
[[nodiscard]] Vector6 placement_twist(const Pose& X_WP, const Pose& X, int component, const Vector3& about);

}  // namespace tangere
