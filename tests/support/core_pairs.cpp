#include "tests/support/core_pairs.hpp"

#include "tangere/proximity/proximity.hpp"

namespace tangere::test {

const std::vector<ShapePair>& core_pairs() {
  static const std::vector<ShapePair> pairs = [] {
    std::vector<ShapePair> selected;
    for (const ShapePair& pair : all_shape_pairs()) {
      if (!has_core(pair.A) || !has_core(pair.B)) continue;
      selected.push_back(pair);
      ShapePair apart = pair;
      apart.name += "_apart";
      const Vector3 d = pair.X_WB.p - pair.X_WA.p;
      const double reach = pair.A.set().outer_radius + pair.B.set().outer_radius;
      apart.X_WB.p = pair.X_WA.p + (1.0 + 0.8 * reach / d.norm()) * d;
      selected.push_back(apart);
    }
    return selected;
  }();
  return pairs;
}

}  // namespace tangere::test
