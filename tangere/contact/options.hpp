#pragma once

/// Options of contact, joint limits and constraints that every formulation heeds. Those of one formulation are in
/// hard_contact.hpp and smooth_contact.hpp.

#include <vector>

namespace tangere {

/// The coefficient of a pair of shapes of the scene (by their indices there, in either order), whatever the shapes say.
struct PairFriction {
  int shape_A = 0;
  int shape_B = 0;
  double friction = 0.0;

  bool operator==(const PairFriction&) const = default;
};

struct ContactOptions {
  /// The part of a penetration (of shapes, limits, constraints) that a step takes back. 0 to 1; 0 leaves it. Smooth
  /// contact takes back overlaps of shapes and limits at the correction speed, unless this is 0.
  double correction = 0.2;
  /// The largest speed of that correction, of each row: metres a second, radians a second for angles (of limits, mimics
  /// and the turns of welds).
  double correction_speed = 0.5;
  /// Impacts whose rebound would be slower than this do not bounce. Metres a second.
  double bounce_speed = 0.1;
  /// Torque about the normal up to this length times the normal force, metres. 0: none by hard contact, and that of
  /// SmoothContact::torsion by smooth contact.
  double torsional_friction = 0.0;
  /// Softness of rows, as a part of how easily the bodies move: it makes forces unique where rows repeat each other
  /// (the corners of a box on a floor). A ten-thousandth of it where a tree has one contact only. 1e-10 to 1e-2. By
  /// smooth contact of constraints and mimics alone.
  double compliance = 1e-6;
  /// Pairs that do not take the smaller coefficient of their two shapes.
  std::vector<PairFriction> pair_friction = {};
  /// Enforced, or left to the caller.
  bool joint_limits = true;
  bool joint_friction = true;
  bool mimics = true;
  bool constraints = true;

  /// Throws InputError naming the first field out of range.
  void verify() const;
  bool operator==(const ContactOptions&) const = default;
};

}  // namespace tangere
