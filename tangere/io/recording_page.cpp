#include "tangere/io/recording_page.hpp"

#include "tangere/math/error.hpp"

namespace tangere {

std::string recording_page(std::string_view page, std::string_view recording) {
  const std::size_t place = page.find(kPagePlaceholder);
  if (place == std::string_view::npos) throw InputError("page", "is not the viewer: it has no place for a recording");
  const std::size_t content = kPagePlaceholder.find("null");

  std::string out;
  out.reserve(page.size() + recording.size() + recording.size() / 64);
  out += page.substr(0, place + content);
  // in JSON this character is in strings only; written so, no name can end the element
  for (const char c : recording) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  out += page.substr(place + content + 4);
  return out;
}

}  // namespace tangere
