#pragma once

/// Problems of trajectory optimisation to be solved and shown by `tangere optimize`: those of problem files, and those
/// written here, whose dynamics are functions (one source each).

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tangere/io/problem_file.hpp"
#include "tangere/trajopt/keep_apart.hpp"

namespace tangere::experiments {

struct OptimizeTask {
  std::string name;
  OptimalControl problem;
  OptimizerOptions options{};
  RestartOptions restarts{};
  Guess guess{};
  /// Standard deviations of what tests add to every tangent coordinate of the start.
  VectorX start_noise{};
  /// The controls of the start have noise too (parts of half their range), without seeds as well.
  double control_noise = 0.02;
  /// How far a played plan may miss its equalities.
  double goal_tolerance = 1e-3;
  /// To look at: a world, and its state at a state of the problem.
  World display;
  std::function<State(const VectorX& x)> shown{};
  /// Names of the parameters of the world that are chosen too (the last entries of a state), and the world they make.
  std::vector<std::string> design{};
  std::function<World(const VectorX& x)> display_at{};
};

[[nodiscard]] OptimizeTask task_of(const ProblemFile& file);

struct NamedTask {
  const char* name;
  OptimizeTask (*make)();
};

/// In the order of the papers.
[[nodiscard]] std::span<const NamedTask> all_tasks();

[[nodiscard]] OptimizeTask diffpills_car();
[[nodiscard]] OptimizeTask dcol_piano();
[[nodiscard]] OptimizeTask dcol_piano_long();
[[nodiscard]] OptimizeTask dcol_quadrotor();
[[nodiscard]] OptimizeTask dcol_cone();

/// Shapes in the world, and one that moves freely.
[[nodiscard]] World display_of(const Collider& mover, std::span<const Collider> obstacles, std::span<const Pose> poses);
/// A state of that world.
[[nodiscard]] State shown_at(const Pose& X_WB);

}  // namespace tangere::experiments
