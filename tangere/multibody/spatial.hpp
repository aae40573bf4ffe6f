#pragma once

/// Spatial vectors for the inner loops (not installed): motions and forces as two short vectors, linear first,
/// and what acts on them. The fourth lane of every vector is zero.

#include <cmath>

#include "tangere/math/se3.hpp"
#include "tangere/math/vec.hpp"

namespace tangere {

[[nodiscard]] inline Vec4 vec3(double x, double y, double z) { return Vec4{x, y, z, 0.0}; }
[[nodiscard]] inline Vec4 to_vec4(const Vector3& a) { return Vec4{a[0], a[1], a[2], 0.0}; }
[[nodiscard]] inline Vector3 to_vector3(Vec4 a) { return {a[0], a[1], a[2]}; }

/// a × b: two products of turned vectors.
[[nodiscard]] inline Vec4 cross(Vec4 a, Vec4 b) {
  const Vec4 turned_a = __builtin_shufflevector(a, a, 1, 2, 0, 3);
  const Vec4 turned_b = __builtin_shufflevector(b, b, 1, 2, 0, 3);
  const Vec4 c = a * turned_b - turned_a * b;
  return __builtin_shufflevector(c, c, 1, 2, 0, 3);
}

/// Three columns.
struct Columns3 {
  Vec4 c[3];

  [[nodiscard]] Vec4 operator*(Vec4 a) const { return c[0] * a[0] + c[1] * a[1] + c[2] * a[2]; }
  [[nodiscard]] Columns3 operator*(const Columns3& B) const {
    return {{*this * B.c[0], *this * B.c[1], *this * B.c[2]}};
  }
  [[nodiscard]] Columns3 operator+(const Columns3& B) const { return {{c[0] + B.c[0], c[1] + B.c[1], c[2] + B.c[2]}}; }
  [[nodiscard]] Columns3 operator-(const Columns3& B) const { return {{c[0] - B.c[0], c[1] - B.c[1], c[2] - B.c[2]}}; }
  Columns3& operator+=(const Columns3& B) { return *this = *this + B; }
  [[nodiscard]] Columns3 transposed() const {
    const Vec4 xy = __builtin_shufflevector(c[0], c[1], 0, 4, 2, 6);
    const Vec4 uv = __builtin_shufflevector(c[0], c[1], 1, 5, 3, 7);
    return {{__builtin_shufflevector(xy, c[2], 0, 1, 4, 7), __builtin_shufflevector(uv, c[2], 0, 1, 5, 7),
             __builtin_shufflevector(xy, c[2], 2, 3, 6, 7)}};
  }
};

[[nodiscard]] inline Columns3 to_columns(const Matrix3& A) {
  return {{to_vec4(A.col(0)), to_vec4(A.col(1)), to_vec4(A.col(2))}};
}
[[nodiscard]] inline Matrix3 to_matrix3(const Columns3& A) {
  Matrix3 out;
  for (int i = 0; i < 3; ++i) out.col(i) = to_vector3(A.c[i]);
  return out;
}
/// x ↦ a × x.
[[nodiscard]] inline Columns3 hat(Vec4 a) {
  return {{vec3(0.0, a[2], -a[1]), vec3(-a[2], 0.0, a[0]), vec3(a[1], -a[0], 0.0)}};
}

/// A pose with its rotation in both orders, so that R and Rᵀ are equally cheap.
struct Frame {
  Columns3 R{{{1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}}};
  Columns3 Rt{{{1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}}};
  Vec4 p{};
};

[[nodiscard]] inline Frame to_frame(const Pose& X) {
  return {to_columns(X.R), to_columns(X.R.transpose()), to_vec4(X.p)};
}
[[nodiscard]] inline Pose to_pose(const Frame& X) { return {to_matrix3(X.R), to_vector3(X.p)}; }

/// Velocity or acceleration: of the point at the reference, and angular.
struct Motion {
  Vec4 v{};
  Vec4 w{};

  [[nodiscard]] Motion operator+(const Motion& o) const { return {v + o.v, w + o.w}; }
  [[nodiscard]] Motion operator-(const Motion& o) const { return {v - o.v, w - o.w}; }
  [[nodiscard]] Motion operator-() const { return {-v, -w}; }
  [[nodiscard]] Motion operator*(double s) const { return {v * s, w * s}; }
  Motion& operator+=(const Motion& o) { return *this = *this + o; }
};

/// Force, and torque about the reference.
struct Force {
  Vec4 f{};
  Vec4 n{};

  [[nodiscard]] Force operator+(const Force& o) const { return {f + o.f, n + o.n}; }
  [[nodiscard]] Force operator-(const Force& o) const { return {f - o.f, n - o.n}; }
  [[nodiscard]] Force operator*(double s) const { return {f * s, n * s}; }
  Force& operator+=(const Force& o) { return *this = *this + o; }
  Force& operator-=(const Force& o) { return *this = *this - o; }
};

[[nodiscard]] inline double dot(const Motion& a, const Force& b) { return sum(a.v * b.f + a.w * b.n); }
/// [a, b]: the change of b carried along by a.
[[nodiscard]] inline Motion cross(const Motion& a, const Motion& b) {
  return {cross(a.w, b.v) + cross(a.v, b.w), cross(a.w, b.w)};
}
/// The same for forces: dot(cross(a, b), f) = -dot(b, cross_force(a, f)).
[[nodiscard]] inline Force cross_force(const Motion& a, const Force& b) {
  return {cross(a.w, b.f), cross(a.w, b.n) + cross(a.v, b.f)};
}

/// Mass, first moment m c and second moment about the reference (symmetric).
struct SpatialInertia {
  double m = 0.0;
  Vec4 h{};
  Columns3 I{};

  [[nodiscard]] Force operator*(const Motion& a) const { return {m * a.v - cross(h, a.w), I * a.w + cross(h, a.v)}; }
  SpatialInertia& operator+=(const SpatialInertia& o) {
    m += o.m;
    h += o.h;
    I += o.I;
    return *this;
  }
};

/// Σ over the bodies' second moments: m (|c|² 1 - c cᵀ), with h = m c and a second vector c.
[[nodiscard]] inline Columns3 second_moment(Vec4 h, Vec4 c) {
  const double hc = dot(h, c);
  return {{vec3(hc, 0.0, 0.0) - h * c[0], vec3(0.0, hc, 0.0) - h * c[1], vec3(0.0, 0.0, hc) - h * c[2]}};
}

/// From the frame B to the frame A of X_AB.
[[nodiscard]] inline SpatialInertia transformed(const Frame& X, const SpatialInertia& in) {
  SpatialInertia out;
  out.m = in.m;
  const Vec4 Rh = X.R * in.h;
  out.h = Rh + in.m * X.p;
  // about the new origin: with c the centre, R I Rᵀ + 2 sym(...) in terms of moments
  const Columns3 rotated = X.R * in.I * X.Rt;
  const Columns3 first = second_moment(Rh, X.p);
  const Columns3 own = second_moment(in.m * X.p, X.p);
  const Columns3 both = first + first.transposed();
  out.I = rotated + both + own;
  return out;
}

/// A motion seen in B, given in A, for X_AB (reference at each frame's origin).
[[nodiscard]] inline Motion to_child(const Frame& X, const Motion& a) {
  return {X.Rt * (a.v + cross(a.w, X.p)), X.Rt * a.w};
}
/// A force seen in A, given in B.
[[nodiscard]] inline Force to_parent(const Frame& X, const Force& b) {
  const Vec4 f = X.R * b.f;
  return {f, X.R * b.n + cross(X.p, f)};
}
/// A motion seen in A, given in B.
[[nodiscard]] inline Motion to_parent(const Frame& X, const Motion& b) {
  const Vec4 w = X.R * b.w;
  return {X.R * b.v + cross(X.p, w), w};
}

[[nodiscard]] inline Frame operator*(const Frame& X, const Frame& Y) {
  const Columns3 R = X.R * Y.R;
  return {R, R.transposed(), X.R * Y.p + X.p};
}

[[nodiscard]] inline Vector6 to_vector6(const Motion& a) {
  Vector6 out;
  out << a.v[0], a.v[1], a.v[2], a.w[0], a.w[1], a.w[2];
  return out;
}
[[nodiscard]] inline Vector6 to_vector6(const Force& a) {
  Vector6 out;
  out << a.f[0], a.f[1], a.f[2], a.n[0], a.n[1], a.n[2];
  return out;
}
[[nodiscard]] inline Motion to_motion(const Vector6& a) { return {vec3(a[0], a[1], a[2]), vec3(a[3], a[4], a[5])}; }
[[nodiscard]] inline Force to_force(const Vector6& a) { return {vec3(a[0], a[1], a[2]), vec3(a[3], a[4], a[5])}; }

}  // namespace tangere
