#pragma once

/// Pictures of pairs: both shapes, their scaled touching copies, the touching point and the normal.

#include <string>
#include <vector>

namespace tangere::cli {

struct Picture {
  /// File name without ending.
  std::string name;
  std::string svg;
};

/// Pairs apart, touching and overlapping.
[[nodiscard]] std::vector<Picture> demo_pictures();

}  // namespace tangere::cli
