/// The proximity query: laws over all pairs of shapes that have a core, closed forms, parallel and crossing cores,
/// sizes and places far out, bad input, memory.

#include "tangere/proximity/proximity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tangere/geometry/support.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/proximity/proximity_derivatives.hpp"
#include "tests/support/all_shapes.hpp"
#include "tests/support/allocation.hpp"
#include "tests/support/core_pairs.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/random_shapes.hpp"

namespace tangere::test {
namespace {

constexpr ProximityOptions kInteriorPoint{.method = ProximityMethod::interior_point};

Pose at(double x, double y, double z) { return Pose::translation({x, y, z}); }

Proximity query(const ShapePair& pair, ProximityWorkspace& workspace, const ProximityOptions& options = {}) {
  return proximity(pair.A, pair.X_WA, pair.B, pair.X_WB, options, workspace);
}

double size_of(const ShapePair& pair) { return pair.A.set().outer_radius + pair.B.set().outer_radius; }

/// The distance of two segments, by the nearest of: the four ends to the other segment, and the common perpendicular.
double segment_distance(const Vector3& a0, const Vector3& a1, const Vector3& b0, const Vector3& b1) {
  const auto to_segment = [](const Vector3& p, const Vector3& s0, const Vector3& s1) {
    const Vector3 d = s1 - s0;
    const double t = std::clamp(d.dot(p - s0) / d.squaredNorm(), 0.0, 1.0);
    return (p - s0 - t * d).norm();
  };
  double least =
      std::min({to_segment(a0, b0, b1), to_segment(a1, b0, b1), to_segment(b0, a0, a1), to_segment(b1, a0, a1)});
  const Vector3 u = a1 - a0;
  const Vector3 v = b1 - b0;
  const Vector3 n = u.cross(v);
  if (n.squaredNorm() > 1e-24 * u.squaredNorm() * v.squaredNorm()) {
    const double s = (b0 - a0).cross(v).dot(n) / n.squaredNorm();
    const double t = (b0 - a0).cross(u).dot(n) / n.squaredNorm();
    if (s >= 0 && s <= 1 && t >= 0 && t <= 1) least = std::min(least, std::abs((b0 - a0).dot(n)) / n.norm());
  }
  return least;
}

TEST(Proximity, SegmentsAgainstTheClosedForm) {
  Random random(7);
  ProximityWorkspace workspace;
  for (int trial = 0; trial < 20000; ++trial) {
    const double l1 = random.log_uniform(1e-3, 10.0);
    const double l2 = random.log_uniform(1e-3, 10.0);
    const Capsule A{.radius = random.uniform(0.01, 1.0), .length = l1};
    const Capsule B{.radius = random.uniform(0.01, 1.0), .length = l2};
    const Pose X_WA(random.rotation(), random.normal3());
    const Pose X_WB(random.rotation(), random.normal3());
    const auto end = [](const Pose& X, double x) -> Vector3 { return X * Vector3(x, 0, 0); };
    const double d = segment_distance(end(X_WA, -l1 / 2), end(X_WA, l1 / 2), end(X_WB, -l2 / 2), end(X_WB, l2 / 2));
    const double expected = d * d - std::pow(A.radius + B.radius, 2);
    const double size = std::pow(l1 + l2 + 10.0, 2);
    const Proximity active = proximity(A, X_WA, B, X_WB, {.method = ProximityMethod::active_set}, workspace);
    EXPECT_NEAR(active.phi, expected, 1e-14 * size) << trial;
    const Proximity interior = proximity(A, X_WA, B, X_WB, kInteriorPoint, workspace);
    ASSERT_EQ(interior.status, ProximityStatus::solved);
    EXPECT_NEAR(interior.phi, expected, 1e-12 * size) << trial;
    EXPECT_EQ(interior.point_freedom, active.point_freedom);
    EXPECT_NEAR_ABSOLUTE(interior.c_A, active.c_A, 1e-7 * l1);
  }
}

TEST(Proximity, ClosedForms) {
  Random random(8);
  ProximityWorkspace workspace;
  for (int trial = 0; trial < 200; ++trial) {
    const Pose X_WA(random.rotation(), random.normal3());
    const double r1 = random.log_uniform(0.01, 10.0);
    const double r2 = random.log_uniform(0.01, 10.0);
    const Vector3 d = random.unit_vector() * random.log_uniform(1e-3, 1e3);
    const Proximity spheres =
        proximity(Sphere{r1}, X_WA, Sphere{r2}, Pose(random.rotation(), X_WA.p + d), {}, workspace);
    EXPECT_NEAR(spheres.phi, d.squaredNorm() - (r1 + r2) * (r1 + r2), 1e-13 * (d.squaredNorm() + 400.0));
    EXPECT_NEAR_RELATIVE(spheres.p_A - X_WA.p, Vector3(r1 * d.normalized()), 1e-10);
    // boxes of one attitude: the gaps along the axes add up in squares
    const Vector3 size1(random.uniform(0.1, 2), random.uniform(0.1, 2), random.uniform(0.1, 2));
    const Vector3 size2(random.uniform(0.1, 2), random.uniform(0.1, 2), random.uniform(0.1, 2));
    const Vector3 gaps = ((X_WA.R.transpose() * d).cwiseAbs() - 0.5 * (size1 + size2)).cwiseMax(0.0);
    const Proximity boxes = proximity(Box{size1}, X_WA, Box{size2}, Pose(X_WA.R, X_WA.p + d), {}, workspace);
    EXPECT_NEAR(boxes.phi, gaps.squaredNorm(), 1e-11 * (1.0 + d.squaredNorm()));
  }
}

TEST(Proximity, ParallelCapsules) {
  ProximityWorkspace workspace;
  const Shape A = Capsule{.radius = 0.2, .length = 2.0};
  const Shape B = Capsule{.radius = 0.3, .length = 1.0};
  for (const ProximityOptions& options : {ProximityOptions{}, kInteriorPoint}) {
    for (const double turn : {0.0, 1e-9, 3.14159265358979323846}) {
      const Pose X_WB(Eigen::AngleAxisd(turn, Vector3::UnitZ()).toRotationMatrix(), {1.0, 0, 2});
      const Proximity r = proximity(A, {}, B, X_WB, options, workspace);
      ASSERT_EQ(r.status, ProximityStatus::solved);
      EXPECT_NEAR(r.phi, 4.0 - 0.25, 1e-12);
      EXPECT_EQ(r.point_freedom, 1);
      EXPECT_FALSE(r.crossing);
      EXPECT_NEAR_ABSOLUTE(r.normal, Vector3(0, 0, 1), 1e-8);
      // about the middle of the common stretch
      EXPECT_NEAR(r.c_A.x(), 0.75, 0.1);
      EXPECT_NEAR_ABSOLUTE(proximity_gradient(workspace).segment<3>(6), Vector3(0, 0, 4), 1e-8);
      const ProximityJacobian J = proximity_jacobian(workspace);
      EXPECT_FALSE(J.unique);
      EXPECT_TRUE(J.c_A.allFinite() && J.p_B.allFinite() && J.normal.allFinite());
      EXPECT_LE(J.c_A.cwiseAbs().maxCoeff(), 10.0);
    }
    // parallel, but past each other: unique
    const Proximity past = proximity(A, {}, B, at(3, 0, 2), options, workspace);
    EXPECT_EQ(past.point_freedom, 0);
    EXPECT_NEAR_ABSOLUTE(past.c_A, Vector3(1, 0, 0), 1e-12);
    EXPECT_NEAR(past.phi, 1.5 * 1.5 + 4.0 - 0.25, 1e-12);
    EXPECT_TRUE(proximity_jacobian(workspace).unique);
    // collinear, apart
    const Proximity line = proximity(A, {}, B, at(3, 0, 0), options, workspace);
    EXPECT_EQ(line.point_freedom, 0);
    EXPECT_NEAR(line.phi, 1.5 * 1.5 - 0.25, 1e-12);
    EXPECT_NEAR_ABSOLUTE(line.normal, Vector3(1, 0, 0), 1e-12);
  }
}

TEST(Proximity, ParallelFaces) {
  ProximityWorkspace workspace;
  const Shape box = Box{{1, 1, 1}};
  const Proximity r = proximity(box, {}, box, at(0.3, 0.1, 3), {}, workspace);
  EXPECT_NEAR(r.phi, 4.0, 1e-12);
  EXPECT_EQ(r.point_freedom, 2);
  EXPECT_NEAR_ABSOLUTE(r.normal, Vector3(0, 0, 1), 1e-12);
  // on the middle of the common face
  EXPECT_NEAR_ABSOLUTE(r.c_A, Vector3(0.15, 0.05, 0.5), 1e-2);
  EXPECT_TRUE(proximity_jacobian(workspace).p_A.allFinite());
}

void expect_crossing(const Proximity& r, double padding, const Vector3& normal, ProximityWorkspace& workspace) {
  EXPECT_EQ(r.status, ProximityStatus::solved);
  EXPECT_TRUE(r.crossing);
  EXPECT_EQ(r.core_distance, 0.0);
  EXPECT_EQ(r.phi, -padding * padding);
  EXPECT_NEAR_ABSOLUTE(r.normal, normal, 1e-12);
  EXPECT_TRUE(r.c_A.allFinite() && r.c_B.allFinite() && r.p_A.allFinite() && r.p_B.allFinite());
  EXPECT_EQ(proximity_gradient(workspace), Vector12(Vector12::Zero()));
  const ProximityJacobian J = proximity_jacobian(workspace);
  EXPECT_FALSE(J.unique);
  EXPECT_TRUE(J.c_A.allFinite() && J.c_B.allFinite() && J.p_A.allFinite() && J.p_B.allFinite());
  EXPECT_EQ(J.normal, Matrix3x12(Matrix3x12::Zero()));
  VectorX d_A, d_B;
  proximity_parameter_gradient(workspace, d_A, d_B);
  EXPECT_TRUE(d_A.allFinite() && d_B.allFinite());
}

TEST(Proximity, CrossingCores) {
  ProximityWorkspace workspace;
  const Shape capsule = Capsule{.radius = 0.25, .length = 2.0};
  const Pose turned(Eigen::AngleAxisd(1.0, Vector3::UnitZ()).toRotationMatrix(), {0.2, 0, 0});
  for (const ProximityOptions& options : {ProximityOptions{}, kInteriorPoint}) {
    // segments that cross, that coincide, that overlap on one line
    expect_crossing(proximity(capsule, {}, capsule, turned, options, workspace), 0.5, Vector3::UnitX(), workspace);
    expect_crossing(proximity(capsule, {}, capsule, {}, options, workspace), 0.5, Vector3::UnitX(), workspace);
    const Proximity line = proximity(capsule, {}, capsule, at(-0.5, 0, 0), options, workspace);
    expect_crossing(line, 0.5, Vector3(-1, 0, 0), workspace);
    EXPECT_EQ(line.point_freedom, 1);
    // two points
    expect_crossing(proximity(Sphere{1}, at(1, 2, 3), Sphere{0.5}, at(1, 2, 3), options, workspace), 1.5,
                    Vector3::UnitX(), workspace);
  }
  const Shape box = Box{{1, 1, 1}};
  const Proximity solids = proximity(box, {}, box, at(0, 0.5, 0), {}, workspace);
  expect_crossing(solids, 0.0, Vector3::UnitY(), workspace);
  EXPECT_EQ(solids.point_freedom, 3);
  expect_crossing(proximity(Sphere{0.25}, at(0.1, 0, 0), box, {}, {}, workspace), 0.25, Vector3(-1, 0, 0), workspace);
}

TEST(Proximity, NearlyCrossingCores) {
  ProximityWorkspace workspace;
  const Shape capsule = Capsule{.radius = 0.25, .length = 2.0};
  const Shape box = Box{{1, 1, 1}};
  MatrixX3 axes(6, 3);
  axes << Matrix3::Identity(), -Matrix3::Identity();
  const Shape cube = RoundedPolytope{.core = {axes, VectorX::Ones(6)}, .radius = 0.1};
  const Matrix3 quarter = Eigen::AngleAxisd(1.5, Vector3::UnitZ()).toRotationMatrix();
  for (const double d : {1e-3, 1e-6, 1e-9}) {
    for (const ProximityOptions& options : {ProximityOptions{}, kInteriorPoint}) {
      const Proximity r = proximity(capsule, {}, capsule, Pose(quarter, {0, 0, d}), options, workspace);
      ASSERT_EQ(r.status, ProximityStatus::solved);
      EXPECT_FALSE(r.crossing);
      EXPECT_NEAR(r.core_distance, d, 1e-14);
      EXPECT_NEAR_ABSOLUTE(r.normal, Vector3(0, 0, 1), 1e-14 / d);
    }
    const Proximity r = proximity(box, {}, cube, Pose(quarter, {0.1, 0.1, 1.5 + d}), {}, workspace);
    ASSERT_EQ(r.status, ProximityStatus::solved);
    EXPECT_NEAR(r.core_distance, d, 1e-13);
    EXPECT_NEAR_ABSOLUTE(r.normal, Vector3(0, 0, 1), 1e-13 / d);
  }
}

TEST(Proximity, CapsulesOfHardlyAnyLength) {
  ProximityWorkspace workspace;
  for (const ProximityOptions& options : {ProximityOptions{}, kInteriorPoint}) {
    for (const double length : {1e-6, 1e-12, 1e-20}) {
      SCOPED_TRACE(length);
      const Shape dot = Capsule{.radius = 0.5, .length = length};
      const Proximity r = proximity(dot, {}, dot, Pose(Random(1).rotation(), {0, 3, 4}), options, workspace);
      ASSERT_EQ(r.status, ProximityStatus::solved);
      EXPECT_NEAR(r.phi, 24.0, 10.0 * length + 1e-12);
      EXPECT_NEAR_ABSOLUTE(r.normal, Vector3(0, 0.6, 0.8), length + 1e-12);
      EXPECT_NEAR_ABSOLUTE(proximity_gradient(workspace).segment<3>(6), Vector3(0, 6, 8), 10.0 * length + 1e-12);
      EXPECT_TRUE(proximity_jacobian(workspace).c_A.allFinite());
      const Proximity mixed = proximity(dot, {}, Capsule{0.5, 2.0}, at(0, 3, 4), options, workspace);
      ASSERT_EQ(mixed.status, ProximityStatus::solved);
      EXPECT_NEAR(mixed.phi, 24.0, 1e-9);
    }
  }
}

TEST(Proximity, FarFromTheOriginAndFarApart) {
  ProximityWorkspace workspace;
  for (const ShapePair& pair : core_pairs()) {
    SCOPED_TRACE(pair.name);
    const Proximity here = query(pair, workspace);
    const Vector3 away(1e6, -2e6, 3e6);
    const Proximity there = proximity(pair.A, Pose(pair.X_WA.R, pair.X_WA.p + away), pair.B,
                                      Pose(pair.X_WB.R, pair.X_WB.p + away), {}, workspace);
    const double size = size_of(pair) + here.core_distance;
    EXPECT_NEAR(here.phi, there.phi, 1e-8 * size);
    // a million sizes apart
    const Vector3 direction = (pair.X_WB.p - pair.X_WA.p).normalized();
    const Proximity apart =
        proximity(pair.A, pair.X_WA, pair.B, Pose(pair.X_WB.R, pair.X_WA.p + 1e6 * direction), {}, workspace);
    ASSERT_EQ(apart.status, ProximityStatus::solved);
    EXPECT_NEAR(apart.core_distance, 1e6, 10.0 * size_of(pair) + 1e-8);
    // each at its farthest point towards the other
    const Vector3 n = pair.X_WA.R.transpose() * apart.normal;
    EXPECT_NEAR(n.dot(pair.X_WA.R.transpose() * (apart.p_A - pair.X_WA.p)), n.dot(support(pair.A, n)),
                1e-7 * size_of(pair));
  }
}

/// The plane across the normal must separate the cores: checked by the support functions for random pairs of sizes a
/// million apart, of one attitude, nearly of one attitude, and of any.
TEST(Proximity, RandomPairs) {
  Random random(17);
  std::vector<std::string_view> types;
  for (const std::string_view type : bounded_types())
    if (has_core(random_shape(type, random))) types.push_back(type);
  ASSERT_EQ(types.size(), 6U);
  ProximityWorkspace workspace;
  const auto type = [&] { return types[random.index(6)]; };
  for (int trial = 0; trial < 20000; ++trial) {
    const double size_A = random.log_uniform(1e-3, 1e3);
    const Shape A = random_shape(type(), random, size_A, random.log_uniform(1.0, 100.0));
    const Shape B =
        random_shape(type(), random, size_A * random.log_uniform(1e-3, 1e3), random.log_uniform(1.0, 100.0));
    const double size = A.set().outer_radius + B.set().outer_radius;
    const Pose X_WA(random.rotation(), size * random.normal3());
    const double turn = trial % 4 == 0 ? 0.0 : random.log_uniform(1e-10, 1e-2);
    const Matrix3 R = trial % 2 == 0
                          ? Matrix3(X_WA.R * Eigen::AngleAxisd(turn, random.unit_vector()).toRotationMatrix())
                          : random.rotation();
    const Pose X_WB(R, X_WA.p + size * random.log_uniform(0.01, 30.0) * random.unit_vector());
    const Proximity r = proximity(A, X_WA, B, X_WB, kInteriorPoint, workspace);
    ASSERT_EQ(r.status, ProximityStatus::solved) << trial;
    EXPECT_TRUE(proximity_jacobian(workspace).p_A.allFinite()) << trial;
    if (r.crossing) continue;
    const auto reach = [](const Shape& shape, const Pose& X, const Vector3& n) {
      const Vector3 direction = X.R.transpose() * n;
      return n.dot(X.p) + direction.dot(support(shape, direction));
    };
    const double scale = size + r.core_distance;
    EXPECT_NEAR(r.normal.dot(r.p_A), reach(A, X_WA, r.normal), 1e-9 * scale) << trial;
    EXPECT_NEAR(-r.normal.dot(r.p_B), reach(B, X_WB, -r.normal), 1e-9 * scale) << trial;
  }
}

TEST(Proximity, BadInput) {
  ProximityWorkspace workspace;
  const auto error = [&](const Shape& A, const Pose& X_WA, const Shape& B, const ProximityOptions& options) {
    try {
      (void)proximity(A, X_WA, B, {}, options, workspace);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  const auto expect = [&](const std::string& message, const char* start, const char* part) {
    EXPECT_EQ(message.rfind(start, 0), 0U) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Shape ball = Sphere{1};
  for (const NamedShape& named : all_shapes()) {
    if (has_core(named.shape)) continue;
    expect(error(named.shape, {}, ball, {}), "A: ", std::string(named.shape.type_name()).c_str());
    expect(error(ball, {}, named.shape, {}), "B: ", std::string(named.shape.type_name()).c_str());
  }
  expect(error(ball, at(nan, 0, 0), ball, {}), "X_WA.p: ", "finite");
  expect(error(ball, Pose(2.0 * Matrix3::Identity(), Vector3::Zero()), ball, {}), "X_WA.R: ", "rotation");
  expect(error(ball, {}, ball, {.tolerance = 0.0}), "options.tolerance: ", "1e-14");
  expect(error(ball, {}, ball, {.max_iterations = 0}), "options.max_iterations: ", "1");
  expect(error(ball, {}, ball, {.smoothing = 0.5}), "options.smoothing: ", "0.5");
  expect(error(ball, {}, ball, {.smoothing_length = -1.0}), "options.smoothing_length: ", "-1");
  expect(error(Box{{1, 1, 1}}, {}, ball, {.method = ProximityMethod::active_set}),
         "options.method: ", "spheres and capsules");
  expect(error(Capsule{1, 1}, {}, ball, {.method = ProximityMethod::active_set, .smoothing = 1e-3}),
         "options.method: ", "no smoothing");
  ProximityWorkspace unused;
  EXPECT_THROW((void)proximity_gradient(unused), InputError);
  EXPECT_EQ(to_string(ProximityStatus::solved), "solved");
}

TEST(Proximity, SaysWhenItRunsOutOfIterations) {
  ProximityWorkspace workspace;
  const Shape box = Box{{1, 1, 1}};
  const Pose X_WB(Random(2).rotation(), {1, 2, 3});
  const Proximity r = proximity(box, {}, box, X_WB, {.max_iterations = 2, .smoothing = 1e-6}, workspace);
  EXPECT_EQ(r.status, ProximityStatus::iteration_limit);
  EXPECT_EQ(r.iterations, 2);
  EXPECT_TRUE(std::isfinite(r.phi));
}

TEST(Proximity, NothingIsAllocatedAfterWarmUp) {
  ProximityWorkspace workspace;
  const std::vector<ShapePair>& pairs = core_pairs();
  std::vector<VectorX> gradients(2 * pairs.size());
  const auto all = [&] {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      for (const double smoothing : {0.0, 1e-3}) {
        (void)query(pairs[i], workspace, {.smoothing = smoothing});
        (void)proximity_gradient(workspace);
        (void)proximity_jacobian(workspace);
        proximity_parameter_gradient(workspace, gradients[2 * i], gradients[2 * i + 1]);
      }
    }
  };
  all();
  const AllocationCount count;
  all();
  EXPECT_EQ(count.so_far(), 0);
}

}  // namespace
}  // namespace tangere::test
