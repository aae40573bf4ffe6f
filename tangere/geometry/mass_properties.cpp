/// Mass properties from the volume moments of each shape: closed forms for the quadrics, signed tetrahedra for
/// polyhedra, Steiner's decomposition for padded ones (rounded_moments.cpp), and a surface of support points for other
/// Minkowski sums.

#include "tangere/geometry/mass_properties.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "tangere/geometry/internal/moments.hpp"
#include "tangere/geometry/internal/rounded_core.hpp"
#include "tangere/geometry/internal/surface_points.hpp"
#include "tangere/geometry/support.hpp"
#include "tangere/math/check.hpp"

namespace tangere {
namespace {

using internal::Moments;

Moments core_moments(const internal::RoundedCore& core) {
  using Dimension = internal::RoundedCore::Dimension;
  switch (core.dimension) {
    case Dimension::point:
      return internal::ball_moments(core.radius).posed(Pose::translation(core.points.row(0).transpose()));
    case Dimension::segment: {
      const Vector3 along = (core.points.row(1) - core.points.row(0)).transpose();
      const Matrix3 R = Eigen::Quaterniond::FromTwoVectors(Vector3::UnitX(), along).toRotationMatrix();
      const Vector3 middle = 0.5 * (core.points.row(0) + core.points.row(1)).transpose();
      return internal::capsule_moments(core.radius, along.norm()).posed(Pose(R, middle));
    }
    default:
      return core.radius > 0.0 ? internal::rounded_polyhedron_moments(core.hull, core.radius)
                               : internal::polyhedron_moments(core.hull);
  }
}

Moments combine(const Moments& a, double factor_a, const Moments& b, double factor_b) {
  return {factor_a * a.volume + factor_b * b.volume, factor_a * a.first + factor_b * b.first,
          factor_a * a.second + factor_b * b.second};
}

/// The solid inside the surface u -> support(S u), in cones from an inner point over triangles of directions u. Those
/// of an octahedron are cut until the surface rises above the chord between two corners by less than `sag` of its
/// distance from the inner point, a measure that no affine map changes. An edge is cut by what is known of it alone, so
/// neighbours agree and the surface is closed; where the shape has a flat face or an edge, whole patches of u meet in a
/// point or a line, and their triangles have no area.
class SupportSurface {
 public:
  SupportSurface(const Shape& shape, const Matrix3& S, const Vector3& center, double sag)
      : shape_(shape), S_(S), center_(center), sag_(sag) {}

  /// About the frame's origin.
  [[nodiscard]] Moments moments() {
    total_ = Moments();
    for (int octant = 0; octant < 8; ++octant) {
      const Vector3 sign((octant & 1) != 0 ? -1.0 : 1.0, (octant & 2) != 0 ? -1.0 : 1.0,
                         (octant & 4) != 0 ? -1.0 : 1.0);
      Corner x = corner(S_ * (sign[0] * Vector3::UnitX()));
      Corner y = corner(S_ * (sign[1] * Vector3::UnitY()));
      const Corner z = corner(S_ * (sign[2] * Vector3::UnitZ()));
      if (sign.prod() < 0.0) std::swap(x, y);
      add(x, y, z, 0);
    }
    return total_.posed(Pose::translation(center_));
  }

 private:
  /// All triangles are cut at least so often, so that no feature between two corners is missed ...
  static constexpr int kLeastDepth = 4;
  /// ... and at most so often: directions so close round to one.
  static constexpr int kMostDepth = 40;

  struct Corner {
    Vector3 normal;
    /// From the inner point.
    Vector3 point;
  };
  /// The middle of an edge.
  struct Middle {
    Corner corner;
    bool is_cut;
  };

  [[nodiscard]] Corner corner(const Vector3& normal) const { return {normal, support(shape_, normal) - center_}; }

  [[nodiscard]] Middle between(const Corner& a, const Corner& b, int depth) const {
    const Corner middle = corner(0.5 * (a.normal + b.normal));
    if (depth < kLeastDepth || depth >= kMostDepth) return {middle, depth < kLeastDepth};
    const double rise = middle.normal.dot(middle.point - 0.5 * (a.point + b.point));
    return {middle, rise > sag_ * middle.normal.dot(middle.point)};
  }

  void add(const Corner& a, const Corner& b, const Corner& c, int depth) {
    const auto [bc, cut_a] = between(b, c, depth);
    const auto [ca, cut_b] = between(c, a, depth);
    const auto [ab, cut_c] = between(a, b, depth);
    const int cuts = int{cut_a} + int{cut_b} + int{cut_c};
    if (cuts == 0) return add_leaf(a, b, c, bc, ca, ab);
    if (cuts == 3) {
      add(a, ab, ca, depth + 1);
      add(b, bc, ab, depth + 1);
      add(c, ca, bc, depth + 1);
      return add(ab, bc, ca, depth + 1);
    }
    if (cuts == 1) {
      if (cut_a) return add_halves(a, b, bc, c, depth);
      if (cut_b) return add_halves(b, c, ca, a, depth);
      return add_halves(c, a, ab, b, depth);
    }
    if (!cut_a) return add_thirds(a, ab, b, c, ca, depth);
    if (!cut_b) return add_thirds(b, bc, c, a, ab, depth);
    return add_thirds(c, ca, a, b, bc, depth);
  }

  /// The edge opposite of the tip is cut.
  void add_halves(const Corner& tip, const Corner& from, const Corner& middle, const Corner& to, int depth) {
    add(tip, from, middle, depth + 1);
    add(tip, middle, to, depth + 1);
  }

  /// Both edges at the tip are cut, at `left` towards b and at `right` towards c.
  void add_thirds(const Corner& tip, const Corner& left, const Corner& b, const Corner& c, const Corner& right,
                  int depth) {
    add(tip, left, right, depth + 1);
    add(left, b, right, depth + 1);
    add(b, c, right, depth + 1);
  }

  /// One triangle and its four quarters: the error goes with the square of the edges, so both give a better one.
  void add_leaf(const Corner& a, const Corner& b, const Corner& c, const Corner& bc, const Corner& ca,
                const Corner& ab) {
    using internal::tetrahedron_moments;
    Moments fine = tetrahedron_moments(a.point, ab.point, ca.point);
    fine += tetrahedron_moments(b.point, bc.point, ab.point);
    fine += tetrahedron_moments(c.point, ca.point, bc.point);
    fine += tetrahedron_moments(ab.point, bc.point, ca.point);
    total_ += combine(fine, 4.0 / 3.0, tetrahedron_moments(a.point, b.point, c.point), -1.0 / 3.0);
  }

  const Shape& shape_;
  Matrix3 S_;
  Vector3 center_;
  double sag_;
  Moments total_;
};

/// Refined by fours. The error falls by that along straight lines of the surface, whose triangles have no regular
/// quarters, else faster: a third of the last change is still to come, or less.
Moments sum_moments(const Shape& shape, const MinkowskiSum& sum) {
  Vector3 center = Vector3::Zero();
  for (const ShapePart& part : sum.parts) center += part.X.p;
  const Matrix3 S = internal::even_directions(shape);
  Moments last = SupportSurface(shape, S, center, 4e-3).moments();
  Moments extrapolated = last;
  for (double sag = 1e-3; sag > 3e-6; sag /= 4.0) {
    const Moments next = SupportSurface(shape, S, center, sag).moments();
    const double before = extrapolated.volume;
    extrapolated = combine(next, 4.0 / 3.0, last, -1.0 / 3.0);
    if (std::abs(next.volume - last.volume) < 5e-7 * next.volume ||
        std::abs(extrapolated.volume - before) < 1e-7 * next.volume)
      break;
    last = next;
  }
  return extrapolated;
}

struct MomentsOf {
  const Shape& shape;

  Moments operator()(const Sphere& sphere) const { return internal::ball_moments(sphere.radius); }
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
  Moments operator()(const Polytope&) const { return internal::polyhedron_moments(shape.set().core); }
  Moments operator()(const RoundedPolytope& rounded) const {
    return internal::rounded_polyhedron_moments(shape.set().core, rounded.radius);
  }
  Moments operator()(const Capsule& capsule) const { return internal::capsule_moments(capsule.radius, capsule.length); }
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
  Moments operator()(const PaddedPolygon&) const { return core_moments(*internal::rounded_core(shape)); }
  Moments operator()(const HalfSpace&) const { throw InputError("halfspace", "has no finite mass"); }
  Moments operator()(const MinkowskiSum& sum) const {
    if (const auto core = internal::rounded_core(shape)) return core_moments(*core);
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
  internal::require_positive("density", density);
  return from_moments(std::visit(MomentsOf{shape}, shape.spec()), density);
}

MassProperties mass_properties(const TriangleMesh& mesh, double density) {
  internal::require_positive("density", density);
  if (mesh.triangles.empty()) throw InputError("mesh", "has no triangles");
  // about a point of the mesh, so that far from the origin nothing cancels
  const auto vertex = [&](int i) -> const Vector3& { return mesh.vertices[i]; };
  const Vector3& origin = vertex(mesh.triangles.front()[0]);
  Moments total;
  double size = 0.0;
  for (const auto& [a, b, c] : mesh.triangles) {
    const Moments part = internal::tetrahedron_moments(vertex(a) - origin, vertex(b) - origin, vertex(c) - origin);
    total += part;
    size += std::abs(part.volume);
  }
  if (!(total.volume > 1e-9 * size))
    throw InputError("mesh", "must enclose a positive volume, has " + internal::to_text(total.volume));
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
