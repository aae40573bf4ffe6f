/// Support maps in closed form; over the vertices for polytopes.

#include "tangere/geometry/support.hpp"

#include <cmath>
#include <limits>

#include <Eigen/Cholesky>

namespace tangere {
namespace {

/// n / |n|, or some unit vector for n = 0.
Vector3 direction(const Vector3& n) {
  const double norm = n.stableNorm();
  return norm > 0.0 ? Vector3(n / norm) : Vector3::UnitX();
}

Vector3 farthest(const MatrixX3& vertices, const Vector3& n) {
  Eigen::Index best = 0;
  double value = -std::numeric_limits<double>::infinity();
  for (Eigen::Index i = 0; i < vertices.rows(); ++i) {
    const double candidate = vertices(i, 0) * n[0] + vertices(i, 1) * n[1] + vertices(i, 2) * n[2];
    if (candidate > value) {
      value = candidate;
      best = i;
    }
  }
  return vertices.row(best).transpose();
}

/// The point at distance `radius` from the x axis in the direction of n's part across the axis.
Vector3 around_x(double x, double radius, const Vector3& n) {
  const double across = std::hypot(n[1], n[2]);
  if (!(across > 0.0)) return {x, 0.0, 0.0};
  return {x, radius * n[1] / across, radius * n[2] / across};
}

struct SupportMap {
  const Shape& shape;
  Vector3 n;

  Vector3 operator()(const Sphere& sphere) const { return sphere.radius * direction(n); }

  Vector3 operator()(const Ellipsoid& ellipsoid) const {
    if (ellipsoid.P) {
      // P⁻¹ n / √(nᵀ P⁻¹ n)
      const Vector3 u = direction(n);
      const Vector3 v = Eigen::LLT<Matrix3>(*ellipsoid.P).solve(u);
      return v / std::sqrt(u.dot(v));
    }
    return ellipsoid.semi_axes.cwiseProduct(direction(ellipsoid.semi_axes.cwiseProduct(n)));
  }

  Vector3 operator()(const Box& box) const {
    return {std::copysign(0.5 * box.size[0], n[0]), std::copysign(0.5 * box.size[1], n[1]),
            std::copysign(0.5 * box.size[2], n[2])};
  }

  Vector3 operator()(const Polytope&) const { return farthest(shape.set().core.vertices, n); }

  Vector3 operator()(const RoundedPolytope& rounded) const {
    return farthest(shape.set().core.vertices, n) + rounded.radius * direction(n);
  }

  Vector3 operator()(const Capsule& capsule) const {
    const Vector3 end(std::copysign(0.5 * capsule.length, n[0]), 0.0, 0.0);
    return end + capsule.radius * direction(n);
  }

  Vector3 operator()(const Cylinder& cylinder) const {
    return around_x(std::copysign(0.5 * cylinder.length, n[0]), cylinder.radius, n);
  }

  Vector3 operator()(const Cone& cone) const {
    const double base_radius = cone.height * std::tan(cone.half_angle);
    const double base = 0.25 * cone.height * n[0] + base_radius * std::hypot(n[1], n[2]);
    if (-0.75 * cone.height * n[0] > base) return {-0.75 * cone.height, 0.0, 0.0};
    return around_x(0.25 * cone.height, base_radius, n);
  }

  Vector3 operator()(const PaddedPolygon& polygon) const {
    return farthest(shape.set().core.vertices, n) + polygon.radius * direction(n);
  }

  Vector3 operator()(const HalfSpace& half_space) const {
    const Vector3 normal = half_space.normal.normalized();
    const Vector3 point = half_space.offset / half_space.normal.norm() * normal;
    if (n.isZero(0.0) || (n.dot(normal) > 0.0 && n.cross(normal).norm() <= 1e-12 * n.norm())) return point;
    return Vector3::Constant(std::numeric_limits<double>::quiet_NaN());
  }

  Vector3 operator()(const MinkowskiSum& sum) const {
    Vector3 point = Vector3::Zero();
    for (const ShapePart& part : sum.parts) point += part.X * support(part.shape, part.X.R.transpose() * n);
    return point;
  }

  Vector3 operator()(const Bundle& bundle) const {
    Vector3 best = Vector3::Constant(std::numeric_limits<double>::quiet_NaN());
    double value = -std::numeric_limits<double>::infinity();
    for (const ShapePart& part : bundle.parts) {
      const Vector3 point = part.X * support(part.shape, part.X.R.transpose() * n);
      if (!point.allFinite()) return point;
      if (n.dot(point) <= value) continue;
      value = n.dot(point);
      best = point;
    }
    return best;
  }
};

}  // namespace

Vector3 support(const Shape& shape, const Vector3& n) { return std::visit(SupportMap{shape, n}, shape.spec()); }

}  // namespace tangere
