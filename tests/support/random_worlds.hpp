#pragma once

/// Random worlds to step: the same ones for the same seed.

#include <cstdint>
#include <string>

#include "tangere/sim/step.hpp"

namespace tangere::test {

struct RandomWorld {
  /// The shapes, for messages.
  std::string name;
  World world;
  State state;
  VectorX u;
};

/// One to four free bodies of random convex shapes (0.1 to 0.5 m, 0.1 to 10 kg, friction 0 to 1) above a floor and
/// above each other, in one world of four an arm of three links among them. Nothing touches yet.
[[nodiscard]] RandomWorld random_world(std::uint64_t seed);

}  // namespace tangere::test
