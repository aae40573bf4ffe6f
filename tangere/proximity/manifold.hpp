#pragma once

/// Contact manifolds: the patch where two convex shapes touch, as at most `kMaxManifoldPoints` typed points with one
/// normal, and the derivatives of every point, normal and distance with respect to both poses.
///
/// Nimble's rules (Appendix C) for spheres, capsules, boxes and meshes, written for features instead of shapes, so that
/// they hold for every shape: along the normal each shape shows a face, a line or a point, perhaps padded by a ball.
///
///   face against face, line or point   the face's normal for the whole patch; corners of one inside the other, and
///                                      crossings of their outlines
///   parallel lines                     the two ends of the common stretch; one normal
///   all else                           one point, p_B - p_A = distance n, stationary in all that may vary
///
///   ManifoldWorkspace workspace;
///   const Manifold& contact = manifold(A, X_WA, B, X_WB, {.margin = 0.01}, workspace);
///   for (const ContactPoint& point : contact.contacts()) …
///
/// With X_WA = X_WA.perturbed(δ_A) and X_WB likewise, a manifold's Jacobians are those of the points it has: which
/// points there are, and what they are made of, changes at kinks.

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "tangere/geometry/shape.hpp"
#include "tangere/math/owned.hpp"
#include "tangere/math/se3.hpp"
#include "tangere/proximity/distance.hpp"

namespace tangere {

/// The most points a manifold has.
inline constexpr int kMaxManifoldPoints = 8;

/// The feature that a shape contributes to a contact point.
enum class FeatureKind {
  /// A corner without padding: of a polytope, or the apex of a cone.
  vertex,
  /// The padded point: a sphere, the end of a capsule, a corner of a rounded polytope.
  sphere,
  edge,
  /// The padded line, or the side of a cylinder.
  pipe,
  /// The line of a cone's side, which turns with the normal.
  ruling,
  /// The rim of a cylinder's cap or a cone's base; patches have eight points of it, fixed on the body.
  rim,
  /// Curved in both directions (an ellipsoid, sums of curved shapes).
  surface,
  face,
  /// The plane of a half-space.
  plane,
  /// A convex set, whichever of its features touch: of smooth contact, not of manifolds.
  whole,
};
[[nodiscard]] std::string_view to_string(FeatureKind kind);

/// Kind and name of a feature; equal from one step to the next as long as it is the same one.
struct ContactFeature {
  FeatureKind kind;
  /// The corner, or the two corners of an edge: indices into the shape's vertices (boxes: bits of the positive
  /// coordinates; rims: from kFirstRimId on; sums: numbers that combine those of their parts). -1: none.
  int first = -1;
  int second = -1;

  bool operator==(const ContactFeature&) const = default;
};

/// The first id of the points of a rim.
inline constexpr int kFirstRimId = 1 << 20;

/// In world axes.
struct ContactPoint {
  ContactFeature feature_A;
  ContactFeature feature_B;
  /// The contact point: p_A + weight (p_B - p_A). At the corner of corner and face, half-way between edges, and
  /// between round features divided as their radii are (Nimble, Appendix C).
  Vector3 point;
  double weight;
  /// On the surface of A and of B. (p_B - p_A) · normal = distance; between parallel lines they may differ sideways.
  /// Padded features that `ahead` adds reach as far along the normal as they will when they meet: their points may lie
  /// under the surface, never outside.
  Vector3 p_A;
  Vector3 p_B;
  /// Unit, from A to B; the same for all points of a manifold, but for those that `ahead` adds.
  Vector3 normal;
  /// Positive apart, negative overlapping.
  double distance;

  /// `vertex-face`, `pipe-pipe`, …
  [[nodiscard]] std::string type() const;
};

/// Derivatives with respect to the poses of A and B: 12 columns, tangents as in docs/conventions.md.
struct ContactJacobian {
  Matrix3x12 point;
  Matrix3x12 p_A;
  Matrix3x12 p_B;
  Matrix3x12 normal;
  /// The gradient of the distance.
  Vector12 distance;
  /// False where the point has no derivative, or one that holds for no motion worth the name: coincident centres, edges
  /// that touch in parallel or all but, overlaps that are as deep along another normal. All is NaN then.
  bool exists;
};

struct ManifoldOptions {
  /// Points up to this distance are reported, so that contacts exist before they touch. Metres, not negative.
  double margin = 1e-3;
  /// 1 to kMaxManifoldPoints.
  int max_points = kMaxManifoldPoints;
  /// Faces and lines this near to perpendicular to the normal take part as such. Radians, 1e-8 to 0.1.
  double angular_tolerance = 0.01;
  /// Also corners and edges that only meet as the shapes turn, by up to twice the margin over their size: those within
  /// the margin of what lies so near to the normal, each with a normal of its own, the nearest first.
  bool ahead = false;
  /// Whether to fill `Manifold::jacobians`.
  bool derivatives = false;
  DistanceOptions distance = {};

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

struct Manifold {
  int num_points = 0;
  /// The parts this is the manifold of. 0 for convex shapes.
  int part_A = 0;
  int part_B = 0;
  /// In the order of the features' ids, those of A first.
  std::array<ContactPoint, kMaxManifoldPoints> points;
  /// Filled if asked for.
  std::array<ContactJacobian, kMaxManifoldPoints> jacobians;

  [[nodiscard]] std::span<const ContactPoint> contacts() const {
    return {points.data(), static_cast<std::size_t>(num_points)};
  }
};

/// Memory of the queries and the last answer. One per thread.
class ManifoldWorkspace {
 public:
  ManifoldWorkspace();
  ~ManifoldWorkspace();
  ManifoldWorkspace(ManifoldWorkspace&&) noexcept;
  ManifoldWorkspace& operator=(ManifoldWorkspace&&) noexcept;

  struct Data;
  [[nodiscard]] Data& data() { return *data_; }

 private:
  Owned<Data> data_;
};

/// The manifold of two convex shapes; empty where they are farther apart than the margin. Valid until the next query of
/// the workspace. Throws InputError for bundles, for two half-spaces, for poses that are not rigid motions, and for
/// wrong options.
[[nodiscard]] const Manifold& manifold(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB,
                                       const ManifoldOptions& options, ManifoldWorkspace& workspace);

/// The same for any shapes: one manifold for each two parts within the margin, in the order of A's parts, then B's.
[[nodiscard]] std::span<const Manifold> manifolds(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB,
                                                  const ManifoldOptions& options, ManifoldWorkspace& workspace);

/// The manifold of two convex shapes whose distance and normal are known. The normal need not be exact: what it points
/// at decides, and the contact is made from that.
[[nodiscard]] Manifold manifold_along(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB,
                                      const Distance& nearest, const ManifoldOptions& options);

}  // namespace tangere
