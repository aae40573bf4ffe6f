/// The last steps of the distance search on curved bodies.

#include "tangere/proximity/distance_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/proximity/distance_math.hpp"
#include "tangere/proximity/minimax_step.hpp"

namespace tangere {
namespace {

constexpr int kNewtonSteps = 12;
constexpr double kLeastCurvature = 1e-9;
constexpr double kContraction = 0.5;
constexpr double kStraight = 1e-11;
constexpr double kNewtonAccuracy = 1e-9;

}  // namespace

bool DistanceSearch::newton(Direction n, const int* corners, int count, DistanceHit& hit) {
  ActivePieces active;
  for (int c = 0; c < count && active.count < 3; ++c) {
    bool seen = false;
    for (int i = 0; i < active.count; ++i) {
      const int* known = pieces(active.piece[i].slot);
      seen = seen || std::equal(known, known + body.num_terms, pieces(corners[c]));
    }
    if (!seen) active.piece[active.count++].slot = corners[c];
  }
  double last = std::numeric_limits<double>::infinity();
  bool converged = false;
  for (int round = 0; round <= kNewtonSteps; ++round) {
    const Across axes(n);
    const Vec4 nv = to_vec(n);
    const auto project = [&](Vec4 t) { return Vec4{dot3(t, axes.x), dot3(t, axes.y), 0.0, 0.0}; };
    const int* named[kMostPieces];
    for (int i = 0; i < active.count; ++i) named[i] = pieces(active.piece[i].slot);
    PieceValue values[kMostPieces];
    body.evaluate_pieces(n, named, active.count, project, values);
    for (int i = 0; i < active.count; ++i) {
      ActivePiece& p = active.piece[i];
      const PieceValue& value = values[i];
      const Vec4 q = value.point.v - d;
      p.point = value.point;
      p.phi = dot3(q, nv);
      p.sx = p.gx = dot3(q, axes.x);
      p.sy = p.gy = dot3(q, axes.y);
      // on the sphere the second derivative of h - n·d is that of h less its value
      p.xx = value.curvature[0] - p.phi;
      p.xy = value.curvature[1];
      p.yy = value.curvature[2] - p.phi;
    }
    const MinimaxStep step = minimax_step(active, kLeastCurvature * size);
    if (!step.valid) return false;
    if (converged) {
      // and d straight below (or above) the point
      double off_x = 0.0;
      double off_y = 0.0;
      for (int i = 0; i < active.count; ++i) {
        off_x += active.weight[i] * active.piece[i].gx;
        off_y += active.weight[i] * active.piece[i].gy;
      }
      if (off_x * off_x + off_y * off_y <= kStraight * kStraight * size * size) {
        hit.n = n;
        hit.point = active.mean_point();
        hit.num_pieces = active.count;
        for (int i = 0; i < active.count; ++i) {
          hit.slots[i] = active.piece[i].slot;
          hit.weights[i] = active.weight[i];
        }
        return true;
      }
    }
    const double moved = step.x * step.x + step.y * step.y;
    if (!step.shifted && !(moved <= kContraction * last)) return false;
    last = step.shifted ? std::numeric_limits<double>::infinity() : moved;
    const Vec4 next = nv + step.x * axes.x + step.y * axes.y;
    n = unit(next, std::sqrt(dot3(next, next)));
    converged = moved <= kNewtonAccuracy;
  }
  return false;
}

bool DistanceSearch::flat_disc(const Direction& n, DistanceHit& hit) {
  for (int k = 0; k < body.num_terms; ++k) {
    const PlacedTerm& placed = body.terms[static_cast<std::size_t>(k)];
    if (placed.kind != SupportTerm::Kind::discs) continue;
    const Vec4 m = product(placed.rows, n.x, n.y, n.z);
    if (m[1] * m[1] + m[2] * m[2] > 0.3 * m[0] * m[0]) continue;
    const int disc = m[0] > 0.0 ? 1 : 0;
    const double radius = placed.term->size[2 + disc];
    if (radius == 0.0) continue;
    const Vec4 axis = disc == 1 ? placed.columns.c[0] : -placed.columns.c[0];
    const Direction along{axis[0], axis[1], axis[2]};
    ++hit.supports;
    const BodyPoint others = body.core_support_without(along, k);
    const Vec4 offset = placed.columns.c[0] * placed.term->size[disc];
    const Vec4 q = d - others.v - offset;
    const double height = dot3(q, axis);
    const Vec4 side = q - height * axis;
    if (dot3(side, side) > radius * radius) continue;
    hit.n = along;
    hit.distance = height;
    hit.point.v = others.v + offset + side;
    hit.point.a = others.a;
    if (k < body.num_terms_A) hit.point.a += offset + side;
    hit.num_pieces = 0;
    hit.flat_term = k;
    return true;
  }
  return false;
}

/// The value is good to the square of what the point is good to: where the bounds met before Newton's method or the
/// flat sides were asked, they make the point as good.
void DistanceSearch::polish(double tolerance, DistanceHit& hit) {
  DistanceHit trial = hit;
  if (flat_disc(hit.n, trial) && trial.distance > 0.0 &&
      std::abs(trial.distance - hit.distance) <= tolerance * std::max(hit.distance, extent)) {
    hit = trial;
    return;
  }
  if (!newton(hit.n, hit.slots, hit.num_pieces, trial)) return;
  const Vec4 q = d - trial.point.v;
  const double length = std::sqrt(dot3(q, q));
  if (!(length > 0.0) || !(length <= hit.distance)) return;
  trial.distance = length;
  hit = trial;
}

}  // namespace tangere
