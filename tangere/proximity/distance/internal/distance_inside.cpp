/// The nearest boundary from inside: the expanding polytope.
///
/// Each face of the polytope is at most as deep as the boundary above it, so only faces nearer than the best answer can
/// hide a shallower one. On polytopes they are followed to the end. On curved bodies that would take ever more corners:
/// there, a face that could hide little is left to Newton's method, which starts from its normal and finds the answer
/// that it hides, if any.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "tangere/proximity/distance/internal/distance_math.hpp"
#include "tangere/proximity/distance/internal/distance_search.hpp"

namespace tangere {
namespace {

/// A face that could hide no more than this is left to Newton's method; relative, as the tolerance.
constexpr double kFollowedGap = 5e-4;
/// A face from which Newton's method finds nothing, or beside the answer, is settled when it could hide no more than
/// this.
constexpr double kVainGap = 5e-5;
/// The most that may be hidden where there is no more room, for an answer that Newton's method settles.
constexpr double kRoomlessGap = 5e-2;
/// The cosine of the angle to the answer's normal of faces beside it.
constexpr double kBeside = 0.5;
/// The most growing steps between two tries of Newton's method.
constexpr int kLongestRest = 2;
/// The last search when there is no more room: how often a piece may join it, and its longest step (squared).
constexpr int kLastAttempts = 24;
constexpr double kLastLongest = 0.04;
/// The most supports between two looks at the room that is left.
constexpr int kMostTried = 2 * (kLastAttempts + 4) + 1;
/// Rounding between two depths.
constexpr double kSameDepth = 1e-12;
/// How far d may be from straight below its foot, for the foot to count.
constexpr double kOptimal = 1e-7;

}  // namespace

double DistanceSearch::Shallowest::below(double part, double least_scale) const {
  return depth - part * std::max(depth, least_scale);
}

/// d is straight below the point, at the depth that the support says: an answer, if perhaps not the shallowest.
bool DistanceSearch::straight_below(const DistanceHit& hit, double depth) const {
  const Vec4 q = hit.point.v - d - depth * to_vec(hit.n);
  return dot3(q, q) <= kOptimal * kOptimal * extent * extent;
}

/// The flat side of a disc near n, or where Newton's method from n ends, on the pieces of the corners; where another
/// piece turns out to be farther, with that one too. An answer is then `trial`; the last support asked for is `top`, if
/// any.
DistanceSearch::Descent DistanceSearch::descend(Direction n, const int* from, int count, const Bounds& bounds,
                                                DistanceHit& trial, int& top) {
  const double deepest = bounds.deepest;
  if (flat_disc(n, trial)) {
    if (-trial.distance <= deepest) return Descent::answer;
    trial.flat_term = -1;
  }
  int corners[4] = {};
  std::copy_n(from, count, corners);
  bool look = !smooth_;
  for (int round = 0, joined = 0; round < 2 * bounds.attempts && joined < bounds.attempts; ++round) {
    const Descent end = newton(n, corners, count, bounds, look, trial);
    if (end == Descent::lost || end == Descent::too_deep) return end;
    // more pieces only make it deeper
    if (end == Descent::answer && dot3(trial.point.v - d, to_vec(trial.n)) > deepest) return Descent::too_deep;
    top = add_support(trial.n, trial);
    if (end == Descent::answer) {
      trial.distance = -dot3(from_d(top), to_vec(trial.n));
      if (straight_below(trial, -trial.distance))
        return -trial.distance <= deepest ? Descent::answer : Descent::too_deep;
    }
    // from nearby the true support tells which pieces are missing, long before Newton's method has converged
    const bool missing = !has_piece(trial, top);
    joined += missing || end == Descent::answer ? 1 : 0;
    look = missing;
    n = trial.n;
    corners[0] = top;
    count = 1 + trial.num_pieces;
    std::copy_n(trial.slots, trial.num_pieces, corners + 1);
  }
  return Descent::lost;
}

/// The nearest face that could hide a shallower answer; -1: none.
int DistanceSearch::nearest_open_face(const Shallowest& found, double tolerance) const {
  const double followed = found.below(kFollowedGap, core_extent);
  const double in_vain = found.below(kVainGap, core_extent);
  const double harmless = found.below(tolerance, extent);
  int nearest = -1;
  double lowest = std::numeric_limits<double>::infinity();
  for (int f = 0; f < num_faces_; ++f) {
    const Face& face = faces_[f];
    // slivers are infinitely far
    if (!(face.distance < lowest)) continue;
    if (found.exact) {
      double settled = harmless;
      if (face.followed == Followed::to_an_answer) {
        settled = followed;
      } else if (face.followed == Followed::in_vain || dot3(to_vec(face.n), to_vec(found.hit.n)) > kBeside) {
        settled = in_vain;
      }
      if (face.distance >= settled) continue;
    }
    nearest = f;
    lowest = face.distance;
  }
  return nearest;
}

/// Asks Newton's method whether the face hides an answer that is shallower by more than the tolerance.
void DistanceSearch::follow(Face& face, double tolerance, Shallowest& found) {
  const int num_vertices = num_vertices_;
  DistanceHit trial = found.hit;
  int top = -1;
  const Descent descent = descend(face.n, face.corner, 3, {found.below(tolerance, extent), &found.hit}, trial, top);
  found.hit.supports = trial.supports;
  face.followed = descent == Descent::lost ? Followed::in_vain : Followed::to_an_answer;
  if (descent == Descent::answer) {
    found.depth = -trial.distance;
    found.hit = trial;
  } else {
    num_vertices_ = num_vertices;
  }
}

/// Grows the polytope over a face. False if there is no need: the face is on the boundary, so the answer is there; or
/// no room.
bool DistanceSearch::grow(int nearest, double tolerance, Shallowest& found) {
  // whatever rounding says, the face goes: what is above it sees it
  faces_[nearest].seen_above = -kSliverDistance;
  const Face face = faces_[nearest];
  DistanceHit& hit = found.hit;
  const double lower = face.distance;
  const int slot = add_support(face.n, hit);
  const double depth = dot3(from_d(slot), to_vec(face.n));
  const double scale = std::max(std::abs(depth), extent);
  if (depth - lower <= tolerance * scale) {
    // an answer that was not read off faces or found by Newton's method has no point yet
    if (depth <= found.depth || !found.exact) {
      read(foot_on_faces(face.n, lower + tolerance * scale), hit);
      hit.n = face.n;
      hit.distance = -depth;
      found.depth = depth;
    }
    hit.gap = std::max(0.0, (found.depth - lower) / scale);
    hit.certified = true;
    return false;
  }
  if (depth < found.depth) {
    // shallower than an answer: there is another one nearby
    if (found.exact) found.rest = 0;
    found.depth = depth;
    found.exact = false;
    found.corners[0] = slot;
    std::copy_n(face.corner, 3, found.corners + 1);
    hit.distance = -depth;
    hit.n = face.n;
    hit.point = vertices_[slot];
    hit.num_pieces = 0;
    hit.flat_term = -1;
  }
  int top = -1;
  if (curved_ && !found.exact && --found.rest < 0 && depth - lower <= kNewtonBelow * scale) {
    const int corners[4] = {slot, face.corner[0], face.corner[1], face.corner[2]};
    DistanceHit trial = hit;
    const Descent descent = descend(face.n, corners, 4, {.deepest = found.depth * (1.0 + kSameDepth)}, trial, top);
    hit.supports = trial.supports;
    if (descent == Descent::answer) {
      found.depth = -trial.distance;
      found.exact = true;
      hit = trial;
    } else if (top >= 0) {
      // of what Newton's method asked for, only its end may become a corner
      copy_vertex(top, slot + 1);
      top = slot + 1;
      num_vertices_ = slot + 2;
    }
    found.rest = std::min(++found.in_vain, kLongestRest);
  }
  if (!add_corner(slot, lower)) return false;
  return top < 0 || is_corner(top) || add_corner(top, lower);
}

void DistanceSearch::inside(double tolerance, Simplex& simplex, DistanceHit& hit) {
  if (!surround(simplex, hit)) {
    flat_body(simplex, hit);
    return;
  }
  first_faces(simplex);
  Shallowest found;
  found.hit = hit;
  int nearest = 0;
  while (num_vertices_ < kMostVertices - 2 * kMostTried) {
    nearest = nearest_open_face(found, tolerance);
    if (nearest < 0) break;
    Face& face = faces_[nearest];
    const bool hides_little = found.exact && face.distance >= found.below(kFollowedGap, core_extent);
    if (hides_little && face.followed == Followed::no) {
      follow(face, tolerance, found);
      continue;
    }
    if (!grow(nearest, tolerance, found)) break;
  }
  const bool out_of_room = nearest >= 0 && !found.hit.certified;
  if (curved_ && !found.exact && out_of_room && num_vertices_ + kMostTried <= kMostVertices) {
    // a last time, from the shallowest normal: as ever, then in short steps with more pieces
    const double deepest = found.depth * (1.0 + kSameDepth);
    for (const Bounds& bounds :
         {Bounds{.deepest = deepest}, Bounds{.deepest = deepest, .attempts = kLastAttempts, .longest = kLastLongest}}) {
      if (found.exact) break;
      DistanceHit trial = found.hit;
      int top = -1;
      const Descent descent = descend(found.hit.n, found.corners, 4, bounds, trial, top);
      found.hit.supports = trial.supports;
      if (descent != Descent::answer) continue;
      found.depth = -trial.distance;
      found.exact = true;
      found.hit = trial;
    }
  }
  hit = found.hit;
  if (hit.certified) return;
  hit.gap = std::max(0.0, (found.depth - lowest_face()) / std::max(found.depth, extent));
  // out of room, as all but round bodies need many corners: no more may be hidden than what is left to Newton's method
  hit.certified = found.exact && (nearest < 0 || hit.gap <= kRoomlessGap);
}

}  // namespace tangere
