#pragma once

/// Experiments that fill a table of rate by relaxation: cells go to the log one by one, and a chart has a line a rate.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "experiments/chart.hpp"
#include "experiments/experiment.hpp"

namespace tangere::experiments {

/// The grid of Silico's tests.
inline constexpr double kFrequencies[] = {10.0, 20.0, 30.0, 50.0, 70.0, 100.0};
inline constexpr double kRelaxations[] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10};

struct GridCell {
  double frequency = 0.0;
  double kappa = 0.0;
  nlohmann::json result;
};

using RunCell = std::function<nlohmann::json(double frequency, double kappa)>;

/// All cells, rate by rate, with a progress bar. `what` names them in the bar and in the log.
[[nodiscard]] std::vector<GridCell> run_grid(const std::string& what, std::span<const double> frequencies,
                                             std::span<const double> relaxations, int runs, ResultLog& log,
                                             const RunCell& run);

/// Cells as data for machines.
[[nodiscard]] nlohmann::json to_json(const std::vector<GridCell>& cells);

/// `values` over the relaxation, one a cell, a line a rate.
[[nodiscard]] Chart grid_chart(const std::string& title, const ChartAxis& values_axis,
                               const std::vector<GridCell>& cells, const std::vector<double>& values);

}  // namespace tangere::experiments
