#include "tangere/geometry/mesh_hull.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tangere/geometry/mass_properties.hpp"
#include "tangere/geometry/support.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/math/so3.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere {
namespace {

TriangleMesh moved(TriangleMesh mesh, const Pose& X, double scale = 1.0) {
  for (Vector3& vertex : mesh.vertices) vertex = X * (scale * vertex);
  return mesh;
}

TEST(MeshHull, BoxSomewhereElse) {
  for (const double scale : {1e-6, 1.0, 1e6}) {
    const Pose X(so3::exp({0.3, -0.7, 1.1}), scale * Vector3(5, -6, 7));
    const MeshHull hull = hull_of_mesh(moved(mesh(Box{{1, 2, 3}}), X, scale));
    EXPECT_EQ(hull.num_vertices, 8);
    EXPECT_EQ(hull.shape.get_if<Polytope>()->b.size(), 6);
    EXPECT_NEAR_ABSOLUTE(hull.X_MS.p, X.p, 1e-9 * scale);
    EXPECT_NEAR_RELATIVE(mass_properties(hull.shape).mass, 6000.0 * std::pow(scale, 3), 1e-9);
    EXPECT_LE(hull.outside, 1e-9 * scale);
    EXPECT_LE(hull.inside, 1e-9 * scale);
    EXPECT_EQ(describe(hull), "");
  }
}

TEST(MeshHull, FineMeshIsReduced) {
  const TriangleMesh ball = mesh(Sphere{2.0}, {.resolution = 128});
  ASSERT_GT(ball.vertices.size(), 4000);
  const MeshHull hull = hull_of_mesh(ball);
  EXPECT_LE(hull.num_vertices, 256);
  EXPECT_GE(hull.num_vertices, 240);
  // all of it within the sphere, none of it far below
  EXPECT_LT(hull.outside, 0.05);
  EXPECT_GT(hull.outside, 0.0);
  EXPECT_NEAR(mass_properties(hull.shape).mass, mass_properties(Sphere{2.0}).mass, 0.04 * 33510.0);
  EXPECT_NE(describe(hull).find("reduced to"), std::string::npos) << describe(hull);
  // coarser if wanted, the same each time
  const MeshHull coarse = hull_of_mesh(ball, {.max_vertices = 40});
  EXPECT_LE(coarse.num_vertices, 40);
  EXPECT_GT(coarse.outside, hull.outside);
  EXPECT_EQ(hull_of_mesh(ball).shape.get_if<Polytope>()->b, hull.shape.get_if<Polytope>()->b);
}

TEST(MeshHull, FacesHaveFewCorners) {
  const MeshHull hull = hull_of_mesh(mesh(Cylinder{1.0, 2.0}, {.resolution = 100}));
  EXPECT_LE(hull.num_vertices, 100);
  EXPECT_GE(hull.num_vertices, 64);
  EXPECT_LT(hull.outside, 0.01);
  EXPECT_EQ(hull_of_mesh(mesh(Cylinder{1.0, 2.0}, {.resolution = 60})).num_vertices, 120);
}

TEST(MeshHull, RandomPointsAreInside) {
  Random random(7);
  for (int trial = 0; trial < 20; ++trial) {
    TriangleMesh cloud;
    for (int i = 0; i < 600; ++i)
      cloud.vertices.emplace_back(random.uniform(-1, 1), random.uniform(-1, 1), 0.01 * random.uniform(-1, 1));
    cloud.triangles.push_back({0, 1, 2});
    const MeshHull hull = hull_of_mesh(cloud);
    const Polytope& polytope = *hull.shape.get_if<Polytope>();
    for (const Vector3& p : cloud.vertices)
      EXPECT_LE((polytope.A * (hull.X_MS.inverse() * p) - polytope.b).maxCoeff(), 1e-8);
  }
}

TEST(MeshHull, ConcaveMeshSaysSo) {
  // a tetrahedron with one face pushed in
  const TriangleMesh dented = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.15, 0.15, 0.15}},
                               {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 4}, {2, 3, 4}, {3, 1, 4}}};
  const MeshHull hull = hull_of_mesh(dented);
  EXPECT_EQ(hull.num_vertices, 4);
  EXPECT_NEAR(hull.inside, 0.15, 1e-12);
  EXPECT_NE(describe(hull).find("not convex"), std::string::npos);
}

TEST(MeshHull, FlatMeshIsThickened) {
  const Pose X(so3::exp({0.3, -0.7, 1.1}), {1, 2, 3});
  const TriangleMesh square = {{{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}}, {{0, 1, 2}, {0, 2, 3}}};
  const MeshHull hull = hull_of_mesh(moved(square, X));
  EXPECT_GT(hull.thickened, 1e-4);
  EXPECT_EQ(hull.num_vertices, 8);
  EXPECT_NEAR(mass_properties(hull.shape, 1.0).mass, 4.0 * hull.thickened, 1e-9);
  EXPECT_NE(describe(hull).find("flat"), std::string::npos);
}

TEST(MeshHull, BadInput) {
  EXPECT_THROW((void)hull_of_mesh({}), InputError);
  EXPECT_THROW((void)hull_of_mesh({{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}}, {{0, 1, 2}}}), InputError);
  EXPECT_THROW((void)hull_of_mesh({{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, {{0, 1, 2}}}), InputError);
  EXPECT_THROW((void)hull_of_mesh({{{0, 0, 0}, {1, 0, 0}, {0, std::nan(""), 2}}, {{0, 1, 2}}}), InputError);
  EXPECT_THROW((void)hull_of_mesh(mesh(Box{{1, 1, 1}}), {.max_vertices = 3}), InputError);
}

}  // namespace
}  // namespace tangere
