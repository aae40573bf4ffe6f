#pragma once

/// Queries whose answers are known in closed form, values and gradients.

#include <string>
#include <vector>

namespace tangere::cli {

struct SelfCheck {
  std::string name;
  double alpha;
  double expected_alpha;
  /// Largest error of the twelve entries.
  double gradient_error;
  bool passed;
};

[[nodiscard]] std::vector<SelfCheck> run_self_checks();

}  // namespace tangere::cli
