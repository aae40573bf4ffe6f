#pragma once

/// Crowds: many free bodies that hold each other, for tests and benchmarks alike.

#include <string>
#include <vector>

#include "tangere/sim/world.hpp"

namespace tangere::test {

struct Crowd {
  std::string name;
  World world;
  State start;
};

/// Boxes that fall into a bin of a floor and four walls, six a layer, turned at random.
[[nodiscard]] Crowd bin_of_boxes(int count, double time_step = 0.01);
/// A pyramid of bricks, `height` in the lowest course, each course resting on the joints of the one below.
[[nodiscard]] Crowd brick_pyramid(int height, double time_step = 0.01);
/// Boxes, balls, capsules, cylinders, cones and ellipsoids that fall into a bin.
[[nodiscard]] Crowd heap_of_shapes(int count, double time_step = 0.01);

}  // namespace tangere::test
