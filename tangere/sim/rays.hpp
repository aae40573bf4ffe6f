#pragma once

/// Rays and points against a world: what a sensor sees, and how far a place is from everything.
///
///   const RayAnswer seen = cast_ray(world, q, {.origin = lamp, .direction = {0, 0, -1}}, workspace);
///   const PointAnswer nearest = nearest_to(world, q, place, 0.5, workspace);
///
/// Against all shapes of the world, whatever their groups, or those that match a pattern of names (clearance.hpp). A
/// ray from inside a shape hits it at once.
///
/// How. Seen from a point outside, the normal n of the distance d gives a plane that the shape lies behind, so that the
/// ray is free for at least d / (n·direction): Newton's method on a convex function, from the safe side. A ray that
/// turns away from such a plane misses.

#include "tangere/sim/clearance.hpp"

namespace tangere {

struct Ray {
  Vector3 origin = Vector3::Zero();
  /// Need not be of unit length, but not zero.
  Vector3 direction = Vector3::UnitX();
  /// Hits beyond this are none [m].
  double length = 1e3;
};

struct RayAnswer {
  bool hit = false;
  /// From the origin to the hit; the ray's length without one [m].
  double distance = 0.0;
  /// In world axes; the normal points out of the shape.
  Vector3 point = Vector3::Zero();
  Vector3 normal = Vector3::Zero();
  std::string_view name;
  int shape = -1;
  int part = 0;
  /// d(distance) / d(origin), / d(direction of unit length) and / dq (nv). NaN where the ray grazes.
  Vector3 d_origin = Vector3::Zero();
  Vector3 d_direction = Vector3::Zero();
  VectorX d_q;
};

struct PointAnswer {
  /// Whether a shape is within the margin.
  bool near = false;
  /// Signed: negative inside; the margin if nothing is near [m].
  double distance = 0.0;
  /// Nearest point of the shape, and the unit normal from the shape to the point asked about (out of the shape).
  Vector3 point = Vector3::Zero();
  Vector3 normal = Vector3::Zero();
  std::string_view name;
  int shape = -1;
  int part = 0;
  /// d(distance) / d(point) is the normal; / dq has nv numbers.
  VectorX d_q;
};

/// Answers are valid until the next query of the workspace. `pattern`: of names.
const RayAnswer& cast_ray(const World& world, VectorArgument q, const Ray& ray, ClearanceWorkspace& workspace,
                          std::string_view pattern = "*");
const PointAnswer& nearest_to(const World& world, VectorArgument q, const Vector3& point, double margin,
                              ClearanceWorkspace& workspace, std::string_view pattern = "*");

}  // namespace tangere
