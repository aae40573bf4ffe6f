/// The signed distance: against the support functions that define it, laws, closed forms, bad input, memory.

#include "tangere/proximity/distance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tangere/geometry/support.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/proximity/scaling.hpp"
#include "tests/support/allocation.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/passing_copy.hpp"
#include "tests/support/random_shapes.hpp"
#include "tests/support/shape_pairs.hpp"
#include "tests/support/touching_pairs.hpp"

namespace tangere::test {
namespace {

Pose at(double x, double y, double z) { return Pose::translation({x, y, z}); }

/// n·d - h_A(n) - h_B(-n): a lower bound of the distance apart, and minus an upper bound of the depth.
double gap_along(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB, const Vector3& n) {
  const Vector3 a = X_WA.R.transpose() * n;
  const Vector3 b = -(X_WB.R.transpose() * n);
  return n.dot(X_WB.p - X_WA.p) - a.dot(support(A, a)) - b.dot(support(B, b));
}

double size_of(const Shape& shape) { return shape.is_half_space() ? 0.0 : shape.parts().front().set->outer_radius; }

TEST(Distance, IsTheLargestGapOfAllDirections) {
  Random random(31);
  DistanceWorkspace workspace;
  ScalingWorkspace other;
  for (const ShapePair& pair : all_shape_pairs()) {
    if (!pair.A.is_convex() || !pair.B.is_convex() || pair.A.is_half_space() || pair.B.is_half_space()) continue;
    SCOPED_TRACE(pair.name);
    const Distance r = distance(pair.A, pair.X_WA, pair.B, pair.X_WB, {}, workspace);
    ASSERT_EQ(r.status, DistanceStatus::solved);
    const double size = size_of(pair.A) + size_of(pair.B);
    EXPECT_NEAR(gap_along(pair.A, pair.X_WA, pair.B, pair.X_WB, r.normal), r.distance, 3e-9 * size);
    for (int k = 0; k < 400; ++k) {
      const Vector3 n = k % 2 == 0 ? random.unit_vector()
                                   : (r.normal + random.log_uniform(1e-4, 1.0) * random.normal3()).normalized();
      EXPECT_LE(gap_along(pair.A, pair.X_WA, pair.B, pair.X_WB, n), r.distance + 3e-9 * size);
    }
    // the witness points: one normal apart, each inside its shape
    EXPECT_NEAR_ABSOLUTE(Vector3(r.p_B - r.p_A), Vector3(r.distance * r.normal), 1e-12 * (size + r.p_A.norm()));
    for (int k = 0; k < 100; ++k) {
      const Vector3 n = random.unit_vector();
      const Vector3 a = pair.X_WA.R.transpose() * n;
      const Vector3 b = pair.X_WB.R.transpose() * n;
      EXPECT_LE(n.dot(r.p_A - pair.X_WA.p), a.dot(support(pair.A, a)) + 1e-8 * size);
      EXPECT_LE(n.dot(r.p_B - pair.X_WB.p), b.dot(support(pair.B, b)) + 1e-8 * size);
    }
    EXPECT_EQ(r.distance < 0.0, scaling(pair.A, pair.X_WA, pair.B, pair.X_WB, {}, other).alpha < 1.0);
  }
}

/// The largest gap that climbing from several directions finds.
double climbed_gap(const ShapePair& pair, Random& random) {
  const auto gap = [&](const Vector3& n) { return gap_along(pair.A, pair.X_WA, pair.B, pair.X_WB, n); };
  std::vector<std::pair<double, Vector3>> starts;
  for (int k = 0; k < 100; ++k) {
    const Vector3 n = random.unit_vector();
    starts.emplace_back(gap(n), n);
  }
  std::sort(starts.begin(), starts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < 8; ++k) {
    auto [best, at] = starts[k];
    for (double radius = 0.5; radius > 1e-6; radius *= 0.7)
      for (int i = 0; i < 10; ++i) {
        const Vector3 n = (at + radius * random.normal3()).normalized();
        const double value = gap(n);
        if (value <= best) continue;
        best = value;
        at = n;
      }
    largest = std::max(largest, best);
  }
  return largest;
}

/// Of curved bodies the faces of a polytope exclude other answers only so far: here one was 0.07 % shallower.
TEST(Distance, ShallowOverlapsAreTheShallowest) {
  Random random(37);
  DistanceWorkspace workspace;
  for (const ShapePair& pair : touching_pairs(-0.02)) {
    if (pair.A.is_half_space() || pair.B.is_half_space()) continue;
    const Distance r = distance(pair.A, pair.X_WA, pair.B, pair.X_WB, {}, workspace);
    EXPECT_LE(climbed_gap(pair, random), r.distance * (1.0 - 1e-6)) << pair.name;
  }
}

TEST(Distance, Laws) {
  Random random(32);
  DistanceWorkspace workspace;
  for (const ShapePair& pair : all_shape_pairs()) {
    SCOPED_TRACE(pair.name);
    const double size = size_of(pair.A) + size_of(pair.B);
    const Distance r = distance(pair.A, pair.X_WA, pair.B, pair.X_WB, {}, workspace);
    const Vector12 g = distance_gradient(workspace);
    const Distance swapped = distance(pair.B, pair.X_WB, pair.A, pair.X_WA, {}, workspace);
    EXPECT_NEAR(r.distance, swapped.distance, 3e-9 * size);
    EXPECT_EQ(r.part_A, swapped.part_B);
    const Pose X(random.rotation(), 10.0 * random.normal3());
    const Distance moved = distance(pair.A, X * pair.X_WA, pair.B, X * pair.X_WB, {}, workspace);
    EXPECT_NEAR(r.distance, moved.distance, 3e-9 * size);
    // forces and torques balance
    EXPECT_NEAR_ABSOLUTE(Vector3(g.segment<3>(0)), Vector3(-g.segment<3>(6)), 1e-12);
    const Vector3 torque_A = pair.X_WA.R * g.segment<3>(3) + (pair.X_WA.p - r.p_A).cross(g.segment<3>(0));
    const Vector3 torque_B = pair.X_WB.R * g.segment<3>(9) + (pair.X_WB.p - r.p_A).cross(g.segment<3>(6));
    EXPECT_NEAR_ABSOLUTE(torque_A, Vector3(-torque_B), 1e-9 * (1.0 + size));
  }
}

/// Where simulations live: as the shapes come together along the normal, value and normal stay as good as they were.
TEST(Distance, IsAsGoodNearTouching) {
  DistanceWorkspace workspace;
  for (const ShapePair& pair : all_shape_pairs()) {
    if (!pair.A.is_convex() || !pair.B.is_convex()) continue;
    const double size = size_of(pair.A) + size_of(pair.B);
    const Pose away(pair.X_WB.R, pair.X_WB.p + 2.0 * size * (pair.X_WB.p - pair.X_WA.p).normalized());
    const Distance apart = distance(pair.A, pair.X_WA, pair.B, away, {}, workspace);
    ASSERT_GT(apart.distance, 0.0) << pair.name;
    for (const double gap : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14, 0.0}) {
      SCOPED_TRACE(pair.name + ", gap " + std::to_string(gap));
      const Pose X_WB(away.R, away.p - (apart.distance - gap * size) * apart.normal);
      const Distance r = distance(pair.A, pair.X_WA, pair.B, X_WB, {}, workspace);
      ASSERT_EQ(r.status, DistanceStatus::solved);
      EXPECT_NEAR(r.distance, gap * size, 3e-9 * size);
      if (pair.A.is_half_space() || pair.B.is_half_space()) continue;
      EXPECT_NEAR(gap_along(pair.A, pair.X_WA, pair.B, X_WB, r.normal), r.distance, 3e-9 * size);
    }
  }
}

TEST(Distance, ClosedForms) {
  DistanceWorkspace workspace;
  const auto value = [&](const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB) {
    return distance(A, X_WA, B, X_WB, {}, workspace).distance;
  };
  EXPECT_NEAR(value(Sphere{0.5}, {}, Sphere{0.7}, at(1, 2, 2)), 1.8, 1e-12);
  EXPECT_NEAR(value(Sphere{0.5}, {}, Sphere{0.7}, at(0.3, 0, 0)), -0.9, 1e-12);
  EXPECT_NEAR(value(Sphere{0.5}, {}, Sphere{0.7}, {}), -1.2, 1e-12);
  EXPECT_NEAR(value(Box{{1, 2, 3}}, {}, Box{{1, 1, 1}}, at(0.8, 0.1, -0.2)), -0.2, 1e-12);
  EXPECT_NEAR(value(Box{{1, 2, 3}}, {}, Box{{1, 1, 1}}, at(2, 2.5, 0)), std::hypot(1.0, 1.0), 1e-12);
  EXPECT_NEAR(value(Box{{2, 2, 2}}, {}, Sphere{0.25}, at(0.5, 0, 0)), -0.75, 1e-12);
  EXPECT_NEAR(
      value(Capsule{0.1, 2}, {}, Capsule{0.2, 2}, Pose(Eigen::AngleAxisd(1.0, Vector3::UnitZ()).matrix(), {0, 0, 1})),
      0.7, 1e-12);
  EXPECT_NEAR(value(Capsule{0.1, 2}, {}, Capsule{0.2, 2}, at(0.5, 0, 0)), -0.3, 1e-12);
  EXPECT_NEAR(value(Cylinder{0.5, 2}, {}, Sphere{0.1}, at(1.4, 0.2, 0.1)), 0.3, 1e-12);
  EXPECT_NEAR(value(Cylinder{0.5, 2}, {}, Sphere{0.1}, at(0.1, 0.3, 0)), -0.3, 1e-9);
  EXPECT_NEAR(value(Ellipsoid{{1, 2, 3}}, {}, Sphere{0.5}, at(3, 0, 0)), 1.5, 1e-9);
  EXPECT_NEAR(value(Ellipsoid{{1, 2, 3}}, {}, Sphere{0.5}, {}), -1.5, 1e-6);
  EXPECT_NEAR(value(HalfSpace{{0, 0, 2}, 1.0}, {}, Box{{1, 1, 1}}, at(3, 4, 2)), 1.0, 1e-12);
  EXPECT_NEAR(value(Cone{1.0, 0.5}, at(0, 0, -5), HalfSpace{{0, 0, 1}}, {}), -5.0 - std::tan(0.5), 1e-12);
  // touching
  EXPECT_NEAR(value(Box{{1, 1, 1}}, {}, Box{{1, 1, 1}}, at(1, 0.2, 0.3)), 0.0, 1e-14);
}

/// Axes of very different lengths that all but cross: the nearest triangle is long and thin, and rounding in its
/// nearest point turns the normal.
TEST(Distance, AxesThatAllButCross) {
  Matrix3 R_WA;
  Matrix3 R_WB;
  R_WA.transpose() << -0.69980789140260136, -0.064590510316600777, 0.71140493469449928, -0.47046510055567514,
      -0.70772760199809004, -0.52705239827665196, 0.53752349184922332, -0.70352662163351942, 0.46488577991066182;
  R_WB.transpose() << -0.027342953115922608, -0.29124108637180962, 0.95625885225908802, -0.84506656880751241,
      -0.50425278987011302, -0.17774031110613397, 0.53396147538825134, -0.81296233216378211, -0.23233034516400575;
  const Pose X_WA(R_WA, {503620.29076094925, -63810.161502278635, -154147.87261187419});
  const Pose X_WB(R_WB, {503620.29079551459, -63810.161605839174, -154147.87274094415});
  const Shape A = Capsule{.radius = 23123.930031487896, .length = 2.0 * 187859.97314202826};
  const Shape B = Capsule{.radius = 1940.9772446568804, .length = 2.0 * 145.88821961400023};
  DistanceWorkspace workspace;
  const Distance r = distance(A, X_WA, B, X_WB, {}, workspace);
  EXPECT_EQ(r.status, DistanceStatus::solved);
  EXPECT_LE(r.gap, 1e-9);
  EXPECT_NEAR(gap_along(A, X_WA, B, X_WB, r.normal), r.distance, 1e-9 * size_of(A));
}

/// A ball in the middle of a cylinder may leave it anywhere round its side.
TEST(Distance, BallInTheMiddleOfACylinder) {
  Random random(37);
  DistanceWorkspace workspace;
  for (int trial = 0; trial < 500; ++trial) {
    SCOPED_TRACE(trial);
    const double radius = random.log_uniform(0.003, 0.2);
    const double ball = random.log_uniform(1e-3, 1.0) * radius;
    const Shape A = Cylinder{.radius = radius, .length = random.uniform(0.5, 2.0)};
    const Pose X_WA(random.rotation(), random.normal3());
    const double apart = random.log_uniform(1e-16, 1e-10);
    const Pose X_WB(random.rotation(), X_WA.p + apart * random.unit_vector());
    const Distance r = distance(A, X_WA, Sphere{ball}, X_WB, {}, workspace);
    EXPECT_EQ(r.status, DistanceStatus::solved);
    EXPECT_NEAR(r.distance, -radius - ball, 1e-9 * radius + apart);
  }
}

TEST(Distance, Bundles) {
  DistanceWorkspace workspace;
  const Shape dumbbell = Bundle{{{Sphere{0.5}, at(-2, 0, 0)}, {Sphere{0.25}, at(2, 0, 0)}, {Box{{4, 0.1, 0.1}}, {}}}};
  const Distance right = distance(dumbbell, {}, Sphere{0.25}, at(2, 1, 0), {}, workspace);
  EXPECT_EQ(right.part_A, 1);
  EXPECT_NEAR(right.distance, 0.5, 1e-12);
  EXPECT_NEAR(distance(Sphere{0.25}, at(0, 0, 1), dumbbell, {}, {}, workspace).distance, 0.7, 1e-12);
}

TEST(Distance, ScalesAndPlaces) {
  Random random(33);
  DistanceWorkspace workspace;
  for (const double scale : {1e-6, 1e-3, 1e3, 1e6}) {
    for (int trial = 0; trial < 50; ++trial) {
      const Vector3 size(1, 2, 3);
      const Pose X_WB(random.rotation(), 2.0 * random.normal3());
      const Distance one = distance(Box{size}, {}, Cylinder{0.5, 2.0}, X_WB, {}, workspace);
      const Distance scaled = distance(Box{scale * size}, {}, Cylinder{scale * 0.5, scale * 2.0},
                                       Pose(X_WB.R, scale * X_WB.p), {}, workspace);
      EXPECT_NEAR(scaled.distance, scale * one.distance, 1e-8 * scale);
    }
  }
}

TEST(Distance, BadInput) {
  DistanceWorkspace workspace;
  const Shape ball = Sphere{1};
  const Shape floor = HalfSpace{.normal = {0, 0, 1}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)distance(floor, {}, floor, {}, {}, workspace), InputError);
  EXPECT_THROW((void)distance(ball, at(nan, 0, 0), ball, {}, {}, workspace), InputError);
  EXPECT_THROW((void)distance(ball, {}, ball, Pose(2.0 * Matrix3::Identity(), {}), {}, workspace), InputError);
  EXPECT_THROW((void)distance(ball, {}, ball, {}, {.tolerance = 0.0}, workspace), InputError);
  DistanceWorkspace unused;
  EXPECT_THROW((void)distance_gradient(unused), InputError);
}

/// As far as there are any: Jacobians of points that are not unique are NaN.
bool same(const MatrixX& a, const MatrixX& b) {
  return (a.array() == b.array() || (a.array() != a.array() && b.array() != b.array())).all();
}

TEST(Distance, DerivativesNeedAnyCopyOfTheShapes) {
  for (const ShapePair& pair : all_shape_pairs()) {
    SCOPED_TRACE(pair.name);
    DistanceWorkspace kept;
    (void)distance(pair.A, pair.X_WA, pair.B, pair.X_WB, {}, kept);
    DistanceWorkspace workspace;
    {
      const PassingCopy A(pair.A);
      const PassingCopy B(pair.B);
      (void)distance(A.shape(), pair.X_WA, B.shape(), pair.X_WB, {}, workspace);
    }
    EXPECT_EQ(distance_gradient(workspace), distance_gradient(kept));
    VectorX d_A, d_B, e_A, e_B;
    distance_parameter_gradient(workspace, d_A, d_B);
    distance_parameter_gradient(kept, e_A, e_B);
    EXPECT_EQ(d_A, e_A);
    EXPECT_EQ(d_B, e_B);
    EXPECT_TRUE(same(distance_jacobian(workspace).p_A, distance_jacobian(kept).p_A));
    EXPECT_TRUE(same(distance_jacobian(workspace).p_B, distance_jacobian(kept).p_B));
  }
}

TEST(Distance, AllocatesNothingAfterWarmUp) {
  DistanceWorkspace workspace;
  double total = 0.0;
  for (const ShapePair& pair : shape_pairs()) {
    SCOPED_TRACE(pair.name);
    VectorX d_A;
    VectorX d_B;
    const auto everything = [&] {
      total += distance(pair.A, pair.X_WA, pair.B, pair.X_WB, {}, workspace).distance;
      total += distance_gradient(workspace).sum() + (distance_jacobian(workspace).exists ? 1.0 : 0.0);
      distance_parameter_gradient(workspace, d_A, d_B);
      total += d_A.sum() + d_B.sum();
    };
    everything();
    const AllocationCount count;
    everything();
    EXPECT_EQ(count.so_far(), 0);
  }
  EXPECT_TRUE(std::isfinite(total));
}

/// Hard pairs: every answer certified, finite, and consistent with the scaling's sign. TANGERE_STRESS_PAIRS sets how
/// many.
TEST(DistanceStress, RandomPairsNeverFail) {
  const char* wanted = std::getenv("TANGERE_STRESS_PAIRS");
  const int num_pairs = wanted != nullptr ? std::atoi(wanted) : 20000;
  Random random(34);
  DistanceWorkspace workspace;
  ScalingWorkspace other;
  std::vector<std::string_view> types = bounded_types();
  types.push_back("halfspace");
  int failures = 0;
  for (int trial = 0; trial < num_pairs; ++trial) {
    const std::string_view type_A = types[random.index(static_cast<int>(types.size()))];
    const std::string_view type_B = types[random.index(static_cast<int>(types.size()) - (type_A == "halfspace"))];
    const double scale = random.log_uniform(1e-6, 1e6);
    const double skew = random.log_uniform(1.0, 1e2);
    const Shape A = random_shape(type_A, random, scale, skew);
    const Shape B = random_shape(type_B, random, scale * random.log_uniform(1e-2, 1.0), skew);
    const double reach = (A.is_half_space() ? 0.0 : size_of(A)) + (B.is_half_space() ? 0.0 : size_of(B));
    const Pose X_WA(random.rotation(), scale * random.normal3());
    const Pose X_WB(random.rotation(), X_WA.p + reach * random.log_uniform(1e-2, 10.0) * random.unit_vector());
    const Distance r = distance(A, X_WA, B, X_WB, {}, workspace);
    bool fine = r.status == DistanceStatus::solved && std::isfinite(r.distance) && r.p_A.allFinite() &&
                r.p_B.allFinite() && distance_gradient(workspace).allFinite() &&
                std::abs(r.normal.norm() - 1.0) < 1e-12;
    if (fine && !A.is_half_space() && !B.is_half_space()) {
      fine = std::abs(gap_along(A, X_WA, B, X_WB, r.normal) - r.distance) <= 1e-8 * reach;
      const double alpha = scaling(A, X_WA, B, X_WB, {}, other).alpha;
      if (std::abs(alpha - 1.0) > 1e-6) fine = fine && (r.distance < 0.0) == (alpha < 1.0);
    }
    if (!fine && ++failures <= 10) {
      ADD_FAILURE() << "pair " << trial << ": " << type_A << " and " << type_B << ", scale " << scale << ", skew "
                    << skew << ": " << to_string(r.status) << ", distance " << r.distance << ", gap " << r.gap << ", "
                    << r.iterations << " supports";
    }
  }
  EXPECT_EQ(failures, 0);
}

/// Overlapping from coincident centres to shallow: every answer certified, no direction shallower by more than the gap
/// that it reports, and hardly ever one shallower at all. TANGERE_STRESS_PAIRS sets how many.
TEST(DistanceStress, DeepPairsFindTheShallowestWay) {
  const char* wanted = std::getenv("TANGERE_STRESS_PAIRS");
  const int num_pairs = wanted != nullptr ? std::atoi(wanted) : 20000;
  Random random(35);
  DistanceWorkspace workspace;
  const std::vector<std::string_view>& types = bounded_types();
  const auto any_type = [&] { return types[random.index(static_cast<int>(types.size()))]; };
  int failures = 0;
  int missed = 0;
  for (int trial = 0; trial < num_pairs; ++trial) {
    const std::string_view type_A = any_type();
    const std::string_view type_B = any_type();
    const double scale = random.log_uniform(1e-6, 1e6);
    const double skew = random.log_uniform(1.0, 1e2);
    const Shape A = random_shape(type_A, random, scale, skew);
    const Shape B = random_shape(type_B, random, scale * random.log_uniform(1e-2, 1.0), skew);
    const double inner = A.set().inner_radius + B.set().inner_radius;
    const double reach = size_of(A) + size_of(B);
    const double apart = random.uniform() < 0.3 ? random.log_uniform(1e-12, 1.0) * inner
                                                : random.log_uniform(1e-3, 1.0) * std::sqrt(inner * reach);
    // one draw a statement: the same pairs with every compiler
    const Vector3 p_A = scale * random.normal3();
    const Pose X_WA(random.rotation(), p_A);
    const Vector3 p_B = p_A + apart * random.unit_vector();
    const Pose X_WB(random.rotation(), p_B);
    const Distance r = distance(A, X_WA, B, X_WB, {}, workspace);
    double better = 0.0;
    for (int k = 0; k < 40; ++k)
      better = std::max(better, gap_along(A, X_WA, B, X_WB, random.unit_vector()) - r.distance);
    missed += better > 1e-8 * reach ? 1 : 0;
    const bool fine =
        r.status == DistanceStatus::solved && better <= r.gap * std::max(inner, std::abs(r.distance)) + 1e-8 * reach;
    if (!fine && ++failures <= 10) {
      ADD_FAILURE() << "pair " << trial << ": " << type_A << " and " << type_B << ", scale " << scale << ", skew "
                    << skew << ": " << to_string(r.status) << ", distance " << r.distance << ", gap " << r.gap << ", "
                    << r.iterations << " supports, " << better << " shallower along another direction";
    }
  }
  EXPECT_EQ(failures, 0);
  EXPECT_LE(missed, num_pairs / 20000);
}

/// A body that is all but round, but for small kinks: faces of a polytope say little about it, and every face of the
/// small shape may be the shallowest way out. Few may be left without a certificate.
TEST(DistanceStress, AllButRoundSumsAreHardlyEverLeft) {
  Random random(36);
  DistanceWorkspace workspace;
  constexpr int kPairs = 200;
  int uncertified = 0;
  for (int trial = 0; trial < kPairs; ++trial) {
    const Vector3 uneven(random.uniform(), random.uniform(), random.uniform());
    const Shape A = Ellipsoid{Vector3::Ones() + 0.015 * uneven};
    const Shape B = random_shape("minkowski_sum", random, random.log_uniform(0.01, 0.03), 1.02);
    const Pose X_WA(random.rotation(), Vector3::Zero());
    const Pose X_WB(random.rotation(), 0.004 * random.unit_vector());
    const Distance r = distance(A, X_WA, B, X_WB, {}, workspace);
    uncertified += r.status != DistanceStatus::solved ? 1 : 0;
    EXPECT_NEAR(gap_along(A, X_WA, B, X_WB, r.normal), r.distance, 1e-8) << "pair " << trial;
  }
  EXPECT_LE(uncertified, kPairs / 20);
  RecordProperty("uncertified", uncertified);
}

}  // namespace
}  // namespace tangere::test
