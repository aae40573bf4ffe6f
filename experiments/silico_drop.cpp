/// Silico's drop test: a polygon falls on a floor, 100 random starts in each of 36 cells of frequency and relaxation,
/// cold starts, 30 iterations. The draws are those of our own generator.

#include "apps/cli/text.hpp"
#include "experiments/experiment.hpp"
#include "experiments/grid.hpp"
#include "experiments/silico_runs.hpp"

namespace tangere::experiments {
namespace {

constexpr int kRuns = 100;

nlohmann::json run_cell(double frequency, double kappa, int runs) {
  Random random(0);
  RunCount count;
  int failed = 0;
  double violations = 0.0;
  for (int run = 0; run < runs; ++run) {
    const RunCount this_run = drop_polygon(frequency, kappa, random);
    if (this_run.second_tries > 0) ++failed;
    violations += this_run.violation;
    count.add(this_run);
  }
  return {{"failed_runs", failed}, {"failed_steps", count.failures},        {"second_tries", count.second_tries},
          {"steps", count.steps},  {"iterations", count.mean_iterations()}, {"violation", violations / runs}};
}

}  // namespace

Outcome silico_drop(const Request& request) {
  const int runs = request.runs > 0 ? request.runs : kRuns;
  const std::vector<GridCell> cells =
      run_grid("dropping", kFrequencies, kRelaxations, runs, request.log,
               [&](double frequency, double kappa) { return run_cell(frequency, kappa, runs); });
  Outcome out;
  out.text =
      "  failed runs (more than 30 iterations in a step) | mean iterations | mean of the largest violation\n  Hz  ";
  for (const double kappa : kRelaxations) out.text += cli::formatted("  %19.0e", kappa);
  int failed = 0;
  int unsolved = 0;
  double mean_iterations = 0.0;
  bool violations_hold = true;
  std::vector<double> iterations;
  for (const GridCell& cell : cells) {
    if (cell.kappa == kRelaxations[0]) out.text += cli::formatted("\n  %3.0f ", cell.frequency);
    const int failed_here = cell.result.at("failed_runs");
    const double violated = cell.result.at("violation");
    iterations.push_back(cell.result.at("iterations"));
    failed += failed_here;
    unsolved += cell.result.at("failed_steps").get<int>();
    mean_iterations += iterations.back() / static_cast<double>(cells.size());
    // Silico's recorded table: at most 1.83e-3 at 1e-3, none below
    violations_hold = violations_hold && violated <= (cell.kappa > 5e-4 ? 1.83e-3 : 1e-8);
    out.text += cli::formatted("  %3d %5.2f %9.1e", failed_here, iterations.back(), violated);
  }
  const int all_runs = static_cast<int>(cells.size()) * runs;
  out.text += cli::formatted(
      "\n  %d of %d runs failed (paper: 4 of 3600, its data: 1), %d steps not solved by the ladder either\n"
      "  %.2f iterations in the mean (its data: 11.5)\n",
      failed, all_runs, unsolved, mean_iterations);
  out.data = {{"cells", to_json(cells)}, {"failed_runs", failed}, {"runs", all_runs}, {"iterations", mean_iterations}};
  out.runs = runs;
  out.runs_claimed = kRuns;
  out.met = failed == 0 && mean_iterations <= 12.0 && violations_hold;
  out.svg = chart_svg({grid_chart("Drop test: iterations a step", {"iterations"}, cells, iterations)});
  return out;
}

}  // namespace tangere::experiments
