#include "tangere/geometry/obstacles.hpp"

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <Eigen/Geometry>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"

namespace tangere {
namespace {

/// Triangles thinner than this part of their longest edge have no normal.
constexpr double kLeastShape = 1e-9;

void require_positive(const char* field, double value) {
  if (!(value > 0.0 && std::isfinite(value)))
    throw InputError(field, "must be above 0, got " + internal::to_text(value));
}

/// A triangle as a padded polygon about its centroid, and its pose.
ShapePart padded_triangle(const std::array<Vector3, 3>& p, double radius) {
  const Vector3 center = (p[0] + p[1] + p[2]) / 3.0;
  const Vector3 x = (p[1] - p[0]).normalized();
  const Vector3 z = x.cross(p[2] - p[0]).normalized();
  Matrix3 R;
  R << x, z.cross(x), z;
  PaddedPolygon polygon{MatrixX2(3, 2), VectorX(3), radius};
  for (int k = 0; k < 3; ++k) {
    const Vector3 from = R.transpose() * (p[k] - center);
    const Vector3 to = R.transpose() * (p[(k + 1) % 3] - center);
    // counter-clockwise about z: outwards is to the right
    const Vector2 outward = Vector2(to[1] - from[1], from[0] - to[0]).normalized();
    polygon.C.row(k) = outward.transpose();
    polygon.d[k] = outward.dot(from.head<2>());
  }
  return {polygon, Pose(R, center)};
}

bool is_degenerate(const std::array<Vector3, 3>& p) {
  double longest = 0.0;
  for (int k = 0; k < 3; ++k) longest = std::max(longest, (p[(k + 1) % 3] - p[k]).squaredNorm());
  return !((p[1] - p[0]).cross(p[2] - p[0]).norm() > kLeastShape * longest);
}

int count_open_edges(const TriangleMesh& mesh) {
  // by place: files often repeat vertices
  std::map<std::array<double, 3>, int> places;
  std::vector<int> name;
  for (const Vector3& v : mesh.vertices)
    name.push_back(places.try_emplace({v[0], v[1], v[2]}, static_cast<int>(places.size())).first->second);
  std::map<std::pair<int, int>, int> edges;
  for (const std::array<int, 3>& t : mesh.triangles)
    for (int k = 0; k < 3; ++k) ++edges[std::minmax(name[t[k]], name[t[(k + 1) % 3]])];
  int open = 0;
  for (const auto& [edge, count] : edges) open += count == 1 && edge.first != edge.second ? 1 : 0;
  return open;
}

/// A convex hull of few points, about its centroid, as a part.
ShapePart hull_part(const MatrixX3& points) {
  const Vector3 middle = points.colwise().mean().transpose();
  return {Polytope::from_vertices(points.rowwise() - middle.transpose()), Pose::translation(middle)};
}

}  // namespace

void MeshBundleOptions::verify() const {
  require_positive("thickness", thickness);
  if (max_triangles < 1) throw InputError("max_triangles", "must be at least 1, got " + std::to_string(max_triangles));
}

MeshBundle bundle_of_mesh(const TriangleMesh& mesh, const MeshBundleOptions& options) {
  options.verify();
  if (mesh.triangles.empty()) throw InputError("mesh", "has no triangles");
  if (mesh.triangles.size() > static_cast<std::size_t>(options.max_triangles))
    throw InputError("mesh", "has " + std::to_string(mesh.triangles.size()) + " triangles, more than max_triangles, " +
                                 std::to_string(options.max_triangles));
  for (const Vector3& v : mesh.vertices)
    if (!v.allFinite()) throw InputError("mesh", "has a vertex that is not finite");
  Bundle bundle;
  int degenerate = 0;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    std::array<Vector3, 3> p;
    for (int k = 0; k < 3; ++k) {
      const int v = mesh.triangles[i][k];
      if (v < 0 || v >= static_cast<int>(mesh.vertices.size()))
        throw InputError("mesh", "triangle " + std::to_string(i) + " has no vertex " + std::to_string(v));
      p[k] = mesh.vertices[v];
    }
    if (is_degenerate(p)) {
      ++degenerate;
    } else {
      bundle.parts.push_back(padded_triangle(p, options.thickness));
    }
  }
  if (bundle.parts.empty()) throw InputError("mesh", "has no triangle with an area");
  const int open_edges = count_open_edges(mesh);
  if (options.closed && open_edges > 0)
    throw InputError("mesh", "has holes: " + std::to_string(open_edges) + " edges belong to one triangle only");
  return {Shape(std::move(bundle)), open_edges, degenerate};
}

void PointCloudOptions::verify() const {
  require_positive("radius", radius);
  if (!(spacing >= 0.0 && std::isfinite(spacing)))
    throw InputError("spacing", "must not be negative, got " + internal::to_text(spacing));
  if (max_points < 1) throw InputError("max_points", "must be at least 1, got " + std::to_string(max_points));
}

Shape point_cloud(const MatrixX3& points, const PointCloudOptions& options) {
  options.verify();
  if (points.rows() == 0) throw InputError("points", "must not be empty");
  if (!points.allFinite()) throw InputError("points", "must be finite");
  const Shape ball = Sphere{options.radius};
  std::set<std::array<double, 3>> taken;
  Bundle bundle;
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    const Vector3 p = points.row(i).transpose();
    if (options.spacing > 0.0) {
      const Vector3 cell = (p / options.spacing).array().floor();
      if (!taken.insert({cell[0], cell[1], cell[2]}).second) continue;
    }
    bundle.parts.push_back({ball, Pose::translation(p)});
  }
  if (bundle.parts.size() > static_cast<std::size_t>(options.max_points))
    throw InputError("points", "has " + std::to_string(bundle.parts.size()) + " points, more than max_points, " +
                                   std::to_string(options.max_points) + ": a larger spacing leaves fewer");
  return Shape(std::move(bundle));
}

void DepthCamera::verify() const {
  require_positive("fx", fx);
  require_positive("fy", fy);
  internal::require_finite("cx", cx);
  internal::require_finite("cy", cy);
  require_positive("nearest", nearest);
  if (!(farthest > nearest)) throw InputError("farthest", "must be above nearest, got " + internal::to_text(farthest));
  if (stride < 1) throw InputError("stride", "must be at least 1, got " + std::to_string(stride));
}

MatrixX3 depth_points(const MatrixX& depth, const DepthCamera& camera) {
  camera.verify();
  std::vector<Vector3> points;
  for (Eigen::Index v = 0; v < depth.rows(); v += camera.stride) {
    for (Eigen::Index u = 0; u < depth.cols(); u += camera.stride) {
      const double z = depth(v, u);
      if (!(z >= camera.nearest && z <= camera.farthest)) continue;
      points.emplace_back((static_cast<double>(u) - camera.cx) / camera.fx * z,
                          (static_cast<double>(v) - camera.cy) / camera.fy * z, z);
    }
  }
  MatrixX3 out(static_cast<Eigen::Index>(points.size()), 3);
  for (std::size_t i = 0; i < points.size(); ++i) out.row(static_cast<Eigen::Index>(i)) = points[i].transpose();
  return out;
}

Shape height_field(const MatrixX& heights, double spacing_x, double spacing_y, double base) {
  if (heights.rows() < 2 || heights.cols() < 2) throw InputError("heights", "must be at least 2 x 2");
  if (!heights.allFinite()) throw InputError("heights", "must be finite");
  require_positive("spacing_x", spacing_x);
  require_positive("spacing_y", spacing_y);
  if (!(base < heights.minCoeff()))
    throw InputError("base", "must be below all heights, got " + internal::to_text(base));
  Bundle bundle;
  const auto at = [&](Eigen::Index i, Eigen::Index j) {
    return Vector3(static_cast<double>(i) * spacing_x, static_cast<double>(j) * spacing_y, heights(i, j));
  };
  for (Eigen::Index i = 0; i + 1 < heights.rows(); ++i) {
    for (Eigen::Index j = 0; j + 1 < heights.cols(); ++j) {
      const Vector3 corners[2][3] = {{at(i, j), at(i + 1, j), at(i + 1, j + 1)},
                                     {at(i, j), at(i + 1, j + 1), at(i, j + 1)}};
      for (const auto& triangle : corners) {
        MatrixX3 prism(6, 3);
        for (int k = 0; k < 3; ++k) {
          prism.row(k) = triangle[k].transpose();
          prism.row(k + 3) = Vector3(triangle[k][0], triangle[k][1], base).transpose();
        }
        bundle.parts.push_back(hull_part(prism));
      }
    }
  }
  return Shape(std::move(bundle));
}

}  // namespace tangere
