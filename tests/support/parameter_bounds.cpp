#include "tests/support/parameter_bounds.hpp"
#include "tangere/contact/scene/row_scales.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::test {

Bound bound_of(const World& world, const StepParameter& p, double value) {
  // of two equal frictions the smaller one counts
  if (p.kind == StepParameter::Kind::friction)
    for (int other = 0; other < static_cast<int>(world.scene().shapes().size()); ++other)
      if (other != p.shape && world.scene().shape(world.model(), other).friction == value) return Bound::skip;
  // rows appear with friction, and rebounds with restitution: a kink
  if (p.kind == StepParameter::Kind::friction || p.kind == StepParameter::Kind::restitution)
    return value == 0.0 ? Bound::skip : Bound::none;
  if (p.kind != StepParameter::Kind::model) return Bound::none;
  switch (p.model.kind) {
    case Parameter::Kind::mass:
    case Parameter::Kind::center:
    case Parameter::Kind::inertia:
      return world.model().body(p.model.index).spec.inertia.mass == 0.0 ? Bound::skip : Bound::none;
    case Parameter::Kind::damping:
    case Parameter::Kind::stiffness:
    case Parameter::Kind::armature:
      return value == 0.0 ? Bound::forward : Bound::none;
    default:
      return Bound::none;
  }
}

double parameter_scale(const World& world, const StepParameter& p, double value) {
  const double scale = 0.05 * (value == 0.0 ? 0.1 : std::abs(value));
  if (p.kind != StepParameter::Kind::model || p.model.kind != Parameter::Kind::armature) return scale;
  // beside the inertia that a rotor is added to
  return std::min(scale, 0.05 / world.scales().coordinate(p.model.index));
}

}  // namespace tangere::test
