#pragma once

/// Pair queries as JSON lines: one object in, one object out (docs/query.md has the schema).
///
///   {"a": {"shape": {"type": "sphere", "radius": 1}},
///    "b": {"shape": {"type": "box", "size": [1, 1, 1]}, "position": [3, 0, 0]}, "derivatives": "gradient"}
///   -> {"status": "solved", "alpha": 2, "point": [2, 0, 0], …}

#include <cstddef>
#include <string>
#include <string_view>

#include "tangere/proximity/scaling.hpp"

namespace tangere {

/// The version of the schema; a query may ask for it with `"version": 1`.
inline constexpr int kQueryVersion = 1;
/// Longer lines are refused (bytes).
inline constexpr std::size_t kMaxQueryLine = std::size_t{16} << 20;

struct QueryAnswer {
  /// One line of JSON without the line break; never NaN or infinity (null instead).
  std::string json;
  /// False: the line was bad, and `json` is an object with `error`: line, column or field, message.
  bool ok;
};

/// Answers one line. Wrong input is an answer too, nothing is thrown for it. `line_number` is for the error object.
[[nodiscard]] QueryAnswer answer_query_line(std::string_view line, std::size_t line_number,
                                            ScalingWorkspace& workspace);

/// The answer for a line that was not read because it is longer than `kMaxQueryLine`.
[[nodiscard]] QueryAnswer answer_long_query_line(std::size_t line_number);

}  // namespace tangere
