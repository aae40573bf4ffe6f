#pragma once

/// Joints between a parent body P and a child body C.
///
/// The joint's frame J is fixed in the parent (X_PJ); at the neutral configuration it coincides with a frame fixed in
/// the child (X_CJ, usually the child's own). Axes are given in J.
///
///   type          q                      v                            moves
///   fixed         -                      -
///   revolute      angle                  rate                         about `axis`
///   prismatic     length                 rate                         along `axis`
///   screw         angle                  rate                         about `axis`, along it by `pitch` a radian
///   universal     two angles             rates                        about `axis`, then about `axis2` (as turned)
///   ball          quaternion (x y z w)   angular velocity (C axes)    about the origin
///   planar        x, y, angle            rates                        in the plane with normal `axis`, then about it
///   translation2  x, y                   rates                        in the plane with normal `axis`
///   translation3  x, y, z                rates                        along the axes of J
///   free          p, quaternion          [linear; angular] (C axes)
///
/// In the plane with normal x, y or z the coordinates run along (y, z), (z, x), (x, y) of J; with a normal near one of
/// these (a cosine above 0.9), along the same two as the shortest turn to the normal takes them; with any other normal,
/// along x and y as the shortest turn from z to the normal takes them. "C axes" are those of J on the child.

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tangere/math/se3.hpp"

namespace tangere {

enum class JointType {
  fixed,
  revolute,
  prismatic,
  screw,
  universal,
  ball,
  planar,
  translation2,
  translation3,
  free,
};

[[nodiscard]] std::string_view to_string(JointType type);
/// Numbers of configuration and of velocity coordinates.
[[nodiscard]] int num_positions(JointType type);
[[nodiscard]] int num_velocities(JointType type);

/// Properties of one velocity coordinate. Damping, stiffness and armature are part of the dynamics; limits, Coulomb
/// friction and mimic are for whoever simulates (rows of the contact problem) or optimises (bounds).
struct DofSpec {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  /// Position limits; not for ball and free joints.
  double lower = -kInfinity;
  double upper = kInfinity;
  /// Largest speed and largest effort.
  double velocity = kInfinity;
  double effort = kInfinity;
  /// Force - damping v.
  double damping = 0.0;
  /// Force - stiffness (q - rest); not for ball and free joints.
  double stiffness = 0.0;
  double rest = 0.0;
  /// Rotor inertia seen by the joint: added to the diagonal of the mass matrix.
  double armature = 0.0;
  /// Largest force of dry friction.
  double friction = 0.0;
};

/// q = multiplier q_source + offset, for joints of one coordinate.
struct Mimic {
  std::string source{};
  double multiplier = 1.0;
  double offset = 0.0;
};

struct JointSpec {
  std::string name{};
  JointType type = JointType::fixed;
  Pose X_PJ{};
  Pose X_CJ{};
  Vector3 axis = Vector3::UnitZ();
  Vector3 axis2 = Vector3::UnitX();
  double pitch = 0.0;
  /// One entry a velocity coordinate, or one for all, or none (defaults).
  std::vector<DofSpec> dofs{};
  std::optional<Mimic> mimic{};
};

}  // namespace tangere
