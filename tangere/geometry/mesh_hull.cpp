/// The hull grows from the extreme points along the principal axes: each round adds, for every face, the point farthest
/// outside of it, the farthest first, until none is outside or there are enough vertices. So the hull of a fine mesh
/// costs no more than that of the vertices kept, and what is lost is known. A tree of boxes (point_tree.hpp) keeps a
/// round from trying every face with every point. The whole thing happens in coordinates in which the mesh has unit
/// size.

#include "tangere/geometry/mesh_hull.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tangere/geometry/hull.hpp"
#include "tangere/geometry/internal/moments.hpp"
#include "tangere/geometry/internal/point_tree.hpp"
#include "tangere/math/check.hpp"

namespace tangere {
namespace {

/// Meshes thinner than this part of their size are made `kThickness` thick.
constexpr double kThinnest = 1e-6;
constexpr double kThickness = 1e-3;
/// Points nearer to the hull than this part of the mesh's size are on it.
constexpr double kOnHull = 1e-9;

using Points = std::vector<Vector3>;

/// The mesh's vertices with the middle of their box in the origin and its longest side 1.
struct Normalised {
  Points points;
  Vector3 middle;
  double size;
};

Normalised normalised(const TriangleMesh& mesh) {
  Vector3 low = mesh.vertices.front();
  Vector3 high = low;
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    const Vector3& vertex = mesh.vertices[i];
    if (!vertex.allFinite())
      throw InputError("mesh.vertices[" + std::to_string(i) + "]", "must be finite, got " + internal::to_text(vertex));
    low = low.cwiseMin(vertex).eval();
    high = high.cwiseMax(vertex).eval();
  }
  Normalised result{{}, 0.5 * (low + high), (high - low).maxCoeff()};
  if (!(result.size >= internal::kSmallestSize && result.size <= internal::kLargestSize))
    throw InputError("mesh", "must have a size, got " + internal::to_text(result.size));
  for (const Vector3& vertex : mesh.vertices) result.points.emplace_back((vertex - result.middle) / result.size);
  return result;
}

/// Axes of the points' spread, narrowest first. (Sums run point by point: those of Eigen go by the address of the data,
/// and so would the last bits.)
Matrix3 principal_axes(const Points& points) {
  Vector3 mean = Vector3::Zero();
  for (const Vector3& p : points) mean += p;
  mean /= static_cast<double>(points.size());
  Matrix3 spread = Matrix3::Zero();
  for (const Vector3& p : points) spread += (p - mean) * (p - mean).transpose();
  return Eigen::SelfAdjointEigenSolver<Matrix3>(spread).eigenvectors();
}

/// The points that lie lowest and highest along a direction, the first of equals.
struct Extremes {
  std::size_t low = 0;
  std::size_t high = 0;
  double extent = 0.0;
};
Extremes extremes(const Points& points, const Vector3& direction) {
  Extremes result;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double along = points[i].dot(direction);
    if (along < low) {
      low = along;
      result.low = i;
    }
    if (along > high) {
      high = along;
      result.high = i;
    }
  }
  result.extent = high - low;
  return result;
}

/// A flat mesh with its copies on both sides; its thickness, or 0 if it was thick enough.
double thicken(Points& points, const Matrix3& axes) {
  if (extremes(points, axes.col(1)).extent < kThinnest) throw InputError("mesh", "all vertices lie on a line");
  if (extremes(points, axes.col(0)).extent >= kThinnest) return 0.0;
  const Vector3 shift = 0.5 * kThickness * axes.col(0);
  const std::size_t count = points.size();
  for (std::size_t i = 0; i < count; ++i) {
    points.emplace_back(points[i] - shift);
    points[i] += shift;
  }
  return kThickness;
}

MatrixX3 rows_of(const Points& points, const std::vector<int>& indices) {
  MatrixX3 rows(static_cast<Eigen::Index>(indices.size()), 3);
  for (std::size_t i = 0; i < indices.size(); ++i)
    rows.row(static_cast<Eigen::Index>(i)) = points[indices[i]].transpose();
  return rows;
}

/// Points that surely span the space: extreme along the principal axes, and across them.
std::vector<int> first_points(const Points& points, const Matrix3& axes) {
  std::vector<int> chosen;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j)
      for (int k = 0; k <= 1; ++k) {
        // each direction and its opposite once
        const bool first_half = k > 0 || j > 0 || (j == 0 && i > 0);
        if (!first_half) continue;
        const Extremes found = extremes(points, axes * Vector3(i, j, k));
        chosen.push_back(static_cast<int>(found.low));
        chosen.push_back(static_cast<int>(found.high));
      }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

struct Outlier {
  double distance;
  int point;
};

/// Grows towards the points of a mesh.
class HullGrower {
 public:
  explicit HullGrower(const Points& points) : points_(points), tree_(points), candidates_(points.size()) {
    std::iota(candidates_.begin(), candidates_.end(), 0);
  }

  Hull grow(std::vector<int> chosen, int max_vertices) {
    for (;;) {
      Hull hull = hull_of_points(rows_of(points_, chosen));
      const int room = max_vertices - static_cast<int>(hull.vertices.rows());
      if (room <= 0) return hull;
      const std::vector<Outlier> found = outliers(hull);
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

  /// How far points are outside of a hull, at most.
  double highest(const Hull& hull) {
    tree_.heights(hull, 0.0, heights_);
    double result = 0.0;
    for (const internal::Height& each : heights_) result = std::max(result, each.height);
    return result;
  }

  [[nodiscard]] double lowest(const Hull& hull) const { return tree_.lowest(hull); }

 private:
  /// For every face the candidate farthest outside, the farthest of all first; points that are inside are no candidates
  /// any more.
  std::vector<Outlier> outliers(const Hull& hull) {
    tree_.heights(hull, kOnHull, heights_);
    std::vector<Outlier> farthest(hull.faces.size(), {0.0, -1});
    std::erase_if(candidates_, [&](int i) { return heights_[i].height <= kOnHull; });
    for (const int i : candidates_) {
      const auto [distance, face] = heights_[i];
      Outlier& best = farthest[face];
      if (distance > best.distance) best = {distance, i};
    }
    std::erase_if(farthest, [](const Outlier& outlier) { return outlier.point < 0; });
    std::sort(farthest.begin(), farthest.end(), [](const Outlier& a, const Outlier& b) {
      return a.distance > b.distance || (a.distance == b.distance && a.point < b.point);
    });
    return farthest;
  }

  const Points& points_;
  internal::PointTree tree_;
  std::vector<int> candidates_;
  std::vector<internal::Height> heights_;
};

/// Every other corner of the faces that have too many taken off, until none has.
Hull with_small_faces(Hull hull, int max_corners) {
  for (;;) {
    std::vector<bool> kept(static_cast<std::size_t>(hull.vertices.rows()), true);
    bool all_kept = true;
    for (const std::vector<int>& face : hull.faces) {
      if (face.size() <= static_cast<std::size_t>(max_corners)) continue;
      all_kept = false;
      for (std::size_t k = 1; k < face.size(); k += 2) kept[face[k]] = false;
    }
    if (all_kept) return hull;
    MatrixX3 vertices(std::count(kept.begin(), kept.end(), true), 3);
    Eigen::Index row = 0;
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (kept[i]) vertices.row(row++) = hull.vertices.row(static_cast<Eigen::Index>(i));
    hull = hull_of_points(vertices);
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
  HullGrower grower(points);
  const Hull hull =
      with_small_faces(grower.grow(first_points(points, axes), options.max_vertices), options.max_face_corners);

  // about the centroid
  const internal::Moments moments = internal::polyhedron_moments(hull);
  const Vector3 centroid = moments.first / moments.volume;
  VectorX distances(hull.offsets.size());
  for (Eigen::Index i = 0; i < distances.size(); ++i)
    distances[i] = given.size * (hull.offsets[i] - hull.normals.row(i).dot(centroid));
  MeshHull result{Polytope{hull.normals, distances}, Pose::translation(given.middle + given.size * centroid)};
  result.num_vertices = static_cast<int>(hull.vertices.rows());
  result.thickened = given.size * thickness;

  // how far it is from the mesh
  result.outside = given.size * grower.highest(hull);
  result.inside = std::max(0.0, -given.size * grower.lowest(hull));
  return result;
}

std::string describe(const MeshHull& hull) {
  const double size = hull.shape.set().outer_radius;
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (hull.thickened > 0.0) add("the mesh is flat and was made " + internal::to_text(hull.thickened) + " m thick");
  if (hull.inside > 0.01 * size && hull.thickened == 0.0)
    add("the mesh is not convex, its hull is used (up to " + internal::to_text(hull.inside) + " m outside of it)");
  if (hull.outside > 1e-6 * size)
    add("the hull was reduced to " + std::to_string(hull.num_vertices) + " vertices, up to " +
        internal::to_text(hull.outside) + " m inside of the mesh");
  return text;
}

}  // namespace tangere
