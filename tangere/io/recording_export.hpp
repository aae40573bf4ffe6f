#pragma once

/// Recordings for other programs.

#include <string>

#include "tangere/io/recording/recording_data.hpp"

namespace tangere {

/// glTF 2.0 with everything inside (one .gltf file): the drawn shapes as meshes, a node a body, an animation of its
/// position and orientation. glTF has y up; a root node turns the scene. A body is hidden where it is absent (scale 0).
/// Ghosts, contacts and channels are left out.
[[nodiscard]] std::string to_gltf(const Recording& recording);

/// A table with a line a frame: t, the channels, q and v, and seven numbers a body. Fields with commas or quotes are
/// quoted as RFC 4180 says; numbers come back to the bit; absent bodies are empty fields.
[[nodiscard]] std::string to_csv(const Recording& recording);

}  // namespace tangere
