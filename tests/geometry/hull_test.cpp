#include "tangere/geometry/hull.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <vector>

#include <Eigen/Geometry>

#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/random_shapes.hpp"
#include "tests/support/taken_memory.hpp"

namespace tangere::test {
namespace {

MatrixX3 grid_cube(int cells) {
  MatrixX3 points((cells + 1) * (cells + 1) * (cells + 1), 3);
  int next = 0;
  for (int i = 0; i <= cells; ++i)
    for (int j = 0; j <= cells; ++j)
      for (int k = 0; k <= cells; ++k) points.row(next++) = 2.0 / cells * Vector3(i, j, k).transpose().array() - 1.0;
  return points;
}

MatrixX3 prism(int sides) {
  MatrixX3 points(2 * sides, 3);
  for (int i = 0; i < sides; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / sides;
    points.row(2 * i) << std::cos(angle), std::sin(angle), -1.0;
    points.row(2 * i + 1) << std::cos(angle), std::sin(angle), 1.0;
  }
  return points;
}

/// Every vertex of one is, up to a tolerance, a vertex of the other.
void expect_same_points(const MatrixX3& a, const MatrixX3& b, double tolerance) {
  ASSERT_EQ(a.rows(), b.rows());
  for (Eigen::Index i = 0; i < a.rows(); ++i)
    EXPECT_LE((b.rowwise() - a.row(i)).rowwise().norm().minCoeff(), tolerance);
}

void expect_consistent(const Hull& hull) {
  const double size = hull.vertices.cwiseAbs().maxCoeff();
  std::map<std::pair<int, int>, int> edges;
  std::set<int> used;
  for (std::size_t f = 0; f < hull.faces.size(); ++f) {
    const auto& face = hull.faces[f];
    const Vector3 n = hull.normals.row(static_cast<Eigen::Index>(f)).transpose();
    EXPECT_NEAR(n.norm(), 1.0, 1e-12);
    for (std::size_t k = 0; k < face.size(); ++k) {
      const Vector3 a = hull.vertices.row(face[k]).transpose();
      const Vector3 b = hull.vertices.row(face[(k + 1) % face.size()]).transpose();
      const Vector3 c = hull.vertices.row(face[(k + 2) % face.size()]).transpose();
      EXPECT_NEAR(n.dot(a), hull.offsets[static_cast<Eigen::Index>(f)], 1e-10 * size);
      EXPECT_GT(n.dot((b - a).cross(c - b)), 0.0) << "not counter-clockwise";
      ++edges[{face[k], face[(k + 1) % face.size()]}];
      used.insert(face[k]);
    }
    for (Eigen::Index k = 0; k < hull.vertices.rows(); ++k)
      EXPECT_LE(hull.vertices.row(k).dot(n), hull.offsets[static_cast<Eigen::Index>(f)]);
  }
  for (const auto& [edge, count] : edges) {
    EXPECT_EQ(count, 1);
    EXPECT_EQ(edges.count({edge.second, edge.first}), 1u);
  }
  EXPECT_EQ(used.size(), static_cast<std::size_t>(hull.vertices.rows()));
  EXPECT_EQ(
      hull.vertices.rows() - static_cast<Eigen::Index>(edges.size()) / 2 + static_cast<Eigen::Index>(hull.faces.size()),
      2);
}

TEST(Hull, CubeHasSixQuadsWhateverLiesOnItsFaces) {
  Random random(1);
  for (int cells : {1, 2, 3}) {
    const Matrix3 R = random.rotation();
    for (const MatrixX3& points : {grid_cube(cells), MatrixX3(grid_cube(cells) * R.transpose())}) {
      const Hull hull = hull_of_points(points);
      expect_consistent(hull);
      EXPECT_EQ(hull.vertices.rows(), 8);
      EXPECT_EQ(hull.faces.size(), 6u);
      for (const auto& face : hull.faces) EXPECT_EQ(face.size(), 4u);
      EXPECT_NEAR_ABSOLUTE(hull.offsets, VectorX::Ones(6), 1e-14);
    }
  }
}

TEST(Hull, PrismsKeepTheirFacesThroughARoundTrip) {
  for (int sides : {3, 5, 12, 40}) {
    const Hull hull = hull_of_points(prism(sides));
    expect_consistent(hull);
    EXPECT_EQ(hull.faces.size(), static_cast<std::size_t>(sides + 2));
    const Hull back = hull_of_half_spaces(hull.normals, hull.offsets);
    expect_consistent(back);
    EXPECT_EQ(back.faces.size(), hull.faces.size());
    expect_same_points(back.vertices, hull.vertices, 1e-12);
  }
}

TEST(Hull, RandomRoundTrips) {
  Random random(2);
  for (int trial = 0; trial < 200; ++trial) {
    // points on a stretched and turned ellipsoid about the origin: all extreme
    const double skew = random.log_uniform(1.0, 1e3);
    const double size = random.log_uniform(1e-6, 1e6);
    const Matrix3 T =
        size * random.rotation() * Vector3(1.0, 1.0 / skew, 1.0 / std::sqrt(skew)).asDiagonal() * random.rotation();
    MatrixX3 points(8 + random.index(60), 3);
    for (Eigen::Index i = 0; i < points.rows(); ++i) points.row(i) = random.unit_vector().transpose() * T.transpose();
    points.topRows(4) << Matrix3::Identity() * T.transpose(), -Vector3::Ones().transpose().normalized() * T.transpose();

    const Hull hull = hull_of_points(points);
    expect_consistent(hull);
    EXPECT_EQ(hull.vertices.rows(), points.rows());
    const Hull back = hull_of_half_spaces(hull.normals, hull.offsets);
    expect_consistent(back);
    expect_same_points(back.vertices, hull.vertices, 1e-9 * size);
  }
}

/// Qhull's order goes by addresses; ours may not.
TEST(Hull, SameBitsWhereverItsMemoryLies) {
  Random random(13);
  for (int trial = 0; trial < 20; ++trial) {
    const Polytope polytope = random_polytope(random, 30);
    const Hull first = hull_of_half_spaces(polytope.A, polytope.b);
    for (std::size_t moved = 1; moved < 6; ++moved) {
      const TakenMemory taken(moved);
      const Hull again = hull_of_half_spaces(polytope.A, polytope.b);
      ASSERT_EQ(again.faces, first.faces);
      EXPECT_EQ(again.vertices, first.vertices);
      EXPECT_EQ(again.normals, first.normals);
      EXPECT_EQ(again.offsets, first.offsets);
    }
  }
}

TEST(Hull, RedundantFacesAreAbsent) {
  Random random(3);
  Polytope polytope = random_polytope(random, 10);
  const Hull hull = hull_of_half_spaces(polytope.A, polytope.b);
  MatrixX3 A(30, 3);
  VectorX b(30);
  for (int i = 0; i < 10; ++i) {
    // the face, the same face of other length, and one beyond all vertices
    A.row(3 * i) = polytope.A.row(i);
    b[3 * i] = polytope.b[i];
    A.row(3 * i + 1) = 2.0 * polytope.A.row(i);
    b[3 * i + 1] = 2.0 * polytope.b[i];
    const Vector3 n = random.unit_vector();
    A.row(3 * i + 2) = n.transpose();
    b[3 * i + 2] = 1.1 * (hull.vertices * n).maxCoeff();
  }
  const Hull same = hull_of_half_spaces(A, b);
  EXPECT_EQ(same.faces.size(), hull.faces.size());
  expect_same_points(same.vertices, hull.vertices, 1e-12);
}

TEST(Hull, FlatOrFewPointsAreRefused) {
  EXPECT_THROW((void)hull_of_points(MatrixX3::Random(3, 3)), InputError);
  MatrixX3 flat = MatrixX3::Random(20, 3);
  flat.col(1).setConstant(0.5);
  EXPECT_THROW((void)hull_of_points(flat), InputError);
  EXPECT_THROW((void)hull_of_points(MatrixX3::Ones(20, 3)), InputError);
}

}  // namespace
}  // namespace tangere::test
