#pragma once

/// Worlds that planners ask about: robots of scenes/ among obstacles, and clearance without broad phase as the oracle.

#include <string>
#include <vector>

#include "tangere/math/random.hpp"
#include "tangere/sim/clearance.hpp"

namespace tangere::test {

struct PlannerWorld {
  std::string name;
  World world;
};

/// Three robots (fixed base, two in one scene, floating) among `num_obstacles` of every bounded shape, a bundle and a
/// floor.
[[nodiscard]] std::vector<PlannerWorld> planner_worlds(int num_obstacles, std::uint64_t seed);

/// A model with obstacles `obstacle0`, … fixed to the world, with centres between `low` and `high`.
[[nodiscard]] Model with_obstacles(const Model& model, int count, const Vector3& low, const Vector3& high, double size,
                                   Random& random);

/// A configuration with the robots' bases where they can reach the obstacles.
[[nodiscard]] VectorX planner_configuration(const World& world, Random& random);

/// Every pair that may collide, whole shapes, full queries: the value of each, infinite above the limit.
struct PlainPair {
  int shape_A;
  int shape_B;
  double value;
};
[[nodiscard]] std::vector<PlainPair> plain_pairs(const World& world, const VectorX& q, ClearanceMetric metric);
/// The value of one pair of shapes.
[[nodiscard]] double plain_value(const World& world, const VectorX& q, int shape_A, int shape_B,
                                 ClearanceMetric metric);

}  // namespace tangere::test
