#pragma once

/// Mass, centre and inertia of a link (the bodies that fixed joints hold together), and how they change with the
/// parameters of its bodies (not installed). In the link's axes, inertia about the centre.

#include <vector>

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

/// By a parameter of one of the link's bodies: mass, centre, inertia or the placement of a fixed joint; nothing for
/// others.
[[nodiscard]] LinkMoments moment_change(const Model& model, const LinkMoments& link, const Parameter& p);

/// Whether it is a mass, a centre or an inertia.
[[nodiscard]] bool is_inertial(const Parameter& p);
/// Whether it places a body within its link, by a fixed joint.
[[nodiscard]] bool is_placement_within_link(const Model& model, const Parameter& p);

/// By link, whether it is a free body that nothing hangs from.
[[nodiscard]] std::vector<char> find_lone_links(const Model& model);

}  // namespace tangere
