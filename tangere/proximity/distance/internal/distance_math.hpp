#pragma once

/// Small vectors for the distance search (private to proximity).

#include <cmath>

#include "tangere/proximity/scaling/internal/ray_body.hpp"

namespace tangere {

/// The distance search tries Newton's method on curved bodies when its bounds are within this part of the scale.
inline constexpr double kNewtonBelow = 0.1;
/// One less the cosine between normals of one plane.
inline constexpr double kSamePlane = 1e-9;

[[nodiscard]] inline double dot3(Vec4 a, Vec4 b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
[[nodiscard]] inline Vec4 cross3(Vec4 a, Vec4 b) {
  return Vec4{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0], 0.0};
}
[[nodiscard]] inline Vec4 to_vec(const Direction& n) { return Vec4{n.x, n.y, n.z, 0.0}; }
[[nodiscard]] inline Direction unit(Vec4 v, double length) { return {v[0] / length, v[1] / length, v[2] / length}; }
[[nodiscard]] inline Direction scaled(Vec4 v, double factor) { return {v[0] * factor, v[1] * factor, v[2] * factor}; }

/// Two axes across a unit vector.
struct Across {
  Vec4 x;
  Vec4 y;
  explicit Across(const Direction& n) {
    const double sign = std::copysign(1.0, n.z);
    const double a = -1.0 / (sign + n.z);
    const double b = n.x * n.y * a;
    x = Vec4{1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x, 0.0};
    y = Vec4{b, sign + n.y * n.y * a, -n.y, 0.0};
  }
};

/// The point of the triangle 0, a, b (three corners p) nearest to the origin: its weights, zero where a corner does not
/// count.
inline void nearest_on_triangle(const Vec4* p, double* w) {
  const Vec4 ab = p[1] - p[0];
  const Vec4 ac = p[2] - p[0];
  const double d1 = -dot3(ab, p[0]);
  const double d2 = -dot3(ac, p[0]);
  w[0] = w[1] = w[2] = 0.0;
  if (d1 <= 0.0 && d2 <= 0.0) {
    w[0] = 1.0;
    return;
  }
  const double d3 = -dot3(ab, p[1]);
  const double d4 = -dot3(ac, p[1]);
  if (d3 >= 0.0 && d4 <= d3) {
    w[1] = 1.0;
    return;
  }
  const double d5 = -dot3(ab, p[2]);
  const double d6 = -dot3(ac, p[2]);
  if (d6 >= 0.0 && d5 <= d6) {
    w[2] = 1.0;
    return;
  }
  const Vec4 normal = cross3(ab, ac);
  // signed areas seen along the normal
  const double vc = dot3(normal, cross3(p[0], p[1]));
  const double va = dot3(normal, cross3(p[1], p[2]));
  const double vb = dot3(normal, cross3(p[2], p[0]));
  if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
    w[1] = d1 / (d1 - d3);
    w[0] = 1.0 - w[1];
    return;
  }
  if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
    w[2] = d2 / (d2 - d6);
    w[0] = 1.0 - w[2];
    return;
  }
  if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
    w[2] = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    w[1] = 1.0 - w[2];
    return;
  }
  const double total = va + vb + vc;
  w[0] = va / total;
  w[1] = vb / total;
  w[2] = vc / total;
}

}  // namespace tangere
