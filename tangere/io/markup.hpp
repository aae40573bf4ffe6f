#pragma once

/// Text inside XML and HTML.

#include <string>
#include <string_view>

namespace tangere::detail {

/// As it must stand in an attribute or between tags. Control characters become references: blanks of all kinds would be
/// taken for a space, or a line's end for another.
[[nodiscard]] std::string escaped(std::string_view text);

}  // namespace tangere::detail
