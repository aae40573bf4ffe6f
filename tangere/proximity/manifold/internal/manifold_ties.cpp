/// Where the normal of an overlap jumps: the least way apart is the same along another direction as well (concentric
/// boxes, edges that overlap in parallel). Distances along any direction bound the distance from below,
///
///   d(n) = −h_A(n) − h_B(−n) ≤ d(N)
///
/// so that one which is as large elsewhere is another normal. Tried are the normals of faces, the axes of terms, those
/// across two axes, and −N.

#include <Eigen/Geometry>

#include "tangere/geometry/convex_set.hpp"
#include "tangere/proximity/manifold/internal/manifold_query.hpp"

namespace tangere::internal {
namespace {

/// Distances that are equal, in units of the size.
constexpr double kSameDistance = 1e-7;
/// Cosine above which directions are the same: a jump of two degrees is none.
constexpr double kSameDirection = 0.9995;
/// Vectors shorter than this are zero.
constexpr double kNoVector = 1e-9;

/// Tries one direction after the other.
struct Ties {
  const ManifoldQuery& query;
  double enough;
  double balls;

  explicit Ties(const ManifoldQuery& of)
      : query(of),
        enough(of.nearest.distance - kSameDistance * of.size),
        balls(of.A.terms->inner_radius + of.B.terms->inner_radius) {}

  /// Either way along `m`, which need not be of unit length.
  [[nodiscard]] bool along(const Vector3& m) const {
    const double length = m.norm();
    if (!(length > kNoVector)) return false;
    for (const double sign : {1.0, -1.0}) {
      const Vector3 n = (sign / length) * m;
      // the balls inside tell most directions from the normal
      if (n.dot(query.B.X.p - query.A.X.p) - balls < enough) continue;
      if (n.dot(query.nearest.normal) > kSameDirection) continue;
      if (-query.A.support(n) - query.B.support(-n) >= enough) return true;
    }
    return false;
  }

  /// Faces: rows of the point, or of the point's first auxiliary part (the core of what is rounded).
  [[nodiscard]] bool faces(const ManifoldBody& body) const {
    const ConicRowsView& rows = body.terms->set->rows.view();
    for (int i = 0; i < rows.num_orthant; ++i) {
      Vector3 m(rows.orthant_rows_u[kShared * i], rows.orthant_rows_u[kShared * i + 1],
                rows.orthant_rows_u[kShared * i + 2]);
      for (int k = 0; m.isZero(0.0) && k + 3 <= rows.num_aux; k += 3)
        m = Eigen::Map<const Vector3>(rows.orthant_rows_y + rows.num_aux * i + k);
      if (along(body.X.R * m)) return true;
    }
    for (int k = 0; k < body.terms->num_terms; ++k)
      for (int axis = 0; axis < 3; ++axis)
        if (along(body.X.R * body.terms->terms()[k].R().col(axis))) return true;
    return false;
  }

  [[nodiscard]] bool edges() const {
    for (int a = 0; a < query.A.terms->num_terms; ++a)
      for (int b = 0; b < query.B.terms->num_terms; ++b)
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j)
            if (along((query.A.X.R * query.A.terms->terms()[a].R().col(i))
                          .cross(query.B.X.R * query.B.terms->terms()[b].R().col(j))))
              return true;
    return false;
  }
};

}  // namespace

bool has_other_normal(const ManifoldQuery& query) {
  if (query.A.terms->half_space || query.B.terms->half_space) return false;
  if (!(query.nearest.distance <= kSameDistance * query.size)) return false;
  const Ties ties(query);
  return ties.along(query.nearest.normal) || ties.faces(query.A) || ties.faces(query.B) || ties.edges();
}

}  // namespace tangere::internal
