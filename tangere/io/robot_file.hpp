#pragma once

/// Robots from files.
///
///   const Robot robot = load_robot("atlas.urdf", {.base = Base::free});
///   for (const Notice& notice : robot.notices) std::puts(to_string(notice).c_str());

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tangere/multibody/robot.hpp"

namespace tangere {

/// `file:line: element: text`.
[[nodiscard]] std::string to_string(const Notice& notice);

/// The base of a URDF: held by the world, or free (MJCF files say it themselves).
enum class Base { fixed, free };

struct LoadOptions {
  Base base = Base::fixed;
  /// Folders for `package://name/…` and relative mesh names, beside the file's own folder and its parents.
  std::vector<std::filesystem::path> search_paths{};
  /// Notices are errors, and nothing is mended: inertias that no body has, joints that move nothing, zero quaternions
  /// of keyframes, …
  bool strict = false;
  /// Coefficients of friction and restitution where the file gives none.
  double friction = 1.0;
  double restitution = 0.0;
};

/// By the root element: <robot> (URDF) or <mujoco> (MJCF). Throws InputError with file, line and element for everything
/// that is wrong with the file.
[[nodiscard]] Robot load_robot(const std::filesystem::path& file, const LoadOptions& options = {});

namespace internal {

/// load_robot for who settles contype and conaffinity of MJCF files together with other groups and masks: they are as
/// the file has them.
[[nodiscard]] Robot load_unsettled_robot(const std::filesystem::path& file, const LoadOptions& options);

/// Puts notices into the order of rank, file and line. Throws the first one if the options say that notices are errors.
void settle_notices(std::vector<Notice>& notices, const LoadOptions& options);

}  // namespace internal
}  // namespace tangere
