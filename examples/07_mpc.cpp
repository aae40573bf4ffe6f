/// Model predictive control: a cart that balances a pole is pushed off. Every fiftieth of a second the state is
/// measured, with noise, and the plan of the next two seconds goes on from there (docs/optimise.md). Arguments: a file
/// to record the motion to, to be watched with `tangere view`, and the folder with the scenes.

#include <cmath>
#include <cstdio>
#include <optional>
#include <string>

#include "tangere/io/recording.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/math/random.hpp"
#include "tangere/trajopt/optimizer.hpp"
#include "tangere/trajopt/world_dynamics.hpp"

int main(int argc, char** argv) {
  using namespace tangere;
  constexpr double kStep = 0.02;
  const Scene scene = load_scene(std::string(argc > 2 ? argv[2] : "scenes") + "/cartpole.xml");
  const World world(scene.robot.model, scene.robot.actuators, {.time_step = kStep});
  const auto dynamics = std::make_shared<WorldDynamics>(world);

  // upright at rest is all zero; the push is a velocity
  VectorX x(4);
  x << 0.0, 0.05, 0.5, 0.2;
  OptimalControl problem(dynamics, {x, constant_steps(100, kStep)});
  problem.add(StateCost{.target = VectorX::Zero(4), .weight = all_of(1.0)});
  problem.add(StateCost{.name = "end", .target = VectorX::Zero(4), .weight = all_of(100.0), .knots = Knots::end()});
  problem.add(ControlCost{.weight = all_of(1e-2)});
  problem.add(ControlBounds{.lower = all_of(-10.0), .upper = all_of(10.0)});
  Optimizer controller(problem);
  (void)controller.solve({.x = VectorX::Zero(4).replicate(1, 101)});

  Random random(1);
  std::optional<RecordingWriter> recording;
  if (argc > 1) recording.emplace(world, argv[1]);
  Workspace workspace(world);
  State state{x.head(2), x.tail(2)};
  for (int k = 0; k < 200; ++k) {
    const VectorX u = controller.result().plan.u[0];
    (void)step(world, state, u, workspace, state);
    VectorX measured(4);
    measured << state.q, state.v;
    for (double& entry : measured) entry += 1e-3 * random.normal();
    controller.shift(measured);                                     // plan, slacks and multipliers move on
    const OptimizeResult& result = controller.solve_within(kStep);  // in the same memory
    if (k % 20 == 0)
      std::printf("%4.1f s  cart %7.4f  pole %7.4f  force %7.3f  %d iterations in %.1f ms\n", k * kStep, state.q[0],
                  state.q[1], u[0], result.iterations, 1e3 * result.seconds);
    if (recording) recording->add(k, state);
  }
  if (recording) recording->finish();
  std::printf("at the end: cart %.1e m, pole %.1e rad off\n", state.q[0], state.q[1]);
  return std::abs(state.q[1]) < 0.02 && std::abs(state.q[0]) < 0.1 ? 0 : 1;
}
