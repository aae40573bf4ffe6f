/// Conic rows of the shapes with flat faces and of those padded by a ball (DCOL §III-B):
///
///   box                |p_i| ≤ α size_i / 2
///   polytope           (α b_i - a_i · p) / |a_i| ≥ 0                                     (10)
///   rounded polytope   |p - y| ≤ α R,  (α b_i - a_i · y) / |a_i| ≥ 0
///   padded polygon     |p - (y_1, y_2, 0)| ≤ α R,  (α d_i - c_i · y) / |c_i| ≥ 0         (25)-(26)
///   half-space         (offset - n · p) / |n| ≥ 0, whatever α

#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/geometry/internal/polygon.hpp"
#include "tangere/geometry/internal/rows.hpp"
#include "tangere/math/check.hpp"

namespace tangere::internal {
namespace {

constexpr int kAlpha = RowBuilder::kAlpha;
constexpr int kAux = RowBuilder::kAux;

/// Rows (α b_i - a_i · w) / |a_i| for the variables w that start at `column`; parameters A row by row, then b, from 0.
template <class Faces>
void add_faces(RowBuilder& rows, const Faces& A, const VectorX& b, int column) {
  const int count = static_cast<int>(A.rows());
  const int width = static_cast<int>(A.cols());
  for (int i = 0; i < count; ++i) {
    const double factor = 1.0 / A.row(i).norm();
    for (int k = 0; k < width; ++k) {
      rows(i, column + k) = -factor * A(i, k);
      rows.derivative(width * i + k, i, column + k, -factor);
    }
    rows(i, kAlpha) = factor * b[i];
    rows.derivative(width * count + i, i, kAlpha, factor);
  }
}

template <class Faces>
double nearest_face(const Faces& A, const VectorX& b) {
  return b.cwiseQuotient(A.rowwise().norm()).minCoeff();
}

double farthest(const MatrixX3& vertices) { return vertices.rowwise().norm().maxCoeff(); }

}  // namespace

ConvexSet make_set(const Box& box) {
  for (int i = 0; i < 3; ++i) require_positive(std::string("box.size.") + "xyz"[i], box.size[i]);
  RowBuilder rows(0, 6, 0);
  for (int i = 0; i < 3; ++i) {
    for (int side = 0; side < 2; ++side) {
      const int row = 2 * i + side;
      rows(row, i) = side == 0 ? -1.0 : 1.0;
      rows(row, kAlpha) = 0.5 * box.size[i];
      rows.derivative(i, row, kAlpha, 0.5);
    }
  }
  ConvexSet set = rows.build(3);
  set.inner_radius = 0.5 * box.size.minCoeff();
  set.outer_radius = 0.5 * box.size.norm();
  return set;
}

ConvexSet make_set(const Polytope& polytope) {
  Hull hull = with_prefix("polytope", [&] { return hull_of_half_spaces(polytope.A, polytope.b); });
  const int count = static_cast<int>(polytope.A.rows());
  RowBuilder rows(0, count, 0);
  add_faces(rows, polytope.A, polytope.b, 0);
  ConvexSet set = rows.build(4 * count);
  set.inner_radius = nearest_face(polytope.A, polytope.b);
  set.outer_radius = farthest(hull.vertices);
  set.core = std::move(hull);
  return set;
}

ConvexSet make_set(const RoundedPolytope& rounded) {
  require_positive("rounded_polytope.radius", rounded.radius);
  const MatrixX3& A = rounded.core.A;
  const VectorX& b = rounded.core.b;
  Hull hull = with_prefix("rounded_polytope", [&] { return hull_of_half_spaces(A, b); });
  const int count = static_cast<int>(A.rows());
  RowBuilder rows(3, count, 1);
  add_faces(rows, A, b, kAux);
  rows.ball_around_aux(0, 3, rounded.radius, 4 * count);
  ConvexSet set = rows.build(4 * count + 1);
  const double inner = nearest_face(A, b);
  set.aux_start.leftCols<3>().diagonal().setConstant(inner / (inner + rounded.radius));
  set.inner_radius = inner + rounded.radius;
  set.outer_radius = farthest(hull.vertices) + rounded.radius;
  set.core = std::move(hull);
  return set;
}

ConvexSet make_set(const PaddedPolygon& polygon) {
  require_positive("padded_polygon.radius", polygon.radius);
  const MatrixX2 corners = with_prefix("padded_polygon", [&] { return polygon_corners(polygon.C, polygon.d); });
  const int count = static_cast<int>(polygon.C.rows());
  RowBuilder rows(2, count, 1);
  add_faces(rows, polygon.C, polygon.d, kAux);
  rows.ball_around_aux(0, 2, polygon.radius, 3 * count);
  ConvexSet set = rows.build(3 * count + 1);
  const double inner = nearest_face(polygon.C, polygon.d);
  set.aux_start.leftCols<2>().diagonal().setConstant(inner / (inner + polygon.radius));
  set.inner_radius = polygon.radius;
  set.core.vertices = MatrixX3::Zero(corners.rows(), 3);
  set.core.vertices.leftCols<2>() = corners;
  set.outer_radius = farthest(set.core.vertices) + polygon.radius;
  return set;
}

ConvexSet make_set(const HalfSpace& half_space) {
  const double norm = half_space.normal.norm();
  if (!(norm > 0.0) || !std::isfinite(norm))
    throw InputError("halfspace.normal", "must be finite and not zero, got " + to_text(half_space.normal));
  require_finite("halfspace.offset", half_space.offset);
  RowBuilder rows(0, 1, 0);
  for (int k = 0; k < 3; ++k) {
    rows(0, k) = -half_space.normal[k] / norm;
    rows.derivative(k, 0, k, -1.0 / norm);
  }
  rows(0, rows.constant()) = half_space.offset / norm;
  rows.derivative(3, 0, rows.constant(), 1.0 / norm);
  ConvexSet set = rows.build(4);
  set.scaled = false;
  set.inner_radius = std::max(0.0, half_space.offset / norm);
  set.outer_radius = std::numeric_limits<double>::infinity();
  return set;
}

}  // namespace tangere::internal
