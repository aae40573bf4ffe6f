/// Silico's stack test: one block on another, a little beside it, at rest: how much do they move? They are laid exactly
/// on each other, where the paper's contact has them, so without our shift of the gap, which would lift them first; and
/// its relaxation is absolute, γ s = ρ.

#include <algorithm>

#include "apps/cli/text.hpp"
#include "experiments/experiment.hpp"
#include "experiments/grid.hpp"
#include "experiments/silico_runs.hpp"

namespace tangere::experiments {
namespace {

constexpr int kRuns = 10;

/// Its recorded mean of |Σ m v| at 10 and at 100 Hz; between them there is no record, and the larger of both counts.
constexpr double kRecorded10[] = {9.1e-4, 6.8e-5, 6.5e-6, 6.4e-7, 6.4e-9, 6.4e-11};
constexpr double kRecorded100[] = {6.2e-2, 2.2e-3, 1.2e-4, 1.0e-5, 1.0e-7, 1.0e-9};

nlohmann::json run_cell(double frequency, double rho, int runs) {
  double linear = 0.0;
  double angular = 0.0;
  int stable = 0;
  RunCount count;
  for (int run = 1; run <= runs; ++run) {
    const StackRun this_run = stack_blocks(frequency, rho, 0.02 * run);
    count.add(this_run.count);
    linear += this_run.linear / runs;
    angular += this_run.angular / runs;
    if (this_run.stable) ++stable;
  }
  return {{"stable", stable},
          {"linear", linear},
          {"angular", angular},
          {"failed_steps", count.failures},
          {"second_tries", count.second_tries},
          {"iterations", count.mean_iterations()}};
}

/// Which of kRelaxations the cell has.
std::size_t relaxation_index(const GridCell& cell) {
  return static_cast<std::size_t>(std::find(std::begin(kRelaxations), std::end(kRelaxations), cell.kappa) -
                                  std::begin(kRelaxations));
}

std::string record_row(const char* name, std::span<const double> record) {
  std::string out = cli::formatted("\n  its record, %s ", name);
  for (const double value : record) out += cli::formatted("  %8.1e", value);
  return out;
}

ChartLine record_line(const char* name, std::span<const double> record) {
  return {name, {std::begin(kRelaxations), std::end(kRelaxations)}, {record.begin(), record.end()}};
}

}  // namespace

Outcome silico_stack(const Request& request) {
  const int runs = request.runs > 0 ? std::min(request.runs, kRuns) : kRuns;
  const std::vector<GridCell> cells =
      run_grid("stacking", kFrequencies, kRelaxations, runs, request.log,
               [&](double frequency, double rho) { return run_cell(frequency, rho, runs); });
  Outcome out;
  out.text = "  stacks that stand | mean |Σ m v| (N s) | mean |Σ J w|\n  Hz  ";
  for (const double kappa : kRelaxations) out.text += cli::formatted("  %19.0e", kappa);
  int stable = 0;
  int unsolved = 0;
  bool holds = true;
  std::vector<double> momenta;
  out.data["cells"] = to_json(cells);
  for (const GridCell& cell : cells) {
    if (cell.kappa == kRelaxations[0]) out.text += cli::formatted("\n  %3.0f ", cell.frequency);
    const int stable_here = cell.result.at("stable");
    momenta.push_back(cell.result.at("linear"));
    stable += stable_here;
    unsolved += cell.result.at("failed_steps").get<int>();
    const std::size_t k = relaxation_index(cell);
    const double recorded = cell.frequency == 10.0 ? kRecorded10[k] : std::max(kRecorded10[k], kRecorded100[k]);
    // in space a square is a cube, whose two faces more let it rest a little lower
    holds = holds && momenta.back() <= 1.05 * recorded;
    out.text +=
        cli::formatted("  %2d %8.1e %8.1e", stable_here, momenta.back(), cell.result.at("angular").get<double>());
    out.data["cells"][momenta.size() - 1]["recorded"] = recorded;
  }
  const int all_runs = static_cast<int>(cells.size()) * runs;
  out.text += record_row("10 Hz ", kRecorded10) + record_row("100 Hz", kRecorded100) +
              cli::formatted("\n  %d of %d stand, %d steps not solved\n", stable, all_runs, unsolved);
  out.data["stable"] = stable;
  out.data["runs"] = all_runs;
  out.data["failed_steps"] = unsolved;
  out.runs = runs;
  out.runs_claimed = kRuns;
  out.met = stable == all_runs && unsolved == 0 && holds;
  Chart chart = grid_chart("Stack test: momentum left", {"|sum m v|, N s", true}, cells, momenta);
  chart.lines.push_back(record_line("paper, 10 Hz", kRecorded10));
  chart.lines.push_back(record_line("paper, 100 Hz", kRecorded100));
  out.svg = chart_svg({chart});
  return out;
}

}  // namespace tangere::experiments
