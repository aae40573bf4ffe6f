/// The last steps of the distance search on curved bodies.

#include "tangere/proximity/distance_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/proximity/distance_math.hpp"

namespace tangere {
namespace {

constexpr int kNewtonSteps = 12;
constexpr double kLeastCurvature = 1e-9;
constexpr double kContraction = 0.5;
constexpr double kStraight = 1e-11;
constexpr double kNewtonAccuracy = 1e-9;

}  // namespace

bool DistanceSearch::newton(Direction n, const int* corners, int count, DistanceHit& hit) {
  int slots[3];
  int active = 0;
  for (int c = 0; c < count; ++c) {
    bool seen = false;
    for (int i = 0; i < active; ++i) {
      seen = seen || std::equal(pieces(slots[i]), pieces(slots[i]) + body.num_terms, pieces(corners[c]));
    }
    if (!seen && active < 3) slots[active++] = corners[c];
  }
  PieceValue value[3];
  double weight[3] = {1.0, 0.0, 0.0};
  double last = std::numeric_limits<double>::infinity();
  bool converged = false;
  for (int step = 0; step <= kNewtonSteps; ++step) {
    const Across axes(n);
    const Vec4 nv = to_vec(n);
    double phi[3];
    double gx[3];
    double gy[3];
    const auto project = [&](Vec4 t, double& x, double& y) {
      x = dot3(t, axes.x);
      y = dot3(t, axes.y);
    };
    for (int i = 0; i < active; ++i) {
      value[i] = body.piece(n, pieces(slots[i]), project);
      const Vec4 q = value[i].point.v - d;
      phi[i] = dot3(q, nv);
      gx[i] = dot3(q, axes.x);
      gy[i] = dot3(q, axes.y);
      value[i].xx -= phi[i];
      value[i].yy -= phi[i];
    }
    const auto drop = [&](int i) {
      --active;
      for (int k = i; k < active; ++k) {
        slots[k] = slots[k + 1];
        value[k] = value[k + 1];
        phi[k] = phi[k + 1];
        gx[k] = gx[k + 1];
        gy[k] = gy[k + 1];
      }
    };
    double dx = 0.0;
    double dy = 0.0;
    if (active == 3) {
      const double ex = gx[1] - gx[0], ey = gy[1] - gy[0];
      const double fx = gx[2] - gx[0], fy = gy[2] - gy[0];
      const double det = ex * fy - ey * fx;
      if (det == 0.0) return false;
      const double w0 = (gx[1] * gy[2] - gy[1] * gx[2]) / det;
      const double w1 = (gx[2] * gy[0] - gy[2] * gx[0]) / det;
      const double w2 = 1.0 - w0 - w1;
      const double least = std::min(w0, std::min(w1, w2));
      if (least < 0.0) {
        drop(least == w0 ? 0 : least == w1 ? 1 : 2);
      } else {
        weight[0] = w0;
        weight[1] = w1;
        weight[2] = w2;
        const double r1 = phi[0] - phi[1];
        const double r2 = phi[0] - phi[2];
        dx = (r1 * fy - r2 * ey) / det;
        dy = (ex * r2 - fx * r1) / det;
      }
    }
    if (active == 2) {
      const double x = gx[0] - gx[1];
      const double y = gy[0] - gy[1];
      const double g2 = x * x + y * y;
      if (!(g2 > 0.0)) return false;
      const double w0 = -(gx[1] * x + gy[1] * y) / g2;
      if (w0 < 0.0 || w0 > 1.0) {
        drop(w0 < 0.0 ? 0 : 1);
      } else {
        weight[0] = w0;
        weight[1] = 1.0 - w0;
        const double back = (phi[1] - phi[0]) / g2;
        const double px = back * x;
        const double py = back * y;
        const double tx = -y;
        const double ty = x;
        double slope = 0.0;
        double curvature = 0.0;
        for (int i = 0; i < 2; ++i) {
          const PieceValue& q = value[i];
          const double Hx = q.xx * tx + q.xy * ty;
          const double Hy = q.xy * tx + q.yy * ty;
          slope += weight[i] * (gx[i] * tx + gy[i] * ty + Hx * px + Hy * py);
          curvature += weight[i] * (Hx * tx + Hy * ty);
        }
        if (curvature > 0.0) {
          const double s = -slope / curvature;
          dx = px + s * tx;
          dy = py + s * ty;
        } else {
          // inside, a ridge may fall off along itself: the answer is not on it
          drop(weight[0] < weight[1] ? 0 : 1);
        }
      }
    }
    if (active == 1) {
      weight[0] = 1.0;
      PieceValue& q = value[0];
      // inside a nearly round body the curvature all but cancels: descend all the same
      const double mean = 0.5 * (q.xx + q.yy);
      const double spread = std::hypot(0.5 * (q.xx - q.yy), q.xy);
      if (!(mean - spread > kLeastCurvature * size)) {
        const double shift = kLeastCurvature * size - (mean - spread) + 0.1 * spread;
        q.xx += shift;
        q.yy += shift;
        last = std::numeric_limits<double>::infinity();
      }
      const double det = q.xx * q.yy - q.xy * q.xy;
      if (!(det > 0.0)) return false;
      dx = -(gx[0] * q.yy - gy[0] * q.xy) / det;
      dy = -(q.xx * gy[0] - q.xy * gx[0]) / det;
    }
    // converged, and d straight below (or above) the point
    double off_x = 0.0;
    double off_y = 0.0;
    for (int i = 0; i < active; ++i) {
      off_x += weight[i] * gx[i];
      off_y += weight[i] * gy[i];
    }
    if (converged && off_x * off_x + off_y * off_y <= kStraight * kStraight * size * size) {
      hit.n = n;
      hit.point = BodyPoint{};
      hit.num_pieces = active;
      for (int i = 0; i < active; ++i) {
        hit.point.v += weight[i] * value[i].point.v;
        hit.point.a += weight[i] * value[i].point.a;
        hit.slots[i] = slots[i];
        hit.weights[i] = weight[i];
      }
      return true;
    }
    const double moved = dx * dx + dy * dy;
    if (!(moved <= kContraction * last)) return false;
    last = moved;
    const Vec4 next = nv + dx * axes.x + dy * axes.y;
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

/// The value is good to the square of what the point is good to: where the bounds met before Newton's method was asked,
/// it makes the point as good.
void DistanceSearch::polish(DistanceHit& hit) {
  DistanceHit trial = hit;
  if (!newton(hit.n, hit.slots, hit.num_pieces, trial)) return;
  const Vec4 q = d - trial.point.v;
  const double length = std::sqrt(dot3(q, q));
  if (!(length > 0.0) || !(length <= hit.distance)) return;
  trial.distance = length;
  hit = trial;
}

}  // namespace tangere
