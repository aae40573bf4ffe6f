#include "tangere/contact/options.hpp"

#include "tangere/geometry/check.hpp"
#include "tangere/math/error.hpp"

namespace tangere {

void ContactOptions::verify() const {
  const auto require = [](const char* field, double value, double largest) {
    if (!(value >= 0.0 && value <= largest))
      throw InputError(field, "must be between 0 and " + detail::to_text(largest) + ", got " + detail::to_text(value));
  };
  require("margin", margin, 1e3);
  require("correction", correction, 1.0);
  require("touching", touching, 1e3);
  require("correction_speed", correction_speed, 1e6);
  require("bounce_speed", bounce_speed, 1e6);
  require("torsional_friction", torsional_friction, 1e3);
  require("rolling_friction", rolling_friction, 1e3);
  if (!(compliance >= 1e-10 && compliance <= 1e-2))
    throw InputError("compliance", "must be between 1e-10 and 0.01, got " + detail::to_text(compliance));
  if (!(tolerance > 0.0 && tolerance < 1.0))
    throw InputError("tolerance", "must be above 0 and below 1, got " + detail::to_text(tolerance));
}

}  // namespace tangere
