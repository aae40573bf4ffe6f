#include "tangere/proximity/manifold/internal/manifold_term.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tangere::internal {
namespace {

using Kind = SupportTerm::Kind;

/// Corners this near to a face's plane belong to it, in units of the set's outer radius.
constexpr double kFlat = 1e-9;
constexpr int kRimPoints = 8;

struct TermVertices {
  const SupportTerm& term;

  [[nodiscard]] int count() const {
    return term.kind == Kind::segment ? 2 : term.kind == Kind::box ? 8 : term.num_vertices;
  }
  [[nodiscard]] Vector3 operator[](int i) const {
    const auto side = [&](int k) { return (i >> k & 1) != 0 ? term.size[k] : -term.size[k]; };
    if (term.kind == Kind::segment) return {side(0), 0.0, 0.0};
    if (term.kind == Kind::box) return {side(0), side(1), side(2)};
    const int stride = term.padded_vertices;
    return {term.vertices[i], term.vertices[stride + i], term.vertices[2 * stride + i]};
  }
};

/// Vertices that are not below the highest by more than the tolerance allows.
struct Candidates {
  int count = 0;
  std::array<int, kMaxCorners> index;
  std::array<Vector3, kMaxCorners> offset;
};

void polytope_feature(const SupportTerm& term, const Vector3& n, double tolerance, double size, TermFeature& feature) {
  const TermVertices vertices{term};
  const Vector3 t = term.R().transpose() * n;
  int top = 0;
  double height = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < vertices.count(); ++i) {
    const double value = vertices[i].dot(t);
    if (value <= height) continue;
    height = value;
    top = i;
  }
  const Vector3 v_top = vertices[top];
  Candidates near;
  for (int i = 0; i < vertices.count() && near.count < kMaxCorners; ++i) {
    const Vector3 d = vertices[i] - v_top;
    if (i == top || -t.dot(d) > tolerance * d.norm()) continue;
    near.index[near.count] = i;
    near.offset[near.count++] = d;
  }
  const auto offset = [&](int i) -> const Vector3& { return near.offset[i]; };
  const auto add = [&](int i) {
    Corner& corner = feature.corners[feature.count++];
    corner = {};
    corner.fixed = term.R() * vertices[i];
    corner.id = i;
  };

  // the face through the highest vertex whose normal is the nearest to n; of equals, the widest triangle
  Vector3 normal = Vector3::Zero();
  double least = tolerance;
  double widest = 0.0;
  for (int i = 0; i < near.count; ++i) {
    for (int j = i + 1; j < near.count; ++j) {
      Vector3 m = offset(i).cross(offset(j));
      const double doubled_area = m.norm();
      if (!(doubled_area > 1e-9 * offset(i).norm() * offset(j).norm())) continue;
      m /= m.dot(t) < 0.0 ? -doubled_area : doubled_area;
      const double angle = m.cross(t).norm();
      if (angle > least + kFlat || (angle > least - kFlat && doubled_area <= widest)) continue;
      bool supports = true;
      for (int k = 0; k < near.count && supports; ++k) supports = m.dot(offset(k)) <= kFlat * size;
      if (!supports) continue;
      normal = m;
      least = std::min(least, angle);
      widest = doubled_area;
    }
  }
  feature.count = 0;
  if (widest > 0.0) {
    feature.dimension = 2;
    feature.normal = term.R() * normal;
    add(top);
    for (int i = 0; i < near.count && feature.count < kMaxCorners; ++i)
      if (normal.dot(offset(i)) >= -kFlat * size) add(near.index[i]);
    return;
  }

  // the edge that is the flattest, or the vertex
  int partner = -1;
  for (int i = 0; i < near.count; ++i) {
    const double slope = -t.dot(offset(i)) / offset(i).norm();
    if (partner >= 0 && slope >= feature.slope) continue;
    partner = i;
    feature.slope = slope;
  }
  feature.dimension = partner >= 0 ? 1 : 0;
  if (partner < 0) {
    add(top);
    return;
  }
  const int other = near.index[partner];
  add(std::min(top, other));
  add(std::max(top, other));
  feature.ruled = false;
  feature.direction = (feature.corners[1].fixed - feature.corners[0].fixed).normalized();
  feature.axis = feature.direction;
  feature.level = 0.0;
}

void disc_feature(const SupportTerm& term, int k, const Vector3& n, double tolerance, TermFeature& feature) {
  const Vector3 axis = term.R().col(0);
  const double along = axis.dot(n);
  const Vector3 across = n - along * axis;
  const double norm = across.norm();
  feature.count = 0;
  const auto add = [&](int disc) {
    Corner& corner = feature.corners[feature.count++];
    corner = {};
    corner.fixed = term.size[disc] * axis;
    corner.id = disc;
    if (!(term.size[2 + disc] > 0.0) || k >= 32) return;
    corner.id = kFirstRimId + 2 * kRimPoints + disc;
    corner.rims = 1U << k;
    corner.second_disc = disc == 1 ? 1U << k : 0U;
  };

  // a cap
  const int cap = along > 0.0 ? 1 : 0;
  if (norm <= std::max(tolerance, 1e-12) && term.size[2 + cap] > 0.0) {
    feature.dimension = 2;
    feature.normal = cap == 1 ? axis : Vector3(-axis);
    for (int i = 0; i < kRimPoints; ++i) {
      const double angle = 2.0 * std::numbers::pi * i / kRimPoints;
      Corner& corner = feature.corners[feature.count++];
      corner = {};
      corner.fixed = term.R() * Vector3(term.size[cap], term.size[2 + cap] * std::cos(angle),
                                        term.size[2 + cap] * std::sin(angle));
      corner.id = kFirstRimId + kRimPoints * cap + i;
    }
    return;
  }
  // the apex, from straight ahead
  if (norm <= 1e-12) {
    feature.dimension = 0;
    add(cap);
    return;
  }
  // the line on the side, or the higher of the rims (a cone: rim or apex)
  const Vector3 u = across / norm;
  const Vector3 line = (term.size[1] - term.size[0]) * axis + (term.size[3] - term.size[2]) * u;
  const double slope = n.dot(line) / line.norm();
  if (std::abs(slope) <= tolerance) {
    feature.dimension = 1;
    feature.ruled = true;
    feature.slope = std::abs(slope);
    feature.direction = line.normalized();
    feature.axis = axis;
    feature.level = (term.size[2] - term.size[3]) / line.norm();
    add(0);
    add(1);
    return;
  }
  feature.dimension = 0;
  add(slope > 0.0 ? 1 : 0);
}

}  // namespace

void find_term_feature(const SupportTerms& terms, int k, const Vector3& n, double tolerance, TermFeature& feature) {
  const SupportTerm& term = terms.terms()[k];
  if (term.is_polytope()) {
    polytope_feature(term, n, tolerance, terms.outer_radius, feature);
  } else if (term.kind == Kind::discs) {
    disc_feature(term, k, n, tolerance, feature);
  } else {
    // an ellipsoid: all in the smooth part
    feature.dimension = 0;
    feature.count = 1;
    feature.corners[0] = {};
  }
}

}  // namespace tangere::internal
