/// The way of a manifold: the features that face each other along the normal of the distance query, then the first of
///
///   face patch (the better aligned face as reference, then the other), line patch, single contact
///
/// that has a point within the margin.

#include <cmath>
#include <limits>

#include "tangere/proximity/manifold/internal/manifold_polygon.hpp"
#include "tangere/proximity/manifold/internal/manifold_query.hpp"

namespace tangere::internal {
namespace {

/// Alignments (sines) and areas or lengths (relative) that differ by less are equal.
constexpr double kSameAlignment = 1e-6;
constexpr double kSameArea = 1e-6;
/// A plane's distance that is the distance, in units of the size.
constexpr double kSameFoot = 1e-9;
/// The angular tolerance of the second trial.
constexpr double kTight = 1e-7;
/// Distances that are noise, in units of the size, and how far from the normal a face is then looked for (radians).
constexpr double kTouching = 1e-7;
constexpr double kWide = 1.2;

double face_area(const ManifoldBody& body, const Feature& feature) {
  if (feature.disc) return feature.disc_radius * feature.disc_radius;
  const PlaneBasis plane(feature.m);
  std::array<Vector2, kMaxCorners> flat;
  for (int i = 0; i < feature.count; ++i) flat[i] = plane(feature.corners[i].fixed);
  return body.terms->half_space ? std::numeric_limits<double>::infinity()
                                : area({flat.data(), static_cast<std::size_t>(feature.count)});
}

/// Which of two faces is the reference: the better aligned, of equals the larger, then A.
bool reference_is_A(const ManifoldQuery& query) {
  if (query.A.terms->half_space) return true;
  if (query.B.terms->half_space) return false;
  const double off_A = face_normal(query.A, query.feature_A).cross(query.nearest.normal).norm();
  const double off_B = face_normal(query.B, query.feature_B).cross(query.nearest.normal).norm();
  if (std::abs(off_A - off_B) > kSameAlignment) return off_A < off_B;
  const double area_A = face_area(query.A, query.feature_A);
  const double area_B = face_area(query.B, query.feature_B);
  return area_A >= area_B * (1.0 - kSameArea);
}

bool try_face(ManifoldQuery& query, bool of_A, Manifold& manifold) {
  const ManifoldBody& R = of_A ? query.A : query.B;
  const ManifoldBody& I = of_A ? query.B : query.A;
  // a half-space has no outline to put on a face
  if (I.terms->half_space) return false;
  const Feature& face = of_A ? query.feature_A : query.feature_B;
  const Vector3 N = face_normal(R, face);
  Feature incident;
  find_feature(*I.terms, I.X.R.transpose() * -N, query.angular_tolerance, incident);
  find_face_patch(R, face, I, incident, query.size, query.patch);
  if (query.patch.count == 0 && face.inscribed && incident.dimension == 0) {
    // inside the true outline exactly if nothing is farther than the plane says
    add_foot(query.patch);
    if (query.nearest.distance - query.patch[0].distance > kSameFoot * query.size) query.patch.count = 0;
  }
  return take_patch(query, of_A, manifold);
}

/// The reference of two lines: the better aligned, the longer, then A.
bool reference_line_is_A(const ManifoldQuery& query) {
  const Vector3 a = query.A.point(query.feature_A, 1) - query.A.point(query.feature_A, 0);
  const Vector3 b = query.B.point(query.feature_B, 1) - query.B.point(query.feature_B, 0);
  const double off_A = std::abs(a.normalized().dot(query.nearest.normal));
  const double off_B = std::abs(b.normalized().dot(query.nearest.normal));
  if (std::abs(off_A - off_B) > kSameAlignment) return off_A < off_B;
  return a.norm() >= b.norm() * (1.0 - kSameArea);
}

bool try_lines(ManifoldQuery& query, Manifold& manifold) {
  const bool of_A = reference_line_is_A(query);
  Feature line_A = query.feature_A;
  Feature line_B = query.feature_B;
  const Vector3 n = of_A ? query.nearest.normal : Vector3(-query.nearest.normal);
  find_line_patch(of_A ? query.A : query.B, of_A ? line_A : line_B, of_A ? query.B : query.A, of_A ? line_B : line_A, n,
                  query.angular_tolerance, query.size, query.patch);
  return take_patch(query, of_A, manifold);
}

/// Shapes that only just touch, corner on corner, may have any normal in a wide range, and rounding chooses. A face
/// that parts them as well is then preferred.
void prefer_face(ManifoldQuery& query) {
  if (!(std::abs(query.nearest.distance) <= kTouching * query.size)) return;
  if (query.feature_A.dimension == 2 || query.feature_B.dimension == 2) return;
  const Vector3 n = query.nearest.normal;
  Feature face;
  double best = 0.0;
  for (const bool of_A : {true, false}) {
    const ManifoldBody& body = of_A ? query.A : query.B;
    const double sign = of_A ? 1.0 : -1.0;
    find_feature(*body.terms, body.X.R.transpose() * (sign * n), kWide, face);
    if (face.dimension != 2) continue;
    const Vector3 m = sign * face_normal(body, face);
    const double gap = -query.A.support(m) - query.B.support(-m);
    if (gap < query.nearest.distance - kTouching * query.size || m.dot(n) < best + kSameAlignment) continue;
    best = m.dot(n);
    query.nearest.normal = m;
  }
}

void find_features(ManifoldQuery& query) {
  const double tolerance = query.angular_tolerance;
  const Vector3& n = query.nearest.normal;
  find_feature(*query.A.terms, query.A.X.R.transpose() * n, tolerance, query.feature_A);
  find_feature(*query.B.terms, query.B.X.R.transpose() * -n, tolerance, query.feature_B);
}

bool find_contact(ManifoldQuery& query, Manifold& manifold) {
  const bool face_A = query.feature_A.dimension == 2;
  const bool face_B = query.feature_B.dimension == 2;
  const bool A_first = face_A && (!face_B || reference_is_A(query));
  if (A_first && try_face(query, true, manifold)) return true;
  if (face_B && try_face(query, false, manifold)) return true;
  if (face_A && !A_first && try_face(query, true, manifold)) return true;
  if (query.feature_A.dimension == 1 && query.feature_B.dimension == 1 && try_lines(query, manifold)) return true;
  return take_single(query, manifold);
}

void find_nearest(ManifoldQuery& query, Manifold& manifold) {
  query.angular_tolerance = query.options.angular_tolerance;
  find_features(query);
  const Vector3 before = query.nearest.normal;
  prefer_face(query);
  if (query.nearest.normal != before) find_features(query);
  if (find_contact(query, manifold)) return;

  // sums may have several flats within the tolerance: those exactly along the normal
  query.angular_tolerance = kTight;
  find_features(query);
  if (!find_contact(query, manifold)) take_nearest(query, manifold);
}

}  // namespace

void find_manifold(ManifoldQuery& query, Manifold& manifold) {
  manifold.num_points = 0;
  if (!(query.nearest.distance <= query.options.margin)) return;
  find_nearest(query, manifold);
  if (query.options.derivatives && has_other_normal(query))
    for (int k = 0; k < manifold.num_points; ++k) finish_without(manifold.jacobians[k]);
  if (query.options.ahead) add_ahead(query, manifold);
}

}  // namespace tangere::internal
