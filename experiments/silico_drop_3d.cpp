/// The drop test in space: eight shapes on a floor, two random bodies that meet over it, the same drops at other sizes
/// and masses; cold starts. And heaps of twelve bodies, warm. The fallback ladder acts, and what it did is in the
/// tables.

#include <cmath>

#include "apps/cli/progress.hpp"
#include "apps/cli/text.hpp"
#include "experiments/experiment.hpp"
#include "experiments/grid.hpp"
#include "experiments/silico_runs.hpp"

namespace tangere::experiments {
namespace {

constexpr double kDropFrequencies[] = {10.0, 30.0, 100.0};
constexpr double kDropRelaxations[] = {1e-3, 1e-4, 1e-6, 1e-8};
constexpr double kSeconds = 1.5;
/// Of what lies in a heap: 1 − α.
constexpr double kMostViolation = 1e-8;

std::string row(const std::string& name, const RunCount& count) {
  return cli::formatted("  %-16s %8ld %9.2f %8ld %7ld   %s\n", name.c_str(), count.steps, count.mean_iterations(),
                        count.second_tries, count.failures, ladder_text(count).c_str());
}

constexpr const char* kHead = "                      steps iterations  second  failed   rungs of the ladder\n";

/// Of all cells; each joins what was counted for its rate and relaxation before.
RunCount total(const std::vector<GridCell>& cells, std::vector<RunCount>& of_cells) {
  RunCount out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const RunCount count = run_count(cells[i].result);
    out.add(count);
    of_cells[i].add(count);
  }
  return out;
}

/// What it took, over rate and relaxation: a count a cell.
std::string drop_charts(const std::string& title, const std::vector<GridCell>& cells,
                        const std::vector<RunCount>& counts) {
  std::vector<double> iterations;
  std::vector<double> again;
  for (const RunCount& count : counts) {
    iterations.push_back(count.mean_iterations());
    again.push_back(1000.0 * static_cast<double>(count.second_tries) / static_cast<double>(std::max(1L, count.steps)));
  }
  return chart_svg({grid_chart(title + ": iterations", {"iterations a step"}, cells, iterations),
                    grid_chart(title + ": steps that needed a second start", {"of 1000"}, cells, again)});
}

}  // namespace

Outcome silico_drop_3d(const Request& request) {
  constexpr int kRuns = 30;
  const int runs = request.runs > 0 ? request.runs : kRuns;
  Outcome out;
  out.text = kHead;
  RunCount all;
  std::vector<GridCell> cells;
  std::vector<RunCount> of_cells(std::size(kDropFrequencies) * std::size(kDropRelaxations));
  const std::vector<Kind> shapes = kinds(1.0);
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    cells = run_grid(shapes[k].name, kDropFrequencies, kDropRelaxations, runs, request.log,
                     [&](double frequency, double kappa) {
                       Random random(17 + k);
                       RunCount count;
                       for (int run = 0; run < runs; ++run)
                         count.add(drop_shape(static_cast<int>(k), frequency, kappa, random));
                       return to_json(count);
                     });
    const RunCount of_shape = total(cells, of_cells);
    out.text += row(shapes[k].name, of_shape);
    out.data["shapes"].push_back({{"shape", shapes[k].name}, {"result", to_json(of_shape)}});
    all.add(of_shape);
  }
  out.text += row("all", all);
  out.data["all"] = to_json(all);
  out.runs = runs;
  out.runs_claimed = kRuns;
  out.met = all.failures * 200000 <= all.steps;
  out.svg = drop_charts("Eight shapes on a floor", cells, of_cells);
  return out;
}

Outcome silico_drop_two(const Request& request) {
  constexpr int kRuns = 40;
  const int runs = request.runs > 0 ? request.runs : kRuns;
  const std::vector<GridCell> cells =
      run_grid("two", kDropFrequencies, kDropRelaxations, runs, request.log, [&](double frequency, double kappa) {
        Random random(23);
        RunCount count;
        for (int run = 0; run < runs; ++run) count.add(drop_two(frequency, kappa, random));
        return to_json(count);
      });
  Outcome out;
  out.text = kHead;
  RunCount all;
  std::vector<RunCount> of_cells;
  for (const GridCell& cell : cells) {
    of_cells.push_back(run_count(cell.result));
    out.text += row(cli::formatted("%3.0f Hz, %.0e", cell.frequency, cell.kappa), of_cells.back());
    all.add(of_cells.back());
  }
  out.text += row("all", all);
  out.data = {{"cells", to_json(cells)}, {"all", to_json(all)}};
  out.runs = runs;
  out.runs_claimed = kRuns;
  out.met = all.failures * 20000 <= all.steps;
  out.svg = drop_charts("Two bodies over a floor", cells, of_cells);
  return out;
}

Outcome silico_drop_heap(const Request& request) {
  constexpr double kHeapFrequencies[] = {50.0, 100.0, 200.0};
  constexpr int kBodies = 12;
  constexpr double kSize = 0.4;
  constexpr double kHalfWidth = 0.45;
  constexpr int kRuns = 2;
  const int runs = request.runs > 0 ? request.runs : kRuns;
  std::vector<Fixture> walls;
  for (const Vector3& inward : {Vector3(1, 0, 0), Vector3(-1, 0, 0), Vector3(0, 1, 0), Vector3(0, -1, 0)})
    walls.push_back({HalfSpace{inward, -kHalfWidth}});
  const std::vector<Kind> shapes = kinds(kSize);
  Outcome out;
  out.text = kHead;
  RunCount all;
  std::vector<GridCell> cells;
  std::vector<RunCount> of_cells(std::size(kHeapFrequencies) * std::size(kDropRelaxations));
  for (const double friction : {0.3, 0.6, 0.9}) {
    const std::string name = cli::formatted("friction %.1f", friction);
    cells = run_grid(name, kHeapFrequencies, kDropRelaxations, runs, request.log, [&](double frequency, double kappa) {
      WorldOptions options = smooth_options(frequency, kappa);
      options.smooth.warm_start = true;
      options.smooth.margin = SmoothContact{}.margin;
      Random random(31);
      RunCount count;
      for (int run = 0; run < runs; ++run) {
        std::vector<FreeBody> bodies;
        for (int i = 0; i < kBodies; ++i) {
          // of all kinds, layers of four
          const Shape& shape = shapes[static_cast<std::size_t>(i + run) % shapes.size()].shape;
          const double height = 0.4 + 0.9 * (i / 4);
          FreeBody body = random_body(shape, 1.0, kSize, height, height, random);
          body.X_WB.p.head<2>() += 0.5 * kHalfWidth * Vector2(i % 2 == 0 ? -1.0 : 1.0, i % 4 < 2 ? -1.0 : 1.0);
          bodies.push_back(body);
        }
        count.add(drop_bodies(bodies, kSeconds, friction, options, walls));
      }
      return to_json(count);
    });
    const RunCount of_friction = total(cells, of_cells);
    out.text += row(name, of_friction);
    out.data["frictions"].push_back({{"friction", friction}, {"result", to_json(of_friction)}});
    all.add(of_friction);
  }
  out.text += row("all", all);
  out.data["all"] = to_json(all);
  out.runs = runs;
  out.runs_claimed = kRuns;
  out.text += cli::formatted("  largest violation at the end of a run: %.1e\n", all.violation);
  out.met = all.failures * 10000 <= all.steps && all.violation <= kMostViolation;
  out.svg = drop_charts("Twelve bodies in a bin", cells, of_cells);
  return out;
}

Outcome silico_drop_scales(const Request& request) {
  constexpr int kRuns = 10;
  const int runs = request.runs > 0 ? request.runs : kRuns;
  Outcome out;
  out.text = kHead;
  bool same = true;
  RunCount first;
  Chart chart{"The same drops at other sizes and masses", {"size, m", true}, {"iterations a step"}};
  cli::Progress progress("dropping", 25);
  int cell = 0;
  for (const double mass : {1.0, 1e-3, 1e-1, 10.0, 1e3}) {
    chart.lines.push_back({cli::formatted("%g kg", mass), {}, {}});
    for (const double size : {0.01, 0.1, 1.0, 10.0, 100.0}) {
      progress.show(cell++);
      const nlohmann::json& result = request.log.result(cli::formatted("%g m, %g kg, %d runs", size, mass, runs), [&] {
        RunCount count;
        const std::vector<Kind> shapes = kinds(size);
        for (std::size_t k = 0; k < shapes.size(); ++k) {
          Random random(17 + k);
          for (int run = 0; run < runs; ++run)
            count.add(drop_bodies({random_body(shapes[k].shape, mass, size, 0.7, 1.5, random)},
                                  kSeconds * std::sqrt(size), 0.3, smooth_options(30.0 / std::sqrt(size), 1e-6)));
        }
        return to_json(count);
      });
      const RunCount count = run_count(result);
      if (cell == 1) first = count;
      // rounding may turn a few near the limit
      same = same && count.steps == first.steps && count.failures == first.failures &&
             std::abs(count.iterations - first.iterations) <= 1e-3 * static_cast<double>(first.iterations) &&
             std::abs(count.second_tries - first.second_tries) <= 1;
      out.text += row(cli::formatted("%g m, %g kg", size, mass), count);
      chart.lines.back().x.push_back(size);
      chart.lines.back().y.push_back(count.mean_iterations());
      out.data["cells"].push_back({{"size", size}, {"mass", mass}, {"result", result}});
    }
  }
  progress.clear();
  out.runs = runs;
  out.runs_claimed = kRuns;
  out.met = same;
  out.svg = chart_svg({chart});
  return out;
}

}  // namespace tangere::experiments
