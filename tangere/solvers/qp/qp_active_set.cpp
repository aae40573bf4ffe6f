#include "tangere/solvers/qp/qp_active_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tangere/math/error.hpp"

namespace tangere {
namespace {

/// det Q ≤ kParallel Q₁₁ Q₂₂: singular. For two segments, sin² of their angle.
constexpr double kParallel = 1e-14;
constexpr double kNoise = 1e-13;

/// lower ≤ x ≤ upper, and the rows of G that say so.
struct Interval {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  int lower_row = -1;
  int upper_row = -1;

  [[nodiscard]] double clamp(double x) const { return std::min(std::max(x, lower), upper); }
  [[nodiscard]] double middle() const { return 0.5 * (lower + upper); }
  [[nodiscard]] bool contains(double x) const { return x >= lower && x <= upper; }
  [[nodiscard]] double reach() const { return std::max(std::abs(lower), std::abs(upper)); }
};

struct BoxProgram {
  int n;
  double Q[2][2];
  double q[2];
  Interval bounds[2];
  double noise[2];

  [[nodiscard]] double gradient(const double* x, int i) const {
    return n == 1 ? Q[0][0] * x[0] + q[0] : Q[i][0] * x[0] + Q[i][1] * x[1] + q[i];
  }
  /// The best x_j for a cost ½ Q_jj x_j² + slope x_j.
  [[nodiscard]] double minimise(int j, double slope) const {
    const Interval& b = bounds[j];
    if (Q[j][j] > 0.0) return b.clamp(-slope / Q[j][j]);
    if (std::abs(slope) <= noise[j]) return b.middle();
    return slope > 0.0 ? b.lower : b.upper;
  }
};

[[noreturn]] void fail(const std::string& reason) { throw InputError("problem", reason); }

BoxProgram read(const QpProblem& problem, double gradient_noise) {
  BoxProgram box;
  box.n = problem.num_variables();
  if (box.n != 1 && box.n != 2)
    fail("the active set is for one or two variables, got " + std::to_string(box.n) + " (use the interior point)");
  const auto G = problem.G();
  for (int i = 0; i < problem.num_rows(); ++i) {
    const int j = G(i, 0) != 0.0 ? 0 : box.n - 1;
    const double g = G(i, j);
    if (g == 0.0 || (box.n == 2 && G(i, 1 - j) != 0.0))
      fail("row " + std::to_string(i) + " of G is not a bound of one variable");
    Interval& bound = box.bounds[j];
    const double value = problem.h()[i] / g;
    if (g > 0.0 && value < bound.upper) {
      bound.upper = value;
      bound.upper_row = i;
    }
    if (g < 0.0 && value > bound.lower) {
      bound.lower = value;
      bound.lower_row = i;
    }
  }
  for (int j = 0; j < box.n; ++j) {
    const Interval& b = box.bounds[j];
    if (b.lower_row < 0 || b.upper_row < 0) fail("variable " + std::to_string(j) + " is not bounded on both sides");
    if (!(b.lower <= b.upper)) fail("variable " + std::to_string(j) + " has no feasible value");
  }
  for (int i = 0; i < box.n; ++i) {
    box.q[i] = problem.q()[i];
    double terms = std::abs(box.q[i]);
    for (int j = 0; j < box.n; ++j) {
      box.Q[i][j] = problem.Q()(i, j);
      terms += std::abs(box.Q[i][j]) * box.bounds[j].reach();
    }
    box.noise[i] = std::max(gradient_noise, kNoise * terms);
  }
  return box;
}

/// From a minimiser, the middle of all minimisers: they lie on a line along the null vector t of Q.
void slide_to_middle(const BoxProgram& box, double* x) {
  const bool first = box.Q[0][0] >= box.Q[1][1];
  const double t[2] = {first ? -box.Q[0][1] : box.Q[1][1], first ? box.Q[0][0] : -box.Q[0][1]};
  double from = -std::numeric_limits<double>::infinity();
  double to = std::numeric_limits<double>::infinity();
  for (int j = 0; j < 2; ++j) {
    if (t[j] == 0.0) continue;
    const double a = (box.bounds[j].lower - x[j]) / t[j];
    const double b = (box.bounds[j].upper - x[j]) / t[j];
    from = std::max(from, std::min(a, b));
    to = std::min(to, std::max(a, b));
  }
  if (!(from < to)) return;
  for (int j = 0; j < 2; ++j) x[j] = box.bounds[j].clamp(x[j] + 0.5 * (from + to) * t[j]);
}

/// The zero of the gradient, if it is a point of the box; Q is not singular.
bool interior_minimum(const BoxProgram& box, double* x) {
  const int i = box.Q[0][0] >= box.Q[1][1] ? 0 : 1;
  const int j = 1 - i;
  const double ratio = box.Q[i][j] / box.Q[i][i];
  const double xj = -(box.q[j] - ratio * box.q[i]) / (box.Q[j][j] - ratio * box.Q[i][j]);
  const double xi = -(box.q[i] + box.Q[i][j] * xj) / box.Q[i][i];
  if (!box.bounds[i].contains(xi) || !box.bounds[j].contains(xj)) return false;
  x[i] = xi;
  x[j] = xj;
  return true;
}

/// The best point of each of the four edges is the solution if the gradient across the edge points inwards: the edge
/// where that is least violated.
void best_edge(const BoxProgram& box, double* x) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 2; ++i) {
    for (const bool at_lower : {true, false}) {
      const int j = 1 - i;
      double y[2];
      y[i] = at_lower ? box.bounds[i].lower : box.bounds[i].upper;
      y[j] = box.minimise(j, box.q[j] + box.Q[i][j] * y[i]);
      const double across = box.gradient(y, i);
      const double violation = std::max(0.0, at_lower ? -across : across);
      if (!(violation < least)) continue;
      least = violation;
      x[0] = y[0];
      x[1] = y[1];
    }
  }
}

void minimise_pair(const BoxProgram& box, double* x) {
  const double det = box.Q[0][0] * box.Q[1][1] - box.Q[0][1] * box.Q[1][0];
  if (!(box.Q[0][0] > 0.0 && box.Q[1][1] > 0.0)) {
    // semidefinite, so the variables do not meet
    for (int j = 0; j < 2; ++j) x[j] = box.minimise(j, box.q[j]);
    return;
  }
  const bool singular = !(det > kParallel * box.Q[0][0] * box.Q[1][1]);
  if (!singular && interior_minimum(box, x)) return;
  best_edge(box, x);
  if (singular && std::abs(box.gradient(x, 0)) <= box.noise[0] && std::abs(box.gradient(x, 1)) <= box.noise[1])
    slide_to_middle(box, x);
}

}  // namespace

void solve_active_set_2d(const QpProblem& problem, QpSolution& solution, double gradient_noise) {
  const BoxProgram box = read(problem, gradient_noise);
  double x[2] = {};
  if (box.n == 1) {
    x[0] = box.minimise(0, box.q[0]);
  } else {
    minimise_pair(box, x);
  }

  const int m = problem.num_rows();
  solution.resize(box.n, m);
  const auto G = problem.G();
  for (int j = 0; j < box.n; ++j) solution.x()[j] = x[j];
  for (int i = 0; i < m; ++i) {
    const int j = G(i, 0) != 0.0 ? 0 : box.n - 1;
    solution.s()[i] = std::max(0.0, problem.h()[i] - G(i, j) * x[j]);
    solution.z()[i] = 0.0;
  }
  // multipliers of the bounds that are met (Algorithm 5)
  for (int j = 0; j < box.n; ++j) {
    const Interval& b = box.bounds[j];
    const double gradient = box.gradient(x, j);
    if (x[j] <= b.lower) solution.s()[b.lower_row] = 0.0;
    if (x[j] >= b.upper) solution.s()[b.upper_row] = 0.0;
    if (x[j] <= b.lower && gradient > box.noise[j]) solution.z()[b.lower_row] = -gradient / G(b.lower_row, j);
    if (x[j] >= b.upper && gradient < -box.noise[j]) solution.z()[b.upper_row] = -gradient / G(b.upper_row, j);
  }
  solution.status = QpStatus::solved;
  solution.objective = problem.objective(solution.x());
  solution.gap = 0.0;
  solution.primal_residual = 0.0;
  solution.dual_residual = 0.0;
  solution.iterations = 1;
}

}  // namespace tangere
