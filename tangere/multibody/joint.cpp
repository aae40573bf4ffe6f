#include "tangere/multibody/joint.hpp"

namespace tangere {

std::string_view to_string(JointType type) {
  switch (type) {
    case JointType::fixed:
      return "fixed";
    case JointType::revolute:
      return "revolute";
    case JointType::prismatic:
      return "prismatic";
    case JointType::screw:
      return "screw";
    case JointType::universal:
      return "universal";
    case JointType::ball:
      return "ball";
    case JointType::planar:
      return "planar";
    case JointType::translation2:
      return "translation2";
    case JointType::translation3:
      return "translation3";
    case JointType::free:
      return "free";
  }
  return "unknown";
}

int num_velocities(JointType type) {
  switch (type) {
    case JointType::fixed:
      return 0;
    case JointType::revolute:
    case JointType::prismatic:
    case JointType::screw:
      return 1;
    case JointType::universal:
    case JointType::translation2:
      return 2;
    case JointType::ball:
    case JointType::planar:
    case JointType::translation3:
      return 3;
    case JointType::free:
      return 6;
  }
  return 0;
}

int num_positions(JointType type) {
  const bool has_quaternion = type == JointType::ball || type == JointType::free;
  return num_velocities(type) + (has_quaternion ? 1 : 0);
}

}  // namespace tangere
