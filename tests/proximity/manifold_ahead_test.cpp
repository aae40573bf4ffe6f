/// What a manifold sees ahead of a turn: which points, and how they move.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "tangere/math/random.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/proximity/distance.hpp"
#include "tangere/proximity/manifold.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/random_shapes.hpp"

namespace tangere::test {
namespace {

/// A box tilted by 0.15 shows its whole face to the plane if what turns in is wanted too.
TEST(ManifoldAhead, OfATurn) {
  ManifoldWorkspace workspace;
  const Shape plane = HalfSpace{{0, 0, 1}, 0.0};
  const Shape box = Box{{1, 1, 1}};
  const Pose tilted(so3::exp({0, 0.15, 0}), {0, 0, 0.58});
  EXPECT_EQ(manifold(plane, {}, box, tilted, {.margin = 0.2}, workspace).num_points, 2);
  const Manifold& all = manifold(plane, {}, box, tilted, {.margin = 0.2, .ahead = true}, workspace);
  ASSERT_EQ(all.num_points, 4);
  for (const ContactPoint& point : all.contacts()) EXPECT_NEAR(point.distance, point.p_B[2], 1e-12);
  // no farther than the margin
  EXPECT_EQ(manifold(plane, {}, box, tilted, {.margin = 0.1, .ahead = true}, workspace).num_points, 2);
}

/// Boxes near each other, of which one turns: whichever of their corners and edges meet, with few exceptions (what
/// comes from the side) a point that was seen ahead has closed; the points along the normal alone miss several times as
/// many. Every point is where its normal and distance say, and no nearer than the shapes are.
TEST(ManifoldAhead, SeesWhatMeets) {
  Random random(11);
  ManifoldWorkspace workspace;
  ManifoldWorkspace later;
  int met = 0;
  int missed = 0;
  int missed_before = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Shape A = Box{{random.uniform(0.5, 1.5), random.uniform(0.5, 1.5), random.uniform(0.5, 1.5)}};
    const Shape B = Box{{random.uniform(0.5, 1.5), random.uniform(0.5, 1.5), random.uniform(0.5, 1.5)}};
    // one draw a statement: the same pairs with every compiler
    const Pose X_WA(random.rotation(), Vector3::Zero());
    const Vector3 p_B = 3.0 * random.unit_vector();
    Pose X_WB(random.rotation(), p_B);
    DistanceWorkspace distances;
    const Distance apart = distance(A, X_WA, B, X_WB, {}, distances);
    X_WB.p -= (apart.distance - random.uniform(0.0, 0.02)) * apart.normal;
    const Manifold seen = manifold(A, X_WA, B, X_WB, {.margin = 0.2, .ahead = true}, workspace);
    const double nearest = distance(A, X_WA, B, X_WB, {}, distances).distance;
    std::set<std::pair<std::pair<int, int>, std::pair<int, int>>> names;
    for (const ContactPoint& point : seen.contacts()) {
      EXPECT_LE(point.distance, 0.2);
      EXPECT_GE(point.distance, nearest - 1e-9);
      EXPECT_NEAR(point.distance, point.normal.dot(point.p_B - point.p_A), 1e-9);
      EXPECT_TRUE(names
                      .insert({{point.feature_A.first, point.feature_A.second},
                               {point.feature_B.first, point.feature_B.second}})
                      .second);
    }
    // B turns about its centre
    const Vector3 turn = 0.1 * random.unit_vector();
    const Pose turned(X_WB.R * so3::exp(turn), X_WB.p);
    const Manifold& after = manifold(A, X_WA, B, turned, {.margin = 0.0}, later);
    double depth = 0.0;
    for (const ContactPoint& point : after.contacts()) depth = std::max(depth, -point.distance);
    if (depth < 0.01) continue;
    ++met;
    const auto has_closed = [&](const Manifold& points) {
      double least = 1.0;
      for (const ContactPoint& point : points.contacts()) {
        const Vector3 moved = turned * (X_WB.inverse() * point.p_B);
        least = std::min(least, point.distance + point.normal.dot(moved - point.p_B));
      }
      return least < -0.3 * depth;
    };
    missed += has_closed(seen) ? 0 : 1;
    missed_before += has_closed(manifold(A, X_WA, B, X_WB, {.margin = 0.2}, workspace)) ? 0 : 1;
  }
  EXPECT_GT(met, 300);
  EXPECT_LE(missed, met / 100);
  EXPECT_LE(4 * missed, missed_before);
}

/// How far a point is outside a shape, negative inside.
double outside(const Shape& shape, const Pose& X, const Vector3& p, DistanceWorkspace& workspace) {
  const double radius = 1e-6;
  return distance(shape, X, Sphere{radius}, Pose::translation(p), {}, workspace).distance + radius;
}

/// Every point belongs to its shape, of curved sums, too, whose edges move with the normal.
TEST(ManifoldAhead, PointsBelongToTheShapes) {
  ManifoldWorkspace workspace;
  DistanceWorkspace distances;
  long judged = 0;
  for (const std::string_view type : bounded_types()) {
    Random random(17);
    for (int trial = 0; trial < 2000; ++trial) {
      SCOPED_TRACE(std::string(type) + ", trial " + std::to_string(trial));
      const Shape A = random_shape("minkowski_sum", random);
      const Shape B = random_shape(type, random);
      const Pose X_WA(random.rotation(), Vector3::Zero());
      const Vector3 p_B = 3.0 * random.unit_vector();
      Pose X_WB(random.rotation(), p_B);
      const Distance apart = distance(A, X_WA, B, X_WB, {}, distances);
      X_WB.p -= (apart.distance - random.uniform(-0.03, 0.2)) * apart.normal;
      const Manifold& seen = manifold(A, X_WA, B, X_WB, {.margin = 0.2, .ahead = true}, workspace);
      for (const ContactPoint& point : seen.contacts()) {
        ++judged;
        ASSERT_LE(outside(A, X_WA, point.p_A, distances), 1e-8);
        ASSERT_LE(outside(B, X_WB, point.p_B, distances), 1e-8);
      }
    }
  }
  EXPECT_GT(judged, 20000);
}

/// Points ahead move as differences say, as long as they are made of the same features.
TEST(ManifoldAhead, Derivatives) {
  Random random(5);
  ManifoldWorkspace workspace;
  ManifoldWorkspace other;
  const ManifoldOptions options{.margin = 0.3, .ahead = true, .derivatives = true};
  int judged = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const Shape A = Box{{1.0, 0.8, 1.2}};
    const Shape B = trial % 2 == 0 ? Shape(Box{{0.7, 1.1, 0.9}}) : Shape(Cylinder{0.5, 0.8});
    const Pose X_WA(random.rotation(), Vector3::Zero());
    Pose X_WB(random.rotation(), 3.0 * random.unit_vector());
    DistanceWorkspace distances;
    const Distance apart = distance(A, X_WA, B, X_WB, {}, distances);
    X_WB.p -= (apart.distance - 0.03) * apart.normal;
    const Manifold found = manifold(A, X_WA, B, X_WB, options, workspace);
    for (int k = 0; k < found.num_points; ++k) {
      const ContactPoint& point = found.points[k];
      const ContactJacobian& J = found.jacobians[k];
      if (!J.exists) continue;
      for (int column = 0; column < 12; ++column) {
        constexpr double h = 1e-6;
        const auto value = [&](double step, Eigen::Matrix<double, 7, 1>& out) {
          Vector12 delta = Vector12::Zero();
          delta[column] = step;
          const Manifold& moved =
              manifold(A, X_WA.perturbed(delta.head<6>()), B, X_WB.perturbed(delta.tail<6>()), options, other);
          for (const ContactPoint& p : moved.contacts()) {
            if (!(p.feature_A == point.feature_A && p.feature_B == point.feature_B)) continue;
            out << p.point, p.normal, p.distance;
            return true;
          }
          return false;
        };
        Eigen::Matrix<double, 7, 1> up, down;
        if (!value(h, up) || !value(-h, down)) continue;
        const Eigen::Matrix<double, 7, 1> rate = (up - down) / (2.0 * h);
        // another face may be the nearer one on one side
        if ((up - down).norm() > 1e-3) continue;
        ++judged;
        Eigen::Matrix<double, 7, 1> expected;
        expected << J.point.col(column), J.normal.col(column), J.distance[column];
        EXPECT_NEAR_ABSOLUTE(expected, rate, 1e-6) << "trial " << trial << " " << point.type() << " column " << column;
      }
    }
  }
  EXPECT_GT(judged, 1000);
}

}  // namespace
}  // namespace tangere::test
