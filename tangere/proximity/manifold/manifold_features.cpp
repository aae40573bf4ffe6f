#include "tangere/proximity/manifold/manifold_features.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tangere/proximity/manifold/internal/manifold_polygon.hpp"
#include "tangere/proximity/manifold/internal/manifold_term.hpp"

namespace tangere::internal {
namespace {

/// Terms of a sum count as flat along the feature's own normal within this.
constexpr double kExact = 1e-9;
/// Corners nearer than this to the hull of the others are left out, in units of the outer radius.
constexpr double kFlat = 1e-10;
constexpr int kMaxSums = 256;

/// A line: n turned to be perpendicular to it, in the plane of n and the line (a ruling: of n and the axis).
void set_line_normal(const SupportTerm* ruled_by, const Vector3& direction, const Vector3& n, Feature& feature) {
  const Vector3 axis = ruled_by != nullptr ? Vector3(ruled_by->R().col(0)) : direction;
  const Vector3 across = n - axis.dot(n) * axis;
  const double norm = across.norm();
  const Vector3 u = across / norm;
  feature.m = u;
  feature.dm_dn = (Matrix3::Identity() - axis * axis.transpose() - u * u.transpose()) / norm;
  if (ruled_by == nullptr) return;
  const double rise = ruled_by->size[1] - ruled_by->size[0];
  const double widening = ruled_by->size[3] - ruled_by->size[2];
  const double length = std::hypot(rise, widening);
  feature.m = (rise * u - widening * axis) / length;
  feature.dm_dn *= rise / length;
}

/// The unit vector with axis · m = level for both of two lines, on n's side; false if there is none near n.
bool common_normal(const TermFeature& a, const TermFeature& b, const Vector3& n, double tolerance, Vector3& m) {
  const Vector3 across = a.axis.cross(b.axis);
  const double area = across.squaredNorm();
  if (area < 0.01) return false;
  const double c = a.axis.dot(b.axis);
  const Vector3 within = ((a.level - c * b.level) * a.axis + (b.level - c * a.level) * b.axis) / area;
  const double left = 1.0 - within.squaredNorm();
  if (left <= 0.0) return false;
  m = within + std::copysign(std::sqrt(left / area), across.dot(n)) * across;
  return m.cross(n).norm() <= 10.0 * tolerance && m.dot(n) > 0.0;
}

/// All sums of one corner a term, reduced to the outline seen along m (for a line, to its two ends). `single` is the
/// feature of the only term; with several it is scratch.
void gather_sums(const SupportTerms& terms, const Vector3& direction, TermFeature& single, Feature& feature) {
  static_assert(kMaxSums >= 4 * kMaxCorners);
  feature.count = 1;
  feature.corners[0] = {};
  feature.corners[0].fixed = terms.center;
  std::array<Corner, kMaxSums> sums;
  std::array<Vector2, kMaxSums> flat;
  std::array<int, kMaxCorners> order;
  const PlaneBasis plane(feature.m);
  TermFeature& term = single;
  for (int k = 0; k < terms.num_terms; ++k) {
    if (terms.num_terms > 1) find_term_feature(terms, k, feature.m, kExact, term);
    feature.inscribed |= term.dimension == 2 && terms.num_terms > 1 && !terms.terms()[k].is_polytope();
    int count = 0;
    for (int i = 0; i < feature.count; ++i) {
      for (int j = 0; j < term.count && count < kMaxSums; ++j) {
        const Corner& a = feature.corners[i];
        const Corner& b = term.corners[j];
        const auto id = static_cast<unsigned>(a.id) * 4099U + static_cast<unsigned>(b.id);
        sums[count++] = {a.fixed + b.fixed, a.rims | b.rims, a.second_disc | b.second_disc,
                         k == 0 ? b.id : static_cast<int>(id & 0x7fffffffU)};
      }
    }
    const auto sum = [&](int i) -> const Corner& { return sums[i]; };
    if (feature.dimension == 1) {
      int low = 0;
      int high = 0;
      for (int i = 0; i < count; ++i) {
        const auto height = [&](int c) { return direction.dot(corner_point(terms, sum(c), feature.m)); };
        if (height(i) < height(low)) low = i;
        if (height(i) > height(high)) high = i;
      }
      feature.count = low != high ? 2 : 1;
      feature.corners[0] = sum(low);
      if (low != high) feature.corners[1] = sum(high);
      continue;
    }
    for (int i = 0; i < count; ++i) flat[i] = plane(corner_point(terms, sum(i), feature.m));
    feature.count = convex_hull({flat.data(), static_cast<std::size_t>(count)}, kFlat * terms.outer_radius, order);
    for (int i = 0; i < feature.count; ++i) feature.corners[i] = sum(order[i]);
  }
}

/// Faces start at the corner of least id, so that names and order do not depend on the attitude.
void rotate_to_least(Feature& feature) {
  auto* first = feature.corners.data();
  auto* last = first + feature.count;
  std::rotate(first, std::min_element(first, last, [](const Corner& a, const Corner& b) { return a.id < b.id; }), last);
}

void set_kind(const SupportTerms& terms, bool ruled, bool cone, double ruled_radius, Feature& feature) {
  feature.roundness = terms.radius;
  for (int k = 0; k < terms.num_terms; ++k) {
    const SupportTerm& term = terms.terms()[k];
    if (term.kind == SupportTerm::Kind::ellipsoid)
      feature.roundness += std::min({term.size[0], term.size[1], term.size[2]});
  }
  const int rims = std::popcount(feature.corners[0].rims);
  if (feature.dimension == 2) {
    feature.kind = FeatureKind::face;
    feature.roundness = std::numeric_limits<double>::infinity();
  } else if (feature.dimension == 1) {
    feature.roundness += ruled_radius;
    const bool round = feature.roundness > 0.0 || (!ruled && rims > 0);
    feature.kind = ruled && cone ? FeatureKind::ruling : round ? FeatureKind::pipe : FeatureKind::edge;
  } else if (terms.num_ellipsoids > 0 || rims > 1) {
    feature.kind = FeatureKind::surface;
  } else {
    feature.kind = rims == 1 ? FeatureKind::rim : terms.radius > 0.0 ? FeatureKind::sphere : FeatureKind::vertex;
  }
}

}  // namespace

void find_feature(const SupportTerms& terms, const Vector3& n, double tolerance, Feature& feature) {
  feature.disc = false;
  feature.inscribed = false;
  feature.m = n;
  feature.dm_dn.setIdentity();
  feature.count = 0;
  if (terms.half_space) {
    feature.dimension = 2;
    feature.kind = FeatureKind::plane;
    feature.m = terms.center;
    feature.dm_dn.setZero();
    feature.roundness = std::numeric_limits<double>::infinity();
    return;
  }

  // the flattest face; else the flattest line; two lines across each other span a face
  const double sine = std::sin(tolerance);
  int face = -1;
  int line = -1;
  double nearest = 0.0;
  Vector3 face_normal = n;
  bool spans = false;
  TermFeature term;
  TermFeature flattest;
  for (int k = 0; k < terms.num_terms; ++k) {
    find_term_feature(terms, k, n, sine, term);
    if (term.dimension == 2) {
      const double angle = term.normal.cross(n).norm();
      if (face >= 0 && angle >= nearest) continue;
      face = k;
      nearest = angle;
      face_normal = term.normal;
    } else if (term.dimension == 1 && face < 0) {
      if (line >= 0 && !spans) spans = common_normal(flattest, term, n, sine, face_normal);
      if (line >= 0 && term.slope >= flattest.slope) continue;
      line = k;
      flattest = term;
    }
  }
  const bool ruled = line >= 0 && flattest.ruled;
  const Vector3 direction = line >= 0 ? flattest.direction : n;
  const SupportTerm* ruled_by = nullptr;
  if (face >= 0 || spans) {
    feature.dimension = 2;
    feature.m = face_normal;
    feature.dm_dn.setZero();
  } else if (line >= 0) {
    feature.dimension = 1;
    ruled_by = ruled ? terms.terms() + line : nullptr;
    set_line_normal(ruled_by, direction, n, feature);
  } else {
    feature.dimension = 0;
  }

  if (feature.dimension == 0) {
    Corner& corner = feature.corners[0];
    corner = {};
    corner.fixed = terms.center;
    unsigned id = 0;
    for (int k = 0; k < terms.num_terms; ++k) {
      find_term_feature(terms, k, n, sine, term);
      corner.fixed += term.corners[0].fixed;
      corner.rims |= term.corners[0].rims;
      corner.second_disc |= term.corners[0].second_disc;
      id = k == 0 ? static_cast<unsigned>(term.corners[0].id) : id * 4099U + static_cast<unsigned>(term.corners[0].id);
    }
    corner.id = static_cast<int>(id & 0x7fffffffU);
    feature.count = 1;
  } else {
    gather_sums(terms, direction, term, feature);
    if (feature.dimension == 2 && feature.count < 3) feature.dimension = feature.count - 1;
    if (feature.dimension == 2) rotate_to_least(feature);
  }
  if (feature.dimension == 2 && terms.num_terms == 1 && terms.terms()->kind == SupportTerm::Kind::discs) {
    const SupportTerm& discs = *terms.terms();
    const int cap = feature.m.dot(discs.R().col(0)) > 0.0 ? 1 : 0;
    feature.disc = true;
    feature.disc_center = terms.center + discs.size[cap] * discs.R().col(0) + terms.radius * feature.m;
    feature.disc_radius = discs.size[2 + cap];
  }
  const bool cone = ruled_by != nullptr && ruled_by->size[2] != ruled_by->size[3];
  set_kind(terms, ruled, cone, ruled_by != nullptr && !cone ? ruled_by->size[2] : 0.0, feature);
}

ContactFeature corner_feature(const SupportTerms& terms, const Feature& feature, int i) {
  const Corner& corner = feature.corners[i];
  if (feature.dimension == 0) return {feature.kind, corner.id, -1};
  if (corner.rims != 0 && (terms.num_ellipsoids > 0 || std::popcount(corner.rims) > 1))
    return {FeatureKind::surface, corner.id, -1};
  if (corner.rims != 0 || feature.disc) return {FeatureKind::rim, corner.id, -1};
  return {terms.radius > 0.0 || terms.num_ellipsoids > 0 ? FeatureKind::sphere : FeatureKind::vertex, corner.id, -1};
}

ContactFeature edge_feature(const SupportTerms& terms, const Feature& feature, int i, int j) {
  const int a = feature.corners[i].id;
  const int b = feature.corners[j].id;
  if (feature.disc) return {FeatureKind::rim, std::min(a, b), std::max(a, b)};
  const FeatureKind of_face = terms.radius > 0.0 || terms.num_ellipsoids > 0 ? FeatureKind::pipe : FeatureKind::edge;
  return {feature.dimension == 1 ? feature.kind : of_face, std::min(a, b), std::max(a, b)};
}

}  // namespace tangere::internal
