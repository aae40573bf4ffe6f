#pragma once

/// A tree of boxes over the parts of a bundle, so that queries look at few of them (not installed).

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "tangere/geometry/shape.hpp"

namespace tangere {

/// Bundles of fewer parts have no tree: asking each pair's balls is as fast.
inline constexpr int kPartTreeFrom = 8;

struct PartTree {
  struct Node {
    /// Box of all parts below, in the bundle's frame.
    Vector3 center;
    Vector3 half;
    /// Box of their origins, and the largest outer radius about one.
    Vector3 origin_center;
    Vector3 origin_half;
    double radius = 0.0;
    /// Children `first` and `first + 1`; for leaves (count > 0) parts order[first], ….
    int first = 0;
    int count = 0;
  };
  /// The root is the first.
  std::vector<Node> nodes;
  std::vector<int> order;
};

/// The specification as a shape keeps it.
struct KeptSpec : ShapeSpec {
  /// Tree over the parts; large bundles only.
  std::shared_ptr<const PartTree> part_tree{};
};
/// Null for all shapes but large bundles of bounded parts.
[[nodiscard]] inline const PartTree* part_tree_of(const Shape& shape) {
  return static_cast<const KeptSpec&>(shape.spec()).part_tree.get();
}

/// Null for few parts and where one is unbounded.
[[nodiscard]] std::shared_ptr<const PartTree> make_part_tree(std::span<const ShapePart> parts);

/// How far two boxes are apart at least, the second one turned by R and moved by p: 0 if they overlap.
[[nodiscard]] inline double boxes_apart(const Vector3& center_A, const Vector3& half_A, const Vector3& center_B,
                                        const Vector3& half_B, const Matrix3& R, const Matrix3& R_abs,
                                        const Vector3& p) {
  const Vector3 between = R * center_B + p - center_A;
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    const double reach = half_A[k] + R_abs(k, 0) * half_B[0] + R_abs(k, 1) * half_B[1] + R_abs(k, 2) * half_B[2];
    const double gap = std::max(0.0, std::abs(between[k]) - reach);
    sum += gap * gap;
  }
  return std::sqrt(sum);
}

}  // namespace tangere
