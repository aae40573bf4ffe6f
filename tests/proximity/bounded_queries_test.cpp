/// Questions that need fewer digits: overlaps, and distance and scaling with an upper bound. They agree with the full
/// answers.
///
/// TANGERE_STRESS_BOUNDS: how many random pairs of all bounded types (20 000).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "tangere/math/error.hpp"
#include "tangere/proximity/distance.hpp"
#include "tangere/proximity/scaling.hpp"
#include "tests/support/random_shapes.hpp"
#include "tests/support/shape_pairs.hpp"

namespace tangere::test {
namespace {

/// All pairs of shapes, and of each some that are nearer and farther.
template <class F>
void for_all_pairs(F&& f) {
  Random random(1);
  for (const ShapePair& pair : all_shape_pairs()) {
    SCOPED_TRACE(pair.name);
    for (const double part : {1.0, 0.7, 0.3, 2.0}) {
      Pose X_WB = pair.X_WB;
      X_WB.p = pair.X_WA.p + part * (pair.X_WB.p - pair.X_WA.p);
      X_WB.R = X_WB.R * random.rotation();
      f(pair.A, pair.X_WA, pair.B, X_WB);
    }
  }
}

TEST(BoundedQueries, OverlapsIsTheSignOfTheDistance) {
  DistanceWorkspace workspace;
  int overlapping = 0;
  int apart = 0;
  for_all_pairs([&](const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB) {
    const double d = distance(A, X_WA, B, X_WB, {}, workspace).distance;
    const bool touch = overlaps(A, X_WA, B, X_WB, workspace);
    if (std::abs(d) < 1e-9) return;
    EXPECT_EQ(touch, d < 0.0) << d;
    (touch ? overlapping : apart) += 1;
  });
  EXPECT_GT(overlapping, 500);
  EXPECT_GT(apart, 500);
}

TEST(BoundedQueries, DistanceWithinTheBoundIsTheSame) {
  DistanceWorkspace workspace;
  int beyond = 0;
  for_all_pairs([&](const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB) {
    const Distance full = distance(A, X_WA, B, X_WB, {}, workspace);
    for (const double factor : {0.0, 0.5, 0.99, 1.01, 3.0}) {
      const double bound = factor * std::abs(full.distance);
      const Distance r = distance(A, X_WA, B, X_WB, {.at_most = bound}, workspace);
      if (r.status == DistanceStatus::beyond) {
        ++beyond;
        EXPECT_GT(r.distance, bound);
        EXPECT_LE(r.distance, full.distance + 1e-9 * std::max(1.0, std::abs(full.distance)));
        EXPECT_NEAR(r.normal.norm(), 1.0, 1e-9);
        EXPECT_NEAR((r.p_B - r.p_A).dot(r.normal), r.distance, 1e-7 * std::max(1.0, r.p_A.norm()));
        EXPECT_THROW((void)distance_gradient(workspace), InputError);
        continue;
      }
      EXPECT_EQ(r.distance, full.distance);
      EXPECT_EQ(r.p_A, full.p_A);
      EXPECT_EQ(r.normal, full.normal);
    }
  });
  EXPECT_GT(beyond, 1000);
}

TEST(BoundedQueries, ScalingWithinTheBoundIsTheSame) {
  ScalingWorkspace workspace;
  int beyond = 0;
  for_all_pairs([&](const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB) {
    const Scaling full = scaling(A, X_WA, B, X_WB, {}, workspace);
    if (!(full.alpha > 0.0)) return;
    for (const double factor : {0.1, 0.5, 0.99, 1.01, 3.0}) {
      const double bound = factor * full.alpha;
      const Scaling r = scaling(A, X_WA, B, X_WB, {.at_most = bound}, workspace);
      if (r.status == ScalingStatus::beyond) {
        ++beyond;
        EXPECT_GT(r.alpha, bound);
        EXPECT_LE(r.alpha, full.alpha * (1.0 + 1e-7));
        EXPECT_NEAR(r.normal.norm(), 1.0, 1e-9);
        continue;
      }
      EXPECT_NEAR(r.alpha, full.alpha, 2e-8 * full.alpha);
    }
  });
  EXPECT_GT(beyond, 1000);
}

TEST(BoundedQueries, RandomPairsAgree) {
  const char* text = std::getenv("TANGERE_STRESS_BOUNDS");
  const int count = text == nullptr ? 20000 : std::max(1, std::atoi(text));
  Random random(2);
  DistanceWorkspace distances;
  ScalingWorkspace scalings;
  const auto& types = bounded_types();
  const auto num_types = static_cast<int>(types.size());
  std::vector<Shape> shapes;
  int beyond = 0;
  int overlapping = 0;
  for (int k = 0; k < count; ++k) {
    // some hundred shapes at a time, of 1:1 to 1:10
    if (k % 2000 == 0) {
      shapes.clear();
      for (int i = 0; i < 200; ++i)
        shapes.push_back(
            random_shape(types[i % num_types], random, random.log_uniform(0.1, 3.0), random.uniform(1, 10)));
    }
    const Shape& A = shapes[random.index(200)];
    const Shape& B = shapes[random.index(200)];
    const Pose X_WA(random.rotation(), random.normal3());
    const Pose X_WB(random.rotation(), X_WA.p + random.uniform(0.0, 4.0) * random.unit_vector());
    const Distance full = distance(A, X_WA, B, X_WB, {}, distances);
    const bool touch = overlaps(A, X_WA, B, X_WB, distances);
    overlapping += touch ? 1 : 0;
    if (std::abs(full.distance) > 1e-9) {
      ASSERT_EQ(touch, full.distance < 0.0)
          << A.type_name() << " " << B.type_name() << " " << k << " " << full.distance;
    }
    const double bound = random.uniform(0.0, 2.0) * std::abs(full.distance);
    const Distance near = distance(A, X_WA, B, X_WB, {.at_most = bound}, distances);
    if (near.status == DistanceStatus::beyond) {
      ++beyond;
      ASSERT_GT(near.distance, bound);
      ASSERT_LE(near.distance, full.distance + 1e-8 * std::max(1.0, full.distance));
    } else {
      ASSERT_EQ(near.distance, full.distance);
    }
    const Scaling alpha = scaling(A, X_WA, B, X_WB, {}, scalings);
    const double most = random.uniform(0.1, 2.0) * alpha.alpha;
    const Scaling bounded = scaling(A, X_WA, B, X_WB, {.at_most = most}, scalings);
    if (bounded.status == ScalingStatus::beyond) {
      ASSERT_GT(bounded.alpha, most);
      ASSERT_LE(bounded.alpha, alpha.alpha * (1.0 + 1e-7));
    } else {
      ASSERT_NEAR(bounded.alpha, alpha.alpha, 3e-8 * alpha.alpha);
    }
  }
  EXPECT_GT(beyond, count / 10);
  EXPECT_GT(overlapping, count / 20);
}

TEST(BoundedQueries, WrongBoundsAreErrors) {
  DistanceWorkspace distances;
  ScalingWorkspace scalings;
  const Shape ball = Sphere{1.0};
  const Pose far = Pose::translation({3.0, 0.0, 0.0});
  EXPECT_THROW((void)distance(ball, {}, ball, far, {.at_most = std::nan("")}, distances), InputError);
  EXPECT_THROW((void)scaling(ball, {}, ball, far, {.at_most = 0.0}, scalings), InputError);
  const Shape floor = HalfSpace{Vector3::UnitZ(), 0.0};
  EXPECT_THROW((void)overlaps(floor, {}, floor, far, distances), InputError);
}

}  // namespace
}  // namespace tangere::test
