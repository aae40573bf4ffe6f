#include "tangere/math/stumpff.hpp"

#include <cmath>

namespace tangere {
namespace {

// below this, the recurrence upwards from sin and cos would cancel; the series needs kTerms terms at most
constexpr double kSeriesLimit = 4.0;
constexpr int kTerms = 12;

// c_n by its series, nested from the smallest term; `first` is 1 / n!
double series(double x, int n, double first) {
  double sum = 1.0;
  for (int k = kTerms; k > 0; --k) sum = 1.0 - sum * x / ((2 * k + n - 1) * (2 * k + n));
  return first * sum;
}

}  // namespace

Stumpff stumpff(double x) {
  Stumpff c;
  if (x < kSeriesLimit) {
    c.c4 = series(x, 4, 1.0 / 24.0);
    c.c5 = series(x, 5, 1.0 / 120.0);
    c.c2 = 1.0 / 2.0 - x * c.c4;
    c.c3 = 1.0 / 6.0 - x * c.c5;
    c.c0 = 1.0 - x * c.c2;
    c.c1 = 1.0 - x * c.c3;
  } else {
    const double theta = std::sqrt(x);
    c.c0 = std::cos(theta);
    c.c1 = std::sin(theta) / theta;
    c.c2 = (1.0 - c.c0) / x;
    c.c3 = (1.0 - c.c1) / x;
    c.c4 = (1.0 / 2.0 - c.c2) / x;
    c.c5 = (1.0 / 6.0 - c.c3) / x;
  }
  return c;
}

}  // namespace tangere
