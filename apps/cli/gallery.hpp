#pragma once

/// A page that links pages.

#include <string>
#include <vector>

namespace tangere::cli {

struct GalleryEntry {
  /// Beside the gallery.
  std::string file;
  std::string title;
  std::string text;
  /// An SVG to show; empty: the page itself, in small, if it is a recording's.
  std::string picture{};
  bool is_recording = false;
  /// Of a page that is no recording's: a recording's page to show in its place.
  std::string shown{};
};

struct Gallery {
  std::string title;
  /// Plain text.
  std::string introduction;
  /// The first one is shown large, and playing.
  std::vector<GalleryEntry> entries;
};

[[nodiscard]] std::string gallery_page(const Gallery& gallery);
/// A picture (SVG or nothing) above a table of plain text, and the films that belong to it.
[[nodiscard]] std::string result_page(const std::string& title, const std::string& svg, const std::string& text,
                                      const std::vector<GalleryEntry>& films);

}  // namespace tangere::cli
