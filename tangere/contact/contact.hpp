#pragma once

/// A contact point of a step, as it is found and as it is solved.

#include "tangere/proximity/manifold.hpp"

namespace tangere {

struct Contact {
  /// Indices into the scene's shapes (collision_scene.hpp), A before B, and their bodies.
  int shape_A = 0;
  int shape_B = 0;
  int body_A = 0;
  int body_B = 0;
  ContactFeature feature_A{};
  ContactFeature feature_B{};
  /// World axes.
  Vector3 point = Vector3::Zero();
  /// Columns: normal (from A to B) and two tangents.
  Matrix3 frame = Matrix3::Identity();
  double distance = 0.0;
  /// Coefficients of the pair: the smaller friction, the product of the restitutions.
  double friction = 0.0;
  double restitution = 0.0;
  /// The normal velocity of B against A at the end of the step if nothing pushed; 0 if not set. Only contacts with
  /// restitution have it: an impact that the old velocity alone would not reach must bounce too.
  double expected_velocity = 0.0;
  /// On B, in the frame: normal ≥ 0, and tangential. N s; A gets the opposite. Set when solved.
  Vector3 impulse = Vector3::Zero();
};

/// How a place and a frame move with two bodies: derivatives with respect to the twists of A and of B about the place
/// itself (world axes, linear first): 12 columns.
struct FrameMotion {
  Matrix3x12 point;
  /// The rotation of the frame, in world axes: dD = hat(rotation) D.
  Matrix3x12 rotation;
  /// The gradient of the distance. Not always the normal's row of J: where faces are not quite parallel, the distance
  /// at a corner is along the normal of one to the plane of the other.
  Vector12 distance;
  /// False where the contact point has no derivative (ContactJacobian::exists): it is then taken to ride on one body.
  bool exists = true;
};

}  // namespace tangere
