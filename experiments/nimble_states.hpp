#pragma once

/// The states of Nimble's tables II and III: every scene at its benchmark keyframe, joint limits and penetration
/// correction off, the control being the generalised force. Shared with bench_contact.

#include <filesystem>
#include <string>
#include <vector>

#include "tangere/sim/world.hpp"

namespace tangere::experiments {

struct NimbleState {
  std::string name;
  /// Our scene; empty for a robot of others.
  std::filesystem::path file;
  World world;
  /// At the keyframe. Jacobians are taken one step later.
  State start;
};

/// jump-worm, catapult, half-cheetah, humanoid, and Atlas on its mesh feet if it is at hand. `scenes`: our folder.
[[nodiscard]] std::vector<NimbleState> nimble_states(const std::filesystem::path& scenes);

/// Atlas is a robot of others: below the folder TANGERE_ROBOTS names, or ../shared/robots beside this repository.
/// What to say where it is missing.
inline constexpr const char* kAtlasIsMissing =
    "Atlas is not here: set TANGERE_ROBOTS to a folder with atlas/atlas_v3_no_head.urdf\n";

}  // namespace tangere::experiments
