/// The last steps of the distance search on curved bodies.

#include "tangere/proximity/distance/internal/distance_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/proximity/distance/internal/distance_math.hpp"
#include "tangere/proximity/scaling/internal/minimax_step.hpp"

namespace tangere {
namespace {

constexpr int kNewtonSteps = 12;
constexpr double kLeastCurvature = 1e-9;
constexpr double kContraction = 0.5;
constexpr double kStraight = 1e-11;
constexpr double kNewtonAccuracy = 1e-9;
/// Steps (squared) that are short enough to look whether the pieces are the right ones.
constexpr double kNearby = 1e-3;
/// Steps (squared) from which the minimum that they aim at can be told.
constexpr double kInSight = 4e-2;
/// How near (squared) to a known answer's normal Newton's method must aim to end there, with the same pieces.
constexpr double kSameNormal = 1e-4;

/// The value where the step leads, as the pieces' second-order expansions say.
double value_ahead(const ActivePieces& active, const MinimaxStep& step) {
  double value = 0.0;
  for (int i = 0; i < active.count; ++i) {
    const ActivePiece& p = active.piece[i];
    const double bend = p.xx * step.x * step.x + 2.0 * p.xy * step.x * step.y + p.yy * step.y * step.y;
    value += active.weight[i] * (p.phi + p.gx * step.x + p.gy * step.y + 0.5 * bend);
  }
  return value;
}

/// Notes the point at which the pieces met, and the pieces.
void note(const ActivePieces& active, const Direction& n, DistanceHit& hit) {
  hit.n = n;
  hit.num_pieces = active.count;
  for (int i = 0; i < active.count; ++i) {
    hit.slots[i] = active.piece[i].slot;
    hit.weights[i] = active.weight[i];
  }
}

}  // namespace

bool DistanceSearch::has_piece(const DistanceHit& hit, int slot) const {
  const int* piece = pieces(slot);
  for (int k = 0; k < hit.num_pieces; ++k) {
    if (std::equal(piece, piece + body.num_terms, pieces(hit.slots[k]))) return true;
  }
  return false;
}

bool DistanceSearch::same_pieces(const ActivePieces& active, const DistanceHit& known) const {
  if (active.count != known.num_pieces) return false;
  for (int i = 0; i < active.count; ++i) {
    if (!has_piece(known, active.piece[i].slot)) return false;
  }
  return true;
}

/// Chooses the first of four pieces and two others about d's foot: only if their gradients surround zero can they meet
/// at a minimum. The one that is left out comes last.
void DistanceSearch::choose_three(const Direction& n, int* slots) const {
  const Across axes(n);
  double x[kMostPieces + 1];
  double y[kMostPieces + 1];
  for (int i = 0; i <= kMostPieces; ++i) {
    const int* named = pieces(slots[i]);
    PieceValue value;
    body.evaluate_pieces(
        n, &named, 1, [](Vec4 t) { return t; }, &value);
    x[i] = dot3(value.point.v - d, axes.x);
    y[i] = dot3(value.point.v - d, axes.y);
  }
  const auto cross = [&](int i, int j) { return x[i] * y[j] - y[i] * x[j]; };
  for (int left_out = kMostPieces; left_out > 0; --left_out) {
    const int i = left_out == 1 ? 2 : 1;
    const int j = left_out == 3 ? 2 : 3;
    const double a = cross(0, i);
    const double b = cross(i, j);
    const double c = cross(j, 0);
    if ((a >= 0.0 && b >= 0.0 && c >= 0.0) || (a <= 0.0 && b <= 0.0 && c <= 0.0)) {
      std::swap(slots[left_out], slots[kMostPieces]);
      return;
    }
  }
}

DistanceSearch::Descent DistanceSearch::newton(Direction n, const int* corners, int count, const Bounds& bounds,
                                               bool look, DistanceHit& hit) {
  // the distinct pieces
  int slots[kMostPieces + 1];
  int distinct = 0;
  for (int c = 0; c < count && distinct <= kMostPieces; ++c) {
    bool seen = false;
    for (int i = 0; i < distinct; ++i)
      seen = seen || std::equal(pieces(slots[i]), pieces(slots[i]) + body.num_terms, pieces(corners[c]));
    if (!seen) slots[distinct++] = corners[c];
  }
  if (distinct > kMostPieces) choose_three(n, slots);
  ActivePieces active;
  active.count = std::min(distinct, kMostPieces);
  for (int i = 0; i < active.count; ++i) active.piece[i].slot = slots[i];
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
    if (!step.valid) return Descent::lost;
    if (converged) {
      // and d straight below (or above) the point
      double off_x = 0.0;
      double off_y = 0.0;
      for (int i = 0; i < active.count; ++i) {
        off_x += active.weight[i] * active.piece[i].gx;
        off_y += active.weight[i] * active.piece[i].gy;
      }
      if (off_x * off_x + off_y * off_y <= kStraight * kStraight * size * size) {
        hit.point = active.mean_point();
        note(active, n, hit);
        return Descent::answer;
      }
    }
    const double moved = step.x * step.x + step.y * step.y;
    if (!step.shifted && !(moved <= kContraction * last)) return Descent::lost;
    last = step.shifted ? std::numeric_limits<double>::infinity() : moved;
    const double part = moved > bounds.longest ? std::sqrt(bounds.longest / moved) : 1.0;
    const Vec4 next = nv + part * (step.x * axes.x + step.y * axes.y);
    n = scaled(next, inverse_root(dot3(next, next)));
    converged = moved <= kNewtonAccuracy;
    if (part < 1.0) {
      note(active, n, hit);
      return Descent::on_the_way;
    }
    if (step.shifted || !(moved <= kInSight)) continue;
    // no need to go where it is too deep, or where the answer is known
    const double ahead = value_ahead(active, step);
    if (ahead - std::abs(active.largest() - ahead) > bounds.deepest) return Descent::too_deep;
    if (bounds.known != nullptr) {
      const Vec4 apart = to_vec(n) - to_vec(bounds.known->n);
      if (dot3(apart, apart) <= kSameNormal && same_pieces(active, *bounds.known)) return Descent::too_deep;
    }
    if (look && moved <= kNearby) {
      note(active, n, hit);
      return Descent::on_the_way;
    }
  }
  return Descent::lost;
}

bool DistanceSearch::flat_disc(const Direction& n, DistanceHit& hit) {
  for (int k = 0; k < body.num_terms; ++k) {
    const PlacedTerm& placed = body.terms[k];
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
  if (newton(hit.n, hit.slots, hit.num_pieces, {}, false, trial) != Descent::answer) return;
  const Vec4 q = d - trial.point.v;
  const double length = std::sqrt(dot3(q, q));
  if (!(length > 0.0) || !(length <= hit.distance)) return;
  // of what all but touches every direction is as good a start: the new one must prove the answer, too
  const int check = add_support(trial.n, trial);
  const double lower = -dot3(from_d(check), to_vec(trial.n));
  if (!(length - lower <= tolerance * std::max(length, extent))) return;
  trial.distance = length;
  hit = trial;
}

}  // namespace tangere
