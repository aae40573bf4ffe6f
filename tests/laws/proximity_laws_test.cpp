/// Laws of the proximity over all pairs of shapes that have a core.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tangere/geometry/support.hpp"
#include "tangere/math/random.hpp"
#include "tangere/proximity/proximity_derivatives.hpp"
#include "tests/support/core_pairs.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere::test {
namespace {

constexpr ProximityOptions kInteriorPoint{.method = ProximityMethod::interior_point};

Proximity query(const ShapePair& pair, ProximityWorkspace& workspace, const ProximityOptions& options = {}) {
  return proximity(pair.A, pair.X_WA, pair.B, pair.X_WB, options, workspace);
}

double size_of(const ShapePair& pair) { return pair.A.set().outer_radius + pair.B.set().outer_radius; }

/// The same shape, k times as large: lengths are all parameters but the faces' normals.
Shape enlarged(const Shape& shape, double k) {
  VectorX theta = shape.parameters();
  for (Eigen::Index i = 0; i < theta.size(); ++i) {
    const char first = shape.parameter_names()[i][0];
    if (first != 'A' && first != 'C') theta[i] *= k;
  }
  return shape.with_parameters(theta);
}

TEST(ProximityLaws, Swap) {
  ProximityWorkspace workspace;
  for (const ShapePair& pair : core_pairs()) {
    SCOPED_TRACE(pair.name);
    const Proximity ab = query(pair, workspace);
    const Vector12 g_ab = proximity_gradient(workspace);
    const Proximity ba = proximity(pair.B, pair.X_WB, pair.A, pair.X_WA, {}, workspace);
    const Vector12 g_ba = proximity_gradient(workspace);
    const double size = size_of(pair);
    ASSERT_EQ(ab.status, ProximityStatus::solved);
    ASSERT_EQ(ba.status, ProximityStatus::solved);
    EXPECT_NEAR(ab.phi, ba.phi, 1e-12 * size * size);
    EXPECT_EQ(ab.crossing, ba.crossing);
    EXPECT_EQ(ab.point_freedom, ba.point_freedom);
    Vector12 swapped;
    swapped << g_ba.tail<6>(), g_ba.head<6>();
    EXPECT_NEAR_ABSOLUTE(g_ab, swapped, 1e-10 * size);
    if (ab.point_freedom == 0) {
      EXPECT_NEAR_ABSOLUTE(ab.c_A, ba.c_B, 1e-9 * size);
    }
    EXPECT_NEAR_ABSOLUTE(ab.normal, Vector3(-ba.normal), 1e-9);
  }
}

TEST(ProximityLaws, RigidMotion) {
  Random random(3);
  ProximityWorkspace workspace;
  for (const ShapePair& pair : core_pairs()) {
    SCOPED_TRACE(pair.name);
    const double size = size_of(pair);
    // far away, but not so far that the rounding of positions is more than the bounds below
    const Pose X{random.rotation(), 10.0 * size * random.normal3()};
    const Proximity here = query(pair, workspace);
    const Vector12 g = proximity_gradient(workspace);
    const Proximity there = proximity(pair.A, X * pair.X_WA, pair.B, X * pair.X_WB, {}, workspace);
    const Vector12 moved = proximity_gradient(workspace);
    EXPECT_NEAR(here.phi, there.phi, 1e-11 * size * size);
    Vector12 turned = g;
    turned.segment<3>(0) = X.R * g.segment<3>(0);
    turned.segment<3>(6) = X.R * g.segment<3>(6);
    EXPECT_NEAR_ABSOLUTE(turned, moved, 1e-8 * size);
    if (here.point_freedom == 0) {
      EXPECT_NEAR_ABSOLUTE(Vector3(X * here.c_A), there.c_A, 1e-8 * size);
    }
    EXPECT_NEAR_ABSOLUTE(Vector3(X.R * here.normal), there.normal, 1e-8);
  }
}

TEST(ProximityLaws, Scale) {
  ProximityWorkspace workspace;
  for (const double k : {1e-6, 1e-3, 1e3, 1e6}) {
    for (const ShapePair& pair : core_pairs()) {
      SCOPED_TRACE(pair.name + " times " + std::to_string(k));
      const Proximity small = query(pair, workspace);
      const Proximity large = proximity(enlarged(pair.A, k), Pose(pair.X_WA.R, k * pair.X_WA.p), enlarged(pair.B, k),
                                        Pose(pair.X_WB.R, k * pair.X_WB.p), {}, workspace);
      ASSERT_EQ(large.status, ProximityStatus::solved);
      EXPECT_NEAR(large.phi, k * k * small.phi, 1e-11 * std::pow(k * size_of(pair), 2));
      EXPECT_EQ(large.crossing, small.crossing);
      EXPECT_EQ(large.point_freedom, small.point_freedom);
      EXPECT_NEAR_ABSOLUTE(large.normal, small.normal, 1e-8);
    }
  }
}

TEST(ProximityLaws, SignIsThatOfTheScaling) {
  ProximityWorkspace workspace;
  ScalingWorkspace scaling_workspace;
  for (const ShapePair& pair : core_pairs()) {
    SCOPED_TRACE(pair.name);
    const Proximity r = query(pair, workspace);
    const double alpha = scaling(pair.A, pair.X_WA, pair.B, pair.X_WB, {}, scaling_workspace).alpha;
    // two solid cores that overlap have no padding: φ = 0 there, not negative
    const double padding = (r.p_A - r.c_A).norm() + (r.p_B - r.c_B).norm();
    if (r.crossing && padding == 0.0) {
      EXPECT_LT(alpha, 1.0);
      EXPECT_EQ(r.phi, 0.0);
    } else if (std::abs(alpha - 1.0) > 1e-6) {
      EXPECT_EQ(r.phi < 0.0, alpha < 1.0) << r.phi << " " << alpha;
    }
  }
}

/// Closest points are in their cores, and the plane across the normal separates the cores: together they prove the
/// distance.
TEST(ProximityLaws, OptimalityBySupportFunctions) {
  Random random(5);
  ProximityWorkspace workspace;
  for (const ProximityOptions& options : {ProximityOptions{}, kInteriorPoint}) {
    for (const ShapePair& pair : core_pairs()) {
      SCOPED_TRACE(pair.name);
      const Proximity r = query(pair, workspace, options);
      const double size = size_of(pair);
      const auto reach = [](const Shape& shape, const Pose& X, const Vector3& n) {
        const Vector3 direction = X.R.transpose() * n;
        return n.dot(X.p) + direction.dot(support(shape, direction));
      };
      EXPECT_NEAR(r.phi, std::pow(r.core_distance, 2) - std::pow((r.p_A - r.c_A).norm() + (r.p_B - r.c_B).norm(), 2),
                  1e-12 * size * size);
      for (int k = 0; k < 100; ++k) {
        const Vector3 n = random.unit_vector();
        EXPECT_LE(n.dot(r.p_A), reach(pair.A, pair.X_WA, n) + 1e-11 * size);
        EXPECT_LE(n.dot(r.p_B), reach(pair.B, pair.X_WB, n) + 1e-11 * size);
      }
      if (r.crossing) {
        EXPECT_NEAR_ABSOLUTE(r.c_A, r.c_B, 1e-11 * size);
        continue;
      }
      EXPECT_NEAR_ABSOLUTE(r.normal, Vector3((r.c_B - r.c_A) / r.core_distance), 1e-12 * size / r.core_distance);
      EXPECT_NEAR(r.normal.dot(r.p_A), reach(pair.A, pair.X_WA, r.normal), 1e-9 * size);
      EXPECT_NEAR(-r.normal.dot(r.p_B), reach(pair.B, pair.X_WB, -r.normal), 1e-9 * size);
    }
  }
}

TEST(ProximityLaws, SmoothingNearsTheExactAnswer) {
  ProximityWorkspace workspace;
  for (const ShapePair& pair : core_pairs()) {
    SCOPED_TRACE(pair.name);
    const Proximity exact = query(pair, workspace);
    const double size = size_of(pair);
    double last = exact.phi;
    for (const double kappa : {1e-10, 1e-8, 1e-6, 1e-4, 1e-2}) {
      const Proximity smooth = query(pair, workspace, {.smoothing = kappa});
      ASSERT_EQ(smooth.status, ProximityStatus::solved) << kappa;
      EXPECT_EQ(smooth.point_freedom, 0);
      const double rows = pair.A.set().rows.num_orthant() + pair.B.set().rows.num_orthant();
      // φ grows with κ, by at most twice the duality gap
      EXPECT_GE(smooth.phi, last - 1e-11 * size * size) << kappa;
      EXPECT_LE(smooth.phi, exact.phi + 2.0 * kappa * size * size * rows + 1e-11 * size * size) << kappa;
      last = smooth.phi;
    }
  }
}

}  // namespace
}  // namespace tangere::test
