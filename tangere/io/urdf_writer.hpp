#pragma once

/// Robots as URDF.

#include <string>

#include "tangere/io/robot_file.hpp"

namespace tangere {

/// The text of a URDF file that `load_robot` reads back to the same robot, its bodies depth first. A single root that
/// hangs from the world by `root_joint` is written as the root (read it with the same LoadOptions::base); any others
/// hang from a link `world`. Throws InputError naming the first thing that URDF has no words for: other joints and
/// shapes (meshes too: they are not files any more), stiffness, armature, friction of shapes, actuators, …
[[nodiscard]] std::string to_urdf(const Robot& robot);

}  // namespace tangere
