#pragma once

/// Pairs in contact, one for every way in which two features meet, for the tests of the manifold.

#include <string>
#include <vector>

#include "tests/support/shape_pairs.hpp"

namespace tangere::test {

struct ManifoldCase {
  ShapePair pair;
  /// How many points the manifold has, and of which types (`vertex-face`), in any order.
  int num_points;
  std::vector<std::string> types;
};

/// Overlapping by about 0.01, at general attitudes: faces and lines meant to be parallel are so up to some 1e-3 rad.
[[nodiscard]] const std::vector<ManifoldCase>& manifold_cases();

}  // namespace tangere::test
