#include "bench/support/pair_set.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "tangere/geometry/hull.hpp"
#include "tangere/math/error.hpp"

namespace tangere::bench {
namespace {

/// A polytope around an ellipsoid of semi-axes 0.25 to 0.7, each face touching it, so that no face is redundant. Draws
/// with a spike longer than 1.5, or open, are drawn again.
Polytope random_polytope(int num_faces, Random& random) {
  while (true) {
    Vector3 semi_axes;
    for (const int k : {2, 1, 0}) semi_axes[k] = random.uniform(0.25, 0.7);
    Polytope polytope{MatrixX3(num_faces, 3), VectorX(num_faces)};
    for (int i = 0; i < num_faces; ++i) {
      const Vector3 direction = random.unit_vector();
      const Vector3 normal = direction.cwiseQuotient(semi_axes);
      polytope.A.row(i) = normal.transpose() / normal.norm();
      polytope.b(i) = 1.0 / normal.norm();
    }
    try {
      const Hull hull = hull_of_half_spaces(polytope.A, polytope.b);
      double reach = 0.0;
      for (Eigen::Index i = 0; i < hull.vertices.rows(); ++i) reach = std::max(reach, hull.vertices.row(i).norm());
      if (reach <= 1.5) return polytope;
    } catch (const InputError&) {
      // unbounded: draw again
    }
  }
}

/// Three to eight edges at 0.3 to 0.7 from the centre, in directions at most 0.4 of a step off even spacing.
PaddedPolygon random_padded_polygon(Random& random) {
  const int num_edges = 3 + random.index(6);
  const double step = 2.0 * std::numbers::pi / num_edges;
  const double apothem = random.uniform(0.3, 0.7);
  // a triangle's normals may not be as far off, or its corners are far out
  const double jitter = num_edges == 3 ? 0.15 : 0.4;
  PaddedPolygon polygon{MatrixX2(num_edges, 2), VectorX::Constant(num_edges, apothem), random.uniform(0.1, 0.3)};
  for (int i = 0; i < num_edges; ++i) {
    const double angle = step * (i + jitter * random.uniform(-0.5, 0.5));
    polygon.C.row(i) << std::cos(angle), std::sin(angle);
  }
  return polygon;
}

}  // namespace

const std::vector<std::string_view>& pair_set_kinds() {
  static const std::vector<std::string_view> kinds = {"capsule",   "cylinder",   "cone",       "ellipsoid",     "box",
                                                      "polytope8", "polytope20", "polytope40", "padded_polygon"};
  return kinds;
}

Shape random_shape(std::string_view kind, Random& random) {
  if (kind == "capsule") return Capsule{.radius = random.uniform(0.2, 0.5), .length = random.uniform(0.5, 2.0)};
  if (kind == "cylinder") return Cylinder{.radius = random.uniform(0.2, 0.5), .length = random.uniform(0.5, 2.0)};
  if (kind == "cone") {
    const double radius = random.uniform(0.3, 0.8);
    const double height = random.uniform(0.5, 2.0);
    return Cone{.height = height, .half_angle = std::atan(radius / height)};
  }
  if (kind == "ellipsoid") {
    return Ellipsoid{.semi_axes = {random.uniform(0.2, 0.9), random.uniform(0.2, 0.9), random.uniform(0.2, 0.9)}};
  }
  if (kind == "box") return Box{.size = {random.uniform(0.4, 1.6), random.uniform(0.4, 1.6), random.uniform(0.4, 1.6)}};
  if (kind == "polytope8") return random_polytope(8, random);
  if (kind == "polytope20") return random_polytope(20, random);
  if (kind == "polytope40") return random_polytope(40, random);
  if (kind == "padded_polygon") return random_padded_polygon(random);
  throw std::invalid_argument("no kind " + std::string(kind));
}

Shape pentagon() {
  PaddedPolygon polygon{MatrixX2(5, 2), VectorX::Constant(5, 0.95), 0.1};
  for (int i = 0; i < 5; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / 5.0;
    polygon.C.row(i) << std::cos(angle), std::sin(angle);
  }
  return polygon;
}

PairSet make_pair_set(std::uint64_t seed, int pairs_per_combination) {
  PairSet set{.seed = seed, .combinations = {}, .pairs = {}};
  Random random(seed);
  const std::vector<std::string_view>& kinds = pair_set_kinds();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    for (std::size_t j = i; j < kinds.size(); ++j) {
      const int combination = static_cast<int>(set.combinations.size());
      set.combinations.push_back(std::string(kinds[i]) + "-" + std::string(kinds[j]));
      for (int k = 0; k < pairs_per_combination; ++k) {
        const Shape A = random_shape(kinds[i], random);
        const Shape B = random_shape(kinds[j], random);
        const Vector3 p_WA = random.normal3();
        const Pose X_WA(random.rotation(), p_WA);
        const Vector3 direction = random.unit_vector();
        const Vector3 p_AB_W = random.uniform(0.15, 4.0) * direction;
        const Pose X_WB(random.rotation(), X_WA.p + p_AB_W);
        set.pairs.push_back({combination, A, B, X_WA, X_WB});
      }
    }
  }
  return set;
}

}  // namespace tangere::bench
