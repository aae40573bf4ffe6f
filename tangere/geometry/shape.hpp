#pragma once

/// Shapes are values. A specification (`Sphere{.radius = 0.5}`) becomes a `Shape`: validated once, with everything
/// the queries need laid out (conic rows, vertices, parameters), immutable, cheap to copy, free to share
/// between threads.
///
///   Shape capsule = Capsule{.radius = 0.5, .length = 2.0};
///   Shape crate = Box{.size = {1, 2, 3}};
///
/// Every convex shape is scaled about the origin of its frame, which must be strictly interior; `recentred` moves it.
/// A size that is not given is zero, and refused.

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tangere/geometry/convex_set.hpp"
#include "tangere/math/se3.hpp"
#include "tangere/math/types.hpp"

namespace tangere {

class Shape;
struct ShapePart;

/// |p| ≤ radius.
struct Sphere {
  double radius = 0.0;
};

/// pᵀ P p ≤ 1. Given by its semi-axes along x, y, z, or by P (symmetric positive definite), which then rules.
struct Ellipsoid {
  Vector3 semi_axes = Vector3::Zero();
  std::optional<Matrix3> P = std::nullopt;
};

/// |p_i| ≤ size_i / 2.
struct Box {
  Vector3 size = Vector3::Zero();
};

/// A p ≤ b with b > 0, one face a row; bounded.
struct Polytope {
  MatrixX3 A;
  VectorX b;
  /// The convex hull of points (one a row), which must contain the origin strictly.
  [[nodiscard]] static Polytope from_vertices(const MatrixX3& vertices);
};

/// All points within `radius` of a polytope.
struct RoundedPolytope {
  Polytope core;
  double radius = 0.0;
};

/// All points within `radius` of a segment of the given length along x (the caps come on top).
struct Capsule {
  double radius = 0.0;
  double length = 0.0;
};

/// Axis x, from -length/2 to length/2.
struct Cylinder {
  double radius = 0.0;
  double length = 0.0;
};

/// Axis x: apex at -3/4 height, base at +1/4 height, so that the origin is the centroid. Half-angle in (0, π/2).
struct Cone {
  double height = 0.0;
  double half_angle = 0.0;
};

/// All points within `radius` of the polygon C (x, y) ≤ d in the plane z = 0; d > 0, bounded.
struct PaddedPolygon {
  MatrixX2 C;
  VectorX d;
  double radius = 0.0;
};

/// normal · p ≤ offset: the outward normal need not be of unit length. Not scaled, has no centre.
struct HalfSpace {
  Vector3 normal = Vector3::Zero();
  double offset = 0.0;
};

/// The sum of posed convex shapes (sums nest; half-spaces and bundles are refused).
struct MinkowskiSum {
  std::vector<ShapePart> parts;
};

/// The union of posed convex shapes; queries answer with the minimum over the parts. Bundles in bundles are flattened.
struct Bundle {
  std::vector<ShapePart> parts;
};

using ShapeSpec = std::variant<Sphere, Ellipsoid, Box, Polytope, RoundedPolytope, Capsule, Cylinder, Cone,
                               PaddedPolygon, HalfSpace, MinkowskiSum, Bundle>;

/// A convex part of a shape: the set in its own frame P and that frame in the shape's frame S.
struct ConvexPart {
  std::shared_ptr<const ConvexSet> set;
  Pose X_SP;
  /// First of this part's parameters in the shape's parameter vector.
  int first_parameter = 0;
};

class Shape {
 public:
  /// Validates; throws InputError naming the field (`capsule.radius`), its value and the allowed range.
  Shape(ShapeSpec spec);  // NOLINT(google-explicit-constructor): a specification is a shape
  template <class Spec>
  // NOLINTNEXTLINE(google-explicit-constructor): so that `Shape ball = Sphere{1.0}` reads as it should
  requires std::constructible_from<ShapeSpec, Spec> Shape(Spec spec) : Shape(ShapeSpec(std::move(spec))) {}
  /// Copies share everything. Moving is copying: what was moved from stays a shape.
  Shape(const Shape&) = default;
  Shape& operator=(const Shape&) = default;
  ~Shape() = default;

  [[nodiscard]] const ShapeSpec& spec() const;
  template <class Spec>
  [[nodiscard]] const Spec* get_if() const {
    return std::get_if<Spec>(&spec());
  }
  /// The name in files: `sphere`, `rounded_polytope`, …
  [[nodiscard]] std::string_view type_name() const;
  /// False for bundles only.
  [[nodiscard]] bool is_convex() const;
  [[nodiscard]] bool is_half_space() const;

  /// The convex parts; a convex shape is its own and only part, with identity pose.
  [[nodiscard]] std::span<const ConvexPart> parts() const;
  /// The set of a convex shape; throws InputError for a bundle.
  [[nodiscard]] const ConvexSet& set() const;

  /// The set of a convex shape and its support function; null for a bundle.
  [[nodiscard]] const ConvexSet* convex_set() const { return convex_set_; }
  [[nodiscard]] const SupportTerms* support_terms() const { return support_terms_; }
  /// The same in this very object's memory if it has one term at most: for as long as this copy of the shape exists.
  [[nodiscard]] const SupportTerms* near_support_terms() const { return is_near_ ? &near_.sum : support_terms_; }

  /// The numbers that size the shape, in the order of `parameter_names`: those of the specification (`radius`,
  /// `length`, `size.x`, `A[0].x`, `b[0]`, …), for sums and bundles those of the parts in turn (`parts[1].radius`).
  [[nodiscard]] const VectorX& parameters() const;
  [[nodiscard]] const std::vector<std::string>& parameter_names() const;
  /// The same shape with other parameters (validated again).
  [[nodiscard]] Shape with_parameters(const VectorX& parameters) const;

 private:
  struct Data;
  // of data_: queries look here first
  const ConvexSet* convex_set_ = nullptr;
  const SupportTerms* support_terms_ = nullptr;
  std::shared_ptr<const Data> data_;
  bool is_near_ = false;
  NearSupportTerms near_{};
};

/// A shape posed in the frame of the whole: X = X_WholePart.
struct ShapePart {
  Shape shape;
  Pose X;
};

/// A shape whose origin is not interior, or is badly placed, moved: `shape` about its own centroid, and X_OldNew.
/// For a polytope by vertices or half-spaces whose origin lies outside, this is how it becomes valid.
struct Recentred {
  Shape shape;
  Pose X_OldNew;
};
[[nodiscard]] Recentred recentred(const ShapeSpec& spec);

}  // namespace tangere
