#pragma once

/// Options of hard contact: contacts, joint limits and constraints.

#include <vector>

#include "tangere/solvers/lcp/boxed_lcp.hpp"

namespace tangere {

/// How a step treats an impact that bounces.
enum class BounceMode {
  /// The impact happens inside the step, when the surfaces meet (sim/bounce.hpp): its time moves with the state, and so
  /// the gradient is that of the motion. Semi-implicit integrator only.
  event,
  /// The velocity at the end of the step is the reflected one. Its derivative is that of these steps, and not near that
  /// of the motion.
  discrete,
};

/// Which impulses there are where rows repeat each other (the corners of a box on a floor).
enum class Redundancy {
  /// The impulses of an elastic foundation: each row has a small compliance. Their derivative is always exact.
  compliance,
  /// The impulses of least norm, as in Nimble, if they are inside their bounds; else those of the compliance.
  /// The derivative is not that of the step if redundant points slide in different directions.
  least_squares,
};

/// The coefficient of a pair of shapes of the scene (by their indices there, in either order), whatever the shapes say.
struct PairFriction {
  int shape_A = 0;
  int shape_B = 0;
  double friction = 0.0;

  bool operator==(const PairFriction&) const = default;
};

/// Smooth contact (smooth_options.hpp) heeds `correction_speed` of overlaps and limits, unless `correction` is 0,
/// `correction` and `compliance` of constraints and mimics, `bounce_speed`, `torsional_friction`, and which rows of
/// joints are enforced; it refuses `rolling_friction`. The rest is of hard contact.
struct ContactOptions {
  /// Contacts exist from this distance on, and farther as far as bodies may come nearer within a step. They push only
  /// where the step would end inside. Metres.
  double margin = 1e-3;
  /// The part of a penetration (of shapes, limits, constraints) that a step takes back. 0 to 1; 0 leaves it.
  double correction = 0.2;
  /// Below this distance a gap is closed as gently as a penetration is taken back, so that what rests is not at a kink:
  /// it comes to rest within this distance of the surface, and nearer with every step. Metres or radians.
  double touching = 1e-5;
  /// The largest speed of that correction, of each row: metres a second, radians a second for angles (of limits, mimics
  /// and the turns of welds).
  double correction_speed = 0.5;
  /// Impacts whose rebound would be slower than this do not bounce. Metres a second.
  double bounce_speed = 0.1;
  BounceMode bounce = BounceMode::event;
  /// Torque about the normal, and about the tangents, up to these lengths times the normal force. 0: no such rows.
  double torsional_friction = 0.0;
  double rolling_friction = 0.0;
  /// Pairs that do not take the smaller coefficient of their two shapes.
  std::vector<PairFriction> pair_friction = {};
  /// Enforced, or left to the caller.
  bool joint_limits = true;
  bool joint_friction = true;
  bool mimics = true;
  bool constraints = true;
  /// Softness of the rows, as a part of how easily the bodies move: it makes forces unique where rows repeat each other
  /// (the corners of a box on a floor). A ten-thousandth of it where a tree has one contact only. 1e-10 to 1e-2.
  double compliance = 1e-6;
  Redundancy redundancy = Redundancy::compliance;
  /// Derivatives solve for at most six rows a pair of bodies that touch, however many points there are
  /// (row_reduction.hpp): the same to rounding, and faster. Redundancy::compliance only.
  bool reduce_rows = true;
  /// Relative tolerance of the complementarity problem, on forces.
  double tolerance = 1e-9;

  /// Throws InputError naming the first field out of range.
  void verify() const;
  bool operator==(const ContactOptions&) const = default;
};

}  // namespace tangere
