/// Gradients that see a contact before it happens: a box slides closely over the floor. Hard contact says nothing about
/// the floor until the box reaches it; smooth contact does, from the farther the larger its relaxation. With a file
/// name as argument the box is recorded there as it slides over the smooth floor, to be watched with `tangere view`.

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tangere/io/recording.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/sim/simulator.hpp"

int main(int argc, char** argv) {
  using namespace tangere;
  const Scene scene = scene_from_text(R"({"format": "tangere-scene", "version": 1, "time_step": 0.01, "bodies": [
    {"name": "floor", "fixed": true, "friction": 0.4, "shape": {"type": "halfspace", "normal": [0, 0, 1]}},
    {"name": "box", "shape": {"type": "box", "size": [0.4, 0.3, 0.2]}, "mass": 1, "position": [0, 0, 0.1],
     "velocity": [1, 0, 0, 0, 0, 0]}]})",
                                      "box.json");

  // d v'_x / d (height): how much a little more height lets the box slide faster, from resting on the floor upwards
  const auto sensitivity = [&](double height, const WorldOptions& options, bool check) {
    const World world = World(scene).with_options(options);
    Simulator sim(world);
    State state = world.default_state();
    state.q[2] += height;
    const VectorX u = world.default_control();
    (void)sim.step(state, u);
    if (!check) return sim.linearize().A(6, 2);
    // the same by a difference of the relaxed step
    const double h = 1e-6;
    double v[2];
    for (const int side : {0, 1}) {
      State moved = state;
      moved.q[2] += side == 0 ? -h : h;
      v[side] = sim.step(moved, u, {.start = StepStart::cold}).v[0];
    }
    return (v[1] - v[0]) / (2.0 * h);
  };

  WorldOptions hard{.time_step = scene.time_step};
  std::printf("d v'_x / d height of a sliding box, 1/s\n  height   hard");
  const double relaxations[] = {1e-2, 1e-3, 1e-4};
  for (const double kappa : relaxations) std::printf("   kappa %.0e", kappa);
  std::printf("\n");
  double worst = 0.0;
  for (const double height : {0.0005, 0.002, 0.005, 0.02}) {
    std::printf("  %.4f  %5.2f", height, sensitivity(height, hard, false));
    for (const double kappa : relaxations) {
      WorldOptions smooth = hard;
      smooth.formulation = Formulation::single_level;
      smooth.smooth.kappa = kappa;
      smooth.smooth.tolerance = 1e-11 / kappa;  // differences want the solution, not a part of kappa beside it
      smooth.smooth.prune_hovering = false;
      const double analytical = sensitivity(height, smooth, false);
      const double difference = sensitivity(height, smooth, true);
      worst = std::max(worst, std::abs(analytical - difference) / (1.0 + std::abs(difference)));
      std::printf("   %11.4f", analytical);
    }
    std::printf("\n");
  }
  std::printf("worst difference from finite differences: %.1e\n", worst);
  if (argc > 1) {
    const World world(scene, {.formulation = Formulation::single_level, .kappa = 1e-3});
    Workspace workspace(world);
    State state = world.default_state();
    RecordingWriter recording(world, argv[1]);
    recording.add(0, state);
    for (int i = 1; i <= 60; ++i) {
      const StepResult& result = step(world, state, world.default_control(), workspace, state);
      recording.add(i, state, result.contacts);
    }
    recording.finish();
  }
  return worst < 1e-4 ? 0 : 1;
}
