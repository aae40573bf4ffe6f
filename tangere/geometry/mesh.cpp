/// Surfaces of revolution about x from a profile, exact faces for polyhedra, and for the rest the hull of points known
/// to lie on the surface (support points).

#include "tangere/geometry/mesh.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <Eigen/Cholesky>
#include <Eigen/Geometry>

#include "tangere/geometry/internal/rounded_core.hpp"
#include "tangere/geometry/internal/surface_points.hpp"
#include "tangere/math/check.hpp"

namespace tangere {
namespace {

constexpr double kPi = std::numbers::pi;

void append(TriangleMesh& mesh, const TriangleMesh& other, const Pose& X) {
  const int first = static_cast<int>(mesh.vertices.size());
  for (const Vector3& vertex : other.vertices) mesh.vertices.push_back(X * vertex);
  for (const auto& [a, b, c] : other.triangles) mesh.triangles.push_back({first + a, first + b, first + c});
}

TriangleMesh from_hull(const Hull& hull) {
  TriangleMesh mesh;
  for (Eigen::Index i = 0; i < hull.vertices.rows(); ++i) mesh.vertices.emplace_back(hull.vertices.row(i).transpose());
  for (const std::vector<int>& face : hull.faces)
    for (std::size_t k = 1; k + 1 < face.size(); ++k) mesh.triangles.push_back({face[0], face[k], face[k + 1]});
  return mesh;
}

/// A point (x, distance from the axis) of a profile.
struct ProfilePoint {
  double x;
  double r;
};

/// The profile turned about the x axis; it runs towards +x and starts and ends on the axis.
TriangleMesh revolve(const std::vector<ProfilePoint>& profile, int resolution) {
  TriangleMesh mesh;
  const int rings = static_cast<int>(profile.size()) - 2;
  mesh.vertices.emplace_back(profile.front().x, 0.0, 0.0);
  for (int ring = 0; ring < rings; ++ring) {
    const ProfilePoint& point = profile[static_cast<std::size_t>(ring) + 1];
    for (int k = 0; k < resolution; ++k) {
      const double angle = 2.0 * kPi * k / resolution;
      mesh.vertices.emplace_back(point.x, point.r * std::cos(angle), point.r * std::sin(angle));
    }
  }
  const int last = static_cast<int>(mesh.vertices.size());
  mesh.vertices.emplace_back(profile.back().x, 0.0, 0.0);

  const auto at = [&](int ring, int k) { return 1 + ring * resolution + k % resolution; };
  for (int k = 0; k < resolution; ++k) {
    mesh.triangles.push_back({0, at(0, k + 1), at(0, k)});
    for (int ring = 0; ring + 1 < rings; ++ring) {
      mesh.triangles.push_back({at(ring, k), at(ring, k + 1), at(ring + 1, k + 1)});
      mesh.triangles.push_back({at(ring, k), at(ring + 1, k + 1), at(ring + 1, k)});
    }
    mesh.triangles.push_back({at(rings - 1, k), at(rings - 1, k + 1), last});
  }
  return mesh;
}

/// Half circles about (-half, 0) and (half, 0), from pole to pole; one circle for half = 0.
TriangleMesh capsule_mesh(double radius, double half, int resolution) {
  const int quarter = std::max(1, (resolution + 2) / 4);
  std::vector<ProfilePoint> profile;
  for (int k = 0; k <= quarter; ++k) {
    const double angle = 0.5 * kPi * k / quarter;
    profile.push_back({-half - radius * std::cos(angle), k == 0 ? 0.0 : radius * std::sin(angle)});
  }
  for (int k = half > 0.0 ? 0 : 1; k <= quarter; ++k) {
    const double angle = 0.5 * kPi * k / quarter;
    profile.push_back({half + radius * std::sin(angle), k == quarter ? 0.0 : radius * std::cos(angle)});
  }
  return revolve(profile, resolution);
}

TriangleMesh core_mesh(const internal::RoundedCore& core, int resolution) {
  using Dimension = internal::RoundedCore::Dimension;
  if (core.dimension == Dimension::point || core.dimension == Dimension::segment) {
    const Vector3 begin = core.points.row(0).transpose();
    const Vector3 end = core.points.row(core.points.rows() - 1).transpose();
    const Vector3 along = end - begin;
    const Matrix3 R = along.norm() > 0.0
                          ? Eigen::Quaterniond::FromTwoVectors(Vector3::UnitX(), along).toRotationMatrix()
                          : Matrix3::Identity();
    TriangleMesh mesh;
    append(mesh, capsule_mesh(core.radius, 0.5 * along.norm(), resolution), Pose(R, 0.5 * (begin + end)));
    return mesh;
  }
  if (core.radius > 0.0)
    return from_hull(hull_of_points(internal::rounded_surface_points(core.hull, core.radius, resolution)));
  return from_hull(core.hull);
}

struct MeshOf {
  const Shape& shape;
  const MeshOptions& options;

  TriangleMesh operator()(const Sphere& sphere) const { return capsule_mesh(sphere.radius, 0.0, options.resolution); }
  TriangleMesh operator()(const Ellipsoid& ellipsoid) const {
    TriangleMesh mesh = capsule_mesh(1.0, 0.0, options.resolution);
    // P = UᵀU: U⁻¹ takes the unit ball to the ellipsoid
    for (Vector3& vertex : mesh.vertices) {
      if (ellipsoid.P)
        vertex = Eigen::LLT<Matrix3>(*ellipsoid.P).matrixU().solve(vertex).eval();
      else
        vertex = ellipsoid.semi_axes.cwiseProduct(vertex).eval();
    }
    return mesh;
  }
  TriangleMesh operator()(const Capsule& capsule) const {
    return capsule_mesh(capsule.radius, 0.5 * capsule.length, options.resolution);
  }
  TriangleMesh operator()(const Cylinder& cylinder) const {
    const double half = 0.5 * cylinder.length;
    const double R = cylinder.radius;
    return revolve({{-half, 0.0}, {-half, R}, {half, R}, {half, 0.0}}, options.resolution);
  }
  TriangleMesh operator()(const Cone& cone) const {
    const double H = cone.height;
    return revolve({{-0.75 * H, 0.0}, {0.25 * H, H * std::tan(cone.half_angle)}, {0.25 * H, 0.0}}, options.resolution);
  }
  TriangleMesh operator()(const HalfSpace& half_space) const {
    const double norm = half_space.normal.norm();
    const Vector3 n = half_space.normal / norm;
    const Vector3 e1 = 0.5 * options.half_space_size * n.unitOrthogonal();
    const Vector3 e2 = n.cross(e1);
    const Vector3 middle = half_space.offset / norm * n;
    return {{middle - e1 - e2, middle + e1 - e2, middle + e1 + e2, middle - e1 + e2}, {{0, 1, 2}, {0, 2, 3}}};
  }
  TriangleMesh operator()(const Bundle& bundle) const {
    TriangleMesh joined;
    for (const ShapePart& part : bundle.parts) append(joined, mesh(part.shape, options), part.X);
    return joined;
  }
  /// Boxes, polytopes, padded shapes and Minkowski sums.
  template <class Spec>
  TriangleMesh operator()(const Spec&) const {
    if (const auto core = internal::rounded_core(shape)) return core_mesh(*core, options.resolution);
    return from_hull(hull_of_points(internal::support_points(shape, options.resolution)));
  }
};

}  // namespace

void MeshOptions::verify() const {
  if (resolution < 3) throw InputError("resolution", "must be at least 3, got " + std::to_string(resolution));
  internal::require_positive("half_space_size", half_space_size);
}

TriangleMesh mesh(const Shape& shape, const MeshOptions& options) {
  options.verify();
  return std::visit(MeshOf{shape, options}, shape.spec());
}

}  // namespace tangere
