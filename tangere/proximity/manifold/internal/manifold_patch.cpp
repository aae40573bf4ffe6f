#include "tangere/proximity/manifold/internal/manifold_patch.hpp"

#include <algorithm>
#include <cmath>

#include "tangere/proximity/manifold/internal/manifold_polygon.hpp"

namespace tangere::internal {
namespace {

/// Points this near to an outline are on it, and points this near to each other are one, in units of `size`: more than
/// the noise of a pose, so that aligned faces keep their points.
constexpr double kOnOutline = 1e-8;
constexpr double kSamePoint = 1e-7;
/// Lines count as parallel only if they pass each other within this part of the distance of their axes.
constexpr double kSideways = 0.05;

/// A feature's corners, in the world and seen along N.
struct Outline {
  int count = 0;
  std::array<Vector3, kMaxCorners> p;
  std::array<Vector2, kMaxCorners> x;
  bool closed = false;
  bool disc = false;
  Vector2 center;
  double radius = 0.0;

  Outline(const ManifoldBody& body, const Feature& feature, const PlaneBasis& plane)
      : count(feature.count), closed(feature.dimension == 2), disc(feature.disc) {
    for (int i = 0; i < count; ++i) {
      p[i] = body.point(feature, i);
      x[i] = plane(p[i]);
    }
    if (!disc) return;
    center = plane(body.X * feature.disc_center);
    radius = feature.disc_radius;
  }
  [[nodiscard]] const Vector3& point(int i) const { return p[i % count]; }
  [[nodiscard]] const Vector2& flat(int i) const { return x[i % count]; }
  [[nodiscard]] int num_edges() const { return closed ? count : count - 1; }

  /// `orientation` -1: seen from behind, clockwise.
  [[nodiscard]] bool holds(const Vector2& at, double tolerance, double orientation) const {
    if (disc) return (at - center).norm() <= radius + tolerance;
    for (int i = 0; i < count; ++i) {
      const Vector2 edge = flat(i + 1) - flat(i);
      if (orientation * cross(edge, at - flat(i)) < -tolerance * edge.norm()) return false;
    }
    return true;
  }
};

void add(Patch& patch, const PatchPoint& point, double size) {
  for (int k = 0; k < patch.count; ++k) {
    Vector3 apart = patch[k].p_R - point.p_R;
    apart -= patch.N.dot(apart) * patch.N;
    if (apart.norm() <= kSamePoint * size) return;
  }
  if (patch.count < Patch::kCapacity) patch.points[patch.count++] = point;
}

void set_foot(const Patch& patch, PatchPoint& point) {
  point.distance = patch.N.dot(point.p_I - patch.q_R);
  point.p_R = point.p_I - point.distance * patch.N;
}

void add_crossings(const Outline& reference, const Outline& incident, double size, Patch& patch) {
  for (int i = 0; i < incident.num_edges(); ++i) {
    const Vector2 d = incident.flat(i + 1) - incident.flat(i);
    for (int j = 0; j < reference.num_edges(); ++j) {
      const Vector2 e = reference.flat(j + 1) - reference.flat(j);
      // where the ends of one lie beside the line of the other; both on it: the same line, whose ends are points
      // already
      const double i0 = cross(e, incident.flat(i) - reference.flat(j)) / e.norm();
      const double i1 = cross(e, incident.flat(i + 1) - reference.flat(j)) / e.norm();
      const double j0 = cross(d, reference.flat(j) - incident.flat(i)) / d.norm();
      const double j1 = cross(d, reference.flat(j + 1) - incident.flat(i)) / d.norm();
      if (std::max(std::abs(i0), std::abs(i1)) <= kOnOutline * size) continue;
      if (std::max(std::abs(j0), std::abs(j1)) <= kOnOutline * size) continue;
      if (!(i0 * i1 < 0.0) || !(j0 * j1 < 0.0)) continue;
      PatchPoint point{.kind = PatchPoint::Kind::crossing, .i = i, .j = j, .t = i0 / (i0 - i1), .p_R = {}, .p_I = {}};
      point.p_I = incident.point(i) + point.t * (incident.point(i + 1) - incident.point(i));
      set_foot(patch, point);
      add(patch, point, size);
    }
  }
}

}  // namespace

Vector3 face_normal(const ManifoldBody& reference, const Feature& feature) { return reference.X.R * feature.m; }

void find_face_patch(const ManifoldBody& reference, const Feature& reference_feature, const ManifoldBody& incident,
                     const Feature& incident_feature, double size, Patch& patch) {
  const bool plane_only = reference_feature.kind == FeatureKind::plane;
  patch.reference = &reference;
  patch.incident = &incident;
  patch.reference_feature = &reference_feature;
  patch.incident_feature = &incident_feature;
  patch.N = face_normal(reference, reference_feature);
  patch.q_R = plane_only ? Vector3(reference.X * Vector3(reference.terms->radius * reference.terms->center))
                         : reference.point(reference_feature, 0);
  patch.count = 0;

  const PlaneBasis plane(patch.N);
  const Outline outline_R(reference, reference_feature, plane);
  const Outline outline_I(incident, incident_feature, plane);
  const double tolerance = kOnOutline * size;
  for (int i = 0; i < outline_I.count; ++i) {
    if (!plane_only && !outline_R.holds(outline_I.flat(i), tolerance, 1.0)) continue;
    PatchPoint point{.kind = PatchPoint::Kind::incident_corner, .i = i, .p_R = {}, .p_I = outline_I.point(i)};
    set_foot(patch, point);
    add(patch, point, size);
  }
  if (plane_only) return;
  if (outline_I.closed) {
    const Vector3 m = incident.X.R * incident_feature.m;
    for (int j = 0; j < outline_R.count; ++j) {
      if (!outline_I.holds(outline_R.flat(j), tolerance, -1.0)) continue;
      PatchPoint point{.kind = PatchPoint::Kind::reference_corner, .j = j, .p_R = outline_R.point(j), .p_I = {}};
      point.distance = m.dot(outline_I.point(0) - point.p_R) / m.dot(patch.N);
      point.p_I = point.p_R + point.distance * patch.N;
      add(patch, point, size);
    }
  }
  add_crossings(outline_R, outline_I, size, patch);
}

void add_foot(Patch& patch) {
  PatchPoint& point = patch.points[0];
  point.kind = PatchPoint::Kind::incident_corner;
  point.i = 0;
  point.p_I = patch.incident->point(*patch.incident_feature, 0);
  set_foot(patch, point);
  patch.count = 1;
}

void find_line_patch(const ManifoldBody& reference, Feature& reference_feature, const ManifoldBody& incident,
                     Feature& incident_feature, const Vector3& n, double tolerance, double size, Patch& patch) {
  patch.reference = &reference;
  patch.incident = &incident;
  patch.reference_feature = &reference_feature;
  patch.incident_feature = &incident_feature;
  patch.count = 0;
  const auto parallel = [&](const Vector3& a, const Vector3& b) {
    return a.cross(b).norm() <= std::sin(tolerance) * a.norm() * b.norm();
  };
  if (!parallel(reference.point(reference_feature, 1) - reference.point(reference_feature, 0),
                incident.point(incident_feature, 1) - incident.point(incident_feature, 0)))
    return;

  // the normal: from the reference line to the middle of the incident one
  patch.side_R = {&reference, {reference_feature.corners[0], reference_feature.corners[1]}, 2, true, 0.5};
  patch.side_I = {&incident, {incident_feature.corners[0], incident_feature.corners[1]}, 2, false, 0.5};
  patch.middle = solve_stationary(patch.side_R, patch.side_I, n, size);
  if (!patch.middle.converged || patch.middle.n.cross(n).norm() > 2.0 * kSideways) return;
  patch.N = patch.middle.n;
  find_feature(*reference.terms, reference.X.R.transpose() * patch.N, tolerance, reference_feature);
  find_feature(*incident.terms, incident.X.R.transpose() * -patch.N, tolerance, incident_feature);
  if (reference_feature.dimension != 1 || incident_feature.dimension != 1) return;

  // the ends of each that are abreast of the other
  const Vector3 a[2] = {reference.point(reference_feature, 0), reference.point(reference_feature, 1)};
  const Vector3 b[2] = {incident.point(incident_feature, 0), incident.point(incident_feature, 1)};
  const Vector3 d = a[1] - a[0];
  const double sideways =
      kSideways * (std::abs(patch.middle.distance) + reference_feature.roundness + incident_feature.roundness);
  bool beside = true;
  const auto add_end = [&](PatchPoint point, double length) {
    const double slack = kOnOutline * size / length;
    if (point.t < -slack || point.t > 1.0 + slack) return;
    point.distance = patch.N.dot(point.p_I - point.p_R);
    beside = beside && (point.p_I - point.p_R - point.distance * patch.N).norm() <= sideways;
    add(patch, point, size);
  };
  for (int i = 0; i < 2; ++i) {
    const double t = d.dot(b[i] - a[0]) / d.squaredNorm();
    add_end({PatchPoint::Kind::incident_end, i, 0, t, a[0] + t * d, b[i]}, d.norm());
  }
  for (int j = 0; j < 2; ++j) {
    const Vector3 e = b[1] - b[0];
    const double t = d.dot(a[j] - b[0]) / d.dot(e);
    add_end({PatchPoint::Kind::reference_end, 0, j, t, a[j], b[0] + t * e}, e.norm());
  }
  if (patch.count < 2 || !beside) patch.count = 0;
}

}  // namespace tangere::internal
