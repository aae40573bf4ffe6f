#pragma once

/// The parts of a shape as a tree of boxes, for queries over pairs of parts: the tree of a large bundle, one leaf for
/// all others (private to proximity).

#include "tangere/geometry/part_tree.hpp"
#include "tangere/geometry/support_terms.hpp"

namespace tangere {

class PartNodes {
 public:
  explicit PartNodes(const Shape& shape) : tree_(part_tree_of(shape)) {
    if (tree_ != nullptr) return;
    const std::span<const ConvexPart> parts = shape.parts();
    if (parts.size() >= static_cast<std::size_t>(kPartTreeFrom)) return;
    double reach = 0.0;
    double outer = 0.0;
    double radius = 0.0;
    for (const ConvexPart& part : parts) {
      if (part.set->support->half_space) return;
      reach = std::max(reach, part.X_SP.p.norm() + part.set->outer_radius);
      outer = std::max(outer, part.X_SP.p.norm());
      radius = std::max(radius, part.set->outer_radius);
    }
    leaf_.center.setZero();
    leaf_.half.setConstant(reach);
    leaf_.origin_center.setZero();
    leaf_.origin_half.setConstant(outer);
    leaf_.radius = radius;
    leaf_.count = static_cast<int>(parts.size());
  }
  PartNodes(const PartNodes&) = delete;
  PartNodes& operator=(const PartNodes&) = delete;

  [[nodiscard]] bool has_tree() const { return tree_ != nullptr; }
  /// False for half-spaces, and bundles with one among many parts.
  [[nodiscard]] bool is_usable() const { return tree_ != nullptr || leaf_.count > 0; }
  [[nodiscard]] const PartTree::Node& node(int i) const { return tree_ != nullptr ? tree_->nodes[i] : leaf_; }
  [[nodiscard]] int part(int i) const { return tree_ != nullptr ? tree_->order[i] : i; }

 private:
  const PartTree* tree_;
  PartTree::Node leaf_{};
};

/// Walks both trees at once.
///
///   bound(a, b)       a lower bound of what is asked, for all pairs of parts below two nodes
///   below()           pairs of nodes from here on do not matter
///   visit(i, j)       two parts
template <class Bound, class Below, class Visit>
void walk_parts(const PartNodes& A, const PartNodes& B, Bound&& bound, Below&& below, Visit&& visit) {
  struct Pair {
    int a;
    int b;
    double bound;
  };
  // depth first, the nearer pair first: one waits per level of either tree, which are balanced
  constexpr int kMost = 2 * 64;
  Pair stack[kMost];
  int size = 0;
  stack[size++] = {0, 0, bound(A.node(0), B.node(0))};
  while (size > 0) {
    const Pair pair = stack[--size];
    if (!(pair.bound < below())) continue;
    const PartTree::Node& a = A.node(pair.a);
    const PartTree::Node& b = B.node(pair.b);
    if (a.count > 0 && b.count > 0) {
      for (int i = a.first; i < a.first + a.count; ++i)
        for (int j = b.first; j < b.first + b.count; ++j) visit(A.part(i), B.part(j));
      continue;
    }
    // the larger one is opened
    const bool open_A = b.count > 0 || (a.count == 0 && a.half.squaredNorm() >= b.half.squaredNorm());
    Pair children[2];
    for (int k = 0; k < 2; ++k) {
      children[k] = open_A ? Pair{a.first + k, pair.b, 0.0} : Pair{pair.a, b.first + k, 0.0};
      children[k].bound = bound(A.node(children[k].a), B.node(children[k].b));
    }
    if (children[0].bound < children[1].bound) std::swap(children[0], children[1]);
    for (const Pair& child : children)
      if (child.bound < below()) stack[size++] = child;
  }
}

/// The pose of B in the frame of A, as bounds need it.
struct RelativeBoxes {
  RelativeBoxes(const Pose& X_WA, const Pose& X_WB)
      : R(X_WA.R.transpose() * X_WB.R), R_abs(R.cwiseAbs()), p(X_WA.R.transpose() * (X_WB.p - X_WA.p)) {}

  /// How far the boxes of two nodes are apart at least; 0 if they overlap.
  [[nodiscard]] double apart(const PartTree::Node& a, const PartTree::Node& b) const {
    return boxes_apart(a.center, a.half, b.center, b.half, R, R_abs, p);
  }
  /// The same for the origins of their parts.
  [[nodiscard]] double origins_apart(const PartTree::Node& a, const PartTree::Node& b) const {
    return boxes_apart(a.origin_center, a.origin_half, b.origin_center, b.origin_half, R, R_abs, p);
  }

  Matrix3 R;
  Matrix3 R_abs;
  Vector3 p;
};

}  // namespace tangere
