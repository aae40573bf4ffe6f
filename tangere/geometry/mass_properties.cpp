/// Mass properties from the volume moments of each shape: closed forms for the quadrics, signed tetrahedra for
/// polyhedra, Steiner's decomposition for padded ones (rounded_moments.cpp), and a surface of support points for other
/// Minkowski sums.

#include "tangere/geometry/mass_properties.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "tangere/geometry/check.hpp"
#include "tangere/geometry/moments.hpp"
#include "tangere/geometry/rounded_core.hpp"
#include "tangere/geometry/support.hpp"
#include "tangere/geometry/surface_points.hpp"

namespace tangere {
namespace {

using detail::Moments;

Moments core_moments(const detail::RoundedCore& core) {
  using Dimension = detail::RoundedCore::Dimension;
  switch (core.dimension) {
    case Dimension::point:
      return detail::ball_moments(core.radius).posed(Pose::translation(core.points.row(0).transpose()));
    case Dimension::segment: {
      const Vector3 along = (core.points.row(1) - core.points.row(0)).transpose();
      const Matrix3 R = Eigen::Quaterniond::FromTwoVectors(Vector3::UnitX(), along).toRotationMatrix();
      const Vector3 middle = 0.5 * (core.points.row(0) + core.points.row(1)).transpose();
      return detail::capsule_moments(core.radius, along.norm()).posed(Pose(R, middle));
    }
    default:
      return core.radius > 0.0 ? detail::rounded_polyhedron_moments(core.hull, core.radius)
                               : detail::polyhedron_moments(core.hull);
  }
}

/// The solid inside the surface u -> support(S u), u over an octahedron's faces cut into `cells`² triangles each.
/// Where the shape has a flat face or an edge, whole patches of u meet in a point or a line: triangles of no area.
Moments support_surface_moments(const Shape& shape, const Matrix3& S, const Vector3& center, int cells) {
  Moments total;
  std::vector<Vector3> points;
  for (int octant = 0; octant < 8; ++octant) {
    const Vector3 sign((octant & 1) != 0 ? -1.0 : 1.0, (octant & 2) != 0 ? -1.0 : 1.0, (octant & 4) != 0 ? -1.0 : 1.0);
    const bool mirrored = sign.prod() < 0.0;

    // points (i, j), i + j ≤ cells, row after row
    points.clear();
    for (int i = 0; i <= cells; ++i)
      for (int j = 0; i + j <= cells; ++j)
        points.push_back(support(shape, S * sign.cwiseProduct(Vector3(cells - i - j, i, j))) - center);
    const auto at = [&](int i, int j) -> const Vector3& {
      return points[static_cast<std::size_t>(i * (cells + 1) - i * (i - 1) / 2 + j)];
    };
    const auto add = [&](const Vector3& a, const Vector3& b, const Vector3& c) {
      total += mirrored ? detail::tetrahedron_moments(a, c, b) : detail::tetrahedron_moments(a, b, c);
    };
    for (int i = 0; i < cells; ++i) {
      for (int j = 0; i + j < cells; ++j) {
        add(at(i, j), at(i + 1, j), at(i, j + 1));
        if (i + j + 1 < cells) add(at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
      }
    }
  }
  return total.posed(Pose::translation(center));
}

Moments combine(const Moments& a, double factor_a, const Moments& b, double factor_b) {
  return {factor_a * a.volume + factor_b * b.volume, factor_a * a.first + factor_b * b.first,
          factor_a * a.second + factor_b * b.second};
}

/// Refined until two extrapolated volumes agree to 1e-7: the error of the surface goes with the square of the cell.
Moments sum_moments(const Shape& shape, const MinkowskiSum& sum) {
  Vector3 center = Vector3::Zero();
  for (const ShapePart& part : sum.parts) center += part.X.p;
  const Matrix3 S = detail::even_directions(shape);
  Moments coarse = support_surface_moments(shape, S, center, 16);
  Moments previous = coarse;
  for (int cells = 32; cells <= 512; cells *= 2) {
    const Moments fine = support_surface_moments(shape, S, center, cells);
    const Moments better = combine(fine, 4.0 / 3.0, coarse, -1.0 / 3.0);
    const bool agrees = std::abs(better.volume - previous.volume) < 1e-7 * better.volume;
    previous = better;
    coarse = fine;
    if (agrees) break;
  }
  return previous;
}

struct MomentsOf {
  const Shape& shape;

  Moments operator()(const Sphere& sphere) const { return detail::ball_moments(sphere.radius); }
  Moments operator()(const Ellipsoid& ellipsoid) const {
    const double ball = 4.0 / 3.0 * std::numbers::pi;
    const Vector3& a = ellipsoid.semi_axes;
    if (!ellipsoid.P) return Moments::centred(ball * a.prod(), a.cwiseAbs2() / 5.0);
    Moments moments;
    moments.volume = ball / std::sqrt(ellipsoid.P->determinant());
    moments.second = moments.volume / 5.0 * ellipsoid.P->inverse();
    return moments;
  }
  Moments operator()(const Box& box) const { return Moments::centred(box.size.prod(), box.size.cwiseAbs2() / 12.0); }
  Moments operator()(const Polytope&) const { return detail::polyhedron_moments(shape.set().core); }
  Moments operator()(const RoundedPolytope& rounded) const {
    return detail::rounded_polyhedron_moments(shape.set().core, rounded.radius);
  }
  Moments operator()(const Capsule& capsule) const { return detail::capsule_moments(capsule.radius, capsule.length); }
  Moments operator()(const Cylinder& cylinder) const {
    const double R2 = cylinder.radius * cylinder.radius;
    const double L = cylinder.length;
    return Moments::centred(std::numbers::pi * R2 * L, Vector3(L * L / 12.0, R2 / 4.0, R2 / 4.0));
  }
  Moments operator()(const Cone& cone) const {
    const double H = cone.height;
    const double base = H * std::tan(cone.half_angle);
    const double across = 3.0 / 20.0 * base * base;
    return Moments::centred(std::numbers::pi / 3.0 * base * base * H, Vector3(3.0 / 80.0 * H * H, across, across));
  }
  Moments operator()(const PaddedPolygon&) const { return core_moments(*detail::rounded_core(shape)); }
  Moments operator()(const HalfSpace&) const { throw InputError("halfspace", "has no finite mass"); }
  Moments operator()(const MinkowskiSum& sum) const {
    if (const auto core = detail::rounded_core(shape)) return core_moments(*core);
    return sum_moments(shape, sum);
  }
  Moments operator()(const Bundle& bundle) const {
    Moments total;
    for (const ShapePart& part : bundle.parts)
      total += std::visit(MomentsOf{part.shape}, part.shape.spec()).posed(part.X);
    return total;
  }
};

MassProperties from_moments(const Moments& moments, double density) {
  const Vector3 center = moments.first / moments.volume;
  const Matrix3 covariance = moments.second - moments.first * center.transpose();
  const Matrix3 inertia = covariance.trace() * Matrix3::Identity() - covariance;
  return {density * moments.volume, center, density * 0.5 * (inertia + inertia.transpose())};
}

}  // namespace

MassProperties mass_properties(const Shape& shape, double density) {
  detail::require_positive("density", density);
  return from_moments(std::visit(MomentsOf{shape}, shape.spec()), density);
}

MassProperties mass_properties(const TriangleMesh& mesh, double density) {
  detail::require_positive("density", density);
  if (mesh.triangles.empty()) throw InputError("mesh", "has no triangles");
  // about a point of the mesh, so that far from the origin nothing cancels
  const auto vertex = [&](int i) -> const Vector3& { return mesh.vertices[static_cast<std::size_t>(i)]; };
  const Vector3 origin = vertex(mesh.triangles.front()[0]);
  Moments total;
  double size = 0.0;
  for (const auto& [a, b, c] : mesh.triangles) {
    const Moments part = detail::tetrahedron_moments(vertex(a) - origin, vertex(b) - origin, vertex(c) - origin);
    total += part;
    size += std::abs(part.volume);
  }
  if (!(total.volume > 1e-9 * size))
    throw InputError("mesh", "must enclose a positive volume, has " + detail::to_text(total.volume));
  return posed(from_moments(total, density), Pose::translation(origin));
}

MassProperties posed(const MassProperties& body, const Pose& X) {
  const Matrix3 inertia = X.R * body.inertia * X.R.transpose();
  return {body.mass, X * body.center, 0.5 * (inertia + inertia.transpose())};
}

MassProperties combined(std::span<const MassProperties> bodies) {
  MassProperties total{0.0, Vector3::Zero(), Matrix3::Zero()};
  if (bodies.size() == 1) return bodies[0];
  for (const MassProperties& body : bodies) {
    total.mass += body.mass;
    total.center += body.mass * body.center;
  }
  if (total.mass > 0.0) total.center /= total.mass;
  for (const MassProperties& body : bodies) {
    const Vector3 d = body.center - total.center;
    total.inertia += body.inertia + body.mass * (d.squaredNorm() * Matrix3::Identity() - d * d.transpose());
  }
  return total;
}

}  // namespace tangere
