/// What the conic rows say agrees with the support maps, and how they change with the parameters with finite
/// differences.

#include <gtest/gtest.h>

#include "tangere/geometry/support.hpp"
#include "tangere/math/random.hpp"
#include "tests/support/all_shapes.hpp"
#include "tests/support/barrier_support.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/random_shapes.hpp"

namespace tangere::test {
namespace {

class Rows : public testing::TestWithParam<NamedShape> {};

TEST_P(Rows, MaximumOverTheRowsIsTheSupport) {
  const Shape& shape = GetParam().shape;
  const ConvexSet& set = shape.set();
  Random random(1);
  for (int trial = 0; trial < 6; ++trial) {
    const Vector3 n = random.unit_vector();
    const RowSupport rows = support_by_rows(set, n);
    EXPECT_NEAR(rows.value, n.dot(support(shape, n)), 3e-9 * set.outer_radius);
  }
}

TEST_P(Rows, AreHomogeneousAndTheStartIsStrictlyFeasible) {
  const ConvexSet& set = GetParam().shape.set();
  EXPECT_TRUE(set.rows.matrix().rightCols<1>().isZero(0.0));
  ASSERT_EQ(set.aux_start.rows(), set.rows.num_aux());
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const double alpha = random.log_uniform(1e-3, 1e3);
    Vector4 u;
    u << alpha * 0.999 * set.inner_radius * random.unit_vector(), alpha;
    const VectorX s = slacks(set, u.head<3>(), alpha, set.aux_start * u);
    EXPECT_GT(smallest_margin(set, s), 1e-6 * alpha * set.inner_radius);
  }
}

TEST_P(Rows, RadiiEncloseTheSurface) {
  const Shape& shape = GetParam().shape;
  Random random(3);
  for (int trial = 0; trial < 1000; ++trial) {
    const Vector3 n = random.unit_vector();
    const Vector3 p = support(shape, n);
    EXPECT_LE(p.norm(), shape.set().outer_radius * (1.0 + 1e-12));
    EXPECT_GE(n.dot(p), shape.set().inner_radius * (1.0 - 1e-12));
  }
}

/// A positive factor of a row or cone is free: what remains of the difference must be along the row itself.
void remove_factors(const ConvexSet& set, MatrixX& difference) {
  const MatrixX& S = set.rows.matrix();
  const int m = set.rows.num_orthant();
  for (int row = 0; row < S.rows(); row += row < m ? 1 : 4) {
    const int height = row < m ? 1 : 4;
    const auto block = S.middleRows(row, height);
    const double factor = (block.array() * difference.middleRows(row, height).array()).sum() / block.squaredNorm();
    difference.middleRows(row, height) -= factor * block;
  }
}

TEST_P(Rows, DerivativesAreThoseOfTheParameters) {
  const Shape& shape = GetParam().shape;
  const ConvexSet& set = shape.set();
  const VectorX theta = shape.parameters();
  const MatrixX& S = set.rows.matrix();
  ASSERT_EQ(set.num_parameters, theta.size());

  // steps relative to each parameter's size
  VectorX scale = theta.cwiseAbs();
  for (double& s : scale) s = s > 0.0 ? s : set.inner_radius;
  const auto rows_at = [&](const VectorX& d) -> VectorX {
    return shape.with_parameters(theta + scale.cwiseProduct(d)).set().rows.matrix().reshaped();
  };
  const MatrixX numeric = finite_difference(rows_at, static_cast<int>(theta.size()), static_cast<int>(S.size()), 1e-3);
  for (int k = 0; k < set.num_parameters; ++k) {
    MatrixX difference = numeric.col(k).reshaped(S.rows(), S.cols()) / scale[k];
    for (const RowDerivative& entry : set.derivatives)
      if (entry.parameter == k) difference(entry.row, entry.column) -= entry.value;
    remove_factors(set, difference);
    EXPECT_LE(difference.cwiseAbs().maxCoeff() * scale[k], 1e-8 * S.cwiseAbs().maxCoeff())
        << shape.parameter_names()[k];
  }
}

/// dh/dθ = zᵀ (dS/dθ) (p, 1, y) with the multipliers of the rows.
TEST_P(Rows, DerivativeOfTheSupportFollowsFromTheMultipliers) {
  const Shape& shape = GetParam().shape;
  const ConvexSet& set = shape.set();
  const VectorX theta = shape.parameters();
  VectorX scale = theta.cwiseAbs();
  for (double& s : scale) s = s > 0.0 ? s : set.inner_radius;
  Random random(4);
  const Vector3 n = random.unit_vector();

  const RowSupport at = support_by_rows(set, n, 1e-8);
  VectorX point(5 + at.y.size());
  point << at.p, 1.0, at.y, 1.0;
  VectorX analytic = VectorX::Zero(theta.size());
  for (const RowDerivative& entry : set.derivatives)
    analytic[entry.parameter] += at.z[entry.row] * entry.value * point[entry.column] * scale[entry.parameter];

  const VectorX numeric = finite_difference_gradient(
      [&](const VectorX& d) {
        const Shape moved = shape.with_parameters(theta + scale.cwiseProduct(d));
        return n.dot(support(moved, n));
      },
      static_cast<int>(theta.size()), 1e-4);
  EXPECT_NEAR_ABSOLUTE(analytic, numeric, 1e-6 * set.outer_radius);
}

INSTANTIATE_TEST_SUITE_P(AllShapes, Rows, testing::ValuesIn(bounded_convex_shapes()),
                         shape_test_name<testing::TestParamInfo<NamedShape>>);

TEST(HalfSpaceRows, AreTheSignedDistance) {
  const Shape shape = HalfSpace{.normal = {0.0, 3.0, 4.0}, .offset = 10.0};
  const ConvexSet& set = shape.set();
  EXPECT_FALSE(set.scaled);
  EXPECT_NEAR(slacks(set, Vector3::Zero(), 5.0, VectorX())[0], 2.0, 1e-15);
  EXPECT_NEAR(slacks(set, Vector3(7.0, 3.0, 4.0), 0.1, VectorX())[0], -3.0, 1e-15);
  EXPECT_TRUE(set.rows.matrix().col(3).isZero(0.0));
}

TEST(RandomShapes, AreValidOverSizesAndSkews) {
  Random random(5);
  for (const auto type : bounded_types()) {
    for (int trial = 0; trial < 100; ++trial) {
      const double size = random.log_uniform(1e-6, 1e6);
      const double skew = random.log_uniform(1.0, 1e3);
      const Shape shape = random_shape(type, random, size, skew);
      EXPECT_EQ(shape.type_name(), type);
      EXPECT_GT(shape.set().inner_radius, 0.0);
      EXPECT_LT(shape.set().outer_radius, 10.0 * size);
    }
  }
}

}  // namespace
}  // namespace tangere::test
