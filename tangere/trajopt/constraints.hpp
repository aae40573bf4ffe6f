#pragma once

/// Constraints of a trajectory. Inequalities are h ≤ 0, equalities c = 0.

#include "tangere/trajopt/costs.hpp"

namespace tangere {

/// lower ≤ u ≤ upper; entries may be infinite, and one entry stands for all.
struct ControlBounds {
  std::string name = "control bounds";
  VectorX lower{};
  VectorX upper{};
  Knots knots = Knots::with_control();
};

/// lower ≤ x ≤ upper by tangent coordinate (nq and nv numbered as velocities are); of coordinates that are plain
/// numbers: entries of ball and free joints must be infinite.
struct StateBounds {
  std::string name = "state bounds";
  VectorX lower{};
  VectorX upper{};
  Knots knots = Knots::after_start();

  /// The limits of a model's joints; velocities are free.
  [[nodiscard]] static StateBounds joint_limits(const Model& model);
};

/// x = target at its knots: those tangent coordinates whose entry of `mask` is not zero (all if empty).
struct Reach {
  std::string name = "reach";
  VectorX target{};
  VectorX mask = {};
  Knots knots = Knots::end();
};

/// A frame of a body at a target: translation, and rotation unless `position_only`.
struct ReachFrame {
  std::string name = "reach frame";
  std::string body{};
  Pose X_BF = {};
  Pose target = {};
  bool position_only = true;
  /// Rows (along the target's axes; then about them) whose entry is zero are left free; the last three count only with
  /// the rotation.
  Vector6 mask = Vector6::Ones();
  Knots knots = Knots::end();
};

/// lower ≤ p_WF ≤ upper of a frame's origin, world axes; entries may be infinite.
struct FrameBounds {
  std::string name = "frame bounds";
  std::string body{};
  Pose X_BF = {};
  Vector3 lower = Vector3::Constant(-std::numeric_limits<double>::infinity());
  Vector3 upper = Vector3::Constant(std::numeric_limits<double>::infinity());
  Knots knots = Knots::after_start();
};

/// c(x, u) = 0.
struct Equality {
  std::string name = "equality";
  int size = 1;
  KnotVector value{};
  Knots knots = Knots::all();
};

/// h(x, u) ≤ 0.
struct Inequality {
  std::string name = "inequality";
  int size = 1;
  KnotVector value{};
  Knots knots = Knots::all();
  /// Whether it is to hold between the knots too (OptimizerOptions::between).
  bool between_knots = false;
};

}  // namespace tangere
