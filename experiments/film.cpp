#include "experiments/film.hpp"

#include "apps/cli/viewer_page.hpp"
#include "tangere/sim/step.hpp"

namespace tangere::experiments {
namespace {

RecordingOptions options_of(const std::string& name, RecordingListener& listener) {
  RecordingOptions options;
  options.made_by.command = "experiment " + name;
  options.listener = &listener;
  return options;
}

void add_ghost(RecordingWriter& recording, double time_step, const FilmGhost& ghost) {
  std::vector<double> times;
  std::vector<VectorX> configurations;
  const auto stride = static_cast<std::size_t>(recording.steps_per_frame());
  for (std::size_t i = 0; i < ghost.states->size(); i += stride) {
    times.push_back(static_cast<double>(i) * time_step);
    configurations.push_back((*ghost.states)[i].q);
  }
  recording.add_ghost(ghost.name, times, configurations);
}

}  // namespace

struct FilmRecorder::Memory {
  Memory(const std::string& name, const std::string& title, const World& world)
      : film{name, title, ""}, recording(world, {}, options_of(name, text)) {}

  Film film;
  cli::RecordingText text;
  RecordingWriter recording;
};

FilmRecorder::FilmRecorder(const std::string& name, const std::string& title, const World& world,
                           const FilmGhost& ghost)
    : memory_(std::make_unique<Memory>(name, title, world)) {
  if (ghost.states != nullptr) add_ghost(memory_->recording, world.options().time_step, ghost);
}

FilmRecorder::~FilmRecorder() = default;

void FilmRecorder::add(int step_number, const State& state, std::span<const Contact> contacts) {
  memory_->recording.add(step_number, state, contacts);
}

Film FilmRecorder::finish() {
  memory_->recording.finish();
  memory_->film.recording = memory_->text.text();
  return memory_->film;
}

Film film(const std::string& name, const std::string& title, const World& world, const State& start,
          const MatrixX& controls, const FilmGhost& ghost) {
  FilmRecorder recorder(name, title, world, ghost);
  State state = start;
  Workspace workspace(world);
  recorder.add(0, state);
  for (Eigen::Index i = 0; i < controls.cols(); ++i) {
    const StepResult& result = step(world, state, controls.col(i), workspace, state);
    recorder.add(static_cast<int>(i) + 1, state, result.contacts);
  }
  return recorder.finish();
}

}  // namespace tangere::experiments
