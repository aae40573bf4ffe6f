#pragma once

/// The shapes that law batteries run over: a shape listed here gets every test.

#include <iosfwd>
#include <string>
#include <vector>

#include "tangere/geometry/shape.hpp"

namespace tangere::test {

struct NamedShape {
  std::string name;
  Shape shape;
};

/// All twelve types, several of most: round and skewed, both descriptions where there are two, nested sums, bundles.
[[nodiscard]] const std::vector<NamedShape>& all_shapes();
/// Those of `all_shapes()` that are convex.
[[nodiscard]] std::vector<NamedShape> convex_shapes();
/// Those of `all_shapes()` that are convex and bounded (no half-space).
[[nodiscard]] std::vector<NamedShape> bounded_convex_shapes();

/// For GoogleTest's parameter printing and test names.
void PrintTo(const NamedShape& shape, std::ostream* stream);
template <class Info>
[[nodiscard]] std::string shape_test_name(const Info& info) {
  return info.param.name;
}

}  // namespace tangere::test
