#pragma once

/// How far and which way the parameters of a world may go, for differences of steps.

#include "tangere/sim/step_parameters.hpp"

namespace tangere::test {

/// Which way a value may go; `skip` where a step has a kink in it.
enum class Bound { none, forward, skip };
[[nodiscard]] Bound bound_of(const World& world, const StepParameter& parameter, double value);

/// A first guess of how far.
[[nodiscard]] double parameter_scale(const World& world, const StepParameter& parameter, double value);

}  // namespace tangere::test
