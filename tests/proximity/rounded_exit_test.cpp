/// Exits of the ray from rounded simplices, by their own certificate: a point of the simplex at the ball's radius from
/// the exit, and a plane there that no corner's ball crosses.

#include "tangere/proximity/scaling/internal/rounded_exit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tangere/math/random.hpp"

namespace tangere::test {
namespace {

constexpr double kRadius = 0.4;

RoundedExit exit_of(const BodyPoint (&points)[4], int count) {
  RoundedExit best;
  for (int i = 0; i < count; ++i) improve_exit(points, i, kRadius, best);
  return best;
}

void expect_certified(const BodyPoint (&points)[4], int count, const RoundedExit& exit) {
  Vec4 foot{};
  double sum = 0.0;
  for (int c = 0; c < exit.count; ++c) {
    ASSERT_LT(exit.corners[c], count);
    EXPECT_GE(exit.weights[c], 0.0);
    sum += exit.weights[c];
    foot += exit.weights[c] * points[exit.corners[c]].v;
  }
  EXPECT_NEAR(sum, 1.0, 1e-12);
  const double x = -foot[0], y = -foot[1], z = exit.t - foot[2];
  EXPECT_NEAR(std::sqrt(x * x + y * y + z * z), kRadius, 1e-9);
  double height = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < count; ++i) height = std::max(height, dot(points[i].v, exit.n));
  const double size = std::sqrt(exit.n.x * exit.n.x + exit.n.y * exit.n.y + 1.0);
  EXPECT_EQ(exit.n.z, 1.0);
  EXPECT_NEAR(height + kRadius * size, exit.t, 1e-9 * size);
}

/// The ray's line passes all balls on one side: the nearest point of their centres, seen along the ray, is a corner or
/// on an edge.
bool misses(const BodyPoint (&points)[4], int count) {
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](double x, double y) {
    const double size = std::hypot(x, y);
    double reach = -std::numeric_limits<double>::infinity();
    for (int i = 0; i < count; ++i) reach = std::max(reach, (points[i].v[0] * x + points[i].v[1] * y) / size);
    least = std::min(least, reach + kRadius);
  };
  for (int i = 0; i < count; ++i) {
    const Vec4 p = points[i].v;
    consider(-p[0], -p[1]);
    for (int j = 0; j < i; ++j) {
      const Vec4 e = points[j].v - p;
      consider(e[1], -e[0]);
      consider(-e[1], e[0]);
    }
  }
  return least < 1e-12;
}

TEST(RoundedExit, IsCertifiedForRandomSimplices) {
  Random random(5);
  int found[4] = {};
  int missed = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const int count = 1 + random.index(4);
    BodyPoint points[4] = {};
    for (int i = 0; i < count; ++i) {
      const Vector3 p = random.normal3();
      points[i].v = Vec4{p[0], p[1], p[2], 0.0};
    }
    const RoundedExit exit = exit_of(points, count);
    ++found[exit.count];
    if (exit.count == 0) {
      EXPECT_TRUE(misses(points, count)) << trial;
      ++missed;
      continue;
    }
    expect_certified(points, count, exit);
    if (HasFailure()) FAIL() << trial;
  }
  // every kind of feature, or this is no test of it
  for (const int count : found) EXPECT_GT(count, 1000);
  EXPECT_EQ(missed, found[0]);
}

TEST(RoundedExit, OfDegenerateSimplices) {
  const Vec4 a{0.1, 0.2, 0.3, 0.0};
  const Vec4 above{0.1, 0.2, 1.3, 0.0};
  const Vec4 b{-0.4, 0.1, 0.2, 0.0};
  const Vec4 between = 0.5 * (a + b);
  // the same point again, an edge along the ray, and three points on a line
  for (const auto& corners : {std::array{a, a, a, a}, std::array{a, above, b, b}, std::array{a, b, between, a}}) {
    BodyPoint points[4] = {};
    for (int i = 0; i < 4; ++i) points[i].v = corners[i];
    for (int count = 1; count <= 4; ++count) {
      const RoundedExit exit = exit_of(points, count);
      ASSERT_GT(exit.count, 0);
      expect_certified(points, count, exit);
    }
  }
}

}  // namespace
}  // namespace tangere::test
