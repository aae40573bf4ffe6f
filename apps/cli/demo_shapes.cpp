#include "apps/cli/demo_shapes.hpp"

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

namespace tangere::cli {
namespace {

PaddedPolygon random_polygon(int num_edges, Random& random) {
  PaddedPolygon polygon;
  polygon.C.resize(num_edges, 2);
  polygon.d.resize(num_edges);
  for (int i = 0; i < num_edges; ++i) {
    const double angle = 2.0 * std::numbers::pi * (i + random.uniform(-0.2, 0.2)) / num_edges;
    polygon.C.row(i) << std::cos(angle), std::sin(angle);
    polygon.d[i] = random.uniform(0.3, 0.6);
  }
  polygon.radius = random.uniform(0.1, 0.3);
  return polygon;
}

/// A part turned at random, its origin within `reach` of the whole's.
ShapePart random_part(const Shape& shape, double reach, Random& random) {
  const Vector3 offset = reach * random.uniform() * random.unit_vector();
  return {shape, Pose(random.rotation(), offset)};
}

}  // namespace

Polytope random_demo_polytope(int num_faces, double size, Random& random) {
  // four faces of a shaken tetrahedron close it, the others are free
  constexpr double kCorners[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  Polytope polytope;
  polytope.A.resize(num_faces, 3);
  polytope.b.resize(num_faces);
  for (int i = 0; i < num_faces; ++i) {
    Vector3 n = random.unit_vector();
    if (i < 4) n = (Vector3(kCorners[i][0], kCorners[i][1], kCorners[i][2]).normalized() + 0.2 * n).normalized();
    polytope.A.row(i) = n.transpose();
    polytope.b[i] = size * random.uniform(0.4, 0.6);
  }
  return polytope;
}

Shape random_demo_shape(std::string_view type, Random& random) {
  const auto length = [&] { return random.log_uniform(0.4, 1.6); };
  if (type == "sphere") return Sphere{.radius = 0.5 * length()};
  if (type == "ellipsoid") return Ellipsoid{.semi_axes = 0.5 * Vector3(length(), length(), length())};
  if (type == "box") return Box{.size = {length(), length(), length()}};
  if (type == "polytope") return random_demo_polytope(6 + random.index(15), length(), random);
  if (type == "rounded_polytope")
    return RoundedPolytope{.core = random_demo_polytope(6 + random.index(7), 0.7 * length(), random),
                           .radius = 0.2 * length()};
  if (type == "capsule") return Capsule{.radius = 0.3 * length(), .length = length()};
  if (type == "cylinder") return Cylinder{.radius = 0.5 * length(), .length = length()};
  if (type == "cone") return Cone{.height = length(), .half_angle = random.uniform(0.3, 0.8)};
  if (type == "padded_polygon") return random_polygon(3 + random.index(5), random);
  if (type == "halfspace") return HalfSpace{.normal = random.unit_vector(), .offset = random.uniform(-0.2, 0.2)};
  if (type == "minkowski_sum")
    return MinkowskiSum{{random_part(random_demo_shape("box", random), 0.1, random),
                         random_part(random_demo_shape("cone", random), 0.1, random)}};
  if (type == "bundle")
    return Bundle{{random_part(random_demo_shape("capsule", random), 0.8, random),
                   random_part(random_demo_shape("polytope", random), 0.8, random)}};
  throw std::invalid_argument("no random shape of type " + std::string(type));
}

}  // namespace tangere::cli
