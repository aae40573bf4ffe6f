#pragma once

/// The numbers that size a shape, as one vector. Private to geometry.

#include <string>
#include <vector>

#include "tangere/geometry/shape.hpp"

namespace tangere::internal {

struct ParameterList {
  std::vector<std::string> names;
  std::vector<double> values;
};

[[nodiscard]] ParameterList parameters_of(const ShapeSpec& spec);

/// `spec` with other values, of the right number; validated when it becomes a shape. InputErrors of parts carry their
/// path.
[[nodiscard]] ShapeSpec with_parameters_of(const ShapeSpec& spec, const VectorX& values);

}  // namespace tangere::internal
