#include "tangere/contact/smooth_contact.hpp"

#include <string>

#include "tangere/math/range.hpp"

namespace tangere {

std::string_view to_string(SmoothRung rung) {
  constexpr std::array<std::string_view, kNumSmoothRungs> kNames = {"warm",        "cold", "path",      "old velocity",
                                                                    "free flight", "ones", "half steps"};
  return kNames[static_cast<std::size_t>(rung)];
}

void SmoothContact::verify() const {
  internal::require_range("kappa", kappa, 1e-12, 0.1);
  internal::require_range("compliance", compliance, 0.0, 1.0);
  if (gradient_kappa != 0.0) internal::require_range("gradient_kappa", gradient_kappa, 1e-12, 0.1);
  internal::require_range("tolerance", tolerance, 1e-12, 1.0);
  internal::require_range("max_iterations", max_iterations, 1, 1000);
  internal::require_range("points", points, 1, 5);
  internal::require_range("torsion", torsion, 0.0, 1.0);
  internal::require_range("margin", margin, 0.0, 1e3);
  internal::require_range("sight_distance", sight_distance, 0.0, 1e6);
  internal::require_range("smallest_part", smallest_part, 1e-3, 1.0);
  internal::require_range("num_refinements", num_refinements, 0, 20);
}

}  // namespace tangere
