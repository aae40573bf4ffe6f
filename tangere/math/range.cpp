#include "tangere/math/range.hpp"

#include <cstdio>

#include "tangere/math/error.hpp"

namespace tangere::internal {

void require_range(const std::string& field, double value, double least, double largest) {
  if (value >= least && value <= largest) return;
  char text[128];
  std::snprintf(text, sizeof text, "must be between %.6g and %.6g, got %.6g", least, largest, value);
  throw InputError(field, text);
}

}  // namespace tangere::internal
