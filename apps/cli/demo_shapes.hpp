#pragma once

/// Random shapes for the demo, of about unit size.

#include <array>
#include <string_view>

#include "tangere/geometry/shape.hpp"
#include "tangere/math/random.hpp"

namespace tangere::cli {

/// All types of shapes, by their names in files.
inline constexpr std::array<std::string_view, 12> kDemoTypes = {
    "sphere",         "ellipsoid", "box",           "polytope", "rounded_polytope", "capsule", "cylinder", "cone",
    "padded_polygon", "halfspace", "minkowski_sum", "bundle"};

[[nodiscard]] Shape random_demo_shape(std::string_view type, Random& random);

/// `num_faces` ≥ 4 faces around a ball.
[[nodiscard]] Polytope random_demo_polytope(int num_faces, double size, Random& random);

}  // namespace tangere::cli
