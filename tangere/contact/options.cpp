#include "tangere/contact/options.hpp"

#include <string>

#include "tangere/contact/hard_contact.hpp"
#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/range.hpp"

namespace tangere {

void ContactOptions::verify() const {
  internal::require_range("correction", correction, 0.0, 1.0);
  internal::require_range("correction_speed", correction_speed, 0.0, 1e6);
  internal::require_range("bounce_speed", bounce_speed, 0.0, 1e6);
  internal::require_range("torsional_friction", torsional_friction, 0.0, 1e3);
  internal::require_range("compliance", compliance, 1e-10, 1e-2);
  for (const PairFriction& pair : pair_friction) {
    if (pair.shape_A < 0 || pair.shape_B < 0 || pair.shape_A == pair.shape_B)
      throw InputError("pair_friction", "must be of two shapes, got " + std::to_string(pair.shape_A) + " and " +
                                            std::to_string(pair.shape_B));
    internal::require_range("pair_friction", pair.friction, 0.0, 1e6);
  }
}

void HardContact::verify() const {
  internal::require_range("margin", margin, 0.0, 1e3);
  internal::require_range("touching", touching, 0.0, 1e3);
  internal::require_range("rolling_friction", rolling_friction, 0.0, 1e3);
  if (!(tolerance > 0.0 && tolerance < 1.0))
    throw InputError("tolerance", "must be above 0 and below 1, got " + internal::to_text(tolerance));
}

}  // namespace tangere
