#pragma once

/// Shapes and poses out of a JSON document. Not installed.

#include "tangere/geometry/shape.hpp"
#include "tangere/io/text/json_reader.hpp"

namespace tangere::internal {

[[nodiscard]] Shape read_shape(const JsonValue& value);

/// `position` (default 0) and `quaternion` (x y z w, default identity) of an object.
[[nodiscard]] Pose read_pose(const JsonValue& object);

}  // namespace tangere::internal
