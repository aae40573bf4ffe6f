#include "tangere/contact/gradient_quality.hpp"

namespace tangere {

std::string_view to_string(GradientQuality quality) {
  switch (quality) {
    case GradientQuality::exact:
      return "exact";
    case GradientQuality::relaxed:
      return "relaxed";
    case GradientQuality::halved_at_tie:
      return "halved_at_tie";
    case GradientQuality::heuristic:
      return "heuristic";
    case GradientQuality::restitution_held:
      return "restitution_held";
    case GradientQuality::features_held:
      return "features_held";
    case GradientQuality::rows_contradict:
      return "rows_contradict";
    case GradientQuality::contact_unsolved:
      return "contact_unsolved";
  }
  return "unknown";
}

}  // namespace tangere
