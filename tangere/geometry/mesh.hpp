#pragma once

/// Triangle meshes, to draw.

#include <array>
#include <vector>

#include "tangere/geometry/shape.hpp"

namespace tangere {

struct TriangleMesh {
  std::vector<Vector3> vertices;
  /// Counter-clockwise seen from outside.
  std::vector<std::array<int, 3>> triangles;
};

struct MeshOptions {
  /// Points on a full circle of a curved surface.
  int resolution = 32;
  /// Side of the square drawn for a half-space.
  double half_space_size = 10.0;

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

/// The surface of the shape in its frame; vertices lie on the surface. A bundle's parts are simply joined.
[[nodiscard]] TriangleMesh mesh(const Shape& shape, const MeshOptions& options = {});

}  // namespace tangere
