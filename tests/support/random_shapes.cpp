#include "tests/support/random_shapes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

namespace tangere::test {
namespace {

/// Three lengths, the longest `size`, the others down to size / skew.
Vector3 dimensions(Random& random, double size, double skew) {
  Vector3 lengths;
  for (int k = 0; k < 3; ++k) lengths[k] = random.log_uniform(1.0 / skew, 1.0);
  return size * lengths / lengths.maxCoeff();
}

MinkowskiSum random_sum(Random& random, double size, double skew) {
  const auto& types = bounded_types();
  const auto primitives = static_cast<int>(types.size()) - 1;
  MinkowskiSum sum;
  const int count = 2 + random.index(2);
  for (int i = 0; i < count; ++i) {
    const Shape part = random_shape(types[random.index(primitives)], random, size / count, skew);
    const Vector3 offset = 0.5 * part.set().inner_radius * random.uniform() * random.unit_vector();
    sum.parts.push_back({part, Pose(random.rotation(), offset)});
  }
  return sum;
}

}  // namespace

const std::vector<std::string_view>& bounded_types() {
  static const std::vector<std::string_view> types = {"sphere",           "ellipsoid",    "box",      "polytope",
                                                      "rounded_polytope", "capsule",      "cylinder", "cone",
                                                      "padded_polygon",   "minkowski_sum"};
  return types;
}

Polytope random_polytope(Random& random, int num_faces, double size, double skew) {
  if (num_faces < 4) throw std::invalid_argument("random_polytope: at least four faces");

  // four faces of a shaken tetrahedron close it, the others are free
  Polytope polytope;
  polytope.A.resize(num_faces, 3);
  polytope.b.resize(num_faces);
  const Matrix3 R = random.rotation();
  const double corners[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  for (int i = 0; i < num_faces; ++i) {
    Vector3 n = random.unit_vector();
    if (i < 4) n = (R * Vector3(corners[i][0], corners[i][1], corners[i][2]).normalized() + 0.2 * n).normalized();
    polytope.A.row(i) = n.transpose();
    polytope.b[i] = random.uniform(0.35, 0.5);
  }

  // p = T q: A T⁻¹ p ≤ b, T = R₁ diag(dimensions) R₂
  const Vector3 stretch = dimensions(random, size, skew);
  const Matrix3 inverse = random.rotation() * stretch.cwiseInverse().asDiagonal() * random.rotation();
  polytope.A = polytope.A * inverse;
  for (int i = 0; i < num_faces; ++i) {
    const double norm = polytope.A.row(i).norm();
    polytope.A.row(i) /= norm;
    polytope.b[i] /= norm;
  }
  return polytope;
}

PaddedPolygon random_padded_polygon(Random& random, int num_edges, double size, double skew) {
  if (num_edges < 3) throw std::invalid_argument("random_padded_polygon: at least three edges");
  const Vector3 lengths = dimensions(random, size, skew);
  PaddedPolygon polygon;
  polygon.C.resize(num_edges, 2);
  polygon.d.resize(num_edges);
  const double turn = 2.0 * std::numbers::pi / num_edges;
  const double start = random.uniform(0.0, turn);
  for (int i = 0; i < num_edges; ++i) {
    const double angle = start + turn * (i + random.uniform(-0.2, 0.2));
    const Vector2 c(std::cos(angle) / lengths[0], std::sin(angle) / lengths[1]);
    polygon.C.row(i) = (c / c.norm()).transpose();
    polygon.d[i] = random.uniform(0.35, 0.5) / c.norm();
  }
  polygon.radius = 0.25 * lengths[2];
  return polygon;
}

Shape random_shape(std::string_view type, Random& random, double size, double skew) {
  const Vector3 lengths = dimensions(random, size, skew);
  if (type == "sphere") return Sphere{.radius = 0.5 * size};
  if (type == "ellipsoid") {
    if (random.uniform() < 0.5) return Ellipsoid{.semi_axes = 0.5 * lengths};
    const Matrix3 R = random.rotation();
    const Matrix3 P = R * (0.5 * lengths).cwiseAbs2().cwiseInverse().asDiagonal() * R.transpose();
    return Ellipsoid{.P = 0.5 * (P + P.transpose())};
  }
  if (type == "box") return Box{.size = lengths};
  if (type == "polytope") return random_polytope(random, 4 + random.index(20), size, skew);
  if (type == "rounded_polytope") {
    Polytope core = random_polytope(random, 4 + random.index(12), 0.8 * size, skew);
    return RoundedPolytope{.core = std::move(core), .radius = 0.25 * lengths[0]};
  }
  if (type == "capsule") return Capsule{.radius = 0.25 * lengths[0], .length = lengths[1]};
  if (type == "cylinder") return Cylinder{.radius = 0.5 * lengths[0], .length = lengths[1]};
  if (type == "cone") {
    const double height = lengths[0];
    return Cone{.height = height, .half_angle = std::atan(0.5 * lengths[1] / height)};
  }
  if (type == "padded_polygon") return random_padded_polygon(random, 3 + random.index(6), size, skew);
  if (type == "halfspace")
    return HalfSpace{.normal = random.uniform(0.5, 2.0) * random.unit_vector(),
                     .offset = size * random.uniform(-0.5, 0.5)};
  if (type == "minkowski_sum") return random_sum(random, size, skew);
  throw std::invalid_argument("random_shape: unknown type " + std::string(type));
}

}  // namespace tangere::test
