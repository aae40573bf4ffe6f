/// Convex hull by Qhull, on whitened points.
///
/// The combinatorics of a hull do not change under an affine map, but Qhull's tolerances do: they are relative to the
/// largest coordinate. So the points are first mapped to unit covariance, x = m + V Σ x', by a singular value
/// decomposition: needles and plates in any direction then look round, and flat input shows as a vanishing singular
/// value.

#include "tangere/geometry/internal/qhull.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <utility>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "tangere/geometry/internal/spread.hpp"

extern "C" {
#include <libqhull_r/qhull_ra.h>
}

namespace tangere::internal {
namespace {

/// Ratio of the smallest to the largest singular value below which points count as flat.
constexpr double kFlat = 1e-10;

/// In whitened coordinates: points closer than this are one, and facets that are coplanar up to this are merged (the
/// same number in Qhull's options). It is well above the rounding of a dual or of a face's normal, which else leave
/// slivers.
constexpr double kMerge = 1e-10;
/// The cosine between a facet's normal and Qhull's from which the former counts.
constexpr double kTrusted = 0.999;
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
  // Qhull hashes addresses, so the order of facets and of their points changes from run to run: ours does not
  for (RawFacet& facet : facets) std::sort(facet.points.begin(), facet.points.end());
  std::sort(facets.begin(), facets.end(), [](const RawFacet& a, const RawFacet& b) { return a.points < b.points; });
  return failure == 0;
}

/// Sorts a convex polygon's points by angle about its mean, counter-clockwise about `normal`, from the lowest index on.
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
  order.reserve(polygon.size());
  for (int i : polygon) order.emplace_back(angle(i), i);
  std::sort(order.begin(), order.end());
  for (std::size_t k = 0; k < order.size(); ++k) polygon[k] = order[k].second;
  std::rotate(polygon.begin(), std::min_element(polygon.begin(), polygon.end()), polygon.end());
}

/// The facet's unit normal from its points: unlike Qhull's own it has the same bits whatever order Qhull met them in.
Vector3 facet_normal(const RawFacet& facet, const MatrixX3& points) {
  const Vector3 normal = polygon_normal(points, facet.points).normalized();
  // a sliver's may be rounding
  return normal.dot(facet.normal) > kTrusted ? normal : facet.normal;
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

Vector3 polygon_normal(const MatrixX3& points, const std::vector<int>& polygon) {
  const Vector3 origin = points.row(polygon.front()).transpose();
  Vector3 normal = Vector3::Zero();
  for (std::size_t k = 1; k + 1 < polygon.size(); ++k) {
    const Vector3 a = points.row(polygon[k]).transpose() - origin;
    const Vector3 b = points.row(polygon[k + 1]).transpose() - origin;
    normal += a.cross(b);
  }
  return normal;
}

QhullResult convex_hull(const MatrixX3& points) {
  QhullResult result;

  // whiten
  const Spread spread = spread_of(points);
  const Vector3& sigma = spread.sigma;
  result.flat_normal = spread.axes.col(2);
  if (!(sigma[2] > kFlat * sigma[0])) {
    result.flat = true;
    return result;
  }
  Matrix3 axes = spread.axes;
  if (axes.determinant() < 0.0) axes.col(0) *= -1.0;  // a mirror would turn the polygons round
  const Matrix3 whiten = sigma.cwiseInverse().asDiagonal() * axes.transpose();
  const double unit = std::sqrt(static_cast<double>(points.rows()));
  MatrixX3 white(points.rows(), 3);
  for (Eigen::Index i = 0; i < points.rows(); ++i) white.row(i) = unit * (whiten * spread.centred[i]).transpose();

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
    for (int& i : raw.points) i = kept[i];
    sort_around(raw.points, white, raw.normal);
    const Vector3 normal = (whiten.transpose() * facet_normal(raw, white)).normalized();
    double offset = 0.0;
    for (int i : raw.points) offset += points.row(i).dot(normal) / static_cast<double>(raw.points.size());
    result.facets.push_back({normal, offset, std::move(raw.points)});
  }
  return result;
}

}  // namespace tangere::internal
