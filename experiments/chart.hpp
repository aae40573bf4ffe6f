#pragma once

/// A line chart as SVG.

#include <string>
#include <vector>

namespace tangere::experiments {

struct ChartLine {
  std::string name;
  /// One a column.
  std::vector<double> values;
};

/// The values of each line over the columns, from zero on; `logarithmic`: by decades, values not above 0 left out.
[[nodiscard]] std::string line_chart(const std::string& title, const std::string& columns_title,
                                     const std::string& values_title, const std::vector<std::string>& columns,
                                     const std::vector<ChartLine>& lines, bool logarithmic = false);

}  // namespace tangere::experiments
