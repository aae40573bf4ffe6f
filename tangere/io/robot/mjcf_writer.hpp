#pragma once

/// Robots to MJCF.

#include <string>

#include "tangere/io/robot_file.hpp"

namespace tangere {

/// MJCF text that gives the same robot when it is read again: names, joints and their coordinates, masses, shapes,
/// drawings, actuators and keyframes. What MJCF has no word for is left out and named in a comment at the top (largest
/// speeds, restitution); names of fixed joints become those of their bodies. Throws InputError naming the body or joint
/// that MJCF cannot have: shapes other than spheres, ellipsoids, boxes, capsules, cylinders, half-spaces and polytopes;
/// joints other than fixed, revolute, prismatic, ball and free.
[[nodiscard]] std::string to_mjcf(const Robot& robot);

}  // namespace tangere
