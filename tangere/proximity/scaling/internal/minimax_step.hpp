#pragma once

/// One Newton step of  minimise max φ_i  over two unknowns, for the few smooth pieces of a support function that meet
/// at the minimum (private to proximity). The ray cast and the distance search differ only in what they put in.

#include <algorithm>
#include <cmath>

#include "tangere/proximity/scaling/internal/ray_body.hpp"

namespace tangere {

/// A piece at the current direction: its value φ and gradient g, and the slope and Hessian of what is minimised along
/// the set where all φ_i are equal (φ itself, or its square).
struct ActivePiece {
  int slot = 0;
  BodyPoint point;
  double phi = 0.0;
  double gx = 0.0;
  double gy = 0.0;
  double sx = 0.0;
  double sy = 0.0;
  double xx = 0.0;
  double xy = 0.0;
  double yy = 0.0;
};

/// Up to three pieces and their weights, Σ weight g = 0 at the minimum.
struct ActivePieces {
  ActivePiece piece[3];
  double weight[3] = {1.0, 0.0, 0.0};
  int count = 0;

  void drop(int i) {
    --count;
    for (int k = i; k < count; ++k) piece[k] = piece[k + 1];
  }
  /// The largest φ.
  [[nodiscard]] double largest() const {
    double phi = piece[0].phi;
    for (int i = 1; i < count; ++i) phi = std::max(phi, piece[i].phi);
    return phi;
  }
  [[nodiscard]] BodyPoint mean_point() const {
    BodyPoint y{};
    for (int i = 0; i < count; ++i) {
      y.v += weight[i] * piece[i].point.v;
      y.a += weight[i] * piece[i].point.a;
    }
    return y;
  }
};

struct MinimaxStep {
  bool valid = false;
  /// The curvature was not positive and was made so: a descent, not yet a Newton step.
  bool shifted = false;
  double x = 0.0;
  double y = 0.0;
};

/// A slope along a ridge that counts as none, as a part of the least curvature.
inline constexpr double kLevel = 1e-3;

/// Three pieces are equal in one point, two along a line; a piece whose weight would be negative is dropped.
[[nodiscard]] inline MinimaxStep minimax_step(ActivePieces& active, double least_curvature) {
  ActivePiece* p = active.piece;
  double* w = active.weight;
  MinimaxStep step;
  if (active.count == 3) {
    const double ex = p[1].gx - p[0].gx, ey = p[1].gy - p[0].gy;
    const double fx = p[2].gx - p[0].gx, fy = p[2].gy - p[0].gy;
    const double det = ex * fy - ey * fx;
    if (!(std::abs(det) > 0.0)) return step;
    const double w0 = (p[1].gx * p[2].gy - p[1].gy * p[2].gx) / det;
    const double w1 = (p[2].gx * p[0].gy - p[2].gy * p[0].gx) / det;
    const double w2 = 1.0 - w0 - w1;
    const double least = std::min(w0, std::min(w1, w2));
    if (least >= 0.0) {
      w[0] = w0;
      w[1] = w1;
      w[2] = w2;
      const double r1 = p[0].phi - p[1].phi;
      const double r2 = p[0].phi - p[2].phi;
      step.x = (r1 * fy - r2 * ey) / det;
      step.y = (ex * r2 - fx * r1) / det;
      step.valid = true;
      return step;
    }
    active.drop(least == w0 ? 0 : least == w1 ? 1 : 2);
  }
  if (active.count == 2) {
    const double x = p[0].gx - p[1].gx;
    const double y = p[0].gy - p[1].gy;
    const double g2 = x * x + y * y;
    if (!(g2 > 0.0)) return step;
    const double w0 = -(p[1].gx * x + p[1].gy * y) / g2;
    int dropped = w0 < 0.0 ? 0 : w0 > 1.0 ? 1 : -1;
    if (dropped < 0) {
      w[0] = w0;
      w[1] = 1.0 - w0;
      // back to equal values across, Newton along
      const double back = (p[1].phi - p[0].phi) / g2;
      const double px = back * x;
      const double py = back * y;
      const double tx = -y;
      const double ty = x;
      double slope = 0.0;
      double curvature = 0.0;
      for (int i = 0; i < 2; ++i) {
        const double Hx = p[i].xx * tx + p[i].xy * ty;
        const double Hy = p[i].xy * tx + p[i].yy * ty;
        slope += w[i] * (p[i].sx * tx + p[i].sy * ty + Hx * px + Hy * py);
        curvature += w[i] * (Hx * tx + Hy * ty);
      }
      // level along the ridge: any place on it is as good, and what is left of slope and curvature is rounding
      const bool level = std::abs(slope) < kLevel * least_curvature * std::sqrt(g2);
      if (level || curvature > 0.0) {
        const double s = level ? 0.0 : -slope / curvature;
        step.x = px + s * tx;
        step.y = py + s * ty;
        step.valid = true;
        return step;
      }
      // a ridge that falls off along itself: the minimum is not on it
      dropped = w0 < 0.5 ? 0 : 1;
    }
    active.drop(dropped);
  }
  w[0] = 1.0;
  double xx = p[0].xx;
  double yy = p[0].yy;
  const double xy = p[0].xy;
  // both curvatures above the least one, without a root
  const double over_x = xx - least_curvature;
  const double over_y = yy - least_curvature;
  if (!(over_x > 0.0 && over_x * over_y > xy * xy)) {
    const double mean = 0.5 * (xx + yy);
    const double half = 0.5 * (xx - yy);
    const double spread = std::sqrt(half * half + xy * xy);
    const double shift = least_curvature - (mean - spread) + 0.1 * spread;
    xx += shift;
    yy += shift;
    step.shifted = true;
  }
  const double det = xx * yy - xy * xy;
  if (!(det > 0.0)) return step;
  step.x = -(p[0].sx * yy - p[0].sy * xy) / det;
  step.y = -(xx * p[0].sy - xy * p[0].sx) / det;
  step.valid = true;
  return step;
}

}  // namespace tangere
