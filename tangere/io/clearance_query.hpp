#pragma once

/// Clearance of a world as JSON lines: one object in, one object out (docs/clearance.md has the schema).
///
///   {"q": [0, 0.5, 1], "margin": 0.2}
///   -> {"collision": false, "smallest": 0.05, "pairs": [{"a": "hand", "b": "table", "distance": 0.05, …}]}
///   {"q0": [0, 0.5, 1], "q1": [1, 0.5, 1]}
///   -> {"lower_bound": 0.03, "certified": true, "distance": 0.03, "time": 0.4, …}

#include <cstddef>
#include <memory>
#include <string_view>

#include "tangere/io/query.hpp"
#include "tangere/sim/swept_clearance.hpp"

namespace tangere {

/// Answers lines about one world, after each other.
class ClearanceLines {
 public:
  explicit ClearanceLines(const World& world);
  ~ClearanceLines();
  ClearanceLines(ClearanceLines&&) noexcept;
  ClearanceLines& operator=(ClearanceLines&&) noexcept;

  /// Wrong input is an answer too, nothing is thrown for it. `line_number` is for the error object.
  [[nodiscard]] QueryAnswer answer(std::string_view line, std::size_t line_number);

 private:
  struct Data;
  Owned<Data> data_;
};

}  // namespace tangere
