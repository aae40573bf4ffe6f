/// The polytope of M's points that grows around d: its first tetrahedron, its faces, its next corner.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "tangere/proximity/distance/internal/distance_math.hpp"
#include "tangere/proximity/distance/internal/distance_search.hpp"

namespace tangere {
namespace {

/// Twice the area of a thin face, over the square of its longer edge.
constexpr double kThin = 1e-6;
/// How much nearer than before rounding may make a face.
constexpr double kSliver = 1e-12;
/// Rounding in a height above a face, as a part of the size.
constexpr double kRounding = 2e-15;
/// How near to each other two corners count as one, as a part of the size.
constexpr double kSamePoint = 1e-6;

}  // namespace

bool DistanceSearch::surround(Simplex& simplex, DistanceHit& hit) {
  // grow the simplex to a tetrahedron with volume, on both sides of what there is
  const auto volume = [&](int a, int b, int c, int e) {
    return dot3(cross3(from_d(b) - from_d(a), from_d(c) - from_d(a)), from_d(e) - from_d(a));
  };
  const double tiny = 1e-13 * size;
  const auto try_direction = [&](Vec4 v) {
    const double length = std::sqrt(dot3(v, v));
    if (!(length > 0.0)) return -1;
    return add_support(unit(v, length), hit);
  };
  const Vec4 axes[3] = {Vec4{1, 0, 0, 0}, Vec4{0, 1, 0, 0}, Vec4{0, 0, 1, 0}};
  if (simplex.count == 0) simplex.slot[simplex.count++] = try_direction(axes[0]);
  if (simplex.count == 1) {
    for (int i = 0; i < 6 && simplex.count == 1; ++i) {
      const int slot = try_direction(i % 2 == 0 ? axes[i / 2] : -axes[i / 2]);
      const Vec4 e = from_d(slot) - from_d(simplex.slot[0]);
      if (dot3(e, e) > tiny * tiny) simplex.slot[simplex.count++] = slot;
    }
  }
  if (simplex.count == 2) {
    const Vec4 e = from_d(simplex.slot[1]) - from_d(simplex.slot[0]);
    for (int i = 0; i < 6 && simplex.count == 2; ++i) {
      const Vec4 across = cross3(e, i % 2 == 0 ? axes[i / 2] : -axes[i / 2]);
      const int slot = try_direction(across);
      if (slot < 0) continue;
      const Vec4 area = cross3(e, from_d(slot) - from_d(simplex.slot[0]));
      if (dot3(area, area) > tiny * tiny * dot3(e, e)) simplex.slot[simplex.count++] = slot;
    }
  }
  if (simplex.count == 3) {
    const Vec4 normal =
        cross3(from_d(simplex.slot[1]) - from_d(simplex.slot[0]), from_d(simplex.slot[2]) - from_d(simplex.slot[0]));
    for (const Vec4 side : {normal, -normal}) {
      if (simplex.count == 4) break;
      const int slot = try_direction(side);
      if (slot < 0) continue;
      if (std::abs(volume(simplex.slot[0], simplex.slot[1], simplex.slot[2], slot)) >
          tiny * std::sqrt(dot3(normal, normal))) {
        simplex.slot[simplex.count++] = slot;
      }
    }
  }
  return simplex.count == 4;
}

bool DistanceSearch::add_face(int i, int j, int k, double least) {
  if (num_faces_ == kMostFaces) return false;
  const Vec4 p = from_d(i);
  const Vec4 e = from_d(j) - p;
  const Vec4 f = from_d(k) - p;
  const Vec4 normal = cross3(e, f);
  const double length = std::sqrt(dot3(normal, normal));
  Face& face = faces_[num_faces_++];
  face = Face{{i, j, k}};
  if (length > 0.0) {
    const double inverse = 1.0 / length;
    face.n = scaled(normal, inverse);
    face.distance = dot3(p, to_vec(face.n));
    // rounding turns a thin face about its long edge
    const double longest2 = std::max(dot3(e, e), dot3(f, f));
    face.seen_above = face.distance + kRounding * size * (1.0 + size * std::sqrt(longest2) * inverse);
    // the polytope only grows, so a face nearer than all before is rounding: no nearer, or, if thin, a sliver
    if (face.distance >= least - kSliver * size) return true;
    face.distance = least;
    if (length > kThin * longest2) return true;
  }
  face.distance = face.seen_above = kSliverDistance;
  ++num_slivers_;
  return true;
}

/// M is flat and d in its plane, or all but: touching, with a normal of that plane.
void DistanceSearch::flat_body(const Simplex& simplex, DistanceHit& hit) const {
  Vec4 normal{};
  if (simplex.count >= 3) {
    normal =
        cross3(from_d(simplex.slot[1]) - from_d(simplex.slot[0]), from_d(simplex.slot[2]) - from_d(simplex.slot[0]));
  } else if (simplex.count == 2) {
    const Vec4 e = from_d(simplex.slot[1]) - from_d(simplex.slot[0]);
    normal = Across(unit(e, std::sqrt(dot3(e, e)))).x;
  } else {
    normal = Vec4{1.0, 0.0, 0.0, 0.0};
  }
  // towards d as seen from the centre
  if (dot3(normal, d) < 0.0) normal = -normal;
  hit.n = unit(normal, std::sqrt(dot3(normal, normal)));
  hit.distance = 0.0;
  hit.gap = 0.0;
  hit.certified = true;
  Simplex nearest = simplex;
  nearest.count = std::min(nearest.count, 3);
  (void)reduce(nearest);
  read(nearest, hit);
}

/// The foot of d on the faces of one plane (a face of M may be cut in triangles): on the triangle that holds it.
DistanceSearch::Simplex DistanceSearch::foot_on_faces(const Direction& n, double highest) const {
  Simplex best;
  double nearest = std::numeric_limits<double>::infinity();
  for (int f = 0; f < num_faces_; ++f) {
    const Face& face = faces_[f];
    if (face.distance > highest || dot3(to_vec(face.n), to_vec(n)) < 1.0 - kSamePlane) continue;
    const Vec4 p[3] = {from_d(face.corner[0]), from_d(face.corner[1]), from_d(face.corner[2])};
    double w[3];
    nearest_on_triangle(p, w);
    const Vec4 y = w[0] * p[0] + w[1] * p[1] + w[2] * p[2];
    if (const double distance2 = dot3(y, y); distance2 < nearest) {
      nearest = distance2;
      best = {{face.corner[0], face.corner[1], face.corner[2], 0}, {w[0], w[1], w[2], 0.0}, 3};
    }
  }
  return best;
}

/// Faces between two corners that all but coincide would have any normal.
bool DistanceSearch::is_corner(int point) const {
  const Vec4 w = from_d(point);
  for (int f = 0; f < num_faces_; ++f) {
    const Face& face = faces_[f];
    if (!face.is_seen_from(w)) continue;
    for (const int corner : face.corner) {
      const Vec4 apart = from_d(corner) - w;
      if (dot3(apart, apart) <= kSamePoint * kSamePoint * size * size) return true;
    }
  }
  return false;
}

/// The faces that the new corner sees go, and new ones close the hole. False without room for them.
bool DistanceSearch::add_corner(int corner, double least) {
  const Vec4 w = from_d(corner);
  horizon_.clear();
  for (int f = num_faces_ - 1; f >= 0; --f) {
    if (faces_[f].is_seen_from(w)) remove_face(f);
  }
  // slivers have no side to be seen from: left alone in the hole they would tear the surface, so they go with it
  for (int f = num_faces_ - 1; f >= 0 && num_slivers_ > 0; --f) {
    const Face& face = faces_[f];
    if (!face.is_sliver() || !touches_horizon(face)) continue;
    remove_face(f);
    f = num_faces_;
  }
  for (std::size_t h = 0; h + 1 < horizon_.size(); h += 2) {
    if (!add_face(horizon_[h], horizon_[h + 1], corner, least)) return false;
  }
  return true;
}

/// The last face takes its place.
void DistanceSearch::remove_face(int f) {
  Face& face = faces_[f];
  num_slivers_ -= face.is_sliver() ? 1 : 0;
  for (int e = 0; e < 3; ++e) toggle_edge(face.corner[e], face.corner[(e + 1) % 3]);
  face = faces_[--num_faces_];
}

bool DistanceSearch::touches_horizon(const Face& face) const {
  for (std::size_t h = 0; h + 1 < horizon_.size(); h += 2) {
    for (int e = 0; e < 3; ++e) {
      if (horizon_[h] == face.corner[(e + 1) % 3] && horizon_[h + 1] == face.corner[e]) return true;
    }
  }
  return false;
}

/// An edge seen from both sides is inside the hole, not on its rim.
void DistanceSearch::toggle_edge(int from, int to) {
  for (std::size_t h = 0; h + 1 < horizon_.size(); h += 2) {
    if (horizon_[h] != to || horizon_[h + 1] != from) continue;
    // the last edge takes its place
    horizon_[h + 1] = horizon_.back();
    horizon_.pop_back();
    horizon_[h] = horizon_.back();
    horizon_.pop_back();
    return;
  }
  horizon_.push_back(from);
  horizon_.push_back(to);
}

void DistanceSearch::first_faces(const Simplex& simplex) {
  int t[4] = {simplex.slot[0], simplex.slot[1], simplex.slot[2], simplex.slot[3]};
  // outward
  if (dot3(cross3(from_d(t[1]) - from_d(t[0]), from_d(t[2]) - from_d(t[0])), from_d(t[3]) - from_d(t[0])) > 0.0)
    std::swap(t[1], t[2]);
  num_faces_ = num_slivers_ = 0;
  (void)add_face(t[0], t[1], t[2], 0.0);
  (void)add_face(t[0], t[3], t[1], 0.0);
  (void)add_face(t[1], t[3], t[2], 0.0);
  (void)add_face(t[2], t[3], t[0], 0.0);
}

double DistanceSearch::lowest_face() const {
  double lowest = std::numeric_limits<double>::infinity();
  for (int f = 0; f < num_faces_; ++f) lowest = std::min(lowest, faces_[f].distance);
  return lowest;
}

}  // namespace tangere
