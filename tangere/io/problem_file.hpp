#pragma once

/// Problems of trajectory optimisation as files (docs/optimise.md has the schema).
///
///   {"format": "tangere-problem", "version": 1, "scene": "../half_cheetah.xml", "steps": 80, "time_step": 0.01,
///    "costs": [{"type": "control", "weight": 8e-8, "per_second": true}],
///    "constraints": [{"type": "control_bounds"}, {"type": "reach_frame", "body": "head", "position": [0.5, 1, 0]}],
///    "contact": "hard"}

#include <filesystem>
#include <string>
#include <string_view>

#include "tangere/io/scene_file.hpp"
#include "tangere/trajopt/restarts.hpp"
#include "tangere/trajopt/world_dynamics.hpp"

namespace tangere {

struct ProblemFile {
  std::string name;
  std::shared_ptr<const WorldDynamics> dynamics;
  OptimalControl problem;
  OptimizerOptions options;
  RestartOptions restarts;
  Guess guess;
  /// Standard deviation of the noise that tests add to every tangent coordinate of the start.
  double start_noise = 0.01;
};

/// Throws InputError with file, line and place.
[[nodiscard]] ProblemFile load_problem(const std::filesystem::path& file);
/// The text of a problem; the scene is looked for beside `file`.
[[nodiscard]] ProblemFile problem_from_text(std::string_view text, const std::filesystem::path& file);

}  // namespace tangere
