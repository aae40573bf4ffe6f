/// Nimble, figure 8: a sphere of 0.1 kg on a vertical rail rests on the floor and is to be at 5 m after 0.5 s. Gradient
/// descent on the thrust of every step, rate 10, 50 iterations.

#include "apps/cli/text.hpp"
#include "experiments/experiment.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/sim/rollout.hpp"

namespace tangere::experiments {
namespace {

constexpr int kSteps = 500;
constexpr int kIterations = 50;
constexpr double kRate = 10.0;
constexpr double kGoal = 5.0;
constexpr double kMostThrust = 10.0;

/// Losses of all iterations, and the run of the last one.
struct Descent {
  std::vector<double> losses;
  MatrixX controls;
  std::vector<State> states;
};

Descent descend(const World& world, const State& start, double height_of_start, GradientMode mode) {
  MatrixX controls = MatrixX::Zero(1, kSteps);
  Descent descent;
  Rollout rollout(world, {.max_tapes = kSteps, .gradient_mode = mode});
  std::vector<StateTangent> gradients(static_cast<std::size_t>(kSteps) + 1);
  StateTangent g;
  MatrixX g_controls;
  for (int iteration = 0; iteration <= kIterations; ++iteration) {
    rollout.run(start, controls);
    const double missing = kGoal - (height_of_start + rollout.states().back().q[0] - start.q[0]);
    descent.losses.push_back(missing * missing);
    descent.controls = controls;
    gradients.back().q = VectorX::Constant(1, -2.0 * missing);
    (void)rollout.reverse(gradients, g, g_controls);
    controls = (controls - kRate * g_controls).cwiseMax(-kMostThrust).cwiseMin(kMostThrust);
  }
  descent.states.assign(rollout.states().begin(), rollout.states().end());
  return descent;
}

}  // namespace

Outcome nimble_drone(const Request& request) {
  const std::filesystem::path& scenes = request.scenes;
  const Scene scene = load_scene(scenes / "drone.xml");
  const World world(scene.robot.model, {}, {.time_step = 1e-3});
  const State start{scene.q, scene.v};
  const double height = 0.8 - 1e-4;
  const Descent by_exact = descend(world, start, height, GradientMode::exact);
  const Descent by_aware = descend(world, start, height, GradientMode::complementarity_aware);
  const std::vector<double>& exact = by_exact.losses;
  const std::vector<double>& aware = by_aware.losses;
  Outcome out;
  out.met = exact.back() > 0.99 * exact.front() && aware.back() < 0.01 * aware.front();
  out.text = "  iteration   exact   complementarity-aware   (loss, m²)\n";
  for (std::size_t i = 0; i < exact.size(); i += 10)
    out.text += cli::formatted("  %9zu  %6.2f   %21.4g\n", i, exact[i], aware[i]);
  out.data = {{"exact", exact}, {"complementarity_aware", aware}};
  out.films.push_back(film("nimble_drone",
                           "A drone that complementarity-aware gradients lift; exact ones leave the ghost on the floor",
                           world, start, by_aware.controls, {"exact gradients", &by_exact.states}));
  return out;
}

}  // namespace tangere::experiments
