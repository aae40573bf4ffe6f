#pragma once

/// Random shapes for tests and benchmarks: the same shapes for the same seed on every platform.

#include <string_view>
#include <vector>

#include "tangere/geometry/shape.hpp"
#include "tangere/math/random.hpp"

namespace tangere::test {

/// The bounded convex types by their names in files: nine primitives and `minkowski_sum`. (`halfspace` is unbounded.)
[[nodiscard]] const std::vector<std::string_view>& bounded_types();

/// A shape of the type about as large as `size` (its longest dimension is between size / 2 and 2 size), its dimensions
/// drawn so that aspects go up to 1:skew. Types: `bounded_types()` and `halfspace`.
[[nodiscard]] Shape random_shape(std::string_view type, Random& random, double size = 1.0, double skew = 3.0);

/// `num_faces` ≥ 4 half-spaces with random normals around a ball, stretched by up to 1:skew in random directions;
/// bounded, with the origin inside. Some faces may be redundant.
[[nodiscard]] Polytope random_polytope(Random& random, int num_faces, double size = 1.0, double skew = 3.0);

/// `num_edges` ≥ 3.
[[nodiscard]] PaddedPolygon random_padded_polygon(Random& random, int num_edges, double size = 1.0, double skew = 3.0);

}  // namespace tangere::test
