#pragma once

/// Robots as URDF.

#include <filesystem>
#include <string>

#include "tangere/io/robot_file.hpp"

namespace tangere {

/// The text of a URDF file that `load_robot` reads back to the same robot, its bodies depth first. A single root that
/// hangs from the world by `root_joint` is written as the root (read it with the same LoadOptions::base); any others
/// hang from a link `world`. Throws InputError naming the first thing that URDF has no words for: other joints and
/// shapes (meshes and polytopes too: they need files), stiffness, armature, friction of shapes, actuators, …
[[nodiscard]] std::string to_urdf(const Robot& robot);

/// The same into a file, with meshes and polytopes: they are OBJ files in a folder beside it, `<name>_meshes`. Throws
/// InputError also if something cannot be written.
void save_urdf(const Robot& robot, const std::filesystem::path& file);

}  // namespace tangere
