/// All derivatives of the minimum scaling against finite differences of the query itself, over all pairs of shapes.

#include "tangere/proximity/scaling_derivatives.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/all_shapes.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/shape_pairs.hpp"

namespace tangere::test {
namespace {

constexpr double kSmoothings[] = {1e-2, 1e-3, 1e-4, 1e-6};

ScalingOptions tight(double smoothing = 0.0) {
  return {.tolerance = 1e-12, .max_iterations = 100, .smoothing = smoothing};
}

/// Steps of the pose tangents in units of the pair: lengths in metres, angles in radians.
Pose moved(const Pose& X, const VectorX& tangent, int at) { return X.perturbed(Vector6(tangent.segment<6>(at))); }

class ScalingDerivatives : public testing::TestWithParam<ShapePair> {
 protected:
  ScalingWorkspace workspace_;

  Scaling query(const VectorX& tangent, const ScalingOptions& options, ScalingWorkspace& workspace) const {
    const ShapePair& pair = GetParam();
    return scaling(pair.A, moved(pair.X_WA, tangent, 0), pair.B, moved(pair.X_WB, tangent, 6), options, workspace);
  }
};

TEST_P(ScalingDerivatives, GradientOfAlpha) {
  const ShapePair& pair = GetParam();
  ScalingWorkspace other;
  const Difference reference =
      difference([&](const VectorX& t) -> VectorX { return VectorX::Constant(1, query(t, tight(), other).alpha); }, 12,
                 1, {.scale = 1e-3, .noise = 1e-13});
  const VectorX expected = reference.jacobian.row(0);
  // a difference across a nearby change of features knows its own error
  const double blur = reference.error.maxCoeff();
  ASSERT_LE(blur, 1e-5 * expected.norm());
  for (const ScalingMethod method : {ScalingMethod::conic, ScalingMethod::support}) {
    SCOPED_TRACE(to_string(method));
    const Scaling r = scaling(pair.A, pair.X_WA, pair.B, pair.X_WB, {.tolerance = 1e-10, .method = method}, workspace_);
    ASSERT_EQ(r.status, ScalingStatus::solved);
    EXPECT_NEAR_ABSOLUTE(scaling_gradient(workspace_), expected, 1e-7 * expected.cwiseAbs().maxCoeff() + 2.0 * blur);
    // at the default tolerance: as good as the gap times the conditioning of the pair
    (void)scaling(pair.A, pair.X_WA, pair.B, pair.X_WB, {.method = method}, workspace_);
    EXPECT_NEAR_ABSOLUTE(scaling_gradient(workspace_), expected, 1e-5 * expected.cwiseAbs().maxCoeff() + 2.0 * blur);
  }
}

TEST_P(ScalingDerivatives, JacobianWithSmoothing) {
  const ShapePair& pair = GetParam();
  ScalingWorkspace other;
  for (const double kappa : kSmoothings) {
    SCOPED_TRACE(kappa);
    const Scaling r = scaling(pair.A, pair.X_WA, pair.B, pair.X_WB, tight(kappa), workspace_);
    ASSERT_EQ(r.status, ScalingStatus::solved);
    const ScalingJacobian J = scaling_jacobian(workspace_);
    MatrixX actual(10, 12);
    actual << J.x_alpha, J.p_A, J.p_B;
    const MatrixX expected = difference(
                                 [&](const VectorX& t) -> VectorX {
                                   const Scaling s = query(t, tight(kappa), other);
                                   VectorX v(10);
                                   v << s.x, s.alpha, s.p_A, s.p_B;
                                   return v;
                                 },
                                 12, 10, {.scale = 1e-3 * std::sqrt(kappa / 1e-2), .noise = 1e-13})
                                 .jacobian;
    EXPECT_NEAR_RELATIVE(actual, expected, 1e-6);
    EXPECT_NEAR_RELATIVE(scaling_gradient(workspace_), expected.row(3).transpose(), 1e-6);
  }
}

TEST_P(ScalingDerivatives, JacobianOfTheExactPoint) {
  const ShapePair& pair = GetParam();
  const Scaling r = scaling(pair.A, pair.X_WA, pair.B, pair.X_WB, {.method = ScalingMethod::conic}, workspace_);
  ASSERT_EQ(r.status, ScalingStatus::solved);
  const ScalingJacobian J = scaling_jacobian(workspace_);
  EXPECT_EQ(J.unique, r.point_freedom == 0 && r.normal_freedom == 0);
  // after a query by supports: the same, from a conic solve of its own
  (void)scaling(pair.A, pair.X_WA, pair.B, pair.X_WB, {.method = ScalingMethod::support}, workspace_);
  const ScalingJacobian later = scaling_jacobian(workspace_);
  EXPECT_EQ(later.unique, J.unique);
  EXPECT_EQ(later.x_alpha.topRows<3>(), J.x_alpha.topRows<3>());
  EXPECT_EQ(Vector12(later.x_alpha.row(3)), scaling_gradient(workspace_));
  if (!J.unique) return;
  MatrixX actual(10, 12);
  actual << J.x_alpha, J.p_A, J.p_B;
  ScalingWorkspace other;
  const MatrixX expected = difference(
                               [&](const VectorX& t) -> VectorX {
                                 const Scaling s = query(t, tight(), other);
                                 VectorX v(10);
                                 v << s.x, s.alpha, s.p_A, s.p_B;
                                 return v;
                               },
                               12, 10, {.scale = 2e-5, .noise = 1e-12, .num_steps = 4})
                               .jacobian;
  EXPECT_NEAR_RELATIVE(actual, expected, 1e-4);
}

TEST_P(ScalingDerivatives, Parameters) {
  const ShapePair& pair = GetParam();
  ScalingWorkspace other;
  for (const double kappa : {0.0, 1e-3, 1e-5}) {
    SCOPED_TRACE(kappa);
    const Scaling r = scaling(pair.A, pair.X_WA, pair.B, pair.X_WB, tight(kappa), workspace_);
    ASSERT_EQ(r.status, ScalingStatus::solved);
    VectorX d_A;
    VectorX d_B;
    scaling_parameter_gradient(workspace_, d_A, d_B);
    Matrix4X D_A;
    Matrix4X D_B;
    scaling_parameter_jacobian(workspace_, D_A, D_B);
    const auto along = [&](const Shape& shape, bool first) {
      const VectorX theta = shape.parameters();
      // each parameter in units of its own size
      const VectorX unit = theta.cwiseAbs().cwiseMax(0.1);
      MatrixX J = difference(
                      [&](const VectorX& t) -> VectorX {
                        const Shape changed = shape.with_parameters(theta + unit.cwiseProduct(t));
                        const Scaling s = first ? scaling(changed, pair.X_WA, pair.B, pair.X_WB, tight(kappa), other)
                                                : scaling(pair.A, pair.X_WA, changed, pair.X_WB, tight(kappa), other);
                        VectorX v(4);
                        v << s.x, s.alpha;
                        return v;
                      },
                      static_cast<int>(theta.size()), 4,
                      {.scale = 1e-3 * (kappa > 0.0 ? std::sqrt(kappa / 1e-2) : 1.0), .noise = 1e-13})
                      .jacobian;
      for (Eigen::Index k = 0; k < theta.size(); ++k) J.col(k) /= unit[k];
      return J;
    };
    const MatrixX E_A = along(pair.A, true);
    const MatrixX E_B = along(pair.B, false);
    EXPECT_NEAR_RELATIVE(d_A, E_A.row(3).transpose(), 1e-6);
    EXPECT_NEAR_RELATIVE(d_B, E_B.row(3).transpose(), 1e-6);
    if (kappa > 0.0) {
      EXPECT_NEAR_RELATIVE(D_A, E_A, 1e-6);
      EXPECT_NEAR_RELATIVE(D_B, E_B, 1e-6);
    }
  }
}

TEST_P(ScalingDerivatives, QuaternionForm) {
  const ShapePair& pair = GetParam();
  (void)scaling(pair.A, pair.X_WA, pair.B, pair.X_WB, tight(), workspace_);
  const Vector12 g = scaling_gradient(workspace_);
  const Vector14 q = quaternion_form(g, pair.X_WA, pair.X_WB);
  // a turn of A by φ changes its quaternion by q (φ/2, 0)
  const Vector4 quaternion = pair.X_WA.quaternion();
  const Eigen::Quaterniond Q(quaternion[3], quaternion[0], quaternion[1], quaternion[2]);
  for (int i = 0; i < 3; ++i) {
    const Vector3 axis = Vector3::Unit(i);
    const Eigen::Quaterniond dq = Q * Eigen::Quaterniond(0.0, axis[0] / 2, axis[1] / 2, axis[2] / 2);
    EXPECT_NEAR(q.segment<4>(3).dot(dq.coeffs()), g[3 + i], 1e-12 * (1.0 + g.norm()));
  }
  // along the quaternion itself nothing changes
  EXPECT_NEAR(q.segment<4>(3).dot(quaternion), 0.0, 1e-12 * (1.0 + g.norm()));
}

/// Sums of sums and curved parts, and many faces, against one shape of each type.
std::vector<ShapePair> intricate_pairs() {
  std::vector<ShapePair> selected;
  for (const char* intricate : {"curved_sum", "nested_sum", "padded_sum", "unnormalised_polytope"}) {
    for (const char* other : {"sphere", "ellipsoid", "box", "polytope", "rounded_cube", "capsule", "cylinder", "cone",
                              "padded_polygon", "halfspace"}) {
      for (const ShapePair& pair : all_shape_pairs()) {
        const std::string a = std::string(intricate) + "_" + other;
        const std::string b = std::string(other) + "_" + intricate;
        if (pair.name == a || pair.name == b) selected.push_back(pair);
      }
    }
  }
  return selected;
}

INSTANTIATE_TEST_SUITE_P(IntricatePairs, ScalingDerivatives, testing::ValuesIn(intricate_pairs()),
                         [](const auto& pair) { return pair.param.name; });
INSTANTIATE_TEST_SUITE_P(AllPairs, ScalingDerivatives, testing::ValuesIn(shape_pairs()),
                         [](const auto& pair) { return pair.param.name; });

}  // namespace
}  // namespace tangere::test
