#pragma once

/// Records of a step by smooth contact that are its own.

#include <vector>

#include "tangere/contact/smooth/smooth_warm_start.hpp"
#include "tangere/sim/step.hpp"

namespace tangere {

struct SmoothTape {
  double time_step = 0.0;
  /// The contact that was solved, where the step was made in one.
  SmoothWarmStart contact;
  /// The two half steps, where it was not; else empty.
  std::vector<Tape> halves;
};

}  // namespace tangere
