#pragma once

/// Shapes as JSON text (docs/query.md has the schema):
///
///   {"type": "capsule", "radius": 0.5, "length": 2}
///
/// The types are those of Shape::type_name, the fields those of the specifications; polytopes may be given by
/// `vertices` instead of `A` and `b`, and are always written with the latter. Quaternions are x y z w.

#include <string>
#include <string_view>

#include "tangere/geometry/shape.hpp"

namespace tangere {

/// Throws InputError whose field is the path of what is wrong, starting with `path` (`parts[1].shape.radius`).
[[nodiscard]] Shape shape_from_json(std::string_view text, const std::string& path = "");

/// One line of JSON that `shape_from_json` reads back to the same shape.
[[nodiscard]] std::string shape_to_json(const Shape& shape);

/// How deep parts may nest in files.
inline constexpr int kMaxPartDepth = 32;

}  // namespace tangere
