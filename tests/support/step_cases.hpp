#pragma once

/// Worlds in a state where a step touches something, for the laws of contact and its derivatives: every kind of row,
/// every kind of contact feature, free and articulated bodies. A new kind of row gets every test by being listed.

#include <string>
#include <vector>

#include "tangere/sim/world.hpp"

namespace tangere::test {

struct StepCase {
  std::string name;
  World world;
  State state;
  VectorX u;
};

[[nodiscard]] const std::vector<StepCase>& all_step_cases();

/// A floor z ≤ 0 and free bodies of mass 1 above it.
struct FreeBody {
  Shape shape;
  Pose X_WB{};
  Vector6 velocity = Vector6::Zero();  // of the free joint: in body axes
  double mass = 1.0;
};
[[nodiscard]] StepCase free_bodies(const std::string& name, const std::vector<FreeBody>& bodies, double friction,
                                   double restitution, const WorldOptions& options);

template <class Info>
std::string step_test_name(const Info& info) {
  return info.param.name;
}

}  // namespace tangere::test
