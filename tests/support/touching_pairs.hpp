#pragma once

/// All pairs of convex shapes of `all_shape_pairs()`, moved along their normal until the distance is a given part of
/// the smaller one's outer radius.

#include <vector>

#include "tests/support/shape_pairs.hpp"

namespace tangere::test {

[[nodiscard]] std::vector<ShapePair> touching_pairs(double relative_distance);

}  // namespace tangere::test
