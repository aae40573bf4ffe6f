/// All derivatives of the proximity against finite differences of the query itself, over all pairs of shapes that have
/// a core.

#include "tangere/proximity/proximity_derivatives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tangere/math/random.hpp"
#include "tests/support/core_pairs.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere::test {
namespace {

constexpr double kSmoothings[] = {1e-2, 1e-4, 1e-6};

ProximityOptions smoothed(double smoothing) { return {.smoothing = smoothing, .smoothing_length = 1.5}; }

Pose moved(const Pose& X, const VectorX& tangent, int at) { return X.perturbed(Vector6(tangent.segment<6>(at))); }

class ProximityDerivatives : public testing::TestWithParam<ShapePair> {
 protected:
  ProximityWorkspace workspace_;

  static Proximity query(const VectorX& tangent, const ProximityOptions& options, ProximityWorkspace& workspace) {
    const ShapePair& pair = GetParam();
    return proximity(pair.A, moved(pair.X_WA, tangent, 0), pair.B, moved(pair.X_WB, tangent, 6), options, workspace);
  }
  Proximity query(const ProximityOptions& options) { return query(VectorX::Zero(12), options, workspace_); }

  static double size() { return GetParam().A.set().outer_radius + GetParam().B.set().outer_radius; }
};

TEST_P(ProximityDerivatives, GradientOfPhi) {
  ProximityWorkspace other;
  for (const double kappa : {0.0, 1e-2, 1e-4, 1e-6}) {
    SCOPED_TRACE(kappa);
    const Proximity r = query(smoothed(kappa));
    ASSERT_EQ(r.status, ProximityStatus::solved);
    const Vector12 g = proximity_gradient(workspace_);
    const Difference reference = difference(
        [&](const VectorX& t) -> VectorX { return VectorX::Constant(1, query(t, smoothed(kappa), other).phi); }, 12, 1,
        {.scale = kappa > 0.0 ? 1e-2 * std::sqrt(kappa) : 1e-3, .noise = 1e-13});
    const VectorX expected = reference.jacobian.row(0);
    const double blur = reference.error.maxCoeff();
    ASSERT_LE(blur, 1e-4 * size());
    EXPECT_NEAR_ABSOLUTE(g, expected, 1e-7 * std::max(expected.cwiseAbs().maxCoeff(), 0.1 * size()) + 2.0 * blur);
  }
}

VectorX points_of(const Proximity& r) {
  VectorX v(15);
  v << r.c_A, r.c_B, r.p_A, r.p_B, r.normal;
  return v;
}

MatrixX points_of(const ProximityJacobian& J) {
  MatrixX M(15, 12);
  M << J.c_A, J.c_B, J.p_A, J.p_B, J.normal;
  return M;
}

TEST_P(ProximityDerivatives, JacobianWithSmoothing) {
  ProximityWorkspace other;
  for (const double kappa : kSmoothings) {
    SCOPED_TRACE(kappa);
    const Proximity r = query(smoothed(kappa));
    ASSERT_EQ(r.status, ProximityStatus::solved);
    const ProximityJacobian J = proximity_jacobian(workspace_);
    // deep inside each other the smoothed points may nearly meet, and the normal then turns at once
    if (r.core_distance < 1e-2 * size()) continue;
    EXPECT_TRUE(J.unique);
    const MatrixX expected = difference([&](const VectorX& t) { return points_of(query(t, smoothed(kappa), other)); },
                                        12, 15, {.scale = 1e-2 * std::sqrt(kappa), .noise = 1e-13})
                                 .jacobian;
    EXPECT_NEAR_RELATIVE(points_of(J), expected, 1e-5);
  }
}

TEST_P(ProximityDerivatives, JacobianOfTheExactPoints) {
  const Proximity r = query({});
  const ProximityJacobian J = proximity_jacobian(workspace_);
  EXPECT_EQ(J.unique, r.point_freedom == 0 && !r.crossing);
  EXPECT_TRUE(points_of(J).allFinite());
  if (!J.unique) return;
  ProximityWorkspace other;
  const Difference reference = difference([&](const VectorX& t) { return points_of(query(t, {}, other)); }, 12, 15,
                                          {.scale = 1e-5, .noise = 1e-14, .num_steps = 5});
  EXPECT_NEAR_RELATIVE(points_of(J), reference.jacobian, 1e-5);
}

TEST_P(ProximityDerivatives, Parameters) {
  const ShapePair& pair = GetParam();
  ProximityWorkspace other;
  Random random(3);
  for (const double kappa : {0.0, 1e-3, 1e-5}) {
    SCOPED_TRACE(kappa);
    const Proximity r = query(smoothed(kappa));
    ASSERT_EQ(r.status, ProximityStatus::solved);
    VectorX d_A;
    VectorX d_B;
    proximity_parameter_gradient(workspace_, d_A, d_B);
    const auto check = [&](const Shape& shape, bool first, const VectorX& actual) {
      SCOPED_TRACE(first ? "A" : "B");
      // along a few random directions, each parameter in units of its own size
      const VectorX theta = shape.parameters();
      const MatrixX directions = theta.cwiseAbs().cwiseMax(0.1).asDiagonal() *
                                 MatrixX::NullaryExpr(theta.size(), 3, [&] { return random.uniform(-1.0, 1.0); });
      const Difference reference = difference(
          [&](const VectorX& t) -> VectorX {
            const Shape changed = shape.with_parameters(theta + directions * t);
            const Proximity p = first ? proximity(changed, pair.X_WA, pair.B, pair.X_WB, smoothed(kappa), other)
                                      : proximity(pair.A, pair.X_WA, changed, pair.X_WB, smoothed(kappa), other);
            return VectorX::Constant(1, p.phi);
          },
          3, 1, {.scale = kappa > 0.0 ? 1e-2 * std::sqrt(kappa) : 1e-4, .noise = 1e-13, .num_steps = 6});
      const VectorX expected = reference.jacobian.row(0);
      const double scale = std::max(expected.cwiseAbs().maxCoeff(), 0.1 * size() * size());
      ASSERT_LE(reference.error.maxCoeff(), 1e-4 * scale);
      EXPECT_NEAR_ABSOLUTE(VectorX(directions.transpose() * actual), expected,
                           1e-6 * scale + 2.0 * reference.error.maxCoeff());
    };
    check(pair.A, true, d_A);
    check(pair.B, false, d_B);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ProximityDerivatives, testing::ValuesIn(core_pairs()),
                         [](const auto& instance) { return instance.param.name; });

TEST(ProximityDerivativesSingle, BothSolversAgree) {
  Random random(1);
  ProximityWorkspace active;
  ProximityWorkspace interior;
  for (int trial = 0; trial < 500; ++trial) {
    const Capsule A{.radius = 0.3, .length = random.uniform(0.1, 3.0)};
    const Capsule B{.radius = 0.2, .length = random.uniform(0.1, 3.0)};
    const Pose X_WA(random.rotation(), random.normal3());
    const Pose X_WB(random.rotation(), 2.0 * random.normal3());
    (void)proximity(A, X_WA, B, X_WB, {.method = ProximityMethod::active_set}, active);
    (void)proximity(A, X_WA, B, X_WB, {.method = ProximityMethod::interior_point}, interior);
    EXPECT_NEAR_RELATIVE(proximity_gradient(active), proximity_gradient(interior), 1e-9);
    EXPECT_NEAR_RELATIVE(points_of(proximity_jacobian(active)), points_of(proximity_jacobian(interior)), 1e-7);
  }
}

TEST(ProximityDerivativesSingle, QuaternionForm) {
  ProximityWorkspace workspace;
  ProximityWorkspace other;
  Random random(2);
  const Shape A = Capsule{.radius = 0.3, .length = 2.0};
  const Shape B = Box{{1, 2, 0.5}};
  const Pose X_WA(random.rotation(), random.normal3());
  const Pose X_WB(random.rotation(), Vector3(3, 3, 1));
  (void)proximity(A, X_WA, B, X_WB, {}, workspace);
  const Vector14 g = proximity_quaternion_gradient(workspace);
  // φ as a function of positions and of quaternions normalised
  const VectorX expected = finite_difference_gradient(
      [&](const VectorX& t) {
        const auto pose = [&](const Pose& X, int at) {
          const Vector4 q = (X.quaternion() + t.segment<4>(at + 3)).normalized();
          return Pose::from_quaternion(X.p + t.segment<3>(at), q[0], q[1], q[2], q[3]);
        };
        return proximity(A, pose(X_WA, 0), B, pose(X_WB, 7), {}, other).phi;
      },
      14, 1e-3);
  EXPECT_NEAR_RELATIVE(g, expected, 1e-7);
}

}  // namespace
}  // namespace tangere::test
