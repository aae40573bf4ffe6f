#pragma once

/// How a contact changes as its shapes do.
///
/// The effect of a size on the place, the frame and the distance of a contact has as many closed forms as
/// there are pairs of features, and is wanted seldom: it is a difference of the manifold with the features held,
/// central and extrapolated.

#include "tangere/contact/contact.hpp"

namespace tangere {

/// Per unit of the parameter; the bodies stand still.
struct FrameChange {
  Vector3 point = Vector3::Zero();
  /// Rotation of the frame, in world axes.
  Vector3 rotation = Vector3::Zero();
  double distance = 0.0;
  /// False where the contact does not live on with the same features on either side (a corner of four faces splits when
  /// one of them moves): all is zero. Where it does on one side, that side's derivative is given.
  bool exists = false;
};

/// For parameter number `parameter` (Shape::parameters) of the contact's shape A (`side` 0) or B (1).
[[nodiscard]] FrameChange contact_size_derivative(const Contact& contact, const Shape& A, const Pose& X_WA,
                                                  const Shape& B, const Pose& X_WB, int side, int parameter);

}  // namespace tangere
