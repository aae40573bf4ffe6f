#pragma once

/// The parts of a world: bodies and robots as one model, and a state to start from (io/scene_file.hpp reads it).

#include "tangere/multibody/robot.hpp"

namespace tangere {

struct Scene {
  /// All bodies and robots as one model.
  Robot robot;
  /// The state to start from.
  VectorX q;
  VectorX v;
  double time_step = 0.001;
};

}  // namespace tangere
