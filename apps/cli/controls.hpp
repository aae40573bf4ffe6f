#pragma once

/// The controls of a run of `tangere simulate`: the same in every step, or step by step from a file.

#include <string>
#include <vector>

#include "tangere/sim/world.hpp"

namespace tangere::cli {

/// The control of each step; that of the last one is kept.
using Controls = std::vector<VectorX>;

/// `.json`: a list of lists of nu numbers. Other names: lines of nu numbers with commas between, after a line of names
/// if the first has any. InputError naming the file and the line (or the place in the list).
[[nodiscard]] Controls load_controls(const std::string& file, int nu);

/// Controls that hold the servos where they are: u for which an actuator with stiffness has no output; 0 for the
/// others.
[[nodiscard]] VectorX holding_control(const World& world, const VectorX& q);

}  // namespace tangere::cli
