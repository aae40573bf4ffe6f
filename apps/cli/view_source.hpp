#pragma once

/// Whatever `tangere view` is given, as a recording.

#include <string>
#include <vector>

#include "tangere/io/recording/recording_data.hpp"
#include "tangere/io/robot_file.hpp"

namespace tangere::cli {

struct ViewSource {
  Recording recording;
  /// The recording as it is in its file, to the bit; empty if it was made here.
  std::string text{};
  /// Warnings: lines for the terminal.
  std::vector<std::string> notes;
};

/// A recording, a scene, a robot (URDF, MJCF) or a file of pair queries, told apart by what is in it. Throws InputError
/// naming file and place.
[[nodiscard]] ViewSource load_view_source(const std::string& file, const LoadOptions& options);

/// Adds the other recording's trajectory as a ghost. Throws InputError if its bodies are others.
void add_ghost(Recording& recording, const Recording& other, const std::string& name);

}  // namespace tangere::cli
