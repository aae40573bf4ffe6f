#pragma once

/// The frame of a contact and how it moves.
///
/// The tangents follow a direction a fixed in the body that owns the normal: t₁ ∥ a − n (n·a), t₂ = n × t₁. That is the
/// body whose face it is; between round features A. With the turn ρ of that body and n' = dn − ρ × n,
///
///   dθ = ρ + n × n' − ((n·a) (n'·t₂) / |a − n (n·a)|) n
///
/// so that a frame on a face moves with the face, and one between round features spins about its normal as a does.

#include "tangere/contact/contact.hpp"

namespace tangere {

enum class NormalOwner { A, B };

[[nodiscard]] NormalOwner normal_owner(const ContactFeature& feature_A, const ContactFeature& feature_B);

/// Columns n, t₁, t₂; R_WO of the owner's body.
[[nodiscard]] Matrix3 contact_frame(const Vector3& normal, const Matrix3& R_WO);

/// dθ, the owner standing still, as the normal moves by `dn`.
[[nodiscard]] Vector3 frame_turn(const Matrix3& frame, const Matrix3& R_WO, const Vector3& dn);

/// From the manifold's Jacobian, which is in the poses of the shapes X_WA and X_WB, to twists of the bodies about the
/// point. If the Jacobian does not exist, the point and the frame move with the owner.
[[nodiscard]] FrameMotion frame_motion(const ContactPoint& point, const ContactJacobian& jacobian, const Pose& X_WA,
                                       const Pose& X_WB, const Matrix3& frame, const Matrix3& R_WO, NormalOwner owner);

}  // namespace tangere
