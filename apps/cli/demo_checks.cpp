#include "apps/cli/demo_checks.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "apps/cli/demo_shapes.hpp"
#include "tangere/proximity/scaling.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"

namespace tangere::cli {
namespace {

constexpr ScalingOptions kExact{.tolerance = 1e-12};

struct Pair {
  Shape a;
  Pose X_WA;
  Shape b;
  Pose X_WB;
};

/// f'(0) by central differences over halved steps, extrapolated (Ridders), the best by its own estimate of the error.
template <class F>
double central_difference(const F& f, double noise) {
  constexpr int kSteps = 14;
  std::array<std::array<double, kSteps>, kSteps> table{};
  double best = std::numeric_limits<double>::quiet_NaN();
  double best_error = std::numeric_limits<double>::infinity();
  double h = 0.02;
  for (std::size_t i = 0; i < kSteps; ++i, h /= 2.0) {
    table[i][0] = (f(h) - f(-h)) / (2.0 * h);
    double power = 4.0;
    for (std::size_t j = 1; j <= i; ++j, power *= 4.0) {
      table[i][j] = table[i][j - 1] + (table[i][j - 1] - table[i - 1][j - 1]) / (power - 1.0);
      const double change =
          std::max(std::abs(table[i][j] - table[i][j - 1]), std::abs(table[i][j] - table[i - 1][j - 1]));
      const double error = change + noise / h;
      if (error < best_error) {
        best_error = error;
        best = table[i][j];
      }
    }
  }
  return best;
}

double alpha_of(const Pair& pair, ScalingWorkspace& workspace) {
  return scaling(pair.a, pair.X_WA, pair.b, pair.X_WB, kExact, workspace).alpha;
}

/// Centres at a distance of 0.5 to 3; drawn again where a centre lies in the half-space.
Pair random_pair(std::string_view type_a, std::string_view type_b, Random& random, ScalingWorkspace& workspace) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const Pose X_WA(random.rotation(), random.normal3());
    const Vector3 offset = random.log_uniform(0.5, 3.0) * random.unit_vector();
    Pair pair{random_demo_shape(type_a, random), X_WA, random_demo_shape(type_b, random),
              Pose(random.rotation(), X_WA.p + offset)};
    const Scaling result = scaling(pair.a, pair.X_WA, pair.b, pair.X_WB, kExact, workspace);
    if (result.status != ScalingStatus::zero_scaling && !(result.alpha < 0.05)) return pair;
  }
  throw std::runtime_error("no random pair found");
}

/// The 12 pose derivatives against differences, relative to the largest.
double pose_error(const Pair& pair, const Vector12& gradient, double alpha, ScalingWorkspace& workspace) {
  Vector12 difference;
  for (int i = 0; i < 12; ++i) {
    difference[i] = central_difference(
        [&](double h) {
          Pair moved = pair;
          Vector6 tangent = Vector6::Zero();
          tangent[i % 6] = h;
          Pose& X = i < 6 ? moved.X_WA : moved.X_WB;
          X = X.perturbed(tangent);
          return alpha_of(moved, workspace);
        },
        1e-13 * alpha);
  }
  return (gradient - difference).cwiseAbs().maxCoeff<Eigen::PropagateNaN>() / gradient.cwiseAbs().maxCoeff();
}

/// The derivative along a random relative change of one shape's parameters, relative to the sum of its terms.
double parameter_error(const Pair& pair, bool of_a, const VectorX& gradient, double alpha, Random& random,
                       ScalingWorkspace& workspace) {
  const VectorX& parameters = (of_a ? pair.a : pair.b).parameters();
  VectorX direction = parameters;
  for (double& entry : direction) entry *= random.uniform(-1.0, 1.0);
  const double difference = central_difference(
      [&](double h) {
        Pair changed = pair;
        Shape& shape = of_a ? changed.a : changed.b;
        shape = shape.with_parameters(parameters + h * direction);
        return alpha_of(changed, workspace);
      },
      1e-13 * alpha);
  return std::abs(gradient.dot(direction) - difference) /
         (gradient.cwiseAbs().dot(direction.cwiseAbs()) + 1e-3 * alpha);
}

/// Mean of a few runs after one to warm up.
double time_query(const Pair& pair, ScalingWorkspace& workspace) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRuns = 20;
  double checksum = 0.0;
  Clock::time_point start;
  for (int run = -1; run < kRuns; ++run) {
    if (run == 0) start = Clock::now();
    checksum += scaling(pair.a, pair.X_WA, pair.b, pair.X_WB, {}, workspace).alpha + scaling_gradient(workspace)[0];
  }
  const std::chrono::duration<double, std::micro> elapsed = Clock::now() - start;
  return std::isnan(checksum) ? checksum : elapsed.count() / kRuns;
}

CombinationCheck check_combination(std::string_view type_a, std::string_view type_b, Random& random,
                                   ScalingWorkspace& workspace) {
  CombinationCheck check{
      std::string(type_a), std::string(type_b), std::numeric_limits<double>::infinity(), 0.0, 0.0, 0.0, 0.0, 0.0, true};
  std::array<double, kPairsPerCombination> times;
  for (double& time : times) {
    const Pair pair = random_pair(type_a, type_b, random, workspace);
    time = time_query(pair, workspace);
    check.mean_iterations +=
        scaling(pair.a, pair.X_WA, pair.b, pair.X_WB, {}, workspace).iterations / double{kPairsPerCombination};

    const Scaling result = scaling(pair.a, pair.X_WA, pair.b, pair.X_WB, kExact, workspace);
    const Vector12 gradient = scaling_gradient(workspace);
    VectorX d_a;
    VectorX d_b;
    scaling_parameter_gradient(workspace, d_a, d_b);

    check.smallest_alpha = std::min(check.smallest_alpha, result.alpha);
    check.largest_alpha = std::max(check.largest_alpha, result.alpha);
    const double pose = pose_error(pair, gradient, result.alpha, workspace);
    const double size = std::max(parameter_error(pair, true, d_a, result.alpha, random, workspace),
                                 parameter_error(pair, false, d_b, result.alpha, random, workspace));
    // written so that NaN fails
    check.passed = check.passed && pose <= kPairTolerance && size <= kPairTolerance;
    check.pose_error = std::max(check.pose_error, pose);
    check.parameter_error = std::max(check.parameter_error, size);
  }
  std::sort(times.begin(), times.end());
  check.microseconds = times[times.size() / 2];
  return check;
}

}  // namespace

std::vector<CombinationCheck> check_combinations(std::uint64_t seed) {
  ScalingWorkspace workspace;
  Random random(seed);
  std::vector<CombinationCheck> checks;
  for (std::size_t i = 0; i < kDemoTypes.size(); ++i) {
    for (std::size_t j = i; j < kDemoTypes.size(); ++j) {
      if (kDemoTypes[i] == "halfspace" && kDemoTypes[j] == "halfspace") continue;
      checks.push_back(check_combination(kDemoTypes[i], kDemoTypes[j], random, workspace));
    }
  }
  return checks;
}

}  // namespace tangere::cli
