#include "tangere/math/stumpff.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tangere {
namespace {

// the series itself, in long double: exact enough for θ up to 8
double reference(int n, double x) {
  long double term = 1.0L;
  for (int i = 2; i <= n; ++i) term /= i;
  long double sum = 0.0L;
  for (int k = 0; k < 60; ++k) {
    sum += term;
    term *= -static_cast<long double>(x) / ((2 * k + n + 1) * (2 * k + n + 2));
  }
  return static_cast<double>(sum);
}

TEST(Stumpff, AgreesWithItsSeriesEverywhere) {
  for (double x : {0.0, 1e-300, 1e-24, 1e-12, 1e-6, 1e-3, 0.1, 1.0, 2.0, 3.999, 4.0, 4.001, 9.0, 16.0, 40.0}) {
    const Stumpff c = stumpff(x);
    const double values[] = {c.c0, c.c1, c.c2, c.c3, c.c4, c.c5};
    double scale = 1.0;  // 1 / n!
    for (int n = 0; n < 6; ++n) {
      if (n > 0) scale /= n;
      EXPECT_NEAR(values[n], reference(n, x), 2e-15 * scale) << "c_" << n << "(" << x << ")";
    }
  }
}

}  // namespace
}  // namespace tangere
