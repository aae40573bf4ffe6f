#include "tangere/io/text/markup.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tangere/math/error.hpp"

namespace tangere::internal {
namespace {

bool is_utf8(std::string_view text) {
  try {
    return !nlohmann::json(text).dump().empty();  // whose strict writer looks
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

/// Plain characters as they are, all others as question marks: for a message.
std::string printable(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(
      out, [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (c >= 0 && c < ' ')
          out += "&#" + std::to_string(static_cast<int>(c)) + ";";
        else
          out += c;
    }
  }
  return out;
}

std::string escaped_for_file(std::string_view attribute, std::string_view text) {
  constexpr std::string_view kBlanks = "\t\n\r";
  const bool plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
  const bool controls =
      std::ranges::any_of(text, [&](char c) { return c >= 0 && c < ' ' && kBlanks.find(c) == std::string_view::npos; });
  if (!plain && (controls || !is_utf8(text)))
    throw InputError(std::string(attribute),
                     "XML cannot hold the text '" + printable(text) + "': it has control characters or is not UTF-8");
  return escaped(text);
}

}  // namespace tangere::internal
