/// Laws of the minimum scaling, over every pair of the listed shapes and both routes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "tangere/geometry/support.hpp"
#include "tangere/math/random.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/proximity/scaling.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/shape_pairs.hpp"

namespace tangere::test {
namespace {

class ScalingLaws : public testing::TestWithParam<ScalingMethod> {
 protected:
  [[nodiscard]] static ScalingOptions standard() { return {.method = GetParam()}; }
  [[nodiscard]] static ScalingOptions tight() {
    return {.tolerance = 1e-12, .max_iterations = 100, .method = GetParam()};
  }
};

INSTANTIATE_TEST_SUITE_P(BothRoutes, ScalingLaws, testing::Values(ScalingMethod::conic, ScalingMethod::support),
                         [](const auto& method) { return std::string(to_string(method.param)); });

Scaling query(const ShapePair& pair, ScalingWorkspace& workspace, const ScalingOptions& options) {
  return scaling(pair.A, pair.X_WA, pair.B, pair.X_WB, options, workspace);
}

/// h(n) of a convex shape at X_WS about its centre, n in world axes.
double support_value(const Shape& shape, const Pose& X_WS, const Vector3& n) {
  const Vector3 direction = X_WS.R.transpose() * n;
  return direction.dot(support(shape, direction));
}

/// The same specification, k times as large.
Shape enlarged(const Shape& shape, double k);

struct Enlarge {
  double k;
  ShapeSpec operator()(const Sphere& s) const { return Sphere{k * s.radius}; }
  ShapeSpec operator()(const Ellipsoid& s) const {
    if (s.P) return Ellipsoid{.P = Matrix3(*s.P / (k * k))};
    return Ellipsoid{.semi_axes = k * s.semi_axes};
  }
  ShapeSpec operator()(const Box& s) const { return Box{k * s.size}; }
  ShapeSpec operator()(const Polytope& s) const { return Polytope{s.A, k * s.b}; }
  ShapeSpec operator()(const RoundedPolytope& s) const {
    return RoundedPolytope{{s.core.A, k * s.core.b}, k * s.radius};
  }
  ShapeSpec operator()(const Capsule& s) const { return Capsule{k * s.radius, k * s.length}; }
  ShapeSpec operator()(const Cylinder& s) const { return Cylinder{k * s.radius, k * s.length}; }
  ShapeSpec operator()(const Cone& s) const { return Cone{k * s.height, s.half_angle}; }
  ShapeSpec operator()(const PaddedPolygon& s) const { return PaddedPolygon{s.C, k * s.d, k * s.radius}; }
  ShapeSpec operator()(const HalfSpace& s) const { return HalfSpace{s.normal, k * s.offset}; }
  ShapeSpec operator()(const MinkowskiSum& s) const { return MinkowskiSum{parts(s.parts)}; }
  ShapeSpec operator()(const Bundle& s) const { return Bundle{parts(s.parts)}; }

  [[nodiscard]] std::vector<ShapePart> parts(const std::vector<ShapePart>& list) const {
    std::vector<ShapePart> out;
    for (const ShapePart& part : list) out.push_back({enlarged(part.shape, k), Pose(part.X.R, k * part.X.p)});
    return out;
  }
};

Shape enlarged(const Shape& shape, double k) { return {std::visit(Enlarge{k}, shape.spec())}; }

TEST_P(ScalingLaws, Swap) {
  ScalingWorkspace workspace;
  for (const ShapePair& pair : all_shape_pairs()) {
    SCOPED_TRACE(pair.name);
    const Scaling ab = query(pair, workspace, tight());
    const Vector12 g_ab = scaling_gradient(workspace);
    const Scaling ba = scaling(pair.B, pair.X_WB, pair.A, pair.X_WA, tight(), workspace);
    const Vector12 g_ba = scaling_gradient(workspace);
    ASSERT_EQ(ab.status, ScalingStatus::solved);
    ASSERT_EQ(ba.status, ScalingStatus::solved);
    EXPECT_NEAR(ab.alpha, ba.alpha, 1e-11 * ab.alpha);
    if (ab.method == ba.method) {
      EXPECT_EQ(ab.point_freedom, ba.point_freedom);
      EXPECT_EQ(ab.normal_freedom, ba.normal_freedom);
    }
    EXPECT_EQ(ab.part_A, ba.part_B);
    EXPECT_EQ(ab.part_B, ba.part_A);
    if (ab.point_freedom == 0 && ab.normal_freedom == 0) {
      Vector12 swapped;
      swapped << g_ba.tail<6>(), g_ba.head<6>();
      EXPECT_NEAR_RELATIVE(g_ab, swapped, 1e-6);
      EXPECT_NEAR_ABSOLUTE(ab.normal, Vector3(-ba.normal), 1e-6);
    }
  }
}

TEST_P(ScalingLaws, RigidMotion) {
  Random random(3);
  ScalingWorkspace workspace;
  for (const ShapePair& pair : all_shape_pairs()) {
    SCOPED_TRACE(pair.name);
    const Pose X(random.rotation(), 10.0 * random.normal3());
    const Scaling here = query(pair, workspace, tight());
    const Vector12 g = scaling_gradient(workspace);
    const Scaling there = scaling(pair.A, X * pair.X_WA, pair.B, X * pair.X_WB, tight(), workspace);
    const Vector12 moved = scaling_gradient(workspace);
    EXPECT_NEAR(here.alpha, there.alpha, 1e-11 * here.alpha);
    if (here.point_freedom == 0 && here.normal_freedom == 0) {
      EXPECT_NEAR_ABSOLUTE(Vector3(X * here.x), there.x, 1e-4);
      EXPECT_NEAR_ABSOLUTE(Vector3(X.R * here.normal), there.normal, 1e-6);
      Vector12 turned = g;
      turned.segment<3>(0) = X.R * g.segment<3>(0);
      turned.segment<3>(6) = X.R * g.segment<3>(6);
      EXPECT_NEAR_RELATIVE(turned, moved, 1e-6);
    }
  }
}

TEST_P(ScalingLaws, Scale) {
  ScalingWorkspace workspace;
  for (const double k : {1e-6, 1e-3, 1e3, 1e6}) {
    for (const ShapePair& pair : shape_pairs()) {
      SCOPED_TRACE(pair.name + " times " + std::to_string(k));
      const Scaling small = query(pair, workspace, tight());
      const Scaling large = scaling(enlarged(pair.A, k), Pose(pair.X_WA.R, k * pair.X_WA.p), enlarged(pair.B, k),
                                    Pose(pair.X_WB.R, k * pair.X_WB.p), tight(), workspace);
      ASSERT_EQ(large.status, ScalingStatus::solved);
      EXPECT_NEAR(small.alpha, large.alpha, 1e-11 * small.alpha);
      // (so tight that supports may leave one of them to the conic route)
      if (small.method == large.method) {
        EXPECT_EQ(small.point_freedom, large.point_freedom);
      }
      if (small.point_freedom == 0 && small.normal_freedom == 0) {
        EXPECT_NEAR_ABSOLUTE(small.normal, large.normal, 1e-6);
      }
    }
  }
}

TEST(ScalingRoutes, Agree) {
  ScalingWorkspace workspace;
  long asked = 0;
  for (const ShapePair& pair : all_shape_pairs()) {
    SCOPED_TRACE(pair.name);
    // cones are good to the root of their tolerance in what is not the value, supports to more at any
    const Scaling a =
        query(pair, workspace, {.tolerance = 1e-12, .max_iterations = 100, .method = ScalingMethod::conic});
    const Vector12 g = scaling_gradient(workspace);
    const Scaling b = query(pair, workspace, {.method = ScalingMethod::support});
    EXPECT_NEAR(a.alpha, b.alpha, 1.001e-8 * a.alpha);
    EXPECT_EQ(a.part_A, b.part_A);
    EXPECT_EQ(a.part_B, b.part_B);
    if (a.normal_freedom == 0) {
      EXPECT_NEAR_ABSOLUTE(a.normal, b.normal, 1e-6);
      if (a.point_freedom == 0) {
        EXPECT_NEAR_RELATIVE(g, scaling_gradient(workspace), 1e-6);
        const double size = (pair.X_WA.p - pair.X_WB.p).norm();
        EXPECT_NEAR_ABSOLUTE(a.x, b.x, 1e-6 * size);
        EXPECT_NEAR(a.center_line_gap, b.center_line_gap, 1e-6 * size * (1.0 + 1.0 / a.alpha));
      }
    }
    ++asked;
  }
  // supports certify nearly all of these on their own
  EXPECT_LE(workspace.num_fallbacks(), asked / 50);
}

TEST_P(ScalingLaws, ForcesAndTorquesBalance) {
  ScalingWorkspace workspace;
  for (const ShapePair& pair : all_shape_pairs()) {
    SCOPED_TRACE(pair.name);
    const Scaling r = query(pair, workspace, standard());
    const Vector12 g = scaling_gradient(workspace);
    const Vector3 f_A = g.segment<3>(0);
    const Vector3 f_B = g.segment<3>(6);
    EXPECT_NEAR_ABSOLUTE(f_A, Vector3(-f_B), 1e-12 * f_A.norm());
    // torques about the touching point
    const Vector3 torque_A = pair.X_WA.R * g.segment<3>(3) + (pair.X_WA.p - r.x).cross(f_A);
    const Vector3 torque_B = pair.X_WB.R * g.segment<3>(9) + (pair.X_WB.p - r.x).cross(f_B);
    const double lever = (pair.X_WA.p - r.x).norm() + (pair.X_WB.p - r.x).norm();
    EXPECT_NEAR_ABSOLUTE(torque_A, Vector3(-torque_B), 1e-9 * f_A.norm() * lever);
    // Euler: alpha is homogeneous of degree one in the distance of the centres
    if (pair.A.is_convex() && pair.B.is_convex() && !pair.A.is_half_space() && !pair.B.is_half_space()) {
      EXPECT_NEAR(r.alpha, (pair.X_WB.p - pair.X_WA.p).dot(f_B), 2e-8 * r.alpha);
    }
  }
}

TEST_P(ScalingLaws, OptimalityBySupportFunctions) {
  Random random(5);
  ScalingWorkspace workspace;
  for (const ShapePair& pair : all_shape_pairs()) {
    if (!pair.A.is_convex() || !pair.B.is_convex() || pair.A.is_half_space() || pair.B.is_half_space()) continue;
    SCOPED_TRACE(pair.name);
    const Scaling r = query(pair, workspace, standard());
    const Vector3 d = pair.X_WB.p - pair.X_WA.p;
    // dual: a certified lower bound from the normal alone
    const Vector3& n = r.normal;
    const double bound = n.dot(d) / (support_value(pair.A, pair.X_WA, n) + support_value(pair.B, pair.X_WB, -n));
    EXPECT_LE(bound, r.alpha * (1.0 + 1e-12));
    EXPECT_GE(bound, r.alpha * (1.0 - 3e-8));
    // primal: the witness points lie in their shapes, and are their farthest points along the normal
    const auto inside = [&](const Shape& shape, const Pose& X, const Vector3& p, const Vector3& outward) {
      // the gap is relative to the pair: alpha's error times the reach of both
      const double size = pair.A.set().outer_radius + pair.B.set().outer_radius;
      EXPECT_NEAR(outward.dot(p - X.p), support_value(shape, X, outward), 1e-7 * size);
      for (int k = 0; k < 200; ++k) {
        const Vector3 direction = (k % 2 == 0 ? random.unit_vector() : (outward + 0.1 * random.normal3()).normalized());
        EXPECT_LE(direction.dot(p - X.p), support_value(shape, X, direction) + 1e-9 * size);
      }
    };
    inside(pair.A, pair.X_WA, r.p_A, n);
    inside(pair.B, pair.X_WB, r.p_B, -n);
    // eq. 29 and 30
    EXPECT_NEAR_ABSOLUTE(r.p_A, Vector3(pair.X_WA.p + (r.x - pair.X_WA.p) / r.alpha), 1e-12 * (1.0 + r.x.norm()));
    EXPECT_NEAR(r.center_line_gap, d.norm() * (1.0 - 1.0 / r.alpha), 1e-9 * d.norm() * (1.0 + 1.0 / r.alpha));
  }
}

TEST_P(ScalingLaws, SmoothingMovesAlphaByTheGap) {
  ScalingWorkspace workspace;
  for (const ShapePair& pair : all_shape_pairs()) {
    SCOPED_TRACE(pair.name);
    const Scaling exact = query(pair, workspace, tight());
    double last = exact.alpha;
    for (const double kappa : {1e-8, 1e-6, 1e-4, 1e-3, 1e-2}) {
      const Scaling smooth = query(pair, workspace, {.tolerance = 1e-12, .max_iterations = 100, .smoothing = kappa});
      ASSERT_EQ(smooth.status, ScalingStatus::solved) << kappa;
      // alpha grows with kappa, by at most its duality gap
      EXPECT_GE(smooth.alpha, last * (1.0 - 1e-9)) << kappa;
      EXPECT_LE(smooth.alpha * (1.0 - smooth.gap), exact.alpha * (1.0 + 1e-9)) << kappa;
      last = smooth.alpha;
    }
  }
}

TEST_P(ScalingLaws, CapsuleContainsCylinder) {
  Random random(6);
  ScalingWorkspace workspace;
  const Shape capsule = Capsule{.radius = 0.4, .length = 1.1};
  const Shape cylinder = Cylinder{.radius = 0.4, .length = 1.1};
  for (const ShapePair& pair : shape_pairs()) {
    SCOPED_TRACE(pair.name);
    const Scaling larger = scaling(capsule, pair.X_WA, pair.B, pair.X_WB, tight(), workspace);
    const Scaling smaller = scaling(cylinder, pair.X_WA, pair.B, pair.X_WB, tight(), workspace);
    EXPECT_LE(larger.alpha, smaller.alpha * (1.0 + 1e-11));
  }
}

TEST_P(ScalingLaws, ClosedForms) {
  Random random(7);
  ScalingWorkspace workspace;
  for (int trial = 0; trial < 200; ++trial) {
    const Pose X_WA(random.rotation(), random.normal3());
    const Vector3 d = random.unit_vector() * random.log_uniform(1e-3, 1e3);
    const double r1 = random.log_uniform(0.01, 10.0);
    const double r2 = random.log_uniform(0.01, 10.0);
    // two spheres
    const Scaling spheres =
        scaling(Sphere{r1}, X_WA, Sphere{r2}, Pose(random.rotation(), X_WA.p + d), tight(), workspace);
    EXPECT_NEAR(spheres.alpha, d.norm() / (r1 + r2), 1e-11 * spheres.alpha);
    EXPECT_NEAR_ABSOLUTE(spheres.normal, d.normalized(), 1e-8);
    EXPECT_NEAR_RELATIVE(spheres.p_A - X_WA.p, Vector3(r1 * d.normalized()), 1e-8);
    // two boxes with the same attitude
    const Vector3 size1(random.uniform(0.1, 2), random.uniform(0.1, 2), random.uniform(0.1, 2));
    const Vector3 size2(random.uniform(0.1, 2), random.uniform(0.1, 2), random.uniform(0.1, 2));
    const Vector3 local = X_WA.R.transpose() * d;
    const Scaling boxes = scaling(Box{size1}, X_WA, Box{size2}, Pose(X_WA.R, X_WA.p + d), tight(), workspace);
    EXPECT_NEAR(boxes.alpha, (2.0 * local.array().abs() / (size1 + size2).array()).maxCoeff(), 1e-11 * boxes.alpha);
    // a sphere before a face of a box
    const double distance = random.uniform(0.5, 5.0);
    const Scaling face = scaling(Box{size1}, X_WA, Sphere{r2}, Pose(random.rotation(), X_WA * Vector3(0, 0, distance)),
                                 tight(), workspace);
    EXPECT_NEAR(face.alpha, distance / (r2 + size1.z() / 2), 1e-11 * face.alpha);
    // a sphere above a plane that is not through the origin of its frame
    const double offset = random.uniform(-1.0, 1.0);
    const Scaling plane = scaling(HalfSpace{.normal = {0, 0, 2}, .offset = 2 * offset}, X_WA, Sphere{r2},
                                  Pose(random.rotation(), X_WA * Vector3(1, 2, offset + distance)), tight(), workspace);
    EXPECT_NEAR(plane.alpha, distance / r2, 1e-11 * plane.alpha);
    EXPECT_NEAR_ABSOLUTE(plane.p_A, Vector3(X_WA * Vector3(1, 2, offset)), 1e-7 * distance);
    EXPECT_NEAR(plane.center_line_gap, distance - r2, 1e-8 * (distance + r2));
  }
}

}  // namespace
}  // namespace tangere::test
