/// Conic rows of the shapes with curved faces (DCOL §III-B, with p = Qᵀ (x - r) in the shape's frame):
///
///   sphere      |p| ≤ α R
///   ellipsoid   |U p| ≤ α,  P = Uᵀ U                                                     (23)
///   capsule     |p - y e_x| ≤ α R,  |y| ≤ α L/2                                          (12)-(13)
///   cylinder    |(p_y, p_z)| ≤ α R,  |p_x| ≤ α L/2        (without the slack of (16)-(18), which is not needed)
///   cone        |(p_y, p_z)| ≤ tan β (p_x + α 3H/4),  p_x ≤ α H/4                        (19)-(20)
///
/// Each cone and row is multiplied by a positive constant that makes its slack a length of the order of the shape.

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include "tangere/geometry/internal/rows.hpp"
#include "tangere/math/check.hpp"

namespace tangere::internal {
namespace {

constexpr int kAlpha = RowBuilder::kAlpha;
constexpr int kAux = RowBuilder::kAux;

/// P's parameters in order: xx, yy, zz, xy, xz, yz.
constexpr int kEntries[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

/// dU for dP: with P = UᵀU and W = U⁻ᵀ dP U⁻¹, dU = Φ(W) U, where Φ keeps the upper triangle and halves the diagonal.
Matrix3 cholesky_derivative(const Matrix3& U, const Matrix3& dP) {
  const Matrix3 U_inverse = U.inverse();
  Matrix3 W = U_inverse.transpose() * dP * U_inverse;
  W.diagonal() *= 0.5;
  return Matrix3(W.triangularView<Eigen::Upper>()) * U;
}

void check_P(const Matrix3& P) {
  if (!P.allFinite()) throw InputError("ellipsoid.P", "must be finite");
  const double asymmetry = (P - P.transpose()).cwiseAbs().maxCoeff();
  if (asymmetry > 1e-12 * P.cwiseAbs().maxCoeff())
    throw InputError("ellipsoid.P", "must be symmetric, but entries differ by " + to_text(asymmetry));
}

ConvexSet ellipsoid_by_P(const Matrix3& P_given) {
  check_P(P_given);
  const Matrix3 P = 0.5 * (P_given + P_given.transpose());
  const Vector3 eigenvalues = P.selfadjointView<Eigen::Lower>().eigenvalues();
  const Eigen::LLT<Matrix3> cholesky(P);
  if (!(eigenvalues[0] > 0.0) || cholesky.info() != Eigen::Success)
    throw InputError("ellipsoid.P", "must be positive definite, but has the eigenvalue " + to_text(eigenvalues[0]));

  const Matrix3 U = cholesky.matrixU();
  const double length = std::pow(U.determinant(), -1.0 / 3.0);
  RowBuilder rows(0, 0, 1);
  rows(0, kAlpha) = length;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) rows(1 + i, j) = length * U(i, j);

  for (int k = 0; k < 6; ++k) {
    Matrix3 dP = Matrix3::Zero();
    dP(kEntries[k][0], kEntries[k][1]) = dP(kEntries[k][1], kEntries[k][0]) = 1.0;
    const Matrix3 dU = cholesky_derivative(U, dP);
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) rows.derivative(k, 1 + i, j, length * dU(i, j));
  }

  ConvexSet set = rows.build(6);
  set.inner_radius = 1.0 / std::sqrt(eigenvalues[2]);
  set.outer_radius = 1.0 / std::sqrt(eigenvalues[0]);
  return set;
}

}  // namespace

ConvexSet make_set(const Sphere& sphere) {
  require_positive("sphere.radius", sphere.radius);
  RowBuilder rows(0, 0, 1);
  rows.ball_around_aux(0, 0, sphere.radius, 0);
  ConvexSet set = rows.build(1);
  set.inner_radius = set.outer_radius = sphere.radius;
  return set;
}

ConvexSet make_set(const Ellipsoid& ellipsoid) {
  if (ellipsoid.P) return ellipsoid_by_P(*ellipsoid.P);
  const Vector3& a = ellipsoid.semi_axes;
  for (int i = 0; i < 3; ++i) require_positive(std::string("ellipsoid.semi_axes.") + "xyz"[i], a[i]);

  const double length = std::cbrt(a[0]) * std::cbrt(a[1]) * std::cbrt(a[2]);
  RowBuilder rows(0, 0, 1);
  rows(0, kAlpha) = length;
  for (int i = 0; i < 3; ++i) {
    rows(1 + i, i) = length / a[i];
    rows.derivative(i, 1 + i, i, -length / (a[i] * a[i]));
  }
  ConvexSet set = rows.build(3);
  set.inner_radius = a.minCoeff();
  set.outer_radius = a.maxCoeff();
  return set;
}

ConvexSet make_set(const Capsule& capsule) {
  require_positive("capsule.radius", capsule.radius);
  if (capsule.length == 0.0) throw InputError("capsule.length", "must be positive and finite, got 0 (use a sphere)");
  require_positive("capsule.length", capsule.length);

  const double half = 0.5 * capsule.length;
  RowBuilder rows(1, 2, 1);
  for (int side = 0; side < 2; ++side) {
    rows(side, kAlpha) = half;
    rows(side, kAux) = side == 0 ? -1.0 : 1.0;
    rows.derivative(1, side, kAlpha, 0.5);
  }
  rows.ball_around_aux(0, 1, capsule.radius, 0);
  ConvexSet set = rows.build(2);
  set.aux_start(0, 0) = half / (half + capsule.radius);
  set.inner_radius = capsule.radius;
  set.outer_radius = capsule.radius + half;
  return set;
}

ConvexSet make_set(const Cylinder& cylinder) {
  require_positive("cylinder.radius", cylinder.radius);
  require_positive("cylinder.length", cylinder.length);

  const double half = 0.5 * cylinder.length;
  RowBuilder rows(0, 2, 1);
  for (int side = 0; side < 2; ++side) {
    rows(side, 0) = side == 0 ? -1.0 : 1.0;
    rows(side, kAlpha) = half;
    rows.derivative(1, side, kAlpha, 0.5);
  }
  const int cone = rows.cone(0);
  rows(cone, kAlpha) = cylinder.radius;
  rows.derivative(0, cone, kAlpha, 1.0);
  rows(cone + 1, 1) = 1.0;
  rows(cone + 2, 2) = 1.0;
  ConvexSet set = rows.build(2);
  set.inner_radius = std::min(cylinder.radius, half);
  set.outer_radius = std::hypot(cylinder.radius, half);
  return set;
}

ConvexSet make_set(const Cone& cone) {
  require_positive("cone.height", cone.height);
  require_finite("cone.half_angle", cone.half_angle);
  if (!(cone.half_angle > 0.0 && cone.half_angle < 0.5 * std::numbers::pi))
    throw InputError("cone.half_angle", "must be between 0 and pi/2, got " + to_text(cone.half_angle));

  const double H = cone.height;
  const double slope = std::tan(cone.half_angle);
  const double cosine = std::cos(cone.half_angle);
  RowBuilder rows(0, 1, 1);
  rows(0, 0) = -1.0;
  rows(0, kAlpha) = 0.25 * H;
  rows.derivative(0, 0, kAlpha, 0.25);

  // the second-order cone times cos β, so that its slack is a distance however blunt the cone
  const int row = rows.cone(0);
  rows(row, 0) = cosine * slope;
  rows(row, kAlpha) = cosine * slope * 0.75 * H;
  rows(row + 1, 1) = cosine;
  rows(row + 2, 2) = cosine;
  rows.derivative(0, row, kAlpha, cosine * slope * 0.75);
  rows.derivative(1, row, 0, 1.0 / cosine);
  rows.derivative(1, row, kAlpha, 0.75 * H / cosine);
  ConvexSet set = rows.build(2);
  set.inner_radius = std::min(0.25 * H, 0.75 * H * std::sin(cone.half_angle));
  set.outer_radius = std::max(0.75 * H, std::hypot(0.25 * H, H * slope));
  return set;
}

}  // namespace tangere::internal
