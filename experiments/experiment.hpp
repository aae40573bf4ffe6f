#pragma once

/// Experiments of the papers, one file each; `tangere experiment NAME` runs them. An experiment says what it found, and
/// whether what the paper claims (or what we claim beyond it) was met.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiments/film.hpp"

namespace tangere::experiments {

struct Outcome {
  bool met = false;
  /// A table to read.
  std::string text;
  /// The same for machines.
  nlohmann::json data;
  /// To look at.
  std::vector<Film> films{};
};

struct Experiment {
  const char* name;
  /// Which paper and where, and what is claimed.
  const char* source;
  const char* claim;
  /// `scenes`: the folder with our scene files.
  Outcome (*run)(const std::filesystem::path& scenes);
};

[[nodiscard]] std::span<const Experiment> all_experiments();

[[nodiscard]] Outcome nimble_drone(const std::filesystem::path& scenes);
[[nodiscard]] Outcome nimble_balls(const std::filesystem::path& scenes);
[[nodiscard]] Outcome nimble_sets(const std::filesystem::path& scenes);
[[nodiscard]] Outcome nimble_jacobians(const std::filesystem::path& scenes);

}  // namespace tangere::experiments
