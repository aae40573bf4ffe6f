/// The minimum scaling against answers that nobody here computed: CVXOPT's conelp with rigorous bounds
/// (tests/oracles/cvxopt_scaling.py), and degenerate cases with exact answers (tests/oracles/degenerate_scaling.py).

#include <algorithm>
#include <cmath>

#include "tangere/proximity/scaling.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"
#include "tests/support/query_fixture.hpp"

namespace tangere::test {
namespace {

TEST(ScalingOracle, AgreesWithCvxopt) {
  const std::vector<FixturePair> pairs = read_fixture("cvxopt_scaling.jsonl");
  ASSERT_GE(pairs.size(), 2000U);
  ScalingWorkspace workspace;
  double worst = 0.0;
  double worst_gradient = 0.0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const FixturePair& pair = pairs[i];
    const Scaling r = scaling(pair.A, pair.X_WA, pair.B, pair.X_WB, {}, workspace);
    ASSERT_EQ(r.status, ScalingStatus::solved) << "line " << i + 1 << " gap " << r.gap << " residual " << r.residual;
    const double lower = pair.record.at("alpha_lower");
    const double upper = pair.record.at("alpha_upper");
    const double outside = std::max({0.0, lower - r.alpha, r.alpha - upper}) / upper;
    worst = std::max(worst, outside);
    EXPECT_LE(outside, 1e-8) << "line " << i + 1 << ": alpha " << r.alpha << " not in [" << lower << ", " << upper
                             << "]";
    if (pair.record.contains("gradient_b") && pair.record.contains("gradient_error")) {
      const std::vector<double> g = pair.record.at("gradient_b");
      const Vector3 expected(g[0], g[1], g[2]);
      (void)scaling(pair.A, pair.X_WA, pair.B, pair.X_WB, {.tolerance = 1e-9}, workspace);
      const Vector12 gradient = scaling_gradient(workspace);
      // the oracle's normal is as good as the root of the gap of its bounds, and as it says itself
      const double error = (gradient.segment<3>(6) - expected).norm() / expected.norm();
      const double allowed =
          1e-6 + 3.0 * std::sqrt((upper - lower) / upper) + 10.0 * pair.record.at("gradient_error").get<double>();
      if (allowed < 1e-4) {
        worst_gradient = std::max(worst_gradient, error);
        EXPECT_LE(error, allowed) << "line " << i + 1;
      }
    }
  }
  RecordProperty("worst_alpha", std::to_string(worst));
  RecordProperty("worst_gradient", std::to_string(worst_gradient));
}

TEST(ScalingOracle, DegenerateCasesAreExact) {
  const std::vector<FixturePair> pairs = read_fixture("degenerate_scaling.jsonl");
  ASSERT_GE(pairs.size(), 47U);
  ScalingWorkspace workspace;
  for (const FixturePair& pair : pairs) {
    SCOPED_TRACE(pair.record.at("name").get<std::string>());
    const Scaling by_supports =
        scaling(pair.A, pair.X_WA, pair.B, pair.X_WB, {.method = ScalingMethod::support}, workspace);
    EXPECT_NEAR(by_supports.alpha, pair.record.at("alpha").get<double>(), 2e-8 * pair.record.at("alpha").get<double>());
    EXPECT_EQ(to_string(by_supports.status), pair.record.at("status").get<std::string>());
    EXPECT_TRUE(by_supports.x.allFinite() && by_supports.p_A.allFinite() && by_supports.p_B.allFinite());
    EXPECT_NEAR(by_supports.normal.norm(), 1.0, 1e-12);
    EXPECT_TRUE(scaling_gradient(workspace).allFinite());
    const Scaling r = scaling(pair.A, pair.X_WA, pair.B, pair.X_WB, {.method = ScalingMethod::conic}, workspace);
    EXPECT_EQ(to_string(r.status), pair.record.at("status").get<std::string>())
        << "gap " << r.gap << " residual " << r.residual;
    const double alpha = pair.record.at("alpha");
    EXPECT_NEAR(r.alpha, alpha, 2e-8 * alpha);
    EXPECT_TRUE(r.x.allFinite() && r.p_A.allFinite() && r.p_B.allFinite() && r.normal.allFinite());
    EXPECT_TRUE(std::isfinite(r.center_line_gap));
    EXPECT_NEAR(r.normal.norm(), 1.0, 1e-12);
    const Vector12 gradient = scaling_gradient(workspace);
    EXPECT_TRUE(gradient.allFinite());
    const ScalingJacobian jacobian = scaling_jacobian(workspace);
    EXPECT_TRUE(jacobian.x_alpha.allFinite() && jacobian.p_A.allFinite() && jacobian.p_B.allFinite());
    if (pair.record.at("point_freedom").is_number() && !pair.record.at("nearly_degenerate").get<bool>()) {
      EXPECT_EQ(r.point_freedom, pair.record.at("point_freedom").get<int>());
      EXPECT_EQ(r.normal_freedom, pair.record.at("normal_freedom").get<int>());
      EXPECT_EQ(jacobian.unique, r.point_freedom == 0 && r.normal_freedom == 0);
    }
    if (pair.record.contains("gradient_b") && r.normal_freedom == 0) {
      const std::vector<double> g = pair.record.at("gradient_b");
      const Vector3 expected(g[0], g[1], g[2]);
      // without strict complementarity (ends of parallel capsules) the normal is only as good as the root of the gap
      EXPECT_LE((gradient.segment<3>(6) - expected).norm(), 1e-4 * expected.norm());
    }
    // the centred point of a smoothed query is unique and finite as well
    const Scaling smooth = scaling(pair.A, pair.X_WA, pair.B, pair.X_WB, {.smoothing = 1e-4}, workspace);
    EXPECT_EQ(to_string(smooth.status), pair.record.at("status").get<std::string>());
    EXPECT_TRUE(scaling_jacobian(workspace).x_alpha.allFinite());
  }
  RecordProperty("fallbacks", std::to_string(workspace.num_fallbacks()));
}

}  // namespace
}  // namespace tangere::test
