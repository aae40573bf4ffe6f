#include "tangere/geometry/internal/spread.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/SVD>

namespace tangere::internal {
namespace {

/// The triangle R of points = Q R (one point a row), by Householder's reflections. It has the points' singular values
/// and axes. Sums run point by point: those of Eigen go by the address of the data, and so would the last bits.
Matrix3 triangle_of(std::vector<Vector3> points) {
  Matrix3 R = Matrix3::Zero();
  const std::size_t count = points.size();
  for (std::size_t k = 0; k < std::min<std::size_t>(3, count); ++k) {
    const auto column = static_cast<Eigen::Index>(k);
    // the reflection I - v vᵀ / (vᵀ v / 2) that leaves one entry of the column
    double largest = 0.0;
    for (std::size_t i = k; i < count; ++i) largest = std::max(largest, std::abs(points[i][column]));
    if (largest > 0.0) {
      std::vector<double> v(count - k);
      double square = 0.0;
      for (std::size_t i = k; i < count; ++i) {
        v[i - k] = points[i][column] / largest;
        square += v[i - k] * v[i - k];
      }
      const double length = std::copysign(std::sqrt(square), v[0]);
      const double half = square + length * v[0];
      v[0] += length;
      for (Eigen::Index j = column; j < 3; ++j) {
        double dot = 0.0;
        for (std::size_t i = k; i < count; ++i) dot += v[i - k] * points[i][j];
        for (std::size_t i = k; i < count; ++i) points[i][j] -= dot / half * v[i - k];
      }
    }
    R.row(column).tail(3 - column) = points[k].tail(3 - column).transpose();
  }
  return R;
}

}  // namespace

Spread spread_of(const MatrixX3& points) {
  Spread out;
  for (Eigen::Index i = 0; i < points.rows(); ++i) out.mean += points.row(i).transpose();
  out.mean /= static_cast<double>(std::max<Eigen::Index>(points.rows(), 1));
  out.centred.reserve(static_cast<std::size_t>(points.rows()));
  for (Eigen::Index i = 0; i < points.rows(); ++i) out.centred.emplace_back(points.row(i).transpose() - out.mean);
  const Eigen::JacobiSVD<Matrix3> svd(triangle_of(out.centred), Eigen::ComputeFullV);
  out.sigma = svd.singularValues();
  out.axes = svd.matrixV();
  return out;
}

}  // namespace tangere::internal
