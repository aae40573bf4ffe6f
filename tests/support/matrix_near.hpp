#pragma once

/// Comparison of matrices in GoogleTest, reporting the worst entry.
///
///   EXPECT_NEAR_RELATIVE(actual, expected, 1e-9);   max |a - b| ≤ 1e-9 max(|a|, |b|)  (largest entries)
///   EXPECT_NEAR_ABSOLUTE(actual, expected, 1e-9);   max |a - b| ≤ 1e-9
///
/// Different sizes and NaN fail. Numbers count as 1 x 1 matrices.

#include <gtest/gtest.h>

#include <algorithm>
#include <type_traits>

#include "tangere/math/types.hpp"

namespace tangere::test {

template <class T>
[[nodiscard]] MatrixX as_matrix(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return MatrixX::Constant(1, 1, static_cast<double>(value));
  } else {
    return value;
  }
}

inline testing::AssertionResult matrices_near(const MatrixX& a, const MatrixX& b, double tolerance, bool relative) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) {
    return testing::AssertionFailure() << "sizes differ: " << a.rows() << " x " << a.cols() << " and " << b.rows()
                                       << " x " << b.cols();
  }
  if (a.size() == 0) return testing::AssertionSuccess();
  Eigen::Index row = 0;
  Eigen::Index column = 0;
  const double worst = (a - b).cwiseAbs().maxCoeff<Eigen::PropagateNaN>(&row, &column);
  const double size = std::max(a.cwiseAbs().maxCoeff(), b.cwiseAbs().maxCoeff());
  const double allowed = relative ? tolerance * size : tolerance;
  if (worst <= allowed) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "worst entry (" << row << ", " << column
                                     << "): " << testing::PrintToString(a(row, column)) << " and "
                                     << testing::PrintToString(b(row, column)) << " differ by " << worst << ", allowed "
                                     << allowed << (relative ? " (relative)" : "") << "\nfirst:\n"
                                     << a << "\nsecond:\n"
                                     << b;
}

}  // namespace tangere::test

#define EXPECT_NEAR_RELATIVE(a, b, tolerance) \
  EXPECT_TRUE(                                \
      ::tangere::test::matrices_near(::tangere::test::as_matrix(a), ::tangere::test::as_matrix(b), tolerance, true))
#define EXPECT_NEAR_ABSOLUTE(a, b, tolerance) \
  EXPECT_TRUE(                                \
      ::tangere::test::matrices_near(::tangere::test::as_matrix(a), ::tangere::test::as_matrix(b), tolerance, false))
