/// Gradients through contact: of one step, and of where a box that is pushed over the floor ends up. With a file name
/// as argument the push is recorded there, to be watched with `tangere view`.

#include <cmath>
#include <cstdio>
#include <vector>

#include "tangere/io/recording.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/multibody/points.hpp"
#include "tangere/sim/rollout.hpp"
#include "tangere/sim/simulator.hpp"

int main(int argc, char** argv) {
  using namespace tangere;
  const Scene scene = scene_from_text(R"({"format": "tangere-scene", "version": 1, "time_step": 0.005, "bodies": [
    {"name": "floor", "fixed": true, "friction": 0.4, "shape": {"type": "halfspace", "normal": [0, 0, 1]}},
    {"name": "box", "shape": {"type": "box", "size": [0.5, 0.4, 0.2]}, "mass": 2, "position": [0, 0, 0.0999],
     "velocity": [1, 0.3, 0, 0, 0, 0.5]}]})",
                                      "sliding.json");
  const World world(scene);
  const State& start = world.default_state();
  VectorX u = world.default_control();  // without actuators the control is the force and torque on the box
  u[0] = 3.0;

  // one step, and how the next state (q, v) moves with state, control and the box's mass
  Simulator sim(world);
  (void)sim.step(start, u);
  const Linearization L = sim.linearize({"box.mass"});
  std::printf("one step: d v'_x / d v_x = %.6f, d v'_x / d u_x = %.6f (dt / m = %.6f), d v'_x / d m = %.6f: %s\n",
              L.A(6, 6), L.B(6, 0), scene.time_step / 2.0, L.P(6, 0), to_string(L.quality).data());

  // loss: x at the end of 40 steps; one backward pass gives its gradient in the start and in every control
  const int steps = 40;
  MatrixX controls = u.replicate(1, steps);
  Rollout rollout(world);
  const auto loss = [&] {
    rollout.run(start, controls);
    return rollout.states().back().q[0];
  };
  std::printf("x after %d steps: %.6f\n", steps, loss());
  if (argc > 1) {
    RecordingWriter recording(world, argv[1]);
    for (int i = 0; i <= steps; ++i) recording.add(i, rollout.states()[i]);
    recording.finish();
  }
  std::vector<StateTangent> gradients(steps + 1);
  gradients.back().q = point_gradient(world.model(), rollout.states().back().q, "box", {0, 0, 0}, {1, 0, 0});
  StateTangent g_start;
  MatrixX g_controls;
  const GradientQuality quality = rollout.reverse(gradients, g_start, g_controls);

  // the check: push a little more and a little less in step 10
  const double h = 1e-4;
  controls(0, 10) += h;
  const double more = loss();
  controls(0, 10) -= 2.0 * h;
  const double difference = (more - loss()) / (2.0 * h);
  std::printf("d x / d force in step 10: %.9f, by a difference %.9f\n", g_controls(0, 10), difference);
  return quality == GradientQuality::exact && std::abs(g_controls(0, 10) - difference) < 1e-6 * std::abs(difference)
             ? 0
             : 1;
}
