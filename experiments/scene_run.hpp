#pragma once

/// A scene run once from its start, step by step: what came of it, and how it went over time.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "experiments/chart.hpp"
#include "experiments/experiment.hpp"
#include "experiments/smooth_worlds.hpp"

namespace tangere::experiments {

struct SceneRun {
  double time_step = 0.0;
  RunCount count;
  /// At the end.
  VectorX q;
  VectorX v;
  /// Values after each step, by name: `energy` and `kinetic` (J), `penetration` (1 − α), `speed` (of the fastest
  /// coordinate), `pairs` (in contact), `seconds` (that the step took), and what the scene watches of its own.
  std::map<std::string, std::vector<double>> series{};

  [[nodiscard]] double largest(const std::string& name) const;
  [[nodiscard]] double sum(const std::string& name) const;
  /// The fastest coordinate at the end.
  [[nodiscard]] double speed() const { return v.cwiseAbs().maxCoeff(); }
};

/// What a scene watches of its own: named values of a state.
using Watch = std::function<std::map<std::string, double>(const State&)>;

/// The run that the log has by this name, or a new one, with a progress bar.
[[nodiscard]] SceneRun run_scene(const std::string& name, const Setup& setup, int steps, ResultLog& log,
                                 const Watch& watch = {});

/// To look at, if the request wants films.
void add_film(const Request& request, const std::string& name, const std::string& title, const Setup& setup, int steps,
              Outcome& outcome);

/// A series over time.
[[nodiscard]] ChartLine time_line(const std::string& line_name, const SceneRun& run, const std::string& series);
/// Its energy, and below its speed and penetration.
[[nodiscard]] std::string scene_charts(const std::string& title, const SceneRun& run);
/// The numbers for machines, without the series.
[[nodiscard]] nlohmann::json summary(const SceneRun& run);
/// How the steps were solved, and the largest violation, as a line of text.
[[nodiscard]] std::string counts_text(const SceneRun& run);

}  // namespace tangere::experiments
