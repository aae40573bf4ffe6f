#pragma once

/// From bodies and joints to links (private to multibody).

#include <span>

#include "tangere/multibody/links.hpp"
#include "tangere/multibody/model.hpp"

namespace tangere {

/// About the origin of the body's frame.
[[nodiscard]] SpatialInertia spatial_inertia(const MassProperties& body);

[[nodiscard]] Links build_links(std::span<const Body> bodies, std::span<const Joint> joints,
                                std::span<const DofSpec> dofs, const Vector3& gravity);

}  // namespace tangere
