#pragma once

/// The one check of options that must lie in a range (private to the library).

#include <string>

namespace tangere::detail {

/// InputError naming field, range and value unless least <= value <= largest; NaN is in no range.
void require_range(const std::string& field, double value, double least, double largest);

}  // namespace tangere::detail
