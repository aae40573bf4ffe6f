#pragma once

/// A robot as files describe it (io/robot_file.hpp reads them): model, actuators, saved states.

#include <optional>
#include <string>
#include <vector>

#include "tangere/multibody/actuator.hpp"
#include "tangere/multibody/model.hpp"

namespace tangere {

/// Something in a file that is not understood, or understood only in part: nothing is dropped without one.
struct Notice {
  std::string file;
  /// 0 if there is none.
  int line = 0;
  /// `robot/link[upper_arm]/collision`, …
  std::string element;
  std::string text;
};

/// A saved state.
struct Keyframe {
  std::string name;
  VectorX q;
  VectorX v;
  VectorX control;
};

struct Robot {
  Model model;
  std::vector<Actuator> actuators;
  std::vector<Keyframe> keyframes;
  std::vector<Notice> notices;
  /// Of the file, if it names one (seconds).
  std::optional<double> time_step{};
};

}  // namespace tangere
