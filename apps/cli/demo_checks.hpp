#pragma once

/// Random pairs of every combination of shapes, their gradients compared with finite differences.

#include <cstdint>
#include <string>
#include <vector>

namespace tangere::cli {

inline constexpr int kPairsPerCombination = 5;
/// Largest relative error of a gradient that passes.
inline constexpr double kPairTolerance = 1e-6;

/// One combination, over its pairs.
struct CombinationCheck {
  std::string type_a;
  std::string type_b;
  double smallest_alpha;
  double largest_alpha;
  double mean_iterations;
  /// A query and its gradient, median over the pairs.
  double microseconds;
  /// Largest relative error of the 12 pose derivatives, and of the derivative along a random change of all size
  /// parameters.
  double pose_error;
  double parameter_error;
  bool passed;
};

/// Every unordered combination of the twelve types but two half-spaces.
[[nodiscard]] std::vector<CombinationCheck> check_combinations(std::uint64_t seed);

}  // namespace tangere::cli
