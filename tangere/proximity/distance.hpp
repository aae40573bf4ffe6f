#pragma once

/// The true signed Euclidean distance of two shapes: how far apart they are, or, negative, the penetration depth (the
/// shortest translation that parts them).
///
///   distance = max over unit n of  n·(r_B - r_A) - h_A(n) - h_B(-n)                     (h about each centre)
///
/// Apart, that is a convex problem, answered with two bounds that meet. Overlapping, it has several local answers: the
/// inside of S_A ⊕ (-S_B) is filled with a growing polytope until nothing shallower is left. Two capsules have a closed
/// form.
///
///   DistanceWorkspace workspace;
///   const Distance result = distance(A, X_WA, B, X_WB, {}, workspace);
///   const Vector12 gradient = distance_gradient(workspace);

#include <limits>
#include <string_view>

#include "tangere/geometry/shape.hpp"
#include "tangere/math/owned.hpp"
#include "tangere/math/se3.hpp"

namespace tangere {

enum class DistanceStatus {
  /// The bounds meet to the tolerance; of overlapping curved shapes, the answer is as `Distance::gap` says.
  solved,
  /// Rounding or the size limit of the inner polytope stopped the search; the best answer is returned with its gap.
  numerical_limit,
  /// Proved to be above `DistanceOptions::at_most`: the distance is a lower bound along the normal, the points are the
  /// ones that prove it. There are no derivatives.
  beyond,
};

[[nodiscard]] std::string_view to_string(DistanceStatus status);

struct DistanceOptions {
  /// How far the two bounds may be apart, relative to the larger of the distance and the extent of both shapes along
  /// the normal.
  double tolerance = 1e-9;
  /// Pairs farther apart than this need not be answered in full: the search stops as soon as a lower bound is above it.
  /// Overlapping pairs are always answered in full. Metres.
  double at_most = std::numeric_limits<double>::infinity();

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

/// The answer. Points and directions are in world axes; the normal points from A to B.
struct Distance {
  DistanceStatus status;
  /// Positive apart, negative overlapping.
  double distance;
  /// The points of A and B that are nearest (overlapping: deepest in each other): p_B - p_A = distance * normal. One
  /// choice of many where they may slide (parallel edges or faces; see DistanceJacobian); value, normal and gradient do
  /// not depend on it.
  Vector3 p_A;
  Vector3 p_B;
  /// Unit normal, from A to B.
  Vector3 normal;
  /// Support points asked for.
  int iterations;
  /// How far the bounds are apart, in the units of the tolerance. Overlapping curved shapes: the local answer is exact
  /// to rounding, and others are excluded up to this by bounds (5e-4; 5e-2 where all but round bodies leave no room for
  /// more) and beyond by Newton's method from the faces that could hide one. Of 312 500 overlapping pairs of the tests'
  /// shapes 7 had a shallower one, by at most 5e-5 of the depth.
  double gap;
  /// For bundles: the parts that decide. 0 for convex shapes.
  int part_A = 0;
  int part_B = 0;
};

/// Memory of the queries, to be reused; holds the last answer for its derivatives and keeps its shapes alive. One per
/// thread. Without a workspace: answers.hpp.
class DistanceWorkspace {
 public:
  DistanceWorkspace();
  ~DistanceWorkspace();
  DistanceWorkspace(DistanceWorkspace&&) noexcept;
  DistanceWorkspace& operator=(DistanceWorkspace&&) noexcept;

  struct Data;
  [[nodiscard]] Data& data() { return *data_; }
  [[nodiscard]] const Data& data() const { return *data_; }

 private:
  Owned<Data> data_;
};

/// Throws InputError for two half-spaces, for poses that are not rigid motions, and for wrong options. Bundles answer
/// with the smallest distance over their parts.
[[nodiscard]] Distance distance(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB,
                                const DistanceOptions& options, DistanceWorkspace& workspace);

/// Whether the shapes have a point in common: the sign of the distance, at the first proof of it (two shapes that touch
/// to rounding may be told either way). Errors as those of `distance`; leaves no derivatives.
[[nodiscard]] bool overlaps(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB,
                            DistanceWorkspace& workspace);

/// d(distance) / d(pose of A, pose of B): tangents as in scaling_derivatives.hpp.
[[nodiscard]] Vector12 distance_gradient(DistanceWorkspace& workspace);

/// d(distance) / d(parameters of A), d(parameters of B), in the order of Shape::parameters. By a small cone program a
/// shape: dearer than the distance.
void distance_parameter_gradient(DistanceWorkspace& workspace, VectorX& d_A, VectorX& d_B);

struct DistanceJacobian {
  /// d(witness point) / d(poses), and d(normal) / d(poses).
  Matrix3x12 p_A;
  Matrix3x12 p_B;
  Matrix3x12 normal;
  /// False where the witness points are not unique or turn infinitely fast (a corner of a kink): the rows are then NaN.
  bool exists;
};

[[nodiscard]] DistanceJacobian distance_jacobian(DistanceWorkspace& workspace);

}  // namespace tangere
