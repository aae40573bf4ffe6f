/// Half-planes to corners: the edges that matter are the corners of the hull of the dual points c_i / d_i (as in
/// hull.cpp, one dimension lower), taken counter-clockwise; neighbours meet in a corner. The hull by a monotone chain.

#include "tangere/geometry/internal/polygon.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "tangere/math/check.hpp"

namespace tangere::internal {
namespace {

double cross(const Vector2& a, const Vector2& b) { return a[0] * b[1] - a[1] * b[0]; }

void check_half_planes(const MatrixX2& C, const VectorX& d) {
  if (C.rows() != d.size())
    throw InputError(
        "d", "must have one entry a row of C, got " + std::to_string(d.size()) + " for " + std::to_string(C.rows()));
  for (Eigen::Index i = 0; i < C.rows(); ++i) {
    const std::string index = "[" + std::to_string(i) + "]";
    if (!C.row(i).allFinite()) throw InputError("C" + index, "must be finite, got " + to_text(C.row(i).transpose()));
    if (!(C.row(i).norm() > 0.0)) throw InputError("C" + index, "must not be zero");
    require_finite("d" + index, d[i]);
    if (!(d[i] > 0.0))
      throw InputError("d" + index, "must be positive, got " + to_text(d[i]) + ": the origin is " +
                                        (d[i] < 0.0 ? "outside" : "on") + " edge " + std::to_string(i) +
                                        " (use recentred)");
  }
  if (C.rows() == 0) throw InputError("C", "must have at least three rows, got 0");
}

/// Throws if the normals leave a gap of half a turn or more.
void check_bounded(const MatrixX2& C) {
  std::vector<double> angles;
  for (Eigen::Index i = 0; i < C.rows(); ++i) angles.push_back(std::atan2(C(i, 1), C(i, 0)));
  std::sort(angles.begin(), angles.end());
  for (std::size_t i = 0; i < angles.size(); ++i) {
    const double next = i + 1 < angles.size() ? angles[i + 1] : angles[0] + 2.0 * std::numbers::pi;
    const double gap = next - angles[i];
    if (gap < std::numbers::pi - 1e-10) continue;
    const double middle = angles[i] + 0.5 * gap;
    throw InputError("C", "unbounded, no edge towards " + to_text(Vector2(std::cos(middle), std::sin(middle))));
  }
}

}  // namespace

MatrixX2 polygon_corners(const MatrixX2& C, const VectorX& d) {
  check_half_planes(C, d);
  check_bounded(C);

  // dual points in units of the nearest edge's distance
  const VectorX norms = C.rowwise().norm();
  const VectorX distances = d.cwiseQuotient(norms);
  const double unit = distances.minCoeff();
  const VectorX factors = unit * distances.cwiseProduct(norms).cwiseInverse();
  const MatrixX2 dual = convex_polygon(factors.asDiagonal() * C);

  // neighbours x, x' meet in the corner w with x · w = x' · w = 1
  MatrixX2 corners(dual.rows(), 2);
  for (Eigen::Index i = 0; i < dual.rows(); ++i) {
    const Vector2 a = dual.row(i).transpose();
    const Vector2 b = dual.row((i + 1) % dual.rows()).transpose();
    corners.row(i) = unit / cross(a, b) * Vector2(b[1] - a[1], a[0] - b[0]).transpose();
  }
  return corners;
}

MatrixX2 convex_polygon(const MatrixX2& points) {
  std::vector<Vector2> sorted;
  for (Eigen::Index i = 0; i < points.rows(); ++i) sorted.emplace_back(points.row(i).transpose());
  std::sort(sorted.begin(), sorted.end(),
            [](const Vector2& a, const Vector2& b) { return a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]); });

  // monotone chain, lower side then upper side; points on a side are dropped
  std::vector<Vector2> chain;
  const auto grow = [&](const Vector2& point, std::size_t floor) {
    while (chain.size() >= floor + 2) {
      const Vector2 a = chain[chain.size() - 1] - chain[chain.size() - 2];
      const Vector2 b = point - chain[chain.size() - 1];
      if (cross(a, b) > 1e-14 * a.norm() * b.norm()) break;
      chain.pop_back();
    }
    chain.push_back(point);
  };
  for (const Vector2& point : sorted) grow(point, 0);
  const std::size_t lower = chain.size() - 1;
  for (std::size_t i = sorted.size() - 1; i-- > 0;) grow(sorted[i], lower);
  chain.pop_back();

  MatrixX2 corners(static_cast<Eigen::Index>(chain.size()), 2);
  for (std::size_t i = 0; i < chain.size(); ++i) corners.row(static_cast<Eigen::Index>(i)) = chain[i].transpose();
  return corners;
}

}  // namespace tangere::internal
