#include "tests/support/finite_difference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/matrix_near.hpp"

namespace tangere::test {
namespace {

TEST(FiniteDifference, DifferentiatesToTwelveDigits) {
  const VectorX x = Eigen::Vector2d(0.7, -1.3);
  const auto f = [&](const VectorX& d) -> VectorX {
    const VectorX y = x + d;
    return Eigen::Vector3d(std::sin(y[0] * y[1]), std::exp(y[0]) / y[1], 5.0);
  };
  MatrixX expected(3, 2);
  expected << x[1] * std::cos(x[0] * x[1]), x[0] * std::cos(x[0] * x[1]),  //
      std::exp(x[0]) / x[1], -std::exp(x[0]) / (x[1] * x[1]),              //
      0.0, 0.0;
  const Difference result = difference(f, 2, 3);
  EXPECT_NEAR_RELATIVE(result.jacobian, expected, 1e-12);
  EXPECT_TRUE(((result.jacobian - expected).cwiseAbs().array() <= 10.0 * result.error.array()).all());
  EXPECT_LT(result.error.maxCoeff(), 1e-11);
}

TEST(FiniteDifference, FollowsTheScale) {
  const auto f = [](const VectorX& d) { return std::sin(1e6 * d[0]); };
  EXPECT_NEAR_RELATIVE(finite_difference_gradient(f, 1, 1e-7), 1e6, 1e-11);
  const auto g = [](const VectorX& d) { return std::sin(1e-6 * d[0]); };
  EXPECT_NEAR_RELATIVE(finite_difference_gradient(g, 1, 1e5), 1e-6, 1e-11);
}

TEST(FiniteDifference, SurvivesAKinkWithinTheLargestSteps) {
  const auto f = [](const VectorX& d) { return std::sin(d[0]) + 100.0 * std::max(0.0, d[0] - 0.01); };
  EXPECT_NEAR_RELATIVE(finite_difference_gradient(f, 1, 0.1), 1.0, 1e-9);
}

TEST(FiniteDifference, OneSidedSeesEachSideOfAKink) {
  const auto f = [](const VectorX& d) -> VectorX {
    return VectorX::Constant(1, d[0] > 0.0 ? std::exp(3.0 * d[0]) : std::exp(-2.0 * d[0]));
  };
  EXPECT_NEAR_RELATIVE(one_sided_difference(f, 1, 1, Side::forward), 3.0, 1e-10);
  EXPECT_NEAR_RELATIVE(one_sided_difference(f, 1, 1, Side::backward), -2.0, 1e-10);
}

TEST(FiniteDifference, NanEverywhereStaysNan) {
  const auto f = [](const VectorX&) { return std::numeric_limits<double>::quiet_NaN(); };
  EXPECT_TRUE(std::isnan(finite_difference_gradient(f, 1)[0]));
}

TEST(MatrixNear, ReportsTheWorstEntryAndRefusesNan) {
  const MatrixX a = MatrixX::Ones(2, 2);
  MatrixX b = a;
  b(1, 0) += 1e-3;
  EXPECT_TRUE(matrices_near(a, b, 1.1e-3, false));
  const testing::AssertionResult far = matrices_near(a, b, 1e-4, false);
  EXPECT_FALSE(far);
  EXPECT_NE(std::string(far.message()).find("(1, 0)"), std::string::npos);

  b(0, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(matrices_near(a, b, 1.0, false));
  EXPECT_FALSE(matrices_near(b, b, 1.0, true));
  EXPECT_FALSE(matrices_near(a, MatrixX::Ones(2, 3), 1.0, true));
}

}  // namespace
}  // namespace tangere::test
