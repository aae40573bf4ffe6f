#pragma once

/// Hard contact: a boxed complementarity problem on the contact points at q (hard/lcp.hpp). Options that are its own.

namespace tangere {

/// How a step treats an impact that bounces.
enum class BounceMode {
  /// The impact happens inside the step, when the surfaces meet: its time moves with the state, and so the gradient is
  /// that of the motion. Semi-implicit integrator only.
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

struct HardContact {
  /// Contacts exist from this distance on, and farther as far as bodies may come nearer within a step. They push only
  /// where the step would end inside. Metres.
  double margin = 1e-3;
  /// Below this distance a gap is closed as gently as a penetration is taken back, so that what rests is not at a kink:
  /// it comes to rest within this distance of the surface, and nearer with every step. Metres or radians.
  double touching = 1e-5;
  BounceMode bounce = BounceMode::event;
  /// Torque about the tangents up to this length times the normal force, metres. 0: no such rows.
  double rolling_friction = 0.0;
  Redundancy redundancy = Redundancy::compliance;
  /// Derivatives solve for at most six rows a pair of bodies that touch, however many points there are: the same to
  /// rounding, and faster. Redundancy::compliance only.
  bool reduce_rows = true;
  /// Relative tolerance of the complementarity problem, on forces.
  double tolerance = 1e-9;

  /// Throws InputError naming the first field out of range.
  void verify() const;
  bool operator==(const HardContact&) const = default;
};

}  // namespace tangere
