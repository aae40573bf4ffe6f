#pragma once

/// Text inside XML and HTML.

#include <string>
#include <string_view>

namespace tangere::internal {

/// As it must stand in an attribute or between tags. Control characters become references: blanks of all kinds would be
/// taken for a space, or a line's end for another.
[[nodiscard]] std::string escaped(std::string_view text);
/// The same, for files that other programs read: InputError where XML cannot hold the text (other control characters
/// than blanks, bytes that are not UTF-8).
[[nodiscard]] std::string escaped_for_file(std::string_view attribute, std::string_view text);

}  // namespace tangere::internal
