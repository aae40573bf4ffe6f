/// The nearest boundary from inside: the expanding polytope.

#include "tangere/proximity/distance_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "tangere/proximity/distance_math.hpp"

namespace tangere {
namespace {

/// Other local answers are excluded up to this, where faces cannot be followed to the end.
constexpr double kCurvedGap = 1e-3;
/// Faces that could hide an answer this much shallower are not followed further: Newton's method from each of them
/// says.
constexpr double kCheckedGap = 5e-2;
constexpr int kAttempts = 4;
/// Twice the area of a thin face, over the square of its longer edge.
constexpr double kThin = 1e-6;
/// How much nearer than before rounding may make a face.
constexpr double kSliver = 1e-12;
/// One less the cosine between normals of one plane.
constexpr double kSamePlane = 1e-9;
/// How far d may be from straight below its foot, for the foot to count.
constexpr double kOptimal = 1e-7;

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
  const Vec4 normal = cross3(from_d(j) - p, from_d(k) - p);
  const double length = std::sqrt(dot3(normal, normal));
  Face& face = faces_[static_cast<std::size_t>(num_faces_++)];
  face.corner[0] = i;
  face.corner[1] = j;
  face.corner[2] = k;
  face.alive = true;
  face.checked = false;
  if (!(length > 0.0)) {
    // a sliver bounds nothing
    face.n = {0.0, 0.0, 0.0};
    face.distance = std::numeric_limits<double>::infinity();
    return true;
  }
  face.n = unit(normal, length);
  face.distance = dot3(p, to_vec(face.n));
  // the polytope only grows, so a face nearer than all before is rounding: no nearer, or, if thin, nowhere at all
  if (face.distance < least - kSliver * size) {
    const Vec4 e = from_d(j) - p;
    const Vec4 f = from_d(k) - p;
    const bool thin = length <= kThin * std::max(dot3(e, e), dot3(f, f));
    face.distance = thin ? std::numeric_limits<double>::infinity() : least;
  }
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
    const Face& face = faces_[static_cast<std::size_t>(f)];
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

/// d is straight below the point, at the depth that the support says: an answer, if perhaps not the shallowest.
bool DistanceSearch::straight_below(const DistanceHit& hit, double depth) const {
  const Vec4 q = hit.point.v - d - depth * to_vec(hit.n);
  return dot3(q, q) <= kOptimal * kOptimal * extent * extent;
}

void DistanceSearch::inside(double tolerance, Simplex& simplex, DistanceHit& hit) {
  if (!surround(simplex, hit)) {
    flat_body(simplex, hit);
    return;
  }
  int t[4] = {simplex.slot[0], simplex.slot[1], simplex.slot[2], simplex.slot[3]};
  if (dot3(cross3(from_d(t[1]) - from_d(t[0]), from_d(t[2]) - from_d(t[0])), from_d(t[3]) - from_d(t[0])) > 0.0)
    std::swap(t[1], t[2]);
  // outward faces
  num_faces_ = 0;
  (void)add_face(t[0], t[1], t[2], 0.0);
  (void)add_face(t[0], t[3], t[1], 0.0);
  (void)add_face(t[1], t[3], t[2], 0.0);
  (void)add_face(t[2], t[3], t[0], 0.0);

  double upper = std::numeric_limits<double>::infinity();
  DistanceHit best = hit;
  bool exact = false;
  int rest = 0;
  while (num_vertices_ < kMostVertices - 2) {
    // the nearest face that is not settled
    const double settled = exact ? upper - kCheckedGap * std::max(upper, extent) : -1.0;
    int nearest = -1;
    double lowest = std::numeric_limits<double>::infinity();
    for (int f = 0; f < num_faces_; ++f) {
      const Face& face = faces_[static_cast<std::size_t>(f)];
      lowest = std::min(lowest, face.distance);
      // slivers bound nothing
      if (!std::isfinite(face.distance) || (exact && face.checked && face.distance >= settled)) continue;
      if (nearest < 0 || face.distance < faces_[static_cast<std::size_t>(nearest)].distance) nearest = f;
    }
    if (nearest < 0 ||
        (exact && faces_[static_cast<std::size_t>(nearest)].distance >= upper - kCurvedGap * std::max(upper, extent))) {
      best.gap = std::max(0.0, (upper - lowest) / std::max(upper, extent));
      best.certified = exact;
      break;
    }
    Face& candidate = faces_[static_cast<std::size_t>(nearest)];
    if (exact && !candidate.checked && candidate.distance >= settled) {
      candidate.checked = true;
      DistanceHit trial = hit;
      if (newton(candidate.n, candidate.corner, 3, trial)) {
        if (dot3(to_vec(trial.n), to_vec(best.n)) > 1.0 - kSamePlane) continue;
        const int slot = add_support(trial.n, hit);
        const double depth = dot3(from_d(slot), to_vec(trial.n));
        if (depth < upper && straight_below(trial, depth)) {
          upper = depth;
          best = trial;
          best.distance = -depth;
        }
        continue;
      }
    }
    const Face face = candidate;
    const double lower = face.distance;
    const int slot = add_support(face.n, hit);
    const double depth = dot3(from_d(slot), to_vec(face.n));
    const double scale = std::max(std::abs(depth), extent);
    if (depth - lower <= tolerance * scale) {
      // the face is on the boundary: the foot of d on it
      if (depth <= upper) {
        const Simplex on_face = foot_on_faces(face.n, lower + tolerance * scale);
        best = hit;
        read(on_face, best);
        best.n = face.n;
        upper = depth;
        best.distance = -depth;
      }
      best.gap = std::max(0.0, (upper - lower) / scale);
      best.certified = true;
      break;
    }
    if (depth < upper) {
      upper = depth;
      exact = false;
      best = hit;
      best.distance = -depth;
      best.n = face.n;
      best.point = vertices_[static_cast<std::size_t>(slot)];
      best.num_pieces = 0;
    }
    int extra = -1;
    if (curved_ && --rest < 0 && depth - lower <= kNewtonBelow * scale) {
      DistanceHit trial = hit;
      bool found = flat_disc(face.n, trial);
      hit.supports = trial.supports;
      // on the pieces of the corners; where another piece turns out to be farther, with that one
      int corners[4] = {slot, face.corner[0], face.corner[1], face.corner[2]};
      int count = 4;
      Direction from = face.n;
      for (int attempt = 0; attempt < kAttempts && !found && num_vertices_ < kMostVertices - 1; ++attempt) {
        if (!newton(from, corners, count, trial)) break;
        const int top = add_support(trial.n, hit);
        trial.distance = -dot3(from_d(top), to_vec(trial.n));
        found = straight_below(trial, -trial.distance);
        // a point that is there already would only make slivers
        if (!exact || dot3(to_vec(trial.n), to_vec(best.n)) <= 1.0 - kSamePlane) extra = top;
        from = trial.n;
        corners[0] = top;
        count = 1 + trial.num_pieces;
        for (int i = 0; i < trial.num_pieces; ++i) corners[1 + i] = trial.slots[i];
      }
      if (found && -trial.distance <= upper * (1.0 + 1e-12)) {
        upper = -trial.distance;
        best = trial;
        exact = true;
      }
      rest = 1;
    }
    // take out the faces that the new point sees, close the hole
    for (const int point : {slot, extra}) {
      if (point < 0) continue;
      const Vec4 w = from_d(point);
      horizon_.clear();
      for (int f = 0; f < num_faces_; ++f) {
        Face& seen = faces_[static_cast<std::size_t>(f)];
        if (!seen.alive || !std::isfinite(seen.distance)) continue;
        if (dot3(w, to_vec(seen.n)) - seen.distance <= 1e-15 * size) continue;
        seen.alive = false;
        for (int e = 0; e < 3; ++e) {
          const int a = seen.corner[e];
          const int b = seen.corner[(e + 1) % 3];
          // an edge seen from both sides is inside the hole
          bool twin = false;
          for (std::size_t h = 0; h + 1 < horizon_.size(); h += 2) {
            if (horizon_[h] == b && horizon_[h + 1] == a) {
              horizon_.erase(horizon_.begin() + static_cast<std::ptrdiff_t>(h),
                             horizon_.begin() + static_cast<std::ptrdiff_t>(h) + 2);
              twin = true;
              break;
            }
          }
          if (!twin) {
            horizon_.push_back(a);
            horizon_.push_back(b);
          }
        }
      }
      // forget the dead
      int kept = 0;
      for (int f = 0; f < num_faces_; ++f) {
        if (faces_[static_cast<std::size_t>(f)].alive)
          faces_[static_cast<std::size_t>(kept++)] = faces_[static_cast<std::size_t>(f)];
      }
      num_faces_ = kept;
      bool room = true;
      for (std::size_t h = 0; h + 1 < horizon_.size(); h += 2)
        room = room && add_face(horizon_[h], horizon_[h + 1], point, lower);
      if (!room) break;
    }
  }
  if (!best.certified) {
    // out of room: the answer stands, with what is left to exclude
    double lowest = std::numeric_limits<double>::infinity();
    for (int f = 0; f < num_faces_; ++f) lowest = std::min(lowest, faces_[static_cast<std::size_t>(f)].distance);
    best.gap = std::max(0.0, (upper - lowest) / std::max(upper, extent));
    best.certified = exact && best.gap <= kCheckedGap;
  }
  best.supports = hit.supports;
  hit = best;
}

}  // namespace tangere
