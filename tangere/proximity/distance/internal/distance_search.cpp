/// The projection on M from outside: Gilbert, Johnson and Keerthi.

#include "tangere/proximity/distance/internal/distance_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/proximity/distance/internal/distance_math.hpp"

namespace tangere {
namespace {

constexpr int kMostSupports = 128;
/// Nearer to M than this part of its size counts as touching.
constexpr double kTouching = 1e-15;
/// So near that without a proof d counts as inside.
constexpr double kMiddle = 1e-12;
/// So little inside, in units of the tolerance, that no other way out is looked for.
constexpr double kShallow = 1e3;
/// How many starts a pair is worth whose search rounding stops: they fail independently.
constexpr int kStarts = 4;
/// All but touching, as a part of the size; how far to step back then, and how often.
constexpr double kAllButTouching = 1e-5;
constexpr double kStepBack = 1e-3;
constexpr int kRounds = 3;
/// Nearer than this part, rounding in the offset from the simplex to d shows in its direction.
constexpr double kNear = 1e-3;
/// That offset's rounding, as a part of the size.
constexpr double kRounding = 1e-14;

/// d's direction first, then others that no shape is aligned with.
Direction start_direction(const Direction& first, int start) {
  if (start == 0) return first;
  const double turn = 2.3998277 * start;
  const Across axes(first);
  const Vec4 v = 0.3 * to_vec(first) + std::cos(turn) * axes.x + std::sin(turn) * axes.y;
  return unit(v, std::sqrt(dot3(v, v)));
}

}  // namespace

int DistanceSearch::add_support(const Direction& n, DistanceHit& hit) {
  ++hit.supports;
  const int slot = num_vertices_++;
  vertices_[slot] = body.core_support<true>(n, pieces_.data() + slot * body.num_terms);
  return slot;
}

void DistanceSearch::copy_vertex(int from, int to) {
  vertices_[to] = vertices_[from];
  std::copy_n(pieces(from), body.num_terms, pieces_.data() + to * body.num_terms);
}

bool DistanceSearch::reduce(Simplex& simplex) const {
  Vec4 p[4];
  for (int i = 0; i < simplex.count; ++i) p[i] = from_d(simplex.slot[i]);
  double* w = simplex.weight;
  switch (simplex.count) {
    case 1:
      w[0] = 1.0;
      return true;
    case 2: {
      const Vec4 e = p[1] - p[0];
      const double along = -dot3(p[0], e);
      const double length2 = dot3(e, e);
      w[1] = along <= 0.0 ? 0.0 : along >= length2 ? 1.0 : along / length2;
      w[0] = 1.0 - w[1];
      break;
    }
    case 3:
      nearest_on_triangle(p, w);
      break;
    default: {
      // the nearest of the faces that d is outside of; the newest corner is 3
      const int faces[4][4] = {{0, 1, 3, 2}, {1, 2, 3, 0}, {2, 0, 3, 1}, {0, 2, 1, 3}};
      double nearest = std::numeric_limits<double>::infinity();
      Simplex best;
      for (const auto& face : faces) {
        const Vec4 corners[3] = {p[face[0]], p[face[1]], p[face[2]]};
        const Vec4 normal = cross3(corners[1] - corners[0], corners[2] - corners[0]);
        const double opposite = dot3(normal, p[face[3]] - corners[0]);
        const double origin = -dot3(normal, corners[0]);
        if (opposite * origin > 0.0) continue;
        double weights[3];
        nearest_on_triangle(corners, weights);
        const Vec4 y = weights[0] * corners[0] + weights[1] * corners[1] + weights[2] * corners[2];
        if (const double distance2 = dot3(y, y); distance2 < nearest) {
          nearest = distance2;
          best.count = 3;
          for (int i = 0; i < 3; ++i) {
            best.slot[i] = simplex.slot[face[i]];
            best.weight[i] = weights[i];
          }
        }
      }
      if (best.count == 0) return false;
      simplex = best;
      break;
    }
  }
  // drop the corners that do not count
  int kept = 0;
  for (int i = 0; i < simplex.count; ++i) {
    if (simplex.weight[i] <= 0.0) continue;
    simplex.slot[kept] = simplex.slot[i];
    simplex.weight[kept++] = simplex.weight[i];
  }
  simplex.count = kept;
  return true;
}

Direction DistanceSearch::square_to(const Simplex& simplex, const Direction& n) const {
  if (simplex.count == 1) return n;
  const Vec4 first = from_d(simplex.slot[0]);
  const Vec4 e = from_d(simplex.slot[1]) - first;
  Vec4 across = to_vec(n);
  across -= (dot3(across, e) / dot3(e, e)) * e;
  if (simplex.count == 3) {
    Vec4 f = from_d(simplex.slot[2]) - first;
    f -= (dot3(f, e) / dot3(e, e)) * e;
    across -= (dot3(across, f) / dot3(f, f)) * f;
  }
  const double left = std::sqrt(dot3(across, across));
  return left > 0.5 ? unit(across, left) : n;
}

Direction DistanceSearch::normal_of(const Simplex& simplex, Vec4 y, double length) const {
  const Direction n = unit(y, length);
  if (simplex.count == 1 || length > kNear * size) return n;
  const Direction square = square_to(simplex, n);
  // no more than rounding may have turned: the corners of a sliver say nothing about its normal
  const Vec4 turned = to_vec(square) - to_vec(n);
  const double allowed = kRounding * size / length;
  return dot3(turned, turned) > allowed * allowed ? n : square;
}

bool DistanceSearch::is_corner_of(const Simplex& simplex, int slot) const {
  for (int i = 0; i < simplex.count; ++i) {
    const Vec4 apart = vertices_[simplex.slot[i]].v - vertices_[slot].v;
    if (dot3(apart, apart) == 0.0) return true;
  }
  return false;
}

void DistanceSearch::read(const Simplex& simplex, DistanceHit& hit) const {
  hit.point = BodyPoint{};
  hit.num_pieces = 0;
  for (int i = 0; i < simplex.count; ++i) {
    if (!(simplex.weight[i] > 0.0)) continue;
    const BodyPoint& p = vertices_[simplex.slot[i]];
    hit.point.v += simplex.weight[i] * p.v;
    hit.point.a += simplex.weight[i] * p.a;
    hit.slots[hit.num_pieces] = simplex.slot[i];
    hit.weights[hit.num_pieces++] = simplex.weight[i];
  }
}

bool DistanceSearch::is_enough(const DistanceQuestion& question, double lower, const Direction& n, int slot,
                               DistanceHit& hit) const {
  if (!(lower > question.at_most)) return false;
  hit.certified = hit.beyond = true;
  hit.distance = lower;
  hit.gap = 0.0;
  hit.n = n;
  hit.point = vertices_[slot];
  hit.num_pieces = 0;
  return true;
}

bool DistanceSearch::outside(const DistanceQuestion& question, Simplex& simplex, DistanceHit& hit) {
  const double tolerance = question.tolerance;
  double lower = -std::numeric_limits<double>::infinity();
  double nearest = std::numeric_limits<double>::infinity();
  int rest = 0;
  while (hit.supports < kMostSupports) {
    if (!reduce(simplex)) return false;
    Vec4 y{};
    for (int i = 0; i < simplex.count; ++i) y -= simplex.weight[i] * from_d(simplex.slot[i]);
    const double upper = std::sqrt(dot3(y, y));
    if (upper <= kTouching * size) return false;
    nearest = std::min(nearest, upper);
    if (question.side_only && upper <= question.side_of) return false;
    const Direction n = normal_of(simplex, y, upper);
    int slot = add_support(n, hit);
    const double bound = -dot3(from_d(slot), to_vec(n));
    if (is_enough(question, bound, n, slot, hit)) return true;
    if (bound > lower) {
      lower = bound;
      hit.n = n;
    }
    const double scale = std::max(upper, extent);
    if (upper - lower <= tolerance * scale) {
      // along the direction that proves it: the last one is rounding where the shapes all but touch
      hit.distance = upper;
      hit.gap = std::max(upper - lower, 0.0) / scale;
      hit.certified = true;
      read(simplex, hit);
      if (curved_) polish(tolerance, hit);
      return true;
    }
    if (curved_ && --rest < 0 && upper - lower <= kNewtonBelow * scale) {
      DistanceHit trial = hit;
      if (flat_disc(n, trial) && trial.distance > 0.0) {
        trial.gap = 0.0;
        trial.certified = true;
        hit = trial;
        return true;
      }
      hit.supports = trial.supports;
      int corners[4] = {};
      for (int i = 0; i < simplex.count; ++i) corners[i] = simplex.slot[i];
      // the newest first: it is what the pieces there are
      std::swap(corners[0], corners[simplex.count - 1]);
      int all[4] = {slot, corners[0], corners[1], corners[2]};
      if (newton(n, all, std::min(simplex.count + 1, 4), {}, false, trial) == Descent::answer) {
        const int check = add_support(trial.n, trial);
        const double best_lower = -dot3(from_d(check), to_vec(trial.n));
        const Vec4 q = d - trial.point.v;
        const double best_upper = std::sqrt(dot3(q, q));
        if (best_upper - best_lower <= tolerance * std::max(best_upper, extent) && best_upper > kTouching * size) {
          hit = trial;
          hit.distance = best_upper;
          hit.gap = std::max(best_upper - best_lower, 0.0) / std::max(best_upper, extent);
          hit.certified = true;
          return true;
        }
        // straight above the point by as much as n says: just inside, where it takes long to find that out by corners
        const bool inside_by_lower =
            best_lower < 0.0 && std::abs(dot3(q, to_vec(trial.n)) - best_lower) <= tolerance * extent;
        if (inside_by_lower && best_upper - best_lower <= kShallow * tolerance * extent) {
          hit = trial;
          hit.distance = best_lower;
          hit.gap = (best_upper - best_lower) / extent;
          hit.certified = true;
          return true;
        }
        hit.supports = trial.supports;
      }
      rest = 1;
    }
    if (is_corner_of(simplex, slot)) {
      // no progress is left but rounding, which on a thin simplex turns n by more than it should
      const Direction square = square_to(simplex, n);
      slot = add_support(square, hit);
      if (const double proved = -dot3(from_d(slot), to_vec(square)); proved > lower) {
        lower = proved;
        hit.n = square;
      }
      const bool met = upper - lower <= tolerance * scale;
      // nothing says that d is outside: a thin simplex that it is in
      if (!met && lower <= 0.0 && upper <= kMiddle * size) return false;
      if (met || is_corner_of(simplex, slot)) {
        hit.distance = upper;
        hit.gap = std::max(upper - lower, 0.0) / scale;
        hit.certified = met;
        read(simplex, hit);
        return true;
      }
    }
    simplex.slot[simplex.count++] = slot;
  }
  // all but in M's middle the nearest point turns about d, and nothing is proved: inside
  if (lower <= 0.0 && nearest <= kMiddle * size) return false;
  if (!reduce(simplex)) return false;
  hit.distance = std::max(lower, 0.0);
  hit.gap = std::max(nearest - lower, 0.0) / std::max(nearest, extent);
  read(simplex, hit);
  return true;
}

void DistanceSearch::run(const DistanceQuestion& question, DistanceHit& hit) {
  hit = DistanceHit{};
  if (vertices_.empty()) {
    vertices_.resize(kMostVertices);
    faces_.resize(kMostFaces);
    horizon_.reserve(6 * kMostFaces);
  }
  if (pieces_.size() < static_cast<std::size_t>(kMostVertices * body.num_terms))
    pieces_.resize(static_cast<std::size_t>(kMostVertices * body.num_terms));
  curved_ = false;
  smooth_ = true;
  for (int k = 0; k < body.num_terms; ++k) {
    const SupportTerm::Kind kind = body.terms[k].kind;
    curved_ = curved_ || kind >= SupportTerm::Kind::discs;
    smooth_ = smooth_ && kind == SupportTerm::Kind::ellipsoid;
  }

  const double length = std::sqrt(dot3(d, d));
  const Direction first = length > 0.0 ? unit(d, length) : Direction{1.0, 0.0, 0.0};
  for (int start = 0; start < kStarts; ++start) {
    search_from(start_direction(first, start), question, hit);
    if (hit.certified || touching(question.tolerance, hit)) return;
  }
  // the corners of the answer again
  search_from(first, question, hit);
}

/// M and d all but touch, where the direction between them is rounding. From a little farther out along the normal so
/// far, it is not; and as n·d - h(n) ≤ distance ≤ |d - y| for any n and any point y of M, what is found there is
/// judged by d itself.
bool DistanceSearch::touching(double tolerance, DistanceHit& hit) {
  const Vec4 at = d;
  DistanceHit from_afar = hit;
  for (int round = 0; round < kRounds; ++round) {
    if (!(std::abs(from_afar.distance) <= kAllButTouching * size)) return false;
    d = at + kStepBack * size * to_vec(from_afar.n);
    search_from(Direction(from_afar.n), {.tolerance = tolerance}, from_afar);
    d = at;
    if (!from_afar.certified) return false;
    const int slot = add_support(from_afar.n, from_afar);
    const double lower = -dot3(from_d(slot), to_vec(from_afar.n));
    const Vec4 off = d - from_afar.point.v;
    const double upper = std::sqrt(dot3(off, off));
    const double scale = std::max(std::abs(lower), extent);
    from_afar.distance = lower;
    from_afar.gap = std::max(0.0, upper - lower) / scale;
    from_afar.certified = from_afar.gap <= tolerance;
    if (from_afar.certified) {
      hit = from_afar;
      return true;
    }
  }
  return false;
}

void DistanceSearch::search_from(const Direction& n, const DistanceQuestion& question, DistanceHit& hit) {
  const int supports = hit.supports;
  hit = DistanceHit{};
  num_vertices_ = 0;
  Simplex simplex;
  simplex.slot[0] = add_support(n, hit);
  simplex.count = 1;
  const double first = -dot3(from_d(simplex.slot[0]), to_vec(n));
  if (!is_enough(question, first, n, simplex.slot[0], hit) && !outside(question, simplex, hit)) {
    if (question.side_only) {
      // so near, or inside: nothing more is asked
      hit.certified = true;
      hit.distance = 0.0;
    } else {
      inside(question.tolerance, simplex, hit);
    }
  }
  hit.supports += supports;
}

}  // namespace tangere
