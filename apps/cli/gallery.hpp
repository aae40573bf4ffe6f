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
  /// For a page that is no recording's: a recording's page to show in its place.
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
/// Claim and findings of an experiment.
struct ResultPage {
  std::string title;
  std::string claim;
  /// Begins with MET or NOT MET.
  std::string verdict;
  /// The program that found it.
  std::string made_by;
  /// A picture; empty: none.
  std::string svg;
  /// A table of plain text.
  std::string text;
  std::vector<GalleryEntry> films;
};
[[nodiscard]] std::string result_page(const ResultPage& result);

}  // namespace tangere::cli
