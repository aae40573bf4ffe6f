#pragma once

/// Problems of trajectory optimisation as Python holds them.

#include <memory>
#include <optional>

#include "python/src/world.hpp"
#include "tangere/trajopt/problem.hpp"

namespace tangere::python {

/// Dynamics, and the world that they are of, if they are.
struct SharedDynamics {
  std::shared_ptr<const Dynamics> dynamics;
  std::optional<SharedWorld> world{};
};

struct Problem {
  SharedDynamics dynamics;
  OptimalControl problem;
};

[[nodiscard]] SharedDynamics dynamics_of(const SharedWorld& world);
/// A state of the dynamics: a State, or numbers (nx,).
[[nodiscard]] VectorX read_dynamics_state(const SharedDynamics& dynamics, const Numbers& x, const char* name);

void bind_trajopt_problem(nb::module_& m);
void bind_trajopt_terms(nb::module_& m, nb::class_<Problem>& problem);

}  // namespace tangere::python
