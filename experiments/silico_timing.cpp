/// Silico's timing test: a square falls on a floor, 100 starts of 200 steps, by the single level and by the bilevel
/// form at equal tolerances, both cold.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "apps/cli/progress.hpp"
#include "apps/cli/text.hpp"
#include "experiments/chart.hpp"
#include "experiments/experiment.hpp"
#include "experiments/smooth_worlds.hpp"

namespace tangere::experiments {
namespace {

struct Method {
  const char* name;
  Formulation formulation;
  bool warm;
};
constexpr Method kMethods[] = {{"single level, cold", Formulation::single_level, false},
                               {"single level, warm", Formulation::single_level, true},
                               {"bilevel, cold", Formulation::bilevel, false}};

/// Microseconds of every step.
struct Timing {
  std::vector<double> times;
  RunCount count;

  [[nodiscard]] double mean() const {
    return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
  }
  [[nodiscard]] double median() const {
    std::vector<double> sorted = times;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
  }
};

std::vector<PlanarBody> starts(int runs) {
  Random random(0);
  std::vector<PlanarBody> out;
  for (int run = 0; run < runs; ++run) {
    PlanarBody body{Box{.size = {1.0, 1.0, 1.0}}};
    body.q = {0.0, random.uniform(1.0, 3.0), random.uniform(-3.0, 3.0)};
    body.v = {random.uniform(-2.0, 2.0), random.uniform(-2.0, 2.0), random.uniform(-2.0, 2.0)};
    out.push_back(body);
  }
  return out;
}

nlohmann::json run_start(const Method& method, const PlanarBody& start) {
  constexpr int kSteps = 200;
  WorldOptions options = smooth_options(100.0, 1e-4);
  options.formulation = method.formulation;
  options.smooth.warm_start = method.warm;
  Setup setup = planar_setup({start}, {}, 0.1, options);
  Workspace workspace(setup.world);
  const VectorX u = VectorX::Zero(setup.world.nu());
  Timing timing;
  for (int i = 0; i < kSteps; ++i) {
    const auto before = std::chrono::steady_clock::now();
    const StepResult& result = step(setup.world, setup.state, u, workspace, setup.state);
    timing.times.push_back(1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
    timing.count.add(result);
  }
  return {{"microseconds", timing.times}, {"count", to_json(timing.count)}};
}

Timing run_method(const Method& method, int runs, ResultLog& log) {
  cli::Progress progress(method.name, runs);
  Timing out;
  int done = 0;
  for (const PlanarBody& start : starts(runs)) {
    progress.show(done++);
    const nlohmann::json& result =
        log.result(cli::formatted("%s, start %d", method.name, done), [&] { return run_start(method, start); });
    const auto times = result.at("microseconds").get<std::vector<double>>();
    out.times.insert(out.times.end(), times.begin(), times.end());
    out.count.add(run_count(result.at("count")));
  }
  return out;
}

/// How many of 100 steps took how long, in bins of a tenth of a decade.
ChartLine histogram(const Method& method, const Timing& timing) {
  constexpr double kBinsPerDecade = 10.0;
  std::map<int, double> shares;
  for (const double time : timing.times)
    shares[static_cast<int>(std::floor(kBinsPerDecade * std::log10(time)))] +=
        100.0 / static_cast<double>(timing.times.size());
  // an empty bin at both ends
  shares.emplace(shares.begin()->first - 1, 0.0);
  shares.emplace(shares.rbegin()->first + 1, 0.0);
  ChartLine line{method.name, {}, {}};
  for (const auto& [bin, share] : shares) {
    line.x.push_back(std::pow(10.0, (bin + 0.5) / kBinsPerDecade));
    line.y.push_back(share);
  }
  return line;
}

}  // namespace

Outcome silico_timing(const Request& request) {
  constexpr int kRuns = 100;
  const int runs = request.runs > 0 ? request.runs : kRuns;
  Outcome out;
  out.text = "                        mean us  median us  iterations  failed steps\n";
  Chart chart{"Timing test: how long a step takes", {"microseconds", true}, {"% of steps"}};
  std::vector<double> means;
  for (const Method& method : kMethods) {
    const Timing timing = run_method(method, runs, request.log);
    means.push_back(timing.mean());
    out.text += cli::formatted("  %-20s %8.2f   %8.2f  %10.2f  %12ld\n", method.name, timing.mean(), timing.median(),
                               timing.count.mean_iterations(), timing.count.failures);
    out.data[method.name] = {{"mean", timing.mean()},
                             {"median", timing.median()},
                             {"iterations", timing.count.mean_iterations()},
                             {"failures", timing.count.failures}};
    chart.lines.push_back(histogram(method, timing));
  }
  const double ratio = means.back() / means.front();
  out.text += cli::formatted("  bilevel / single level %.1f (the paper: 30, over a handicapped one)\n", ratio);
  out.data["ratio"] = ratio;
  out.runs = runs;
  out.runs_claimed = kRuns;
  out.met = ratio >= 8.0;
  out.svg = chart_svg({chart});
  return out;
}

}  // namespace tangere::experiments
