/// Silico's stack test: one block on another, a little beside it, at rest: how much do they move? They are laid exactly
/// on each other, where the paper's contact has them, so without our shift of the gap, which would lift them first; and
/// its relaxation is absolute, γ s = ρ.

#include <cmath>

#include "apps/cli/progress.hpp"
#include "apps/cli/text.hpp"
#include "experiments/chart.hpp"
#include "experiments/experiment.hpp"
#include "experiments/smooth_worlds.hpp"
#include "tangere/geometry/bounds.hpp"

namespace tangere::experiments {
namespace {

constexpr int kRuns = 10;
constexpr double kSeconds = 1.0;
constexpr double kInertia = 0.2;

/// Its recorded mean of |Σ m v| at 10 and at 100 Hz; between them there is no record, and the larger of both counts.
constexpr double kRecorded10[] = {9.1e-4, 6.8e-5, 6.5e-6, 6.4e-7, 6.4e-9, 6.4e-11};
constexpr double kRecorded100[] = {6.2e-2, 2.2e-3, 1.2e-4, 1.0e-5, 1.0e-7, 1.0e-9};

/// κ of the same ρ: ours is relative to m √(g l) of the smaller body.
double relative(double rho, const Shape& shape, double mass) {
  const Aabb box = bounds(shape, Pose());
  return rho / (mass * std::sqrt(9.81 * 0.5 * (box.upper - box.lower).norm()));
}

nlohmann::json run_cell(double frequency, double rho, int runs) {
  const Shape square = Box{.size = {0.5, 0.5, 0.5}};
  double linear = 0.0;
  double angular = 0.0;
  int stable = 0;
  RunCount count;
  for (int run = 1; run <= runs; ++run) {
    PlanarBody lower{square};
    lower.q = {0.02 * run, 0.25, 0.0};
    PlanarBody upper{square};
    upper.q = {0.0, 0.75, 0.0};
    WorldOptions options = smooth_options(frequency, relative(rho, square, 1.0));
    options.smooth.shift = false;
    Setup setup = planar_setup({lower, upper}, {}, 0.5, options);
    Workspace workspace(setup.world);
    const VectorX u = VectorX::Zero(setup.world.nu());
    const VectorX start = setup.state.q;
    const int steps = static_cast<int>(std::lround(kSeconds * frequency));
    for (int i = 0; i < steps; ++i) {
      count.add(step(setup.world, setup.state, u, workspace, setup.state));
      const VectorX& v = setup.state.v;
      linear += Vector2(v[0] + v[3], v[1] + v[4]).norm() / (steps * runs);
      angular += std::abs(kInertia * (v[2] + v[5])) / (steps * runs);
    }
    if ((setup.state.q - start).cwiseAbs().maxCoeff() < 0.05) ++stable;
  }
  return {{"stable", stable},
          {"linear", linear},
          {"angular", angular},
          {"failed_steps", count.failures},
          {"second_tries", count.second_tries},
          {"iterations", static_cast<double>(count.iterations) / static_cast<double>(std::max(1L, count.islands))}};
}

}  // namespace

Outcome silico_stack(const Request& request) {
  const int runs = request.runs > 0 ? std::min(request.runs, kRuns) : kRuns;
  Outcome out;
  out.text = "  stacks that stand | mean |Σ m v| (N s) | mean |Σ J w|\n  Hz  ";
  for (const double kappa : kRelaxations) out.text += cli::formatted("  %19.0e", kappa);
  out.text += "\n";
  int stable = 0;
  bool holds = true;
  std::vector<ChartLine> lines;
  cli::Progress progress("stacking", 36);
  int cell = 0;
  for (const double frequency : kFrequencies) {
    out.text += cli::formatted("  %3.0f ", frequency);
    ChartLine line{cli::formatted("%.0f Hz", frequency), {}};
    for (std::size_t k = 0; k < std::size(kRelaxations); ++k) {
      const double kappa = kRelaxations[k];
      progress.show(cell++);
      const nlohmann::json& result =
          request.log.result(cli::formatted("%.0f Hz, %.0e, %d runs", frequency, kappa, runs),
                             [&] { return run_cell(frequency, kappa, runs); });
      stable += result["stable"].get<int>();
      const double linear = result["linear"];
      const double recorded = frequency == 10.0 ? kRecorded10[k] : std::max(kRecorded10[k], kRecorded100[k]);
      // in space a square is a cube, whose two faces more let it rest a little lower
      holds = holds && linear <= 1.05 * recorded;
      out.text +=
          cli::formatted("  %2d %8.1e %8.1e", result["stable"].get<int>(), linear, result["angular"].get<double>());
      line.values.push_back(linear);
      out.data["cells"].push_back(
          {{"frequency", frequency}, {"kappa", kappa}, {"recorded", recorded}, {"result", result}});
    }
    out.text += "\n";
    lines.push_back(std::move(line));
  }
  progress.clear();
  out.text += "  its record, 10 Hz  ";
  for (const double value : kRecorded10) out.text += cli::formatted("  %8.1e", value);
  out.text += "\n  its record, 100 Hz ";
  for (const double value : kRecorded100) out.text += cli::formatted("  %8.1e", value);
  out.text += cli::formatted("\n  %d of %d stand\n", stable, 36 * runs);
  out.data["stable"] = stable;
  out.data["runs"] = 36 * runs;
  out.met = stable == 36 * runs && holds;
  std::vector<std::string> columns;
  for (const double kappa : kRelaxations) columns.push_back(cli::formatted("%.0e", kappa));
  out.svg = line_chart("Stack test: momentum left", "relaxation", "|sum m v|, N s", columns, lines, true);
  return out;
}

}  // namespace tangere::experiments
