#include "tangere/io/text/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace tangere {

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const unsigned char next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    const bool two_bytes = byte == 0xC2 && next >= 0x80 && next <= 0x9F;
    const bool control = (byte < 0x20 && byte != '\n') || byte == 0x7F || two_bytes;
    out += control ? '?' : text[i];
    if (two_bytes) ++i;
  }
  return out;
}

namespace internal {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string excerpt(std::string_view text, std::size_t longest) {
  std::string line(text.substr(0, longest));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return kBlanks.find(c) != std::string_view::npos; }, ' ');
  return printable(line) + (text.size() > longest ? "..." : "");
}

std::string quoted(std::string_view text) { return "'" + excerpt(text) + "'"; }

std::optional<double> parse_number(std::string_view text, bool infinite) {
  text = trimmed(text);
  // a plus is fine, but not before a minus
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    const std::size_t exponent = text.find_first_of("eE");
    const bool tiny = exponent != std::string_view::npos && text.substr(exponent + 1).starts_with('-');
    return tiny ? std::optional(0.0) : std::nullopt;
  }
  if (error != std::errc() || std::isnan(value) || (std::isinf(value) && !infinite)) return std::nullopt;
  return value;
}

std::optional<int> parse_integer(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string shortest(double value) {
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value == 0.0 ? 0.0 : value);
  return {digits.data(), end};
}

}  // namespace internal
}  // namespace tangere
