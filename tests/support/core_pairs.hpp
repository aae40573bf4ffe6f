#pragma once

/// Pairs of shapes that are a core and a padding, for the tests of the proximity: every two such shapes of
/// `all_shapes()`, near (about half overlap) and apart.

#include <vector>

#include "tests/support/shape_pairs.hpp"

namespace tangere::test {

[[nodiscard]] const std::vector<ShapePair>& core_pairs();

}  // namespace tangere::test
