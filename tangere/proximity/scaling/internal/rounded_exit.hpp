#pragma once

/// Exit of the ray from a simplex of points of a core, rounded by a ball (private to proximity): a ball
/// about a corner, a capsule about an edge, or the plane above a triangle, whichever it leaves last.
///
/// All edges and all triangles of the newest corner are worked out side by side, valid or not, and then one is chosen:
/// which of them it will be is nothing that a processor could foretell.

#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/proximity/scaling/internal/ray_body.hpp"

namespace tangere {

struct RoundedExit {
  double t = -std::numeric_limits<double>::infinity();
  Direction n{0.0, 0.0, 1.0};
  /// The corners of the feature and their weights in the point of the core below the exit; none: the ray misses.
  int corners[3] = {0, 0, 0};
  double weights[3] = {0.0, 0.0, 0.0};
  int count = 0;
};

/// Replaces `best` if the ray leaves later through a feature of corner `newest` and those before it, three at most.
inline void improve_exit(const BodyPoint (&points)[4], int newest, double radius, RoundedExit& best) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const Vec4 none = splat4(kNone);
  const Vec4 zero{};
  const Vec4 p = points[newest].v;
  const double R2 = radius * radius;
  const double rest_of_ball = R2 - p[0] * p[0] - p[1] * p[1];
  const double rise_of_ball = std::sqrt(std::max(rest_of_ball, 0.0));
  const double ball = rest_of_ball > 0.0 ? p[2] + rise_of_ball : kNone;

  if (newest == 0) {
    if (!(ball > best.t)) return;
    best = {ball, {-p[0] / rise_of_ball, -p[1] / rise_of_ball, 1.0}, {0, 0, 0}, {1.0, 0.0, 0.0}, 1};
    return;
  }

  // a lane for every corner before: the edge e to it from the newest
  const Columns before = transposed({{points[0].v, points[1].v, points[2].v}});
  const Vec4 ex = before.c[0] - p[0];
  const Vec4 ey = before.c[1] - p[1];
  const Vec4 ez = before.c[2] - p[2];
  const Vec4 lane{0.0, 1.0, 2.0, 3.0};

  // |t z - p - s e| = R and across e: the larger t
  const Vec4 across2 = ex * ex + ey * ey;
  const Vec4 e2 = across2 + ez * ez;
  const Vec4 pe = ex * p[0] + ey * p[1] + ez * p[2];
  // the discriminant without its cancellation: the distance of the ray from the edge's line
  const Vec4 apart = ey * p[0] - ex * p[1];
  const Vec4 rest = e2 * (R2 * across2 - apart * apart);
  const Vec4 t = (p[2] * e2 - ez * pe + root(max(rest, zero))) / across2;
  const Vec4 s = (t * ez - pe) / e2;
  const Vec4 rise = t - p[2] - s * ez;
  const auto on_edge = (lane < static_cast<double>(newest)) & (rest > 0.0) & (s >= 0.0) & (s <= 1.0) & (rise > 0.0);
  const Vec4 edges = on_edge ? t : none;
  const double edge = largest(edges);

  // triangles of two corners before and the newest, and the foot of the exit in them
  double triangle = kNone;
  Vec4 triangles = none;
  Vec4 nx{}, ny{}, we{}, wf{};
  if (newest >= 2) {
    const Vec4 fx = __builtin_shufflevector(ex, ex, 1, 2, 0, 3);
    const Vec4 fy = __builtin_shufflevector(ey, ey, 1, 2, 0, 3);
    const Vec4 fz = __builtin_shufflevector(ez, ez, 1, 2, 0, 3);
    const Vec4 nz = ex * fy - ey * fx;
    const Vec4 inverse = 1.0 / nz;
    nx = (ey * fz - ez * fy) * inverse;
    ny = (ez * fx - ex * fz) * inverse;
    const Vec4 size2 = nx * nx + ny * ny + 1.0;
    const Vec4 size = root(size2);
    const Vec4 back = size * (radius / size2);
    const Vec4 dx = -p[0] - back * nx;
    const Vec4 dy = -p[1] - back * ny;
    we = (dx * fy - dy * fx) * inverse;
    wf = (ex * dy - ey * dx) * inverse;
    const auto in_triangle =
        (lane < (newest == 2 ? 1.0 : 3.0)) & (nz != 0.0) & (we >= 0.0) & (wf >= 0.0) & (we + wf <= 1.0);
    triangles = in_triangle ? nx * p[0] + ny * p[1] + p[2] + radius * size : none;
    triangle = largest(triangles);
  }

  const double last = std::max(ball, std::max(edge, triangle));
  if (!(last > best.t)) return;
  best.t = last;
  best.corners[0] = newest;
  if (last == ball) {
    best.n = {-p[0] / rise_of_ball, -p[1] / rise_of_ball, 1.0};
    best.weights[0] = 1.0;
    best.count = 1;
  } else if (last == edge) {
    const int c = first_lane(edges == last);
    const double inverse = 1.0 / rise[c];
    best.n = {-(p[0] + s[c] * ex[c]) * inverse, -(p[1] + s[c] * ey[c]) * inverse, 1.0};
    best.corners[1] = c;
    best.weights[0] = 1.0 - s[c];
    best.weights[1] = s[c];
    best.count = 2;
  } else {
    const int c = first_lane(triangles == last);
    best.n = {nx[c], ny[c], 1.0};
    best.corners[1] = c;
    best.corners[2] = c == 2 ? 0 : c + 1;
    best.weights[0] = 1.0 - we[c] - wf[c];
    best.weights[1] = we[c];
    best.weights[2] = wf[c];
    best.count = 3;
  }
}

}  // namespace tangere
