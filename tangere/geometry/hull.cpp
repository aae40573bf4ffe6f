/// Vertices to half-spaces directly; half-spaces to vertices through the polar dual.
///
/// With b > 0 the polyhedron {A p ≤ b} is the polar of the hull of the points a_i / b_i: a facet {n · x ≤ o} of that
/// hull is the vertex n / o of the polyhedron. It is bounded if and only if the dual hull contains the
/// origin strictly; a facet with o ≤ 0 gives n · a_i ≤ 0 for all i, a direction in which no face closes it.

#include "tangere/geometry/hull.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <Eigen/Geometry>
#include <Eigen/QR>

#include "tangere/geometry/internal/qhull.hpp"
#include "tangere/math/check.hpp"

namespace tangere {
namespace {

/// A polyhedron whose vertices are farther than 1 / kUnbounded times its nearest face counts as unbounded.
constexpr double kUnbounded = 1e-10;

[[noreturn]] void throw_unbounded(const Vector3& direction) {
  throw InputError("A", "unbounded, no face towards " + internal::to_text(direction));
}

/// The extreme points of a hull and its facets over them. A point on fewer than three facets is not extreme.
Hull assemble(const MatrixX3& points, const std::vector<internal::HullFacet>& facets) {
  std::vector<int> incidences(static_cast<std::size_t>(points.rows()), 0);
  for (const auto& facet : facets)
    for (int i : facet.points) ++incidences[i];

  std::vector<int> kept_as(incidences.size(), -1);
  int kept = 0;
  for (std::size_t i = 0; i < incidences.size(); ++i)
    if (incidences[i] >= 3) kept_as[i] = kept++;

  Hull hull;
  hull.vertices.resize(kept, 3);
  for (std::size_t i = 0; i < kept_as.size(); ++i)
    if (kept_as[i] >= 0) hull.vertices.row(kept_as[i]) = points.row(static_cast<Eigen::Index>(i));

  std::vector<Vector3> normals;
  for (const auto& facet : facets) {
    std::vector<int> face;
    for (int i : facet.points)
      if (kept_as[i] >= 0) face.push_back(kept_as[i]);
    if (face.size() < 3) continue;
    const Vector3 normal = internal::polygon_normal(hull.vertices, face);
    normals.push_back(normal.dot(facet.normal) > 0.0 ? normal.normalized() : facet.normal);
    hull.faces.push_back(std::move(face));
  }

  hull.normals.resize(static_cast<Eigen::Index>(normals.size()), 3);
  hull.offsets.resize(hull.normals.rows());
  for (Eigen::Index i = 0; i < hull.normals.rows(); ++i) {
    hull.normals.row(i) = normals[i].transpose();
    const Vector3& normal = normals[i];
    hull.offsets[i] = -std::numeric_limits<double>::infinity();
    for (Eigen::Index k = 0; k < hull.vertices.rows(); ++k)
      hull.offsets[i] = std::max(hull.offsets[i], hull.vertices.row(k).dot(normal));
  }
  return hull;
}

void check_half_spaces(const MatrixX3& A, const VectorX& b) {
  if (A.rows() != b.size())
    throw InputError(
        "b", "must have one entry a row of A, got " + std::to_string(b.size()) + " for " + std::to_string(A.rows()));
  for (Eigen::Index i = 0; i < A.rows(); ++i) {
    const std::string index = "[" + std::to_string(i) + "]";
    if (!A.row(i).allFinite())
      throw InputError("A" + index, "must be finite, got " + internal::to_text(A.row(i).transpose()));
    if (!(A.row(i).norm() > 0.0)) throw InputError("A" + index, "must not be zero");
    internal::require_finite("b" + index, b[i]);
    if (!(b[i] > 0.0))
      throw InputError("b" + index, "must be positive, got " + internal::to_text(b[i]) + ": the origin is " +
                                        (b[i] < 0.0 ? "outside" : "on") + " face " + std::to_string(i) +
                                        " (use recentred)");
  }
  if (A.rows() == 0) throw InputError("A", "must have at least four rows, got 0");
}

}  // namespace

Hull hull_of_points(const MatrixX3& points) {
  for (Eigen::Index i = 0; i < points.rows(); ++i)
    if (!points.row(i).allFinite())
      throw InputError("vertices[" + std::to_string(i) + "]",
                       "must be finite, got " + internal::to_text(points.row(i).transpose()));
  if (points.rows() < 4)
    throw InputError("vertices", "must be at least four points, got " + std::to_string(points.rows()));
  const internal::QhullResult result = internal::convex_hull(points);
  if (result.flat)
    throw InputError("vertices",
                     "flat, all points lie in a plane with the normal " + internal::to_text(result.flat_normal));
  return assemble(points, result.facets);
}

Hull hull_of_half_spaces(const MatrixX3& A, const VectorX& b) {
  check_half_spaces(A, b);

  // dual points, in units of the nearest face's distance
  VectorX norms(A.rows());
  for (Eigen::Index i = 0; i < A.rows(); ++i) norms[i] = Vector3(A.row(i).transpose()).norm();
  const VectorX distances = b.cwiseQuotient(norms);
  const double unit = distances.minCoeff();
  const MatrixX3 normals = norms.cwiseInverse().asDiagonal() * A;
  const MatrixX3 dual = (unit * distances.cwiseInverse()).asDiagonal() * normals;

  // fewer than four faces, or all dual points in a plane: open on the side of the plane where the origin is
  const internal::QhullResult result = internal::convex_hull(dual);
  if (result.flat) {
    const Vector3 total = dual.colwise().sum().transpose();
    const double side = total.dot(result.flat_normal);
    throw_unbounded(side > 0.0 ? Vector3(-result.flat_normal) : result.flat_normal);
  }

  // each dual facet is a vertex: the meeting point of its planes
  MatrixX3 vertices(static_cast<Eigen::Index>(result.facets.size()), 3);
  for (std::size_t f = 0; f < result.facets.size(); ++f) {
    const internal::HullFacet& facet = result.facets[f];
    if (facet.offset <= kUnbounded) throw_unbounded(facet.normal);
    const auto count = static_cast<Eigen::Index>(facet.points.size());
    // aligned ones: the sums of others go by their addresses, and so would the last bits
    Eigen::Matrix<double, Eigen::Dynamic, 3> planes(count, 3);
    Eigen::VectorXd offsets(count);
    for (Eigen::Index k = 0; k < count; ++k) {
      const int i = facet.points[k];
      planes.row(k) = normals.row(i);
      offsets[k] = distances[i] / unit;
    }
    // a correction to the facet's own answer, so that nearly parallel planes do no harm
    const Vector3 vertex = facet.normal / facet.offset;
    const Vector3 correction = planes.colPivHouseholderQr().solve(offsets - planes * vertex);
    vertices.row(static_cast<Eigen::Index>(f)) = unit * (vertex + correction).transpose();
  }
  return hull_of_points(vertices);
}

}  // namespace tangere
