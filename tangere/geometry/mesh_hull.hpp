#pragma once

/// A mesh as a shape that collides: its convex hull.

#include <string>

#include "tangere/geometry/mesh.hpp"
#include "tangere/geometry/shape.hpp"

namespace tangere {

struct MeshHullOptions {
  /// Hulls with more vertices are replaced by that of some of them, the farthest out first.
  int max_vertices = 256;
  /// So are faces with more corners; contact manifolds use as many.
  int max_face_corners = 64;

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

struct MeshHull {
  /// A polytope about its centroid.
  Shape shape;
  /// Its frame in that of the mesh.
  Pose X_MS;
  int num_vertices = 0;
  /// How far vertices of the mesh are outside of the shape, at most: 0 (or rounding) unless the hull was reduced.
  double outside = 0.0;
  /// How far vertices of the mesh are below the surface of the hull, at most: 0 for a convex mesh.
  double inside = 0.0;
  /// How thick a flat mesh was made; 0 otherwise.
  double thickened = 0.0;
};

/// Throws InputError `mesh` if there are no triangles, or all of it lies on a line.
[[nodiscard]] MeshHull hull_of_mesh(const TriangleMesh& mesh, const MeshHullOptions& options = {});

/// A sentence for whoever gave the mesh if its hull differs from it: reduced, thickened, or not the same as the mesh
/// by more than a hundredth of its size. Empty if there is nothing.
[[nodiscard]] std::string describe(const MeshHull& hull);

}  // namespace tangere
