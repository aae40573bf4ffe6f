#pragma once

/// How wide the exact derivatives of checked steps hold: the figures of diagnose_step (sim/step_diagnosis.hpp) over all
/// of them. docs/which-gradient.md says what they mean.

#include <array>
#include <limits>
#include <string_view>
#include <vector>

#include "tangere/sim/step_diagnosis.hpp"

namespace tangere::cli {

/// The smallest or largest of a figure, and where: the step, and the coordinate for reaches. Step -1: nowhere.
struct Extreme {
  double value = 0.0;
  int step = -1;
  int column = -1;
};

struct GradientWidth {
  int num_steps = 0;
  /// Steps with rows, or impacts that meet, on a tie.
  int num_tied = 0;
  /// How far one coordinate of q, v or u can go, alone, until a row changes its set: the shortest.
  std::array<Extreme, 3> reach{};
  /// The shortest reach in q of each step: infinite where no row depends on q.
  std::vector<double> reaches_q;
  /// The smallest distance of a row from another set, relative to the largest impulse of its step.
  Extreme margin;
  /// The largest condition number of the system that the derivatives solve.
  Extreme condition;
  /// The most clamped rows that repeat others.
  Extreme repeated;

  /// Adds the step `number` and its impacts.
  void add(int number, const World& world, const Tape& tape, Workspace& workspace);
  /// Half of the steps reach as far in q; infinite without steps.
  [[nodiscard]] double median_reach_q() const;
};

inline constexpr std::array<std::string_view, 3> kReachNames{"q", "v", "u"};

}  // namespace tangere::cli
