/// Heights above a hull by boxes of points, against every face with every point.

#include "tangere/geometry/internal/point_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "tangere/math/random.hpp"

namespace tangere::internal {
namespace {

double height(const Hull& hull, std::size_t face, const Vector3& p) {
  const auto i = static_cast<Eigen::Index>(face);
  return hull.normals.row(i).dot(p) - hull.offsets[i];
}

Height height_by_all_faces(const Hull& hull, const Vector3& p) {
  Height result{-std::numeric_limits<double>::infinity(), 0};
  for (std::size_t face = 0; face < hull.faces.size(); ++face)
    if (const double above = height(hull, face, p); above > result.height) result = {above, face};
  return result;
}

Hull random_hull(int points, Random& random) {
  MatrixX3 rows(points, 3);
  for (Eigen::Index i = 0; i < points; ++i)
    for (Eigen::Index k = 0; k < 3; ++k) rows(i, k) = random.uniform(-0.4, 0.4);
  return hull_of_points(rows);
}

std::vector<Vector3> random_points(int count, Random& random) {
  std::vector<Vector3> points;
  for (int i = 0; i < count; ++i) {
    Vector3 p(random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5));
    // some on a sphere, some in a corner, some twice
    if (i % 3 == 0) p = (0.5 * p.normalized()).eval();
    if (i % 7 == 0) p = (Vector3::Constant(0.4) + 1e-3 * p).eval();
    if (i % 11 == 0 && i > 0) p = points.back();
    points.push_back(p);
  }
  return points;
}

TEST(PointTree, SameAsEveryFaceWithEveryPoint) {
  Random random(7);
  for (const int count : {1, 2, 16, 17, 1000, 5000}) {
    const std::vector<Vector3> points = random_points(count, random);
    const PointTree tree(points);
    for (const int corners : {4, 10, 200}) {
      const Hull hull = random_hull(corners, random);
      double lowest = std::numeric_limits<double>::infinity();
      for (const double floor : {-1.0, 0.0, 1e-9, 0.1}) {
        std::vector<Height> heights;
        tree.heights(hull, floor, heights);
        ASSERT_EQ(heights.size(), points.size());
        for (std::size_t i = 0; i < points.size(); ++i) {
          const Height expected = height_by_all_faces(hull, points[i]);
          lowest = std::min(lowest, expected.height);
          if (expected.height <= floor) {
            ASSERT_LE(heights[i].height, floor + 1e-15);
          } else {
            // the same sums, which a compiler may round in its own ways
            ASSERT_NEAR(heights[i].height, expected.height, 1e-15);
            ASSERT_NEAR(height(hull, heights[i].face, points[i]), expected.height, 1e-15);
          }
        }
      }
      EXPECT_NEAR(tree.lowest(hull), lowest, 1e-15);
    }
  }
}

}  // namespace
}  // namespace tangere::internal
