#include "tests/support/touching_pairs.hpp"

#include <algorithm>

#include "tangere/proximity/distance.hpp"

namespace tangere::test {

std::vector<ShapePair> touching_pairs(double relative_distance) {
  std::vector<ShapePair> pairs;
  DistanceWorkspace workspace;
  for (ShapePair pair : all_shape_pairs()) {
    if (!pair.A.is_convex() || !pair.B.is_convex()) continue;
    const double size = std::min(pair.A.support_terms()->outer_radius, pair.B.support_terms()->outer_radius);
    const Distance nearest = distance(pair.A, pair.X_WA, pair.B, pair.X_WB, {}, workspace);
    pair.X_WB.p += (relative_distance * size - nearest.distance) * nearest.normal;
    pairs.push_back(pair);
  }
  return pairs;
}

}  // namespace tangere::test
