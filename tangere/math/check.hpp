#pragma once

/// Checks and texts for the errors that geometry and multibody throw at their boundary (not installed).

#include <string>
#include <utility>

#include "tangere/math/error.hpp"
#include "tangere/math/se3.hpp"
#include "tangere/math/types.hpp"

namespace tangere::internal {

/// `0.5`, `-1`, `nan`: six digits, no negative zero.
[[nodiscard]] std::string to_text(double value);
/// `(0, 0, 1)`; components below 1e-9 of the largest are shown as 0.
[[nodiscard]] std::string to_text(const Eigen::Ref<const VectorX>& v);

/// Sizes beyond these leave no room for the squares and products that the solvers form.
inline constexpr double kSmallestSize = 1e-30;
inline constexpr double kLargestSize = 1e30;

/// Positive, finite and within the range above.
void require_positive(const std::string& field, double value);
/// Finite, and at most 1e30 in size.
void require_finite(const std::string& field, double value);
/// Within 1e30 of the origin, and R a rotation up to 1e-9.
void require_pose(const std::string& field, const Pose& X);

/// Runs `f`; an InputError it throws gets `prefix.` before its field.
template <class F>
decltype(auto) with_prefix(const std::string& prefix, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const InputError& error) {
    throw InputError(prefix + "." + error.field(), error.reason());
  }
}

}  // namespace tangere::internal
