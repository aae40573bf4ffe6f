/// The hull grows from the extreme points along the principal axes: each round adds, for every face, the point farthest
/// outside of it, the farthest first, until none is outside or there are enough vertices. So the hull of a fine mesh
/// costs no more than that of the vertices kept, and what is lost is known. The whole thing happens in coordinates in
/// which the mesh has unit size.

#include "tangere/geometry/mesh_hull.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tangere/geometry/check.hpp"
#include "tangere/geometry/hull.hpp"
#include "tangere/geometry/moments.hpp"

namespace tangere {
namespace {

/// Of the mesh's size: thinner ones are made `kThickness` thick.
constexpr double kThinnest = 1e-6;
constexpr double kThickness = 1e-3;
/// Of the mesh's size: points this near to the hull are on it.
constexpr double kOnHull = 1e-9;

/// One a row. In aligned memory, unlike MatrixX3: sums are then taken in an order that does not depend on the address,
/// and the same mesh gives the same bits.
using Points = Eigen::Matrix<double, Eigen::Dynamic, 3>;
using Numbers = Eigen::VectorXd;

/// The faces of a hull, likewise.
struct Faces {
  explicit Faces(const Hull& hull) : normals(hull.normals), offsets(hull.offsets) {}
  /// How far a point is outside of the face that it is farthest outside of.
  double height(const Vector3& p, Eigen::Index& face) const { return (normals * p - offsets).maxCoeff(&face); }

  Points normals;
  Numbers offsets;
};

/// The mesh's vertices with the middle of their box in the origin and its longest side 1.
struct Normalised {
  Points points;
  Vector3 middle;
  double size;
};

Normalised normalised(const TriangleMesh& mesh) {
  Normalised result{Points(static_cast<Eigen::Index>(mesh.vertices.size()), 3), {}, 0.0};
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    if (!mesh.vertices[i].allFinite())
      throw InputError("mesh.vertices[" + std::to_string(i) + "]",
                       "must be finite, got " + detail::to_text(mesh.vertices[i]));
    result.points.row(static_cast<Eigen::Index>(i)) = mesh.vertices[i].transpose();
  }
  const Vector3 low = result.points.colwise().minCoeff().transpose();
  const Vector3 high = result.points.colwise().maxCoeff().transpose();
  result.middle = 0.5 * (low + high);
  result.size = (high - low).maxCoeff();
  if (!(result.size >= detail::kSmallestSize && result.size <= detail::kLargestSize))
    throw InputError("mesh", "must have a size, got " + detail::to_text(result.size));
  result.points = ((result.points.rowwise() - result.middle.transpose()) / result.size).eval();
  return result;
}

/// Axes of the points' spread, narrowest first.
Matrix3 principal_axes(const Points& points) {
  const Vector3 mean = points.colwise().mean().transpose();
  const Points centred = points.rowwise() - mean.transpose();
  const Matrix3 spread = centred.transpose() * centred;
  return Eigen::SelfAdjointEigenSolver<Matrix3>(spread).eigenvectors();
}

double extent(const Points& points, const Vector3& axis) {
  const Numbers along = points * axis;
  return along.maxCoeff() - along.minCoeff();
}

/// A flat mesh with its copies on both sides; its thickness, or 0 if it was thick enough.
double thicken(Points& points, const Matrix3& axes) {
  if (extent(points, axes.col(1)) < kThinnest) throw InputError("mesh", "all vertices lie on a line");
  if (extent(points, axes.col(0)) >= kThinnest) return 0.0;
  const Eigen::Index count = points.rows();
  const auto shift = (0.5 * kThickness * axes.col(0).transpose()).eval();
  Points both(2 * count, 3);
  both.topRows(count) = points.rowwise() + shift;
  both.bottomRows(count) = points.rowwise() - shift;
  points = both;
  return kThickness;
}

template <class Matrix>
MatrixX3 rows_of(const Matrix& points, const std::vector<int>& indices) {
  MatrixX3 rows(static_cast<Eigen::Index>(indices.size()), 3);
  for (std::size_t i = 0; i < indices.size(); ++i)
    rows.row(static_cast<Eigen::Index>(i)) = points.row(static_cast<Eigen::Index>(indices[i]));
  return rows;
}

/// Points that surely span the space: extreme along the principal axes, and across them.
std::vector<int> first_points(const Points& points, const Matrix3& axes) {
  std::vector<int> chosen;
  const auto add_extremes = [&](const Vector3& direction) {
    const Numbers along = points * direction;
    Eigen::Index low = 0;
    Eigen::Index high = 0;
    along.minCoeff(&low);
    along.maxCoeff(&high);
    chosen.push_back(static_cast<int>(low));
    chosen.push_back(static_cast<int>(high));
  };
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j)
      for (int k = 0; k <= 1; ++k) {
        // each direction and its opposite once
        const bool first_half = k > 0 || j > 0 || (j == 0 && i > 0);
        if (first_half) add_extremes(axes * Vector3(i, j, k));
      }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

struct Outlier {
  double distance;
  int point;
};

/// For every face the point of `candidates` farthest outside, the farthest of all first; points that are inside are
/// taken off the candidates.
std::vector<Outlier> outliers(const Points& points, const Hull& hull, std::vector<int>& candidates) {
  const Faces faces(hull);
  std::vector<Outlier> farthest(hull.faces.size(), {0.0, -1});
  std::vector<int> outside;
  for (const int i : candidates) {
    Eigen::Index face = 0;
    const double distance = faces.height(points.row(i).transpose(), face);
    if (distance <= kOnHull) continue;
    outside.push_back(i);
    Outlier& best = farthest[static_cast<std::size_t>(face)];
    if (distance > best.distance) best = {distance, i};
  }
  candidates = std::move(outside);
  std::erase_if(farthest, [](const Outlier& outlier) { return outlier.point < 0; });
  std::sort(farthest.begin(), farthest.end(), [](const Outlier& a, const Outlier& b) {
    return a.distance > b.distance || (a.distance == b.distance && a.point < b.point);
  });
  return farthest;
}

Hull grown_hull(const Points& points, const Matrix3& axes, int max_vertices) {
  std::vector<int> chosen = first_points(points, axes);
  std::vector<int> candidates(static_cast<std::size_t>(points.rows()));
  for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i] = static_cast<int>(i);
  for (;;) {
    Hull hull = hull_of_points(rows_of(points, chosen));
    const int room = max_vertices - static_cast<int>(hull.vertices.rows());
    if (room <= 0) return hull;
    const std::vector<Outlier> found = outliers(points, hull, candidates);
    if (found.empty()) return hull;
    // a part of the room a round, so that the later points are chosen with the earlier ones in place
    const std::size_t added = std::min(found.size(), static_cast<std::size_t>(std::max(1, (room + 2) / 3)));
    const std::size_t before = chosen.size();
    for (std::size_t k = 0; k < added; ++k) chosen.push_back(found[k].point);
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    if (chosen.size() == before) return hull;  // rounding: what is outside is a vertex already
  }
}

/// Every other corner of the faces that have too many taken off, until none has.
Hull with_small_faces(Hull hull, int max_corners) {
  for (;;) {
    std::vector<bool> kept(static_cast<std::size_t>(hull.vertices.rows()), true);
    bool all_kept = true;
    for (const std::vector<int>& face : hull.faces) {
      if (face.size() <= static_cast<std::size_t>(max_corners)) continue;
      all_kept = false;
      for (std::size_t k = 1; k < face.size(); k += 2) kept[static_cast<std::size_t>(face[k])] = false;
    }
    if (all_kept) return hull;
    std::vector<int> indices;
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (kept[i]) indices.push_back(static_cast<int>(i));
    hull = hull_of_points(rows_of(hull.vertices, indices));
  }
}

}  // namespace

void MeshHullOptions::verify() const {
  if (max_vertices < 32) throw InputError("max_vertices", "must be at least 32, got " + std::to_string(max_vertices));
  if (max_face_corners < 8)
    throw InputError("max_face_corners", "must be at least 8, got " + std::to_string(max_face_corners));
}

MeshHull hull_of_mesh(const TriangleMesh& mesh, const MeshHullOptions& options) {
  options.verify();
  if (mesh.triangles.empty() || mesh.vertices.size() < 3) throw InputError("mesh", "has no triangles");
  Normalised given = normalised(mesh);
  Points& points = given.points;
  const Matrix3 axes = principal_axes(points);
  const double thickness = thicken(points, axes);
  const Hull hull = with_small_faces(grown_hull(points, axes, options.max_vertices), options.max_face_corners);

  // about the centroid
  const Faces faces(hull);
  const detail::Moments moments = detail::polyhedron_moments(hull);
  const Vector3 centroid = moments.first / moments.volume;
  const Numbers distances = faces.offsets - faces.normals * centroid;
  MeshHull result{Polytope{hull.normals, given.size * distances},
                  Pose::translation(given.middle + given.size * centroid)};
  result.num_vertices = static_cast<int>(hull.vertices.rows());
  result.thickened = given.size * thickness;

  // how far it is from the mesh
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    Eigen::Index face = 0;
    const double height = given.size * faces.height(points.row(i).transpose(), face);
    result.outside = std::max(result.outside, height);
    result.inside = std::max(result.inside, -height);
  }
  return result;
}

std::string describe(const MeshHull& hull) {
  const double size = hull.shape.set().outer_radius;
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (hull.thickened > 0.0) add("the mesh is flat and was made " + detail::to_text(hull.thickened) + " m thick");
  if (hull.inside > 0.01 * size && hull.thickened == 0.0)
    add("the mesh is not convex, its hull is used (up to " + detail::to_text(hull.inside) + " m outside of it)");
  if (hull.outside > 1e-6 * size)
    add("the hull was reduced to " + std::to_string(hull.num_vertices) + " vertices, up to " +
        detail::to_text(hull.outside) + " m inside of the mesh");
  return text;
}

}  // namespace tangere
