#pragma once

/// Answers of the boxed complementarity problem (boxed_lcp.hpp), row by row, and the methods that find them.

#include <cstdint>
#include <string_view>

namespace tangere {

/// The place of a row's force in its box. At zero friction or zero normal force a tangential row is at a bound.
enum class RowSet : std::uint8_t { clamped, lower, upper };

/// The methods, in no order. None: there was nothing to solve, f = 0.
enum class BoxedLcpStage { previous_sets, set_newton, dantzig, primal_newton, lemke, interior_point, restarts, none };
inline constexpr int kNumBoxedLcpStages = 8;
[[nodiscard]] std::string_view to_string(BoxedLcpStage stage);

}  // namespace tangere
