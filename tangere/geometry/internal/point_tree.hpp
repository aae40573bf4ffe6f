#pragma once

/// Many points above one hull (private to geometry).

#include <cstddef>
#include <vector>

#include "tangere/geometry/hull.hpp"
#include "tangere/math/types.hpp"

namespace tangere::internal {

/// How far a point is outside of the face that it is farthest outside of (the first of equals); negative inside.
struct Height {
  double height;
  std::size_t face;
};

/// Points in boxes inside boxes. Faces that are nowhere in a box the highest are put aside for all that is in it, so
/// that most points meet a few faces only. The answers are those of trying every face with every point.
/// The points must be within a few units of the origin, as rounding is allowed for on that scale.
class PointTree {
 public:
  explicit PointTree(const std::vector<Vector3>& points);

  /// The height of every point that is higher than `floor`; for others anything up to it.
  void heights(const Hull& hull, double floor, std::vector<Height>& out) const;
  /// That of the lowest point.
  [[nodiscard]] double lowest(const Hull& hull) const;

 private:
  struct Node {
    Vector3 center;
    Vector3 half;
    /// Points of it in `order_`.
    int begin;
    int end;
    /// Children; -1 for leaves.
    int first = -1;
    int second = -1;
  };
  struct Search;

  int add_node(int begin, int end);

  const std::vector<Vector3>& points_;
  std::vector<int> order_;
  std::vector<Node> nodes_;
};

}  // namespace tangere::internal
