#pragma once

/// How long steps take, by formulation, and whether they are solved.

#include <string>
#include <vector>

#include "experiments/chart.hpp"
#include "experiments/result_log.hpp"
#include "experiments/smooth_worlds.hpp"

namespace tangere::experiments {

/// A formulation and its start.
struct Method {
  const char* name;
  Formulation formulation;
  bool warm;
};

/// Microseconds of the processor, step by step.
struct Timing {
  std::vector<double> times;
  RunCount count;

  void add(const Timing& other);
  [[nodiscard]] double mean() const;
  [[nodiscard]] double median() const;
};
[[nodiscard]] nlohmann::json to_json(const Timing& timing);
[[nodiscard]] Timing timing_from(const nlohmann::json& json);

/// Of `steps` steps without controls.
[[nodiscard]] Timing time_steps(Setup setup, int steps);

/// Mean, median, iterations and unsolved steps.
[[nodiscard]] std::string timing_row(const std::string& name, const Timing& timing);
extern const char* const kTimingHead;
[[nodiscard]] nlohmann::json summary(const Timing& timing);

/// How many of 100 steps took how long, in bins of a tenth of a decade.
[[nodiscard]] ChartLine histogram(const Method& method, const Timing& timing);

}  // namespace tangere::experiments
