#include "tangere/math/random.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/matrix_near.hpp"

namespace tangere {
namespace {

constexpr int kSamples = 200000;

// Pearson's statistic of counts that should all be equal
double chi_square(const std::vector<int>& counts) {
  double total = 0.0;
  for (int count : counts) total += count;
  const double expected = total / static_cast<double>(counts.size());
  double sum = 0.0;
  for (int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST(Random, SameSeedSameNumbers) {
  Random a(42);
  Random b(42);
  Random c(43);
  int num_equal = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t value = a.next();
    EXPECT_EQ(value, b.next());
    num_equal += value == c.next() ? 1 : 0;
  }
  EXPECT_EQ(num_equal, 0);
}

TEST(Random, GoldenNumbers) {
  // from an implementation of splitmix64 and xoshiro256++ in another language
  Random random(0);
  EXPECT_EQ(random.next(), 0x53175d61490b23dfU);
  EXPECT_EQ(random.next(), 0x61da6f3dc380d507U);
  EXPECT_EQ(random.next(), 0x5c0fdf91ec9a7bfcU);
  EXPECT_EQ(random.uniform(), 0x1.775fc61ddf2c0p-7);
  EXPECT_EQ(random.index(1000), 495);
}

TEST(Random, UniformFillsTheUnitIntervalEvenly) {
  Random random(1);
  std::vector<int> counts(100);
  double sum = 0.0;
  for (int i = 0; i < kSamples; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++counts[static_cast<int>(100.0 * u)];
    sum += u;
  }
  // 99 degrees of freedom: mean 99, deviation 14; five deviations
  EXPECT_LT(chi_square(counts), 99.0 + 5 * 14.1);
  EXPECT_NEAR(sum / kSamples, 0.5, 5 * 0.2887 / std::sqrt(kSamples));
}

TEST(Random, UniformAndLogUniformKeepTheirBounds) {
  Random random(2);
  double log_sum = 0.0;
  for (int i = 0; i < kSamples; ++i) {
    const double u = random.uniform(-3.0, 5.0);
    ASSERT_TRUE(u >= -3.0 && u < 5.0);
    const double v = random.log_uniform(1e-6, 1e6);
    ASSERT_TRUE(v >= 0.999999e-6 && v <= 1.000001e6);
    log_sum += std::log10(v);
  }
  EXPECT_NEAR(log_sum / kSamples, 0.0, 5 * 12 * 0.2887 / std::sqrt(kSamples));
}

TEST(Random, IndexIsEven) {
  Random random(3);
  std::vector<int> counts(7);
  for (int i = 0; i < kSamples; ++i) {
    const int k = random.index(7);
    ASSERT_TRUE(k >= 0 && k < 7);
    ++counts[k];
  }
  EXPECT_LT(chi_square(counts), 6.0 + 5 * 3.5);
  EXPECT_EQ(random.index(1), 0);
}

TEST(Random, NormalHasTheRightMoments) {
  Random random(4);
  double moments[4] = {};
  for (int i = 0; i < kSamples; ++i) {
    const double a = random.normal();
    double power = 1.0;
    for (double& moment : moments) moment += (power *= a) / kSamples;
  }
  const double deviation = 1.0 / std::sqrt(kSamples);
  EXPECT_NEAR(moments[0], 0.0, 5 * deviation);
  EXPECT_NEAR(moments[1], 1.0, 5 * std::sqrt(2.0) * deviation);
  EXPECT_NEAR(moments[2], 0.0, 5 * std::sqrt(15.0) * deviation);
  EXPECT_NEAR(moments[3], 3.0, 5 * std::sqrt(96.0) * deviation);
}

TEST(Random, UnitVectorsFillTheSphereEvenly) {
  Random random(5);
  Vector3 mean = Vector3::Zero();
  Matrix3 second = Matrix3::Zero();
  std::vector<int> counts(50);
  for (int i = 0; i < kSamples; ++i) {
    const Vector3 a = random.unit_vector();
    ASSERT_NEAR(a.norm(), 1.0, 1e-15);
    mean += a / kSamples;
    second += a * a.transpose() / kSamples;
    // each coordinate of a uniform direction is uniform (Archimedes)
    ++counts[static_cast<int>(std::min(49.0, 25.0 * (a.z() + 1.0)))];
  }
  EXPECT_NEAR_ABSOLUTE(mean, Vector3::Zero(), 5.0 / std::sqrt(3.0 * kSamples));
  EXPECT_NEAR_ABSOLUTE(second, Matrix3::Identity() / 3.0, 5 * 0.3 / std::sqrt(kSamples));
  EXPECT_LT(chi_square(counts), 49.0 + 5 * 9.9);
}

TEST(Random, RotationsAreRotationsAndEven) {
  Random random(6);
  Matrix3 mean = Matrix3::Zero();
  double trace_squared = 0.0;
  for (int i = 0; i < kSamples; ++i) {
    const Matrix3 R = random.rotation();
    ASSERT_LT((R * R.transpose() - Matrix3::Identity()).cwiseAbs().maxCoeff(), 1e-15 * 4);
    ASSERT_GT(R.determinant(), 0.0);
    mean += R / kSamples;
    trace_squared += R.trace() * R.trace() / kSamples;
  }
  // under the invariant measure E[R] = 0 and E[tr² R] = 1
  EXPECT_NEAR_ABSOLUTE(mean, Matrix3::Zero(), 5.0 / std::sqrt(3.0 * kSamples));
  EXPECT_NEAR(trace_squared, 1.0, 5 * 1.5 / std::sqrt(kSamples));
}

}  // namespace
}  // namespace tangere
