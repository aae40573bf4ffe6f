#pragma once

/// Runs of experiments to look at: `tangere experiment NAME --html DIR` makes pages of them.

#include <string>
#include <vector>

#include "tangere/sim/world.hpp"

namespace tangere::experiments {

struct Film {
  /// The page's file name without ending.
  std::string name;
  std::string title;
  /// The text of a recording.
  std::string recording;
};

/// Another trajectory to see through: a state a step.
struct FilmGhost {
  std::string name;
  const std::vector<State>* states = nullptr;
};

/// The run from `start` under these controls (one column a step).
[[nodiscard]] Film film(const std::string& name, const std::string& title, const World& world, const State& start,
                        const MatrixX& controls, const FilmGhost& ghost = {});

}  // namespace tangere::experiments
