#pragma once

/// Obstacles that are not convex, as bundles: meshes, height fields, point clouds, depth
/// images. Every query answers them with points, normals and derivatives like any other shape, through the part that
/// decides.
///
///   const MeshBundle room = bundle_of_mesh(mesh, {.thickness = 1e-3});
///   const Shape cloud = point_cloud(points, {.radius = 0.01, .spacing = 0.01});

#include "tangere/geometry/mesh.hpp"
#include "tangere/geometry/shape.hpp"

namespace tangere {

struct MeshBundleOptions {
  /// Triangles are padded by this [m].
  double thickness = 1e-3;
  /// Meshes with holes (edges of one triangle only) are refused.
  bool closed = false;
  /// More triangles are refused: each takes about 5 kB.
  int max_triangles = 100000;

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

struct MeshBundle {
  /// The surface: what is wholly inside of it does not touch it.
  Shape shape;
  /// Edges that belong to one triangle only; 0 for a closed mesh.
  int open_edges = 0;
  /// Triangles without area, which were left out.
  int degenerate = 0;
};

/// Every triangle of the mesh, padded. Throws InputError `mesh` if there are none, and for numbers that are not finite
/// and indices out of range.
[[nodiscard]] MeshBundle bundle_of_mesh(const TriangleMesh& mesh, const MeshBundleOptions& options = {});

struct PointCloudOptions {
  /// Each point is a ball [m].
  double radius = 0.01;
  /// Edge of the cubes in which only the first point is kept [m]; 0 keeps all points.
  double spacing = 0.0;
  int max_points = 1000000;

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

/// Points, one a row. Throws InputError `points` if there are none or one is not finite.
[[nodiscard]] Shape point_cloud(const MatrixX3& points, const PointCloudOptions& options = {});

/// A pinhole camera that looks along +z, x to the right, y down; pixel (u, v) at column u, row v.
struct DepthCamera {
  double fx = 0.0;
  double fy = 0.0;
  double cx = 0.0;
  double cy = 0.0;
  /// Depths outside of this range (and zero, NaN, infinity) are no measurement [m].
  double nearest = 0.05;
  double farthest = 10.0;
  /// Every so many rows and columns count.
  int stride = 1;

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

/// The points of a depth image (metres along z) in the camera's frame; none for an image without measurements.
[[nodiscard]] MatrixX3 depth_points(const MatrixX& depth, const DepthCamera& camera);

/// The ground under heights(i, j) at x = i spacing_x, y = j spacing_y, down to `base`, in the frame of the first
/// corner. Two prisms per cell. Throws InputError for fewer than 2 x 2 heights and for a base that is not below all of
/// them.
[[nodiscard]] Shape height_field(const MatrixX& heights, double spacing_x, double spacing_y, double base);

}  // namespace tangere
