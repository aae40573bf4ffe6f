/// Model predictive control: a cart drives to the origin under a bounded force; every tenth of a second it is measured,
/// with noise, and the plan of the next two seconds goes on from there (docs/optimise.md).

#include <cstdio>

#include "tangere/math/random.hpp"
#include "tangere/trajopt/function_dynamics.hpp"
#include "tangere/trajopt/optimizer.hpp"

int main() {
  using namespace tangere;
  constexpr double kStep = 0.1;
  // x = (place, velocity), u = force, mass 1
  const auto rate = [](const VectorX& x, const VectorX& u, double, VectorX& out, FunctionJacobians* J) {
    out << x[1], u[0];
    if (J == nullptr) return;
    J->x(0, 1) = 1.0;
    J->u(1, 0) = 1.0;
  };
  const auto dynamics = std::make_shared<FunctionDynamics>(2, 1, runge_kutta(2, 1, rate));
  VectorX x(2);
  x << 1.5, 0.0;
  OptimalControl problem(dynamics, {x, constant_steps(20, kStep)});
  problem.add(StateCost{.target = VectorX::Zero(2), .weight = all_of(1.0)});
  problem.add(ControlCost{.weight = all_of(0.1)});
  problem.add(ControlBounds{.lower = all_of(-1.0), .upper = all_of(1.0)});
  Optimizer controller(problem);
  (void)controller.solve();

  Random random(1);
  const auto plant = dynamics->stepper(constant_steps(1, kStep), {});
  VectorX next;
  for (int k = 0; k < 60; ++k) {
    const VectorX u = controller.result().plan.u[0];
    if (!plant->step(0, x, u, next)) return 1;
    x = next;
    VectorX measured = x;
    for (double& entry : measured) entry += 1e-3 * random.normal();
    controller.shift(measured);                                          // plan, slacks and multipliers move on
    const OptimizeResult& result = controller.solve_within(5e-3);        // the same memory: nothing is allocated
    if (k % 10 == 0)
      std::printf("%4.1f s  place %7.4f  force %7.4f  %d iterations\n", k * kStep, x[0], u[0], result.iterations);
  }
  std::printf("place %.1e\n", x[0]);
  return x.norm() < 0.02 ? 0 : 1;
}
