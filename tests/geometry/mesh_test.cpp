#include "tangere/geometry/mesh.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <Eigen/Geometry>

#include "tangere/geometry/mass_properties.hpp"
#include "tangere/geometry/support.hpp"
#include "tangere/math/random.hpp"
#include "tests/support/all_shapes.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere::test {
namespace {

double volume(const TriangleMesh& mesh) {
  double sum = 0.0;
  for (const auto& [a, b, c] : mesh.triangles) {
    const auto at = [&](int i) -> const Vector3& { return mesh.vertices[i]; };
    sum += at(a).dot(at(b).cross(at(c))) / 6.0;
  }
  return sum;
}

class Mesh : public testing::TestWithParam<NamedShape> {};

TEST_P(Mesh, IsClosedAndOriented) {
  for (int resolution : {3, 16, 33}) {
    const TriangleMesh surface = mesh(GetParam().shape, {.resolution = resolution});
    std::map<std::pair<int, int>, int> edges;
    std::set<int> used;
    for (const auto& triangle : surface.triangles) {
      for (std::size_t k = 0; k < 3; ++k) {
        ++edges[{triangle[k], triangle[(k + 1) % 3]}];
        used.insert(triangle[k]);
      }
    }
    for (const auto& [edge, count] : edges) {
      ASSERT_EQ(count, 1);
      ASSERT_EQ(edges.count({edge.second, edge.first}), 1u);
    }
    EXPECT_EQ(used.size(), surface.vertices.size());
    const auto euler = static_cast<long>(surface.vertices.size()) - static_cast<long>(edges.size() / 2) +
                       static_cast<long>(surface.triangles.size());
    EXPECT_EQ(euler, 2);
    EXPECT_GT(volume(surface), 0.0);
  }
}

/// Inside-or-on everywhere, and on the surface: each vertex is nearly reached by the support in some direction.
TEST_P(Mesh, IsInsideTheShapeAndReachesItsSurface) {
  const Shape& shape = GetParam().shape;
  const TriangleMesh surface = mesh(shape);
  const double size = shape.set().outer_radius;
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const Vector3 n = random.unit_vector();
    double highest = -1e300;
    for (const Vector3& vertex : surface.vertices) highest = std::max(highest, n.dot(vertex));
    EXPECT_LE(highest, n.dot(support(shape, n)) + 1e-12 * size);
    EXPECT_GE(highest, n.dot(support(shape, n)) - 0.02 * size);
  }
}

TEST_P(Mesh, VolumeConvergesToTheMass) {
  const Shape& shape = GetParam().shape;
  const double exact = mass_properties(shape, 1.0).mass;
  const double coarse = volume(mesh(shape, {.resolution = 16})) / exact;
  const double fine = volume(mesh(shape, {.resolution = 64})) / exact;
  EXPECT_LE(coarse, fine + 1e-9);
  EXPECT_LE(fine, 1.0 + 1e-9);
  EXPECT_GE(fine, 0.99);
}

INSTANTIATE_TEST_SUITE_P(AllShapes, Mesh, testing::ValuesIn(bounded_convex_shapes()),
                         shape_test_name<testing::TestParamInfo<NamedShape>>);

TEST(MeshOf, APolytopeIsExact) {
  const Shape box = Box{.size = {1.0, 2.0, 3.0}};
  const TriangleMesh surface = mesh(box);
  EXPECT_EQ(surface.vertices.size(), 8u);
  EXPECT_EQ(surface.triangles.size(), 12u);
  EXPECT_NEAR(volume(surface), 6.0, 1e-14);
}

TEST(MeshOf, AHalfSpaceIsASquareThatFacesOutwards) {
  const TriangleMesh square = mesh(HalfSpace{.normal = {0.0, 0.0, 2.0}, .offset = 1.0}, {.half_space_size = 4.0});
  ASSERT_EQ(square.vertices.size(), 4u);
  for (const Vector3& vertex : square.vertices) EXPECT_NEAR(vertex[2], 0.5, 1e-15);
  EXPECT_NEAR((square.vertices[1] - square.vertices[0]).norm(), 4.0, 1e-14);
  const Vector3 normal = (square.vertices[1] - square.vertices[0]).cross(square.vertices[2] - square.vertices[0]);
  EXPECT_GT(normal[2], 0.0);
}

TEST(MeshOf, ABundleJoinsItsParts) {
  const Shape ball = Sphere{.radius = 0.5};
  const Shape pair = Bundle{{{ball, Pose()}, {ball, Pose::translation(Vector3(3.0, 0.0, 0.0))}}};
  EXPECT_EQ(mesh(pair).vertices.size(), 2 * mesh(ball).vertices.size());
  EXPECT_NEAR(volume(mesh(pair)), 2.0 * volume(mesh(ball)), 1e-12);
}

}  // namespace
}  // namespace tangere::test
