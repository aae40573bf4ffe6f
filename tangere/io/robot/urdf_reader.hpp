#pragma once

/// Robots from URDF 1.1 (docs/robots.md says what is read).
///
///   const Robot robot = load_urdf("atlas.urdf", {.base = Base::free});
///
/// Each link becomes a body and each joint a joint of the same name, parents first and siblings in the order of their
/// joints in the file. A root link called `world` is the world; any other hangs from it by the joint `root_joint`, free
/// or fixed as LoadOptions::base says.

#include <filesystem>
#include <string_view>

#include "tangere/io/robot_file.hpp"

namespace tangere {

/// Throws InputError with file, line and element for everything that is wrong with the file.
[[nodiscard]] Robot load_urdf(const std::filesystem::path& file, const LoadOptions& options = {});

/// The same from memory; `file` is what errors say, and meshes are looked for beside it.
[[nodiscard]] Robot urdf_from_text(std::string_view text, const std::filesystem::path& file = "robot.urdf",
                                   const LoadOptions& options = {});

}  // namespace tangere
