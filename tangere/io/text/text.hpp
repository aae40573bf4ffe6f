#pragma once

/// Text in and out of files: numbers, and names on their way to people.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tangere {

/// The text with every control character but the line end replaced by a question mark: terminals obey them, and names
/// in files are anybody's. (Also those of two bytes, U+0080 to U+009F.)
[[nodiscard]] std::string printable(std::string_view text);

namespace internal {

inline constexpr std::string_view kBlanks = " \t\r\n\v\f";

/// Without blanks at its ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// For messages: the beginning of a text of any length, printable and on one line.
[[nodiscard]] std::string excerpt(std::string_view text, std::size_t longest = 60);
/// The same in quotation marks.
[[nodiscard]] std::string quoted(std::string_view text);

/// A number with blanks at most around it; nothing if the text is anything else. Finite, unless `infinite` lets `inf`
/// and `-Infinity` pass. Too small for a double is zero.
[[nodiscard]] std::optional<double> parse_number(std::string_view text, bool infinite = false);
/// Digits only, with a minus at most.
[[nodiscard]] std::optional<int> parse_integer(std::string_view text);

/// The shortest text that is read back to the same bits; no negative zero.
[[nodiscard]] std::string shortest(double value);

}  // namespace internal
}  // namespace tangere
