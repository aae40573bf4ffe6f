#include "tests/support/shape_pairs.hpp"

#include <algorithm>
#include <ostream>
#include <set>

#include "tangere/math/random.hpp"
#include "tests/support/all_shapes.hpp"

namespace tangere::test {
namespace {

std::vector<ShapePair> pairs_of(const std::vector<NamedShape>& shapes, std::uint64_t seed) {
  Random random(seed);
  std::vector<ShapePair> pairs;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (std::size_t j = i; j < shapes.size(); ++j) {
      const Shape& A = shapes[i].shape;
      const Shape& B = shapes[j].shape;
      if (A.is_half_space() && B.is_half_space()) continue;
      // centres apart by 0.3 to 2 times what the sizes suggest, so that about half overlap
      const auto size = [](const Shape& shape) {
        const ConvexSet& set = *shape.parts().front().set;
        return set.scaled ? 0.5 * (set.outer_radius + set.inner_radius) : 0.0;
      };
      // how far from the origin of a bundle its parts' centres are
      const auto spread = [](const Shape& shape) {
        double farthest = 0.0;
        for (const ConvexPart& part : shape.parts()) farthest = std::max(farthest, part.X_SP.p.norm());
        return farthest;
      };
      Pose X_WA(random.rotation(), random.normal3());
      Pose X_WB(random.rotation(), X_WA.p + random.uniform(0.3, 2.0) * (size(A) + size(B)) * random.unit_vector());
      // a half-space: the other's centre outside
      const auto lower = [&](Pose& X, const Shape& plane, const Pose& X_other, double distance) {
        const HalfSpace& half_space = *plane.get_if<HalfSpace>();
        const Vector3 n = X.R * half_space.normal;
        const double slack = (half_space.offset - n.dot(X_other.p - X.p)) / n.norm();
        X.p -= (slack + distance) * n.normalized();
      };
      if (A.is_half_space()) lower(X_WA, A, X_WB, spread(B) + random.uniform(0.3, 2.0) * size(B));
      if (B.is_half_space()) lower(X_WB, B, X_WA, spread(A) + random.uniform(0.3, 2.0) * size(A));
      pairs.push_back({shapes[i].name + "_" + shapes[j].name, A, X_WA, B, X_WB});
    }
  }
  return pairs;
}

}  // namespace

const std::vector<ShapePair>& shape_pairs() {
  static const std::vector<ShapePair> pairs = [] {
    std::vector<NamedShape> first;
    std::set<std::string_view> seen;
    for (const NamedShape& shape : all_shapes()) {
      if (seen.insert(shape.shape.type_name()).second) first.push_back(shape);
    }
    return pairs_of(first, 14);
  }();
  return pairs;
}

const std::vector<ShapePair>& all_shape_pairs() {
  static const std::vector<ShapePair> pairs = pairs_of(all_shapes(), 12);
  return pairs;
}

void PrintTo(const ShapePair& pair, std::ostream* stream) { *stream << pair.name; }

}  // namespace tangere::test
