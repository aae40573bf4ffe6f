#pragma once

/// `tangere optimize` of a problem of planning through contact (tangere/io/grasp_file.hpp).

#include <filesystem>

#include "apps/cli/commands.hpp"

namespace tangere::cli {

/// Plans with every seed asked for, and prints an answer for each. True if all reached their goal.
[[nodiscard]] bool plan_grasp(const std::filesystem::path& file, const OptimizeArguments& arguments);

}  // namespace tangere::cli
