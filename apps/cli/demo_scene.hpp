#pragma once

/// The demo's scene: an arm sweeps through things of every shape, its gradients checked on the way.

#include <filesystem>
#include <string>

#include "apps/cli/gradient_check.hpp"

namespace tangere::cli {

struct DemoRun {
  std::string name;
  /// The text of the recording.
  std::string recording;
  int num_steps = 0;
  double simulated_seconds = 0.0;
  /// Seconds of the steps alone.
  double wall_seconds = 0.0;
  int most_contacts = 0;
  GradientReport gradients;
};

/// scenes/sweep.json under a controller: gravity and inertia compensated, the joints drawn along a path.
[[nodiscard]] DemoRun run_sweep(const std::filesystem::path& scenes);

/// Whether bodies that a file only draws collide with what is fixed.
enum class LimbsCollide { no, yes };

/// A scene without control, for so many seconds; gradients are not checked.
[[nodiscard]] DemoRun run_scene(const std::filesystem::path& file, double seconds,
                                LimbsCollide limbs_collide = LimbsCollide::no);

}  // namespace tangere::cli
