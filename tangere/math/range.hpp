#pragma once

/// The one check of options that must lie in a range (not installed).

#include <string>

namespace tangere::internal {

/// InputError naming field, range and value unless least <= value <= largest; NaN is in no range.
void require_range(const std::string& field, double value, double least, double largest);

}  // namespace tangere::internal
