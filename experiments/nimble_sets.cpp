/// How often the sets of the last step are those of the next: 1000 steps of each scene, islands counted.

#include "apps/cli/text.hpp"
#include "experiments/experiment.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/sim/step.hpp"

namespace tangere::experiments {

Outcome nimble_sets(const Request& request) {
  const std::filesystem::path& scenes = request.scenes;
  constexpr int kSteps = 1000;
  Outcome out;
  out.text = "  scene               islands   last sets right   approximate\n";
  double all = 0.0;
  double all_right = 0.0;
  int all_approximate = 0;
  for (const char* file : {"jump_worm.xml", "catapult.xml", "half_cheetah.xml", "mixed_stack.json", "two_arms.json"}) {
    const Scene scene = load_scene(scenes / file);
    const World world(scene.robot.model, scene.robot.actuators, {.time_step = scene.time_step});
    Workspace workspace(world);
    State state{scene.q, scene.v};
    const VectorX u = VectorX::Zero(world.nu());
    int islands = 0;
    int right = 0;
    int approximate = 0;
    for (int i = 0; i < kSteps; ++i) {
      const StepResult& result = step(world, state, u, workspace, state);
      // islands without anything to solve are not counted
      islands += result.num_islands - result.stages[static_cast<std::size_t>(BoxedLcpStage::none)];
      right += result.stages[static_cast<std::size_t>(BoxedLcpStage::previous_sets)];
      if (result.status != StepStatus::solved) ++approximate;
    }
    const double part = islands > 0 ? 100.0 * right / islands : 100.0;
    all += islands;
    all_right += right;
    all_approximate += approximate;
    out.text += cli::formatted("  %-18s  %7d   %14.1f%%   %11d\n", file, islands, part, approximate);
    out.data["scenes"].push_back(
        {{"scene", file}, {"islands", islands}, {"right", right}, {"approximate", approximate}});
    const std::string name = std::filesystem::path(file).stem().string();
    out.films.push_back(film("nimble_sets_" + name, "1000 steps of " + name, world, {scene.q, scene.v},
                             MatrixX::Zero(world.nu(), kSteps)));
  }
  const double part = all_right / all;
  out.text += cli::formatted("  all                 %7.0f   %14.1f%%\n", all, 100.0 * part);
  out.data["part"] = part;
  out.met = part > 0.95 && all_approximate == 0;
  return out;
}

}  // namespace tangere::experiments
