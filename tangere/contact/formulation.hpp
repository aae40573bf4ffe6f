#pragma once

/// The formulations of contact by name.

#include <string_view>

namespace tangere {

/// How contact is solved.
enum class Formulation {
  /// Hard contact: a boxed complementarity problem on the contact points at q (hard_contact.hpp).
  lcp,
  /// Smooth contact: collision and contact at the end of the step as one relaxed problem (smooth_contact.hpp).
  single_level,
  /// The same contact on top of a collision query at every iterate.
  bilevel,
};
[[nodiscard]] std::string_view to_string(Formulation formulation);
/// InputError for a name that is none.
[[nodiscard]] Formulation formulation_from(std::string_view name);

}  // namespace tangere
