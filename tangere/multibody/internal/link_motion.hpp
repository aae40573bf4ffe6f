#pragma once

/// The motion that each kind of link allows, in the link's own frame (private to multibody).

#include "tangere/multibody/links.hpp"

namespace tangere {

/// The link's frame in its parent's.
[[nodiscard]] inline Frame link_frame(const Link& link, const double* q) {
  Frame X = link.X;
  switch (link.kind) {
    case Link::Kind::screw:
      X.p += link.X.R.c[2] * (link.pitch * q[0]);
      [[fallthrough]];
    case Link::Kind::revolute: {
      const double c = std::cos(q[0]);
      const double s = std::sin(q[0]);
      X.R.c[0] = c * link.X.R.c[0] + s * link.X.R.c[1];
      X.R.c[1] = c * link.X.R.c[1] - s * link.X.R.c[0];
      X.Rt = X.R.transposed();
      return X;
    }
    case Link::Kind::prismatic:
      X.p += link.X.R.c[2] * q[0];
      return X;
    case Link::Kind::ball:
    case Link::Kind::free: {
      const bool is_free = link.kind == Link::Kind::free;
      if (is_free) X.p += link.X.R * vec3(q[0], q[1], q[2]);
      const double* k = q + (is_free ? 3 : 0);
      const double x = k[0], y = k[1], z = k[2], w = k[3];
      const double s = 2.0 / (x * x + y * y + z * z + w * w);
      const Columns3 R{{vec3(1.0 - s * (y * y + z * z), s * (x * y + z * w), s * (x * z - y * w)),
                        vec3(s * (x * y - z * w), 1.0 - s * (x * x + z * z), s * (y * z + x * w)),
                        vec3(s * (x * z + y * w), s * (y * z - x * w), 1.0 - s * (x * x + y * y))}};
      X.R = link.X.R * R;
      X.Rt = X.R.transposed();
      return X;
    }
  }
  return X;
}

/// S times the coordinates.
[[nodiscard]] inline Motion link_motion(const Link& link, const double* v) {
  switch (link.kind) {
    case Link::Kind::revolute:
      return {Vec4{}, vec3(0.0, 0.0, v[0])};
    case Link::Kind::prismatic:
      return {vec3(0.0, 0.0, v[0]), Vec4{}};
    case Link::Kind::screw:
      return {vec3(0.0, 0.0, link.pitch * v[0]), vec3(0.0, 0.0, v[0])};
    case Link::Kind::ball:
      return {Vec4{}, vec3(v[0], v[1], v[2])};
    case Link::Kind::free:
      return {vec3(v[0], v[1], v[2]), vec3(v[3], v[4], v[5])};
  }
  return {};
}

/// Sᵀ times a force.
inline void project(const Link& link, const Force& force, double* tau) {
  switch (link.kind) {
    case Link::Kind::revolute:
      tau[0] = force.n[2];
      return;
    case Link::Kind::prismatic:
      tau[0] = force.f[2];
      return;
    case Link::Kind::screw:
      tau[0] = force.n[2] + link.pitch * force.f[2];
      return;
    case Link::Kind::ball:
      for (int k = 0; k < 3; ++k) tau[k] = force.n[k];
      return;
    case Link::Kind::free:
      for (int k = 0; k < 3; ++k) {
        tau[k] = force.f[k];
        tau[k + 3] = force.n[k];
      }
      return;
  }
}

/// The columns of S.
inline void motion_columns(const Link& link, Motion* S) {
  const Vec4 e[3] = {vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 1.0)};
  switch (link.kind) {
    case Link::Kind::revolute:
      S[0] = {Vec4{}, e[2]};
      return;
    case Link::Kind::prismatic:
      S[0] = {e[2], Vec4{}};
      return;
    case Link::Kind::screw:
      S[0] = {link.pitch * e[2], e[2]};
      return;
    case Link::Kind::ball:
      for (int k = 0; k < 3; ++k) S[k] = {Vec4{}, e[k]};
      return;
    case Link::Kind::free:
      for (int k = 0; k < 3; ++k) {
        S[k] = {e[k], Vec4{}};
        S[k + 3] = {Vec4{}, e[k]};
      }
      return;
  }
}

/// The columns of S in world axes about the tree's origin, for the link at X_W.
inline void world_columns(const Link& link, const Frame& X_W, Motion* S) {
  const Columns3& R = X_W.R;
  switch (link.kind) {
    case Link::Kind::revolute:
      S[0] = {cross(X_W.p, R.c[2]), R.c[2]};
      return;
    case Link::Kind::prismatic:
      S[0] = {R.c[2], Vec4{}};
      return;
    case Link::Kind::screw:
      S[0] = {cross(X_W.p, R.c[2]) + link.pitch * R.c[2], R.c[2]};
      return;
    case Link::Kind::ball:
      for (int k = 0; k < 3; ++k) S[k] = {cross(X_W.p, R.c[k]), R.c[k]};
      return;
    case Link::Kind::free:
      for (int k = 0; k < 3; ++k) {
        S[k] = {R.c[k], Vec4{}};
        S[k + 3] = {cross(X_W.p, R.c[k]), R.c[k]};
      }
      return;
  }
}

}  // namespace tangere
