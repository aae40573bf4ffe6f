/// Convex hull by Qhull, on whitened points.
///
/// The combinatorics of a hull do not change under an affine map, but Qhull's tolerances do: they are relative to the
/// largest coordinate. So the points are first mapped to unit covariance, x = m + V Σ x', by a singular value
/// decomposition: needles and plates in any direction then look round, and flat input shows as a vanishing singular
/// value.

#include "tangere/geometry/qhull.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <utility>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <Eigen/SVD>

extern "C" {
#include <libqhull_r/qhull_ra.h>
}

namespace tangere::detail {
namespace {

/// Ratio of the smallest to the largest singular value below which points count as flat.
constexpr double kFlat = 1e-10;

/// In whitened coordinates: points closer than this are one, and facets that are coplanar up to this are merged (the
/// same number in Qhull's options). It is well above the rounding of a dual or of a face's normal, which else leave
/// slivers.
constexpr double kMerge = 1e-10;
constexpr char kQhullOptions[] = "qhull Pp C-1e-10";

/// A plane n' · x' + o' ≤ 0 in whitened coordinates with the points on it.
struct RawFacet {
  Vector3 normal;
  double offset;
  std::vector<int> points;
};

/// Calls Qhull; false if it refuses the points. Its messages go to a memory buffer, nothing is printed.
bool run_qhull(std::vector<double>& coordinates, int count, std::vector<RawFacet>& facets) {
  char* text = nullptr;
  std::size_t text_size = 0;
  FILE* messages = open_memstream(&text, &text_size);

  qhT context;
  qhT* qh = &context;
  qh_zero(qh, messages);
  std::string command = kQhullOptions;
  const int failure = qh_new_qhull(qh, 3, count, coordinates.data(), False, command.data(), nullptr, messages);

  if (failure == 0) {
    facetT* facet;
    vertexT* vertex;
    vertexT** vertexp;
    FORALLfacets {
      RawFacet raw{Vector3(facet->normal[0], facet->normal[1], facet->normal[2]), facet->offset, {}};
      FOREACHvertex_(facet->vertices) raw.points.push_back(static_cast<int>(qh_pointid(qh, vertex->point)));
      facets.push_back(std::move(raw));
    }
  }

  int long_count = 0;
  int long_bytes = 0;
  qh_freeqhull(qh, !qh_ALL);
  qh_memfreeshort(qh, &long_count, &long_bytes);
  std::fclose(messages);
  std::free(text);
  return failure == 0;
}

/// Sorts a convex polygon's points by angle about its mean, counter-clockwise about `normal`.
void sort_around(std::vector<int>& polygon, const MatrixX3& points, const Vector3& normal) {
  Vector3 mean = Vector3::Zero();
  for (int i : polygon) mean += points.row(i).transpose() / static_cast<double>(polygon.size());
  const Vector3 e1 = (points.row(polygon.front()).transpose() - mean).normalized();
  const Vector3 e2 = normal.cross(e1);
  const auto angle = [&](int i) {
    const Vector3 d = points.row(i).transpose() - mean;
    return std::atan2(d.dot(e2), d.dot(e1));
  };
  std::vector<std::pair<double, int>> order;
  for (int i : polygon) order.emplace_back(angle(i), i);
  std::sort(order.begin(), order.end());
  for (std::size_t k = 0; k < order.size(); ++k) polygon[k] = order[k].second;
}

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

/// One index for each group of points within kMerge of each other, ascending.
std::vector<int> distinct(const MatrixX3& points) {
  // neighbours in x first, so that only those close in x are compared
  std::vector<int> order(static_cast<std::size_t>(points.rows()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int i, int j) { return points(i, 0) < points(j, 0) || (points(i, 0) == points(j, 0) && i < j); });
  std::vector<int> kept;
  for (const int i : order) {
    bool repeated = false;
    for (std::size_t k = kept.size(); k-- > 0 && points(i, 0) - points(kept[k], 0) <= kMerge;)
      repeated = repeated || (points.row(i) - points.row(kept[k])).norm() <= kMerge;
    if (!repeated) kept.push_back(i);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

}  // namespace

QhullResult convex_hull(const MatrixX3& points) {
  QhullResult result;

  // whiten
  Vector3 mean = Vector3::Zero();
  for (Eigen::Index i = 0; i < points.rows(); ++i) mean += points.row(i).transpose();
  mean /= static_cast<double>(std::max<Eigen::Index>(points.rows(), 1));
  std::vector<Vector3> centred;
  for (Eigen::Index i = 0; i < points.rows(); ++i) centred.emplace_back(points.row(i).transpose() - mean);
  const Eigen::JacobiSVD<Matrix3> svd(triangle_of(centred), Eigen::ComputeFullV);
  const Vector3 sigma = svd.singularValues();
  result.flat_normal = svd.matrixV().col(2);
  if (!(sigma[2] > kFlat * sigma[0])) {
    result.flat = true;
    return result;
  }
  Matrix3 axes = svd.matrixV();
  if (axes.determinant() < 0.0) axes.col(0) *= -1.0;  // a mirror would turn the polygons round
  const Matrix3 whiten = sigma.cwiseInverse().asDiagonal() * axes.transpose();
  const double unit = std::sqrt(static_cast<double>(points.rows()));
  MatrixX3 white(points.rows(), 3);
  for (Eigen::Index i = 0; i < points.rows(); ++i)
    white.row(i) = unit * (whiten * centred[static_cast<std::size_t>(i)]).transpose();

  // hull
  const std::vector<int> kept = distinct(white);
  std::vector<double> coordinates;
  for (const int i : kept)
    for (int k = 0; k < 3; ++k) coordinates.push_back(white(i, k));
  std::vector<RawFacet> facets;
  if (kept.size() < 4 || !run_qhull(coordinates, static_cast<int>(kept.size()), facets)) {
    result.flat = true;
    return result;
  }

  // back to the given coordinates
  for (RawFacet& raw : facets) {
    for (int& i : raw.points) i = kept[static_cast<std::size_t>(i)];
    sort_around(raw.points, white, raw.normal);
    const Vector3 normal = (whiten.transpose() * raw.normal).normalized();
    double offset = 0.0;
    for (int i : raw.points) offset += points.row(i).dot(normal) / static_cast<double>(raw.points.size());
    result.facets.push_back({normal, offset, std::move(raw.points)});
  }
  return result;
}

}  // namespace tangere::detail
