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
  /// An SVG to show; empty: none.
  std::string picture{};
};

struct Gallery {
  std::string title;
  /// Plain text.
  std::string introduction;
  std::vector<GalleryEntry> entries;
};

[[nodiscard]] std::string gallery_page(const Gallery& gallery);

}  // namespace tangere::cli
