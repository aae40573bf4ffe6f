#pragma once

/// Pairs for the law batteries: every unordered pair of the shapes of `all_shapes()` (two half-spaces excluded), at a
/// random pose each.

#include <iosfwd>
#include <string>
#include <vector>

#include "tangere/geometry/shape.hpp"
#include "tangere/math/se3.hpp"

namespace tangere::test {

struct ShapePair {
  std::string name;
  Shape A;
  Pose X_WA;
  Shape B;
  Pose X_WB;
};

/// One pair for each two types (the first listed shape of each type).
[[nodiscard]] const std::vector<ShapePair>& shape_pairs();
/// One pair for each two listed shapes.
[[nodiscard]] const std::vector<ShapePair>& all_shape_pairs();

void PrintTo(const ShapePair& pair, std::ostream* stream);

}  // namespace tangere::test
