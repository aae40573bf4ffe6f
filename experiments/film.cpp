#include "experiments/film.hpp"

#include "apps/cli/viewer_page.hpp"
#include "tangere/sim/step.hpp"

namespace tangere::experiments {

Film film(const std::string& name, const std::string& title, const World& world, const State& start,
          const MatrixX& controls, const FilmGhost& ghost) {
  cli::RecordingText text;
  RecordingOptions options;
  options.made_by.command = "experiment " + name;
  options.listener = &text;
  RecordingWriter recording(world, {}, options);
  if (ghost.states != nullptr) {
    std::vector<double> times;
    std::vector<VectorX> configurations;
    const auto stride = static_cast<std::size_t>(recording.steps_per_frame());
    for (std::size_t i = 0; i < ghost.states->size(); i += stride) {
      times.push_back(static_cast<double>(i) * world.options().time_step);
      configurations.push_back((*ghost.states)[i].q);
    }
    recording.add_ghost(ghost.name, times, configurations);
  }
  State state = start;
  Workspace workspace(world);
  recording.add(0, state);
  for (Eigen::Index i = 0; i < controls.cols(); ++i) {
    const StepResult& result = step(world, state, controls.col(i), workspace, state);
    recording.add(static_cast<int>(i) + 1, state, result.contacts);
  }
  recording.finish();
  return {name, title, text.text()};
}

}  // namespace tangere::experiments
