#pragma once

/// The 45-combination set: capsule, cylinder, cone, ellipsoid, box, polytopes of 8, 20 and 40 faces and padded polygon,
/// each kind against each (same kind included), 100 random pairs a combination.
///
/// Shapes are about of unit size (radii 0.2 to 0.5, lengths 0.5 to 2), attitudes uniform, centres 0.15 to 4 apart,
/// which makes about a quarter of the pairs overlap. Same seed, same set, on every platform.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tangere/geometry/shape.hpp"
#include "tangere/math/random.hpp"
#include "tangere/math/se3.hpp"

namespace tangere::bench {

struct Pair {
  /// Index into PairSet::combinations.
  int combination;
  Shape A;
  Shape B;
  Pose X_WA;
  Pose X_WB;
};

struct PairSet {
  std::uint64_t seed;
  /// `capsule-cylinder`, …
  std::vector<std::string> combinations;
  std::vector<Pair> pairs;
};

/// The nine kinds in the order of the tables.
[[nodiscard]] const std::vector<std::string_view>& pair_set_kinds();

/// A random shape of a kind (one of `pair_set_kinds()`).
[[nodiscard]] Shape random_shape(std::string_view kind, Random& random);

/// The padded polygon of the papers' tables: five edges.
[[nodiscard]] Shape pentagon();

[[nodiscard]] PairSet make_pair_set(std::uint64_t seed = 1, int pairs_per_combination = 100);

}  // namespace tangere::bench
