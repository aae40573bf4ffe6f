#pragma once

/// The demo's page: pictures and table in one self-contained HTML file.

#include <cstdint>
#include <string>
#include <vector>

#include "apps/cli/demo_checks.hpp"
#include "apps/cli/demo_pictures.hpp"

namespace tangere::cli {

struct DemoSummary {
  int combinations;
  int failed;
  double worst_pose_error;
  double worst_parameter_error;
};
[[nodiscard]] DemoSummary summary_of(const std::vector<CombinationCheck>& checks);

[[nodiscard]] std::string demo_page(const std::vector<Picture>& pictures, const std::vector<CombinationCheck>& checks,
                                    std::uint64_t seed);

}  // namespace tangere::cli
