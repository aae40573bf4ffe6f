#pragma once

/// The contact of two features that meet in one point: with p(n, t) a corner, or the point t between two corners, of
/// each shape along ±n, it solves
///
///   p_B(-n, t_B) - p_A(n, t_A) = φ n,   |n| = 1,   n · ∂p_A/∂t_A = 0,   n · ∂p_B/∂t_B = 0
///
/// for n, φ and those t that are free. That is the stationarity of φ = n·(p_B - p_A) in all that may vary: crossing
/// edges and pipes, points and spheres beside them, rims, ellipsoids and sums of them are all this one system,
/// symmetric as n · ∂p/∂n = 0, and the implicit function theorem on it gives every derivative. Private to the manifold.

#include "tangere/proximity/manifold/internal/manifold_body.hpp"

namespace tangere::internal {

struct StationarySide {
  const ManifoldBody* body = nullptr;
  Corner corners[2];
  /// 1 or 2; with 1, t is not used.
  int count = 1;
  /// Whether t is an unknown, or fixed as given.
  bool free = false;
  double t = 0.5;
};

struct Stationary {
  bool converged = false;
  Vector3 n;
  double distance = 0.0;
  double t_A = 0.0;
  double t_B = 0.0;
  Vector3 p_A;
  Vector3 p_B;
};

struct StationaryJacobian {
  Matrix3x12 n;
  Matrix3x12 p_A;
  Matrix3x12 p_B;
  Vector12 distance;
  bool exists = false;
};

/// Newton from the unit normal `n`; `size` is the length the tolerance is relative to.
[[nodiscard]] Stationary solve_stationary(const StationarySide& A, const StationarySide& B, const Vector3& n,
                                          double size);

/// At a solution.
[[nodiscard]] StationaryJacobian stationary_jacobian(const StationarySide& A, const StationarySide& B,
                                                     const Stationary& solution, double size);

}  // namespace tangere::internal
