#include "tangere/contact/formulation.hpp"

#include <string>

#include "tangere/math/error.hpp"

namespace tangere {

std::string_view to_string(Formulation formulation) {
  switch (formulation) {
    case Formulation::lcp:
      return "lcp";
    case Formulation::single_level:
      return "single_level";
    case Formulation::bilevel:
      break;
  }
  return "bilevel";
}

Formulation formulation_from(std::string_view name) {
  for (const Formulation formulation : {Formulation::lcp, Formulation::single_level, Formulation::bilevel})
    if (name == to_string(formulation)) return formulation;
  throw InputError("contact", "must be lcp, single_level or bilevel, got '" + std::string(name) + "'");
}

}  // namespace tangere
