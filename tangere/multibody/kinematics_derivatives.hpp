#pragma once

/// Derivatives of a body's velocity and acceleration (kinematics.hpp) with respect to the state.

#include "tangere/multibody/kinematics.hpp"

namespace tangere {

/// 6 x nv each, rows as in body_velocity and body_acceleration.
struct BodyMotionDerivatives {
  Matrix6X velocity_d_q;
  Matrix6X acceleration_d_q;
  Matrix6X acceleration_d_v;
  /// The Jacobian: also velocity_d_v and acceleration_d_a.
  Matrix6X jacobian;
};

/// After forward_kinematics with v and a. Allocates only if `out` is of another size.
void body_motion_derivatives(const Model& model, const Data& data, int body, BodyMotionDerivatives& out);

}  // namespace tangere
