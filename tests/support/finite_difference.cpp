#include "tests/support/finite_difference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tangere::test {
namespace {

struct Estimate {
  double value = std::numeric_limits<double>::quiet_NaN();
  double error = std::numeric_limits<double>::infinity();
};

// Neville's tableau over quotients taken at steps halved each time. An entry is judged by its distance from both of its
// parents plus the rounding error of its smallest step; the best entry anywhere in the tableau wins, so steps too large
// (a kink within) and too small (noise) lose by themselves.
Estimate extrapolate(const std::vector<double>& quotients, const std::vector<double>& rounding, double ratio) {
  Estimate best;
  std::vector<double> previous;
  for (std::size_t i = 0; i < quotients.size(); ++i) {
    std::vector<double> row{quotients[i]};
    double power = ratio;
    for (std::size_t j = 1; j <= i; ++j) {
      row.push_back((power * row[j - 1] - previous[j - 1]) / (power - 1.0));
      const double spread = std::max(std::abs(row[j] - row[j - 1]), std::abs(row[j] - previous[j - 1]));
      const double error = spread + rounding[i];
      if (error < best.error) best = {row[j], error};
      power *= ratio;
    }
    previous = std::move(row);
  }
  return best;
}

}  // namespace

Difference difference(const VectorFunction& f, int n, int m, const DifferenceOptions& options) {
  const bool central = options.side == Side::both;
  const double sign = options.side == Side::backward ? -1.0 : 1.0;
  const auto num_steps = static_cast<std::size_t>(options.num_steps);
  const VectorX center = central ? VectorX() : f(VectorX::Zero(n));

  Difference result{MatrixX(m, n), MatrixX(m, n)};
  for (int column = 0; column < n; ++column) {
    // difference quotients over the sweep of steps, one row a component
    std::vector<std::vector<double>> quotients(static_cast<std::size_t>(m), std::vector<double>(num_steps));
    std::vector<std::vector<double>> rounding = quotients;
    double step = sign * options.scale;
    for (std::size_t k = 0; k < num_steps; ++k, step *= 0.5) {
      VectorX delta = VectorX::Zero(n);
      delta[column] = step;
      const VectorX high = f(delta);
      const VectorX low = central ? f(-delta) : center;
      const double width = central ? 2.0 * step : step;
      for (int row = 0; row < m; ++row) {
        const auto r = static_cast<std::size_t>(row);
        quotients[r][k] = (high[row] - low[row]) / width;
        rounding[r][k] =
            (options.noise * (std::abs(high[row]) + std::abs(low[row])) + 2.0 * options.floor) / std::abs(width);
      }
    }

    // the error of a central quotient is a series in h², of a one-sided one in h
    for (int row = 0; row < m; ++row) {
      const auto r = static_cast<std::size_t>(row);
      const Estimate estimate = extrapolate(quotients[r], rounding[r], central ? 4.0 : 2.0);
      result.jacobian(row, column) = estimate.value;
      result.error(row, column) = estimate.error;
    }
  }
  return result;
}

MatrixX finite_difference(const VectorFunction& f, int n, int m, double scale) {
  return difference(f, n, m, {.scale = scale}).jacobian;
}

MatrixX one_sided_difference(const VectorFunction& f, int n, int m, Side side, double scale) {
  return difference(f, n, m, {.scale = scale, .side = side}).jacobian;
}

VectorX finite_difference_gradient(const ScalarFunction& f, int n, double scale) {
  const auto vector_valued = [&](const VectorX& delta) -> VectorX { return VectorX::Constant(1, f(delta)); };
  return finite_difference(vector_valued, n, 1, scale).transpose();
}

}  // namespace tangere::test
