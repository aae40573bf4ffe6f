#pragma once

/// Mass and inertia of a mesh in MJCF. Private to io.

#include <optional>

#include "tangere/geometry/mass_properties.hpp"
#include "tangere/geometry/mesh.hpp"

namespace tangere::internal {

/// `exact`: the solid that the triangles enclose. `legacy`, MuJoCo's default: the same with every pyramid counted as
/// positive, which is more than the solid unless that is seen from its middle. `shell`: the surface itself.
enum class MeshInertia { exact, legacy, shell };

/// At a density of 1 (shell: for each unit of area), in the frame of the mesh. Nothing if that is not a body's: no
/// volume, or moments that none has.
[[nodiscard]] std::optional<MassProperties> mesh_inertia(const TriangleMesh& mesh, MeshInertia kind);

}  // namespace tangere::internal
