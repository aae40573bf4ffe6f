#pragma once

/// Line charts as SVG.

#include <string>
#include <vector>

namespace tangere::experiments {

struct ChartAxis {
  std::string title;
  /// By decades, values not above 0 left out; else with zero in sight.
  bool logarithmic = false;
};

struct ChartLine {
  std::string name;
  /// As many of both. Points that an axis cannot show (NaN, or not above 0 by decades) leave a gap;
  /// a line without any is named as such.
  std::vector<double> x;
  std::vector<double> y;
};

struct Chart {
  std::string title;
  ChartAxis x;
  ChartAxis y;
  std::vector<ChartLine> lines{};
};

/// The charts below each other.
[[nodiscard]] std::string chart_svg(const std::vector<Chart>& charts);

}  // namespace tangere::experiments
