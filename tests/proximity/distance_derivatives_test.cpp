/// All derivatives of the signed distance against finite differences of the query itself, over all pairs of shapes.

#include <cmath>

#include "tangere/proximity/distance.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/shape_pairs.hpp"

namespace tangere::test {
namespace {

constexpr DistanceOptions kTight{.tolerance = 1e-12};

Pose moved(const Pose& X, const VectorX& tangent, int at) { return X.perturbed(Vector6(tangent.segment<6>(at))); }

class DistanceDerivatives : public testing::TestWithParam<ShapePair> {
 protected:
  DistanceWorkspace workspace_;
  DistanceWorkspace other_;

  Distance query(const VectorX& tangent) {
    const ShapePair& pair = GetParam();
    return distance(pair.A, moved(pair.X_WA, tangent, 0), pair.B, moved(pair.X_WB, tangent, 6), kTight, other_);
  }
};

TEST_P(DistanceDerivatives, Gradient) {
  const ShapePair& pair = GetParam();
  (void)distance(pair.A, pair.X_WA, pair.B, pair.X_WB, kTight, workspace_);
  const Difference reference =
      difference([&](const VectorX& t) -> VectorX { return VectorX::Constant(1, query(t).distance); }, 12, 1,
                 {.scale = 1e-4, .noise = 1e-13});
  const double blur = reference.error.maxCoeff();
  const VectorX expected = reference.jacobian.row(0);
  ASSERT_LE(blur, 1e-5 * expected.norm());
  EXPECT_NEAR_ABSOLUTE(distance_gradient(workspace_), expected, 1e-7 * expected.cwiseAbs().maxCoeff() + 2.0 * blur);
}

TEST_P(DistanceDerivatives, Jacobian) {
  const ShapePair& pair = GetParam();
  (void)distance(pair.A, pair.X_WA, pair.B, pair.X_WB, kTight, workspace_);
  const DistanceJacobian J = distance_jacobian(workspace_);
  if (!J.exists) {
    EXPECT_TRUE(std::isnan(J.p_A(0, 0)));
    return;
  }
  const Difference reference = difference(
      [&](const VectorX& t) -> VectorX {
        const Distance s = query(t);
        VectorX v(9);
        v << s.p_A, s.p_B, s.normal;
        return v;
      },
      12, 9, {.scale = 1e-4, .noise = 1e-12});
  // a difference across a nearby change of features knows its own error
  if (reference.error.maxCoeff() > 1e-3 * reference.jacobian.cwiseAbs().maxCoeff()) return;
  MatrixX actual(9, 12);
  actual << J.p_A, J.p_B, J.normal;
  const double size = reference.jacobian.cwiseAbs().maxCoeff();
  EXPECT_NEAR_ABSOLUTE(actual, reference.jacobian, 1e-6 * size + 2.0 * reference.error.maxCoeff());
}

TEST_P(DistanceDerivatives, Parameters) {
  const ShapePair& pair = GetParam();
  (void)distance(pair.A, pair.X_WA, pair.B, pair.X_WB, kTight, workspace_);
  VectorX d_A;
  VectorX d_B;
  distance_parameter_gradient(workspace_, d_A, d_B);
  const auto along = [&](const Shape& shape, bool first) {
    const VectorX theta = shape.parameters();
    const VectorX unit = theta.cwiseAbs().cwiseMax(0.1);
    VectorX g = difference(
                    [&](const VectorX& t) -> VectorX {
                      const Shape changed = shape.with_parameters(theta + unit.cwiseProduct(t));
                      return VectorX::Constant(
                          1, first ? distance(changed, pair.X_WA, pair.B, pair.X_WB, kTight, other_).distance
                                   : distance(pair.A, pair.X_WA, changed, pair.X_WB, kTight, other_).distance);
                    },
                    static_cast<int>(theta.size()), 1, {.scale = 1e-4, .noise = 1e-13})
                    .jacobian.row(0)
                    .transpose();
    return VectorX(g.cwiseQuotient(unit));
  };
  EXPECT_NEAR_RELATIVE(d_A, along(pair.A, true), 1e-6);
  EXPECT_NEAR_RELATIVE(d_B, along(pair.B, false), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(AllPairs, DistanceDerivatives, testing::ValuesIn(shape_pairs()),
                         [](const auto& pair) { return pair.param.name; });

}  // namespace
}  // namespace tangere::test
