#include "tangere/geometry/internal/surface_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <Eigen/QR>

#include "tangere/geometry/support.hpp"

namespace tangere::internal {
namespace {

constexpr double kPi = std::numbers::pi;

/// Poles and parallels of the unit sphere, a turn / resolution apart.
std::vector<Vector3> sphere_directions(int resolution) {
  const int half = std::max(2, resolution / 2);
  std::vector<Vector3> directions = {Vector3::UnitX(), -Vector3::UnitX()};
  for (int i = 1; i < half; ++i) {
    const double latitude = kPi * i / half;
    for (int k = 0; k < resolution; ++k) {
      const double angle = 2.0 * kPi * k / resolution;
      directions.emplace_back(std::cos(latitude), std::sin(latitude) * std::cos(angle),
                              std::sin(latitude) * std::sin(angle));
    }
  }
  return directions;
}

MatrixX3 as_rows(const std::vector<Vector3>& points) {
  MatrixX3 rows(static_cast<Eigen::Index>(points.size()), 3);
  for (std::size_t i = 0; i < points.size(); ++i) rows.row(static_cast<Eigen::Index>(i)) = points[i].transpose();
  return rows;
}

/// Normals of the flat faces of a shape and, for sums, of their parts.
std::vector<Vector3> flat_normals(const Shape& shape) {
  std::vector<Vector3> normals;
  if (shape.get_if<Box>() != nullptr) {
    for (int k = 0; k < 3; ++k) normals.insert(normals.end(), {Vector3::Unit(k), -Vector3::Unit(k)});
  } else if (shape.get_if<Cylinder>() != nullptr) {
    normals = {Vector3::UnitX(), -Vector3::UnitX()};
  } else if (shape.get_if<Cone>() != nullptr) {
    normals = {Vector3::UnitX()};
  } else if (shape.get_if<PaddedPolygon>() != nullptr) {
    normals = {Vector3::UnitZ(), -Vector3::UnitZ()};
  } else if (const auto* sum = shape.get_if<MinkowskiSum>()) {
    for (const ShapePart& part : sum->parts)
      for (const Vector3& n : flat_normals(part.shape)) normals.emplace_back(part.X.R * n);
  } else {
    const MatrixX3& rows = shape.set().core.normals;
    for (Eigen::Index i = 0; i < rows.rows(); ++i) normals.emplace_back(rows.row(i).transpose());
  }
  return normals;
}

}  // namespace

MatrixX3 rounded_surface_points(const Hull& core, double radius, int resolution) {
  std::vector<Vector3> points;
  const auto vertex = [&](int i) -> Vector3 { return core.vertices.row(i).transpose(); };
  const auto normal = [&](int f) -> Vector3 { return core.normals.row(f).transpose(); };

  // corners of the faces
  std::map<std::pair<int, int>, int> left;
  for (std::size_t f = 0; f < core.faces.size(); ++f) {
    const std::vector<int>& face = core.faces[f];
    for (std::size_t k = 0; k < face.size(); ++k) {
      points.emplace_back(vertex(face[k]) + radius * normal(static_cast<int>(f)));
      left[{face[k], face[(k + 1) % face.size()]}] = static_cast<int>(f);
    }
  }

  // arcs at both ends of the edges, between the two faces' normals
  for (const auto& [edge, f] : left) {
    const Vector3 n1 = normal(f);
    const Vector3 n2 = normal(left.at({edge.second, edge.first}));
    const Vector3 cross = n1.cross(n2);
    const double angle = std::atan2(cross.norm(), n1.dot(n2));
    const int steps = static_cast<int>(std::ceil(angle * resolution / (2.0 * kPi)));
    const Vector3 tangent = cross.normalized().cross(n1);
    for (int k = 1; k < steps; ++k) {
      const double phi = angle * k / steps;
      points.emplace_back(vertex(edge.first) + radius * (std::cos(phi) * n1 + std::sin(phi) * tangent));
    }
  }

  // the balls at the vertices
  for (const Vector3& u : sphere_directions(resolution)) {
    Eigen::Index best = 0;
    (core.vertices * u).maxCoeff(&best);
    points.emplace_back(core.vertices.row(best).transpose() + radius * u);
  }
  return as_rows(points);
}

Matrix3 even_directions(const Shape& shape) {
  // least squares for the six entries of Q, each direction's error relative to its width
  const std::vector<Vector3> directions = sphere_directions(16);
  MatrixX rows(static_cast<Eigen::Index>(directions.size()), 6);
  double narrowest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < directions.size(); ++i) {
    const Vector3& n = directions[i];
    const double width = 0.5 * n.dot(support(shape, n) - support(shape, -n));
    narrowest = std::min(narrowest, width);
    const Vector3 m = n / width;
    rows.row(static_cast<Eigen::Index>(i)) << m[0] * m[0], m[1] * m[1], m[2] * m[2], 2.0 * m[0] * m[1],
        2.0 * m[0] * m[2], 2.0 * m[1] * m[2];
  }
  const VectorX q = rows.colPivHouseholderQr().solve(VectorX::Ones(rows.rows()));
  const Matrix3 Q{{q[0], q[3], q[4]}, {q[3], q[1], q[5]}, {q[4], q[5], q[2]}};
  const Eigen::SelfAdjointEigenSolver<Matrix3> eigen(Q);
  const Vector3 lengths = eigen.eigenvalues().cwiseMax(0.01 * narrowest * narrowest).cwiseSqrt();
  return eigen.eigenvectors() * lengths.cwiseInverse().asDiagonal() * eigen.eigenvectors().transpose();
}

MatrixX3 support_points(const Shape& shape, int resolution) {
  std::vector<Vector3> points;
  const Matrix3 S = even_directions(shape);
  for (const Vector3& u : sphere_directions(resolution)) points.push_back(support(shape, S * u));

  // the rim of a flat face: directions a hair off its normal
  for (const Vector3& n : flat_normals(shape)) {
    const Vector3 e1 = n.unitOrthogonal();
    const Vector3 e2 = n.cross(e1);
    for (int k = 0; k < resolution; ++k) {
      const double angle = 2.0 * kPi * k / resolution;
      points.push_back(support(shape, n + 1e-6 * (std::cos(angle) * e1 + std::sin(angle) * e2)));
    }
  }
  return as_rows(points);
}

}  // namespace tangere::internal
