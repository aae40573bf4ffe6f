#pragma once

/// Scenes: bodies and robots in one world, with a state to start from (docs/scenes.md has the schema).
///
///   {"format": "tangere-scene", "version": 1, "gravity": [0, 0, -9.81], "time_step": 0.001,
///    "bodies": [{"name": "floor", "fixed": true, "shape": {"type": "halfspace", "normal": [0, 0, 1]}},
///               {"name": "crate", "shape": {"type": "box", "size": [1, 1, 1]}, "mass": 2, "position": [0, 0, 1]}],
///    "robots": [{"file": "arm.urdf", "position": [1, 0, 0], "q": [0, 0.5, 1, 0, 0, 0]}]}

#include <filesystem>
#include <string_view>

#include "tangere/io/robot_file.hpp"
#include "tangere/sim/scene.hpp"

namespace tangere {

/// A JSON scene, or a robot file alone (in its first keyframe, if it has one). Throws InputError with file and place.
[[nodiscard]] Scene load_scene(const std::filesystem::path& file, const LoadOptions& options = {});
/// The text of a scene; robot files are looked for beside `file`.
[[nodiscard]] Scene scene_from_text(std::string_view text, const std::filesystem::path& file,
                                    const LoadOptions& options = {});

}  // namespace tangere
