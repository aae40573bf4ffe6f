/// Cores add up point by point, balls by their radii: (P + r B) + (Q + s B) = (P + Q) + (r + s) B.

#include "tangere/geometry/internal/rounded_core.hpp"

#include <vector>

#include <Eigen/Geometry>

#include "tangere/geometry/internal/polygon.hpp"
#include "tangere/geometry/internal/qhull.hpp"
#include "tangere/geometry/internal/spread.hpp"

namespace tangere::internal {
namespace {

/// Points whose hull, padded by the radius, is a shape; no points if it is not of that kind.
struct PointsAndRadius {
  MatrixX3 points;
  double radius = 0.0;
};

MatrixX3 extreme_points(const MatrixX3& points) {
  if (points.rows() < 16 || convex_hull(points).flat) return points;
  return hull_of_points(points).vertices;
}

struct Collect {
  const Shape& shape;

  PointsAndRadius operator()(const Sphere& sphere) const { return {MatrixX3::Zero(1, 3), sphere.radius}; }
  PointsAndRadius operator()(const Box& box) const {
    MatrixX3 corners(8, 3);
    for (int i = 0; i < 8; ++i)
      for (int k = 0; k < 3; ++k) corners(i, k) = (i >> k & 1) != 0 ? 0.5 * box.size[k] : -0.5 * box.size[k];
    return {corners, 0.0};
  }
  PointsAndRadius operator()(const Polytope&) const { return {shape.set().core.vertices, 0.0}; }
  PointsAndRadius operator()(const RoundedPolytope& rounded) const {
    return {shape.set().core.vertices, rounded.radius};
  }
  PointsAndRadius operator()(const PaddedPolygon& polygon) const { return {shape.set().core.vertices, polygon.radius}; }
  PointsAndRadius operator()(const Capsule& capsule) const {
    MatrixX3 ends = MatrixX3::Zero(2, 3);
    ends(0, 0) = -0.5 * capsule.length;
    ends(1, 0) = 0.5 * capsule.length;
    return {ends, capsule.radius};
  }
  PointsAndRadius operator()(const MinkowskiSum& sum) const {
    PointsAndRadius total{MatrixX3::Zero(1, 3), 0.0};
    for (const ShapePart& part : sum.parts) {
      const PointsAndRadius other = std::visit(Collect{part.shape}, part.shape.spec());
      if (other.points.rows() == 0) return other;
      MatrixX3 points(total.points.rows() * other.points.rows(), 3);
      for (Eigen::Index i = 0; i < total.points.rows(); ++i)
        for (Eigen::Index j = 0; j < other.points.rows(); ++j)
          points.row(i * other.points.rows() + j) =
              total.points.row(i) + (part.X * Vector3(other.points.row(j).transpose())).transpose();
      total.points = extreme_points(points);
      total.radius += other.radius;
    }
    return total;
  }
  template <class Spec>
  PointsAndRadius operator()(const Spec&) const {
    return {};
  }
};

/// A convex polygon in space, counter-clockwise about `normal`, as a prism of height zero.
Hull flat_prism(const MatrixX3& corners, const Vector3& normal) {
  const auto count = static_cast<int>(corners.rows());
  Hull hull;
  hull.vertices.resize(2 * count, 3);
  hull.vertices << corners, corners;
  hull.normals.resize(count + 2, 3);
  std::vector<int> top;
  std::vector<int> bottom;
  for (int i = 0; i < count; ++i) {
    const int j = (i + 1) % count;
    top.push_back(i);
    bottom.insert(bottom.begin(), count + i);
    hull.faces.push_back({count + i, count + j, j, i});
    const Vector3 edge = (corners.row(j) - corners.row(i)).transpose();
    hull.normals.row(i) = edge.cross(normal).normalized().transpose();
  }
  hull.faces.push_back(std::move(top));
  hull.faces.push_back(std::move(bottom));
  hull.normals.row(count) = normal.transpose();
  hull.normals.row(count + 1) = -normal.transpose();
  hull.offsets.resize(count + 2);
  for (int i = 0; i < count + 2; ++i) hull.offsets[i] = (hull.vertices * hull.normals.row(i).transpose()).maxCoeff();
  return hull;
}

}  // namespace

std::optional<RoundedCore> rounded_core(const Shape& shape) {
  using Dimension = RoundedCore::Dimension;
  const auto [points, radius] = std::visit(Collect{shape}, shape.spec());
  if (points.rows() == 0) return std::nullopt;

  // dimension of the points' hull
  constexpr double kFlat = 1e-10;
  const Spread spread = spread_of(points);
  const Vector3& mean = spread.mean;
  const Vector3& sigma = spread.sigma;
  const MatrixX3 centred = points.rowwise() - mean.transpose();

  RoundedCore core{Dimension::point, radius, mean.transpose(), {}};
  if (sigma[0] <= kFlat * radius) return core;
  const Vector3 along = spread.axes.col(0);
  if (sigma[1] <= kFlat * sigma[0]) {
    core.dimension = Dimension::segment;
    core.points.resize(2, 3);
    core.points.row(0) = (mean + (centred * along).minCoeff() * along).transpose();
    core.points.row(1) = (mean + (centred * along).maxCoeff() * along).transpose();
    return core;
  }
  if (sigma[2] <= kFlat * sigma[0]) {
    core.dimension = Dimension::polygon;
    // point by point: how a product of matrices rounds depends on where it lies in memory
    const Vector3 across = spread.axes.col(1);
    MatrixX2 in_plane(points.rows(), 2);
    for (Eigen::Index i = 0; i < points.rows(); ++i) {
      const Vector3& point = spread.centred[i];
      in_plane.row(i) << along.dot(point), across.dot(point);
    }
    const MatrixX2 polygon = convex_polygon(in_plane);
    MatrixX3 corners(polygon.rows(), 3);
    for (Eigen::Index i = 0; i < polygon.rows(); ++i)
      corners.row(i) = (mean + polygon(i, 0) * along + polygon(i, 1) * across).transpose();
    core.hull = flat_prism(corners, along.cross(across));
    return core;
  }
  core.dimension = Dimension::solid;
  core.hull = hull_of_points(points);
  return core;
}

}  // namespace tangere::internal
