/// Silico's timing test: a square falls on a floor, 100 starts of 200 steps, by the single level and by the bilevel
/// form at equal tolerances.

#include <vector>

#include "apps/cli/progress.hpp"
#include "apps/cli/text.hpp"
#include "experiments/experiment.hpp"
#include "experiments/step_timing.hpp"

namespace tangere::experiments {
namespace {

constexpr Method kMethods[] = {{"single level, cold", Formulation::single_level, false},
                               {"single level, warm", Formulation::single_level, true},
                               {"bilevel, cold", Formulation::bilevel, false}};

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
  return to_json(time_steps(planar_setup({start}, {}, 0.1, options), kSteps));
}

Timing run_method(const Method& method, int runs, ResultLog& log) {
  cli::Progress progress(method.name, runs);
  Timing out;
  int done = 0;
  for (const PlanarBody& start : starts(runs)) {
    progress.show(done++);
    out.add(timing_from(
        log.result(cli::formatted("%s, start %d", method.name, done), [&] { return run_start(method, start); })));
  }
  return out;
}

}  // namespace

Outcome silico_timing(const Request& request) {
  constexpr int kRuns = 100;
  constexpr double kLeastRatio = 1.25;
  const int runs = request.runs > 0 ? request.runs : kRuns;
  Outcome out;
  out.text = kTimingHead;
  Chart chart{"Timing test: how long a step takes", {"microseconds", true}, {"% of steps"}};
  std::vector<double> means;
  for (const Method& method : kMethods) {
    const Timing timing = run_method(method, runs, request.log);
    means.push_back(timing.mean());
    out.text += timing_row(method.name, timing);
    out.data[method.name] = summary(timing);
    chart.lines.push_back(histogram(method, timing));
  }
  const double ratio = means.back() / means.front();
  out.text +=
      cli::formatted("  bilevel / single level, means, cold: %.1f (the paper: 30, over a handicapped one)\n", ratio);
  out.data["ratio"] = ratio;
  out.runs = runs;
  out.runs_claimed = kRuns;
  out.met = ratio >= kLeastRatio;
  out.svg = chart_svg({chart});
  return out;
}

}  // namespace tangere::experiments
