#pragma once

/// A robot as files describe it (io/robot_file.hpp reads them): model, actuators, saved states.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tangere/multibody/actuator.hpp"
#include "tangere/multibody/model.hpp"

namespace tangere {

/// The part of the robot that a notice changes, the most important first.
enum class NoticeRank { motion, collision, look, unused };
/// `changes the motion`, …
[[nodiscard]] std::string_view to_string(NoticeRank rank);

/// Something in a file that is not understood, understood only in part, or mended: nothing is dropped without one.
struct Notice {
  std::string file;
  /// 0 if there is none.
  int line = 0;
  /// `robot/link[upper_arm]/collision`, …
  std::string element;
  std::string text;
  NoticeRank rank = NoticeRank::motion;
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
  /// Time step of the file, if it names one [s].
  std::optional<double> time_step{};
};

}  // namespace tangere
