#include "tangere/proximity/scaling/internal/ray_cast.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tangere/proximity/scaling/internal/minimax_step.hpp"
#include "tangere/proximity/scaling/internal/rounded_exit.hpp"

namespace tangere {
namespace {

constexpr int kMostSupports = 100;
/// A portal whose area is less than this part of its edges squared says nothing of the ray any more.
constexpr double kLeastArea = 1e-9;
constexpr int kSlots = 4;
/// The flat sides that are remembered as tried; more of them are tried again.
constexpr int kMostSides = 64;
/// cos and sin of 60 degrees.
constexpr double kHalf = 0.5;
constexpr double kSide = 0.86602540378443864676;
/// The part of a slope that a fork takes of the first portal's; and of the top's, where there is no portal. By
/// measurement.
constexpr double kForkOfPortal = 0.5;
constexpr double kForkOfTop = 0.7;
/// Newton's method that starts this early wants no more corners first.
constexpr double kEarlyNewton = 0.5;
/// The squared tangent of the angle to a disc's axis below which its flat side is tried.
constexpr double kFlatBelow = 0.3;
/// Newton's method starts when the bounds are as near to each other as this: the more pieces M has, the less three
/// corners say about which of them meet at the answer.
struct NewtonStart {
  double most_pieces;
  double below;
};
constexpr NewtonStart kNewtonStarts[] = {{2.0, 0.8}, {16.0, 0.1}, {std::numeric_limits<double>::infinity(), 0.005}};
/// A Newton step must be this much shorter (squared) than the one before.
constexpr double kContraction = 0.5;
constexpr int kNewtonSteps = 8;
/// The part of the tolerance to which the pieces must agree before a true support is asked; or steps (squared) must
/// have become as short as this, where rounding is all that is left.
constexpr double kNewtonShare = 0.1;
constexpr double kShortestStep = 1e-20;
/// A step (squared) that need not be taken any more.
constexpr double kSettled = 1e-14;
/// Bounds this near to each other leave nothing to polish.
constexpr double kExact = 1e-14;
/// After a step (squared) as short as this the pieces mostly agree.
constexpr double kLastStep = 1e-8;

/// z component of the product of the projections.
double cross(Vec4 p, Vec4 q) { return p[0] * q[1] - p[1] * q[0]; }
double flat_dot(Vec4 p, Vec4 q) { return p[0] * q[0] + p[1] * q[1]; }

double length(const Direction& n) { return std::sqrt(n.x * n.x + n.y * n.y + n.z * n.z); }

/// Whether `pieces` name a corner of each term of a body of polytopes. A repeated last vertex is one, too.
bool has_corners(const RayBody& body, const int* pieces) {
  for (int t = 0; t < body.num_terms; ++t) {
    const SupportTerm& term = *body.terms[t].term;
    const int count = term.kind == SupportTerm::Kind::segment ? 2
                      : term.kind == SupportTerm::Kind::box   ? 8
                                                              : term.padded_vertices;
    if (pieces[t] >= count) return false;
  }
  return true;
}

/// How many smooth pieces h_M has.
double count_pieces(const RayBody& body) {
  double count = 1.0;
  for (int t = 0; t < body.num_terms; ++t) {
    const SupportTerm& term = *body.terms[t].term;
    switch (term.kind) {
      case SupportTerm::Kind::segment:
      case SupportTerm::Kind::discs:
        count *= 2.0;
        break;
      case SupportTerm::Kind::box:
        count *= 8.0;
        break;
      case SupportTerm::Kind::vertices:
        count *= term.num_vertices;
        break;
      case SupportTerm::Kind::ellipsoid:
        break;
    }
  }
  return count;
}

double newton_start(const RayBody& body) {
  const double count = count_pieces(body);
  const NewtonStart* start = kNewtonStarts;
  while (count > start->most_pieces) ++start;
  return start->below;
}

/// Across both edges of a portal, z being twice its area: supports do not wait for a division.
Direction scaled_normal(Vec4 e, Vec4 f) {
  return {e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]};
}

/// (x, y, z) turned about the ray by 30 degrees, both ways. Two supports that do not wait for each other take little
/// longer than one, and their points surround the ray where one would need a third.
struct Fork {
  Direction left;
  Direction right;
};
Fork fork(double x, double y, double z) {
  return {{kSide * x + kHalf * y, kSide * y - kHalf * x, z}, {kSide * x - kHalf * y, kSide * y + kHalf * x, z}};
}

/// The corner of the portal whose place w takes, from the products of the three with it, so that the ray still passes.
int replaced_corner(double s0, double s1, double s2) {
  // without jumps, as no one could foretell them
  const int beside_2 = static_cast<int>(s0 <= 0.0) & static_cast<int>(s1 >= 0.0);
  const int beside_0 = static_cast<int>(s1 <= 0.0) & static_cast<int>(s2 >= 0.0);
  return 2 * beside_2 + (1 - beside_2) * (1 - beside_0);
}

/// Curvature over x and y of the ray's frame, the two unknowns.
Vec4 ray_axes(Vec4 t) { return t; }

/// Point of the ray in a portal, as a mean of its corners: it is in M even if rounding spoils a thin portal.
BodyPoint crossing(const BodyPoint (&p)[3]) {
  const double w0 = cross(p[1].v, p[2].v);
  const double w1 = cross(p[2].v, p[0].v);
  const double w2 = cross(p[0].v, p[1].v);
  const double inverse = 1.0 / (w0 + w1 + w2);
  return {(p[0].v * w0 + p[1].v * w1 + p[2].v * w2) * inverse, (p[0].a * w0 + p[1].a * w1 + p[2].a * w2) * inverse};
}

/// The bounds meet (and do not cross, which only rounding in a thin portal could bring about).
bool met(double upper, double lower, double tolerance) { return std::abs(upper - lower) <= tolerance * upper; }

}  // namespace

BodyPoint RayCast::next_support(const Direction& n, RayHit& hit, bool core) {
  ++hit.supports;
  return core ? body.core_support(n) : body.support(n, pieces(free_slot_));
}

bool RayCast::surround(RayHit& hit, bool forked) {
  const bool core = pieces_.empty();
  free_slot_ = 0;
  portal_[0] = next_support({0.0, 0.0, 1.0}, hit, core);
  portal_slots_[0] = 0;
  portal_slots_[1] = portal_slots_[2] = -1;
  const Vec4 top = portal_[0].v;
  hit.upper = top[2];
  const double r = inner_radius;
  if (!(r > 0.0)) return false;
  const double away = std::sqrt(flat_dot(top, top));

  BodyPoint left;
  BodyPoint right;
  forked = forked && away > 0.0;
  if (forked) {
    // beside the plane of the top and the two points of the inner ball below, less steep
    const double slope = -kForkOfPortal * top[2];
    const Fork ask = fork(slope * top[0], slope * top[1], away * (away + kHalf * r));
    free_slot_ = 1;
    left = next_support(ask.left, hit, core);
    free_slot_ = 2;
    right = next_support(ask.right, hit, core);
    const double inverse = 1.0 / ask.left.z;
    hit.tighten_upper(dot(left.v, ask.left) * inverse, ask.left, inverse);
    hit.tighten_upper(dot(right.v, ask.right) * inverse, ask.right, inverse);
    if (cross(top, left.v) > 0.0 && cross(left.v, right.v) > 0.0 && cross(right.v, top) > 0.0) {
      portal_[1] = left;
      portal_[2] = right;
      portal_slots_[1] = 1;
      portal_slots_[2] = 2;
      free_slot_ = 3;
      num_slots_ = 4;
      if (!has_collapsed()) return true;
    }
  }

  // two points of the inner ball on the other side of the ray
  const double inverse = 1.0 / away;
  const double x = away > 0.0 ? top[0] * inverse : 1.0;
  const double y = away > 0.0 ? top[1] * inverse : 0.0;
  const auto inner = [&](double px, double py) {
    const Vec4 v{r * px, r * py, 0.0, 0.0};
    return BodyPoint{v, inner_share * v};
  };
  portal_[1] = inner(-kHalf * x - kSide * y, -kHalf * y + kSide * x);
  portal_[2] = inner(-kHalf * x + kSide * y, -kHalf * y - kSide * x);
  portal_slots_[1] = portal_slots_[2] = -1;
  // or one of the fork
  if (forked && cross(top, left.v) > 0.0 && cross(left.v, portal_[2].v) > 0.0) {
    replace_inner(1, left);
  } else if (forked && cross(right.v, top) > 0.0 && cross(portal_[1].v, right.v) > 0.0) {
    replace_inner(2, right);
  }
  free_slot_ = portal_slots_[1] < 0 ? 1 : 2;
  num_slots_ = std::max(free_slot_, portal_slots_[2]) + 1;
  return true;
}

void RayCast::replace_inner(int i, const BodyPoint& w) {
  const BodyPoint inner = portal_[i];
  portal_[i] = w;
  portal_slots_[i] = i;
  if (!has_collapsed()) return;
  portal_[i] = inner;
  portal_slots_[i] = -1;
}

bool RayCast::has_collapsed() const {
  const Vec4 e = portal_[1].v - portal_[0].v;
  const Vec4 f = portal_[2].v - portal_[0].v;
  return !(cross(e, f) > kLeastArea * (flat_dot(e, e) + flat_dot(f, f)));
}

Direction RayCast::portal_normal() const {
  return scaled_normal(portal_[1].v - portal_[0].v, portal_[2].v - portal_[0].v);
}

bool RayCast::narrow(const BodyPoint& w) {
  const int replaced = replaced_corner(cross(portal_[0].v, w.v), cross(portal_[1].v, w.v), cross(portal_[2].v, w.v));
  portal_[replaced] = w;
  // its pieces stay where they are, those of the corner that goes are free
  const int slot = portal_slots_[replaced];
  portal_slots_[replaced] = free_slot_;
  free_slot_ = slot >= 0 ? slot : num_slots_++;
  return !has_collapsed();
}

bool RayCast::is_enough(RayHit& hit) const {
  if (!(hit.upper < stop_below)) return false;
  hit.certified = hit.beyond = true;
  return true;
}

double RayCast::lower_bound(const BodyPoint& y) const {
  const double off = std::sqrt(flat_dot(y.v, y.v));
  return y.v[2] * inner_radius / (inner_radius + off);
}

void RayCast::prove(const BodyPoint& y, double tolerance, RayHit& hit) const {
  const double lower = lower_bound(y);
  if (!(lower > hit.lower)) return;
  hit.lower = lower;
  hit.point = y;
  hit.certified = met(hit.upper, lower, tolerance);
}

void RayCast::remember(PairCache* cache, const void* A, const void* B) {
  cache_ = cache;
  if (cache == nullptr) return;
  if (cache->A_ != A || cache->B_ != B) cache->count_ = 0;
  cache->A_ = A;
  cache->B_ = B;
}

int RayCast::recall(BodyPoint* corners) {
  if (cache_ == nullptr) return 0;
  if (body.num_terms > PairCache::kMostTerms) cache_ = nullptr;
  if (cache_ == nullptr) return 0;
  pieces_.resize(static_cast<std::size_t>(kSlots * body.num_terms) + 1);
  for (int c = 0; c < cache_->count_; ++c) {
    std::copy_n(cache_->pieces_ + c * PairCache::kMostTerms, body.num_terms, pieces(c));
    // of a shape that is gone, whose place in memory this one has taken
    if (!has_corners(body, pieces(c))) {
      cache_->count_ = 0;
      return 0;
    }
    corners[c] = body.core_vertex(pieces(c));
  }
  return cache_->count_;
}

void RayCast::note(const int* slots, int count) {
  if (cache_ == nullptr) return;
  cache_->count_ = 0;
  for (int c = 0; c < count; ++c) {
    // a point of the inner ball is no feature
    if (slots[c] < 0) return;
    std::copy_n(pieces(slots[c]), body.num_terms, cache_->pieces_ + c * PairCache::kMostTerms);
  }
  cache_->count_ = count;
}

[[gnu::flatten]] RayHit RayCast::flat(double tolerance) {
  RayHit hit;
  // the portal in local variables: this loop is the whole query for polytopes
  BodyPoint p[3];
  int slots[3] = {0, 1, 2};
  hit.upper = std::numeric_limits<double>::infinity();
  const bool warm =
      recall(p) == 3 && cross(p[0].v, p[1].v) >= 0.0 && cross(p[1].v, p[2].v) >= 0.0 && cross(p[2].v, p[0].v) >= 0.0;
  if (!warm) {
    if (cache_ == nullptr) pieces_.clear();
    if (!surround(hit, true) || is_enough(hit)) return hit;
    for (int i = 0; i < 3; ++i) {
      p[i] = portal_[i];
      slots[i] = portal_slots_[i];
    }
  }
  while (hit.supports < kMostSupports) {
    const Vec4 e = p[1].v - p[0].v;
    const Vec4 f = p[2].v - p[0].v;
    const Direction n = scaled_normal(e, f);
    if (!(n.z > kLeastArea * (flat_dot(e, e) + flat_dot(f, f)))) return hit;
    const double inverse = 1.0 / n.z;
    ++hit.supports;
    // with a cache, which pieces the corners are is kept along
    int free = 0;
    if (cache_ != nullptr) {
      while (free == slots[0] || free == slots[1] || free == slots[2]) ++free;
    }
    const BodyPoint w = cache_ == nullptr ? body.core_support(n) : body.core_support<true>(n, pieces(free));
    hit.tighten_upper(dot(w.v, n) * inverse, n, inverse);
    if (is_enough(hit)) return hit;
    if (met(hit.upper, dot(p[0].v, n) * inverse, tolerance)) {
      note(slots, 3);
      prove(crossing(p), tolerance, hit);
      return hit;
    }
    const int replaced = replaced_corner(cross(p[0].v, w.v), cross(p[1].v, w.v), cross(p[2].v, w.v));
    p[replaced] = w;
    slots[replaced] = free;
  }
  return hit;
}

[[gnu::flatten]] RayHit RayCast::rounded(double tolerance) {
  const double R = body.radius();
  RayHit hit;
  BodyPoint points[4] = {};
  RoundedExit best;

  // with a cache, which pieces the corners are is kept along
  int slots[4] = {-1, -1, -1, -1};
  const auto ask = [&](int i, const Direction& n) {
    ++hit.supports;
    if (cache_ == nullptr) {
      points[i] = body.core_support(n);
      return;
    }
    slots[i] = -1;
    int free = 0;
    while (free == slots[0] || free == slots[1] || free == slots[2] || free == slots[3]) ++free;
    slots[i] = free;
    points[i] = body.core_support<true>(n, pieces(free));
  };
  if (const int known = recall(points); known > 0) {
    for (int i = 0; i < known; ++i) {
      slots[i] = i;
      improve_exit(points, i, R, best);
    }
  }

  // a simplex that the ray hits: one corner may do, or two
  if (best.count == 0) {
    for (int& slot : slots) slot = -1;
    ask(0, {0.0, 0.0, 1.0});
    hit.upper = points[0].v[2] + R;
    if (is_enough(hit)) return hit;
    improve_exit(points, 0, R, best);
  }
  if (best.count == 0) {
    // the ray passes beside the ball about the top: its distance is at least R
    const Vec4 top = points[0].v;
    const double beside = std::sqrt(flat_dot(top, top));
    const double slope = -kForkOfTop * (top[2] + R);
    const Fork both = fork(slope * top[0], slope * top[1], beside * (beside + R));
    ask(1, both.left);
    ask(2, both.right);
    improve_exit(points, 1, R, best);
    improve_exit(points, 2, R, best);
    if (best.count == 0) {
      slots[2] = -1;
      ask(1, {-top[0], -top[1], 0.0});
      improve_exit(points, 1, R, best);
    }
  }
  // the portal's way, on the core; a ray past the core meets the ball around it
  for (int round = 0; round < 30 && best.count == 0; ++round) {
    const Vec4 p = points[0].v;
    const Vec4 q = points[1].v;
    double x = p[1] - q[1];
    double y = q[0] - p[0];
    if (x * p[0] + y * p[1] > 0.0) {
      x = -x;
      y = -y;
      std::swap(points[0], points[1]);
      std::swap(slots[0], slots[1]);
    }
    if (x == 0.0 && y == 0.0) return hit;
    ask(2, {x, y, 0.0});
    improve_exit(points, 2, R, best);
    if (best.count != 0) break;
    const int replaced = cross(points[2].v, points[0].v) < 0.0 ? 1 : 0;
    points[replaced] = points[2];
    slots[replaced] = slots[2];
    slots[2] = -1;
  }
  if (best.count == 0) return hit;

  hit.upper = std::numeric_limits<double>::infinity();
  while (hit.supports < kMostSupports) {
    // keep the corners of the exit
    BodyPoint kept[3];
    int kept_slots[3];
    double weights[3];
    const int count = best.count;
    for (int c = 0; c < count; ++c) {
      kept[c] = points[best.corners[c]];
      kept_slots[c] = slots[best.corners[c]];
      weights[c] = best.weights[c];
    }
    for (int c = 0; c < 4; ++c) slots[c] = c < count ? kept_slots[c] : -1;
    for (int c = 0; c < count; ++c) points[c] = kept[c];
    const Direction n = best.n;
    const double t = best.t;
    ask(count, n);
    const double size = length(n);
    hit.tighten_upper(dot(points[count].v, n) + R * size, n, 1.0);
    if (is_enough(hit)) return hit;
    if (met(hit.upper, t, tolerance)) {
      note(slots, count);
      const Vec4 unit = Vec4{n.x, n.y, n.z, 0.0} * (1.0 / size);
      BodyPoint y{R * unit, body.radius_A * unit};
      for (int c = 0; c < count; ++c) {
        y.v += weights[c] * points[c].v;
        y.a += weights[c] * points[c].a;
      }
      prove(y, tolerance, hit);
      return hit;
    }
    best = {};
    improve_exit(points, count, R, best);
    if (best.count == 0 || !(best.t > t)) return hit;
  }
  return hit;
}

RayHit RayCast::polytope(double tolerance) { return body.radius() > 0.0 ? rounded(tolerance) : flat(tolerance); }

bool RayCast::same_pieces(int slot, int other) {
  const int* a = pieces(slot);
  const int* b = pieces(other);
  int differing = 0;
  for (int t = 0; t < body.num_terms; ++t) differing |= a[t] ^ b[t];
  return differing == 0;
}

bool RayCast::newton(Direction n, double tolerance, RayHit& hit) {
  // the distinct pieces
  ActivePieces active;
  for (const int slot : portal_slots_) {
    bool seen = slot < 0;
    for (int i = 0; i < active.count; ++i) seen = seen || same_pieces(active.piece[i].slot, slot);
    if (!seen) active.piece[active.count++].slot = slot;
  }
  if (active.count == 0) return false;
  double last = std::numeric_limits<double>::infinity();
  BodyPoint y;
  BodyPoint w;
  for (int round = 0;; ++round) {
    // the support that certifies, beside the pieces where they will agree: it does not wait for them
    const bool asked = last <= kLastStep;
    if (asked) {
      w = next_support(n, hit, false);
      hit.tighten_upper(dot(w.v, n), n, 1.0);
    }
    const int* named[kMostPieces];
    for (int i = 0; i < active.count; ++i) named[i] = pieces(active.piece[i].slot);
    PieceValue values[kMostPieces];
    body.evaluate_pieces(n, named, active.count, ray_axes, values);
    for (int i = 0; i < active.count; ++i) {
      ActivePiece& p = active.piece[i];
      const PieceValue& value = values[i];
      p.point = value.point;
      p.phi = dot(value.point.v, n);
      p.gx = value.point.v[0];
      p.gy = value.point.v[1];
      // of φ²/2: on φ itself Newton's method diverges far out, on its square it is exact for one ellipsoid
      p.sx = p.phi * p.gx;
      p.sy = p.phi * p.gy;
      const Vec4 curvature = p.phi * value.curvature + plane_square(value.point.v);
      p.xx = curvature[0];
      p.xy = curvature[1];
      p.yy = curvature[2];
    }
    const MinimaxStep step = minimax_step(active, 0.0);
    if (!step.valid) return false;
    y = active.mean_point();
    const double moved = step.x * step.x + step.y * step.y;
    const bool stuck = round == kNewtonSteps || !(moved <= kContraction * last);
    if (met(active.largest(), lower_bound(y), kNewtonShare * tolerance) || last <= kShortestStep) {
      // alpha is good to the square of what its gradient is good to
      if (!(moved <= kSettled) && !stuck && last > kShortestStep) {
        last = moved;
        n.x += step.x;
        n.y += step.y;
        continue;
      }
      if (!asked) {
        w = next_support(n, hit, false);
        hit.tighten_upper(dot(w.v, n), n, 1.0);
      }
      break;
    }
    if (stuck) return false;
    last = moved;
    n.x += step.x;
    n.y += step.y;
  }
  // certify: the true support, and how near to the ray the point is
  prove(y, tolerance, hit);
  if (hit.certified) return true;
  // the point may still serve the portal
  const Direction plane = portal_normal();
  if (!collapsed_ && dot(w.v, plane) > dot(portal_[0].v, plane)) collapsed_ = !narrow(w);
  return false;
}

/// The bounds met before Newton's method did: it makes n and the point, and so the gradient, as good as alpha.
void RayCast::polish(double tolerance, RayHit& hit) {
  if (!(hit.upper - hit.lower > kExact * hit.upper)) return;
  RayHit better = hit;
  if (newton(hit.n, tolerance, better)) hit = better;
}

bool RayCast::flat_disc(int k, const Direction& n, RayHit& hit) {
  // once is enough: whether the ray leaves there does not depend on n
  const std::uint64_t side = k < kMostSides ? std::uint64_t{1} << k : 0;
  if ((tried_sides_ & side) != 0) return false;
  const PlacedTerm& placed = body.terms[k];
  const Vec4 axis = placed.columns.c[0];
  if (axis[2] == 0.0) return false;
  // near enough to be worth a support?
  const Vec4 m = product(placed.rows, n.x, n.y, n.z);
  if (m[1] * m[1] + m[2] * m[2] > kFlatBelow * m[0] * m[0]) return false;
  const double* size = placed.term->size;
  const int disc = axis[2] > 0.0 ? 1 : 0;
  const double radius = size[2 + disc];
  if (radius == 0.0) return false;
  tried_sides_ |= side;
  const double inverse = 1.0 / axis[2];
  const Direction along{axis[0] * inverse, axis[1] * inverse, 1.0};
  ++hit.supports;
  BodyPoint others = body.core_support_without(along, k);
  body.add_balls(along, others);
  const Vec4 center = others.v + axis * size[disc];
  const double t = dot(center, along);
  const Vec4 off = Vec4{0.0, 0.0, t, 0.0} - center;
  hit.tighten_upper(t, along, 1.0);
  if (off[0] * off[0] + off[1] * off[1] + off[2] * off[2] > radius * radius) return false;
  hit.lower = t;
  hit.point.v = Vec4{0.0, 0.0, t, 0.0};
  hit.point.a = k < body.num_terms_A ? others.a + axis * size[disc] + off : others.a;
  hit.certified = true;
  return true;
}

[[gnu::flatten]] RayHit RayCast::curved(double tolerance) {
  RayHit hit;
  pieces_.resize(static_cast<std::size_t>(kSlots * body.num_terms) + 1);
  collapsed_ = false;
  tried_sides_ = 0;
  const double newton_below = newton_start(body);
  if (!surround(hit, newton_below < kEarlyNewton) || is_enough(hit)) return hit;
  int rest = 0;
  while (hit.supports < kMostSupports) {
    const Direction n = portal_normal();
    const double inverse = 1.0 / n.z;
    const BodyPoint w = next_support(n, hit, false);
    hit.tighten_upper(dot(w.v, n) * inverse, n, inverse);
    if (is_enough(hit)) return hit;
    // where a point that Newton's method found has become good enough
    hit.certified = met(hit.upper, hit.lower, tolerance);
    if (hit.certified) {
      polish(tolerance, hit);
      return hit;
    }
    const double plane = dot(portal_[0].v, n) * inverse;
    if (met(hit.upper, plane, tolerance)) {
      prove(crossing(portal_), tolerance, hit);
      if (hit.certified) {
        polish(tolerance, hit);
        return hit;
      }
    }
    collapsed_ = !narrow(w);
    for (int k = 0; k < body.num_terms; ++k) {
      if (body.terms[k].kind != SupportTerm::Kind::discs) continue;
      if (flat_disc(k, n, hit)) return hit;
    }
    // a portal collapses where all is symmetric about the plane of the ray: Newton does not mind
    if (collapsed_ || (--rest < 0 && hit.upper - std::max(plane, hit.lower) <= newton_below * hit.upper)) {
      if (newton(hit.n, tolerance, hit) || collapsed_) return hit;
      rest = 1;
    }
  }
  return hit;
}

}  // namespace tangere
