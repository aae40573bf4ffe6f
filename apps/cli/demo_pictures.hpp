#pragma once

/// Pictures of pairs: both shapes, their scaled touching copies, the touching point and the normal.

#include <string>
#include <vector>

#include "tangere/geometry/shape.hpp"

namespace tangere::cli {

struct Picture {
  /// File name without ending.
  std::string name;
  std::string svg;
};

/// Two posed shapes.
struct DemoPair {
  /// File name of its picture without ending.
  std::string name;
  Shape shape_A;
  Pose X_WA;
  Shape shape_B;
  Pose X_WB;
};

/// Pairs apart, touching and overlapping.
[[nodiscard]] std::vector<DemoPair> demo_pairs();
/// Of each of them.
[[nodiscard]] std::vector<Picture> demo_pictures();

}  // namespace tangere::cli
