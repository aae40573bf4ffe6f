#pragma once

/// printf into a string.

#include <string>

namespace tangere::cli {

[[nodiscard, gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

}  // namespace tangere::cli
