#pragma once

/// Robots from MJCF, MuJoCo's format (docs/robots.md says what is read).
///
///   const Robot robot = load_mjcf("humanoid.xml");

#include <filesystem>
#include <string_view>

#include "tangere/io/robot_file.hpp"

namespace tangere {

/// Throws InputError with file, line and element for everything that is wrong with the file.
[[nodiscard]] Robot load_mjcf(const std::filesystem::path& file, const LoadOptions& options = {});

/// The same from memory; `file` is what errors say, and includes and meshes are looked for beside it.
[[nodiscard]] Robot mjcf_from_text(std::string_view text, const std::filesystem::path& file = "model.xml",
                                   const LoadOptions& options = {});

namespace internal {

/// load_mjcf with contype and conaffinity as groups and masks, as the file has them.
[[nodiscard]] Robot load_unsettled_mjcf(const std::filesystem::path& file, const LoadOptions& options);

}  // namespace internal
}  // namespace tangere
