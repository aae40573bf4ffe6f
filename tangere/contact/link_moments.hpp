#pragma once

/// Mass, centre and inertia of a link (the bodies that fixed joints hold together), and how they change with the
/// parameters of its bodies (private to contact and sim). In the link's axes, inertia about the centre.

#include "tangere/math/se3.hpp"
#include "tangere/multibody/links.hpp"
#include "tangere/multibody/parameters.hpp"

namespace tangere {

struct LinkMoments {
  double mass = 0.0;
  Vector3 center = Vector3::Zero();
  Matrix3 inertia = Matrix3::Zero();
};

[[nodiscard]] LinkMoments moments_of(const Link& link);

/// By a parameter of one of the link's bodies: mass, centre or inertia; nothing for others.
[[nodiscard]] LinkMoments moment_change(const Model& model, const LinkMoments& link, const Parameter& p);

/// As a body of the link is carried by a twist about the link's origin: added to `change`.
void carry_moments(const Model& model, const LinkMoments& link, int body, const Vector6& twist, LinkMoments& change);

/// Whether it is a mass, a centre or an inertia.
[[nodiscard]] bool is_inertial(const Parameter& p);

}  // namespace tangere
