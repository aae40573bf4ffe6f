#pragma once

/// Patches: several points with one normal, that of the reference. Private to the manifold.
///
/// A face as reference, N its outward normal. Seen along N, the points are the corners of the intersection of the two
/// outlines:
///
///   incident corner    inside the reference's outline; p_R is its foot on the reference's plane
///   reference corner   inside the outline of an incident face; p_I is above it on that face's plane
///   crossing           of an edge of either; p_I on the incident edge, p_R its foot
///
/// A line as reference, beside a parallel one: the ends of the common stretch, each an incident end (p_R on the
/// reference line abreast of it) or a reference end.

#include <array>

#include "tangere/proximity/manifold/internal/manifold_body.hpp"
#include "tangere/proximity/manifold/internal/manifold_stationary.hpp"

namespace tangere::internal {

struct PatchPoint {
  enum class Kind { incident_corner, reference_corner, crossing, incident_end, reference_end };
  Kind kind;
  /// The incident corner, or the first of the edge; the reference's likewise.
  int i = 0;
  int j = 0;
  /// Along the edge or line of the body that has no corner here, from its first corner (0) to its second (1).
  double t = 0.0;
  Vector3 p_R;
  Vector3 p_I;
  /// N · (p_I - p_R).
  double distance = 0.0;
};

struct Patch {
  /// Two convex outlines cross in a polygon of at most as many corners as both have.
  static constexpr int kCapacity = 2 * kMaxCorners;

  const ManifoldBody* reference = nullptr;
  const ManifoldBody* incident = nullptr;
  const Feature* reference_feature = nullptr;
  const Feature* incident_feature = nullptr;
  /// Unit, from the reference to the incident body, and a point of the reference's plane.
  Vector3 N;
  Vector3 q_R;
  int count = 0;
  std::array<PatchPoint, kCapacity> points;
  /// Lines: what defines N.
  StationarySide side_R;
  StationarySide side_I;
  Stationary middle;

  [[nodiscard]] const PatchPoint& operator[](int i) const { return points[i]; }
};

/// The reference's outward normal in world axes.
[[nodiscard]] Vector3 face_normal(const ManifoldBody& reference, const Feature& feature);

/// A face and any feature (found along -N). `size` is the length tolerances are relative to. Leaves the patch empty
/// where the outlines do not meet.
void find_face_patch(const ManifoldBody& reference, const Feature& reference_feature, const ManifoldBody& incident,
                     const Feature& incident_feature, double size, Patch& patch);

/// For a point that lies outside the corners of a face, but within its true outline: the incident corner, unchecked.
void add_foot(Patch& patch);

/// Two lines; empty if they are not parallel within the tolerance, pass each other, or face elsewhere than `n` (from
/// the reference to the incident). The features are found anew along the patch's own normal.
void find_line_patch(const ManifoldBody& reference, Feature& reference_feature, const ManifoldBody& incident,
                     Feature& incident_feature, const Vector3& n, double tolerance, double size, Patch& patch);

}  // namespace tangere::internal
