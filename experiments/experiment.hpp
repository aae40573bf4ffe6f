#pragma once

/// Experiments of the papers, one file each; `tangere experiment NAME` runs them. An experiment says what it found, and
/// whether what the paper claims (or what we claim beyond it) was met.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiments/film.hpp"
#include "experiments/result_log.hpp"

namespace tangere::experiments {

struct Outcome {
  bool met = false;
  /// Of experiments that repeat themselves: how often in every cell, and how often it is for what is claimed.
  int runs = 0;
  int runs_claimed = 0;
  [[nodiscard]] bool is_part() const { return runs < runs_claimed; }
  /// A table to read.
  std::string text;
  /// The same for machines.
  nlohmann::json data;
  /// A picture of it (chart.hpp); empty if there is none.
  std::string svg;
  /// To look at.
  std::vector<Film> films{};
};

/// Arguments of a run of an experiment.
struct Request {
  /// The folder with our scene files.
  std::filesystem::path scenes;
  /// Of experiments that repeat themselves: how often in every cell of their table. 0: as often as the paper.
  int runs = 0;
  /// Findings of earlier runs, and where this one's findings go.
  ResultLog& log;
  /// Whether films are wanted: they are runs of their own.
  bool films = false;
};

struct Experiment {
  const char* name;
  /// Which paper and where, and what is claimed.
  const char* source;
  const char* claim;
  Outcome (*run)(const Request& request);
};

[[nodiscard]] std::span<const Experiment> all_experiments();

[[nodiscard]] Outcome nimble_drone(const Request& request);
[[nodiscard]] Outcome nimble_balls(const Request& request);
[[nodiscard]] Outcome nimble_search(const Request& request);
[[nodiscard]] Outcome nimble_sets(const Request& request);
[[nodiscard]] Outcome nimble_jacobians(const Request& request);
[[nodiscard]] Outcome silico_drop(const Request& request);
[[nodiscard]] Outcome silico_drop_3d(const Request& request);
[[nodiscard]] Outcome silico_drop_two(const Request& request);
[[nodiscard]] Outcome silico_drop_heap(const Request& request);
[[nodiscard]] Outcome silico_drop_scales(const Request& request);
[[nodiscard]] Outcome silico_stack(const Request& request);
[[nodiscard]] Outcome silico_stack_3d(const Request& request);
[[nodiscard]] Outcome silico_tower(const Request& request);
[[nodiscard]] Outcome silico_tower_3d(const Request& request);
[[nodiscard]] Outcome silico_peg(const Request& request);
[[nodiscard]] Outcome silico_peg_3d(const Request& request);
[[nodiscard]] Outcome silico_bundles(const Request& request);
[[nodiscard]] Outcome silico_bundles_3d(const Request& request);
[[nodiscard]] Outcome silico_timing(const Request& request);
[[nodiscard]] Outcome silico_timing_3d(const Request& request);
[[nodiscard]] Outcome which_gradient(const Request& request);
[[nodiscard]] Outcome dcol_primitives(const Request& request);

}  // namespace tangere::experiments
