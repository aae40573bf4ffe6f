/// Silico's timing test: a square falls on a floor, 100 starts of 200 steps, by the single level and by the bilevel
/// form at equal tolerances, both cold.

#include <algorithm>
#include <chrono>
#include <vector>

#include "apps/cli/text.hpp"
#include "experiments/experiment.hpp"
#include "experiments/smooth_worlds.hpp"

namespace tangere::experiments {
namespace {

struct Timing {
  double mean = 0.0;
  double median = 0.0;
  RunCount count;
};

Timing run(Formulation formulation, bool warm, int runs) {
  constexpr int kSteps = 200;
  WorldOptions options = smooth_options(100.0, 1e-4);
  options.formulation = formulation;
  options.smooth.warm_start = warm;
  Random random(0);
  Timing out;
  std::vector<double> times;
  for (int run = 0; run < runs; ++run) {
    PlanarBody body{Box{.size = {1.0, 1.0, 1.0}}};
    body.q = {0.0, random.uniform(1.0, 3.0), random.uniform(-3.0, 3.0)};
    body.v = {random.uniform(-2.0, 2.0), random.uniform(-2.0, 2.0), random.uniform(-2.0, 2.0)};
    Setup setup = planar_setup({body}, {}, 0.1, options);
    Workspace workspace(setup.world);
    const VectorX u = VectorX::Zero(setup.world.nu());
    for (int i = 0; i < kSteps; ++i) {
      const auto before = std::chrono::steady_clock::now();
      const StepResult& result = step(setup.world, setup.state, u, workspace, setup.state);
      times.push_back(1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
      out.count.add(result);
    }
  }
  for (const double time : times) out.mean += time / static_cast<double>(times.size());
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  out.median = times[times.size() / 2];
  return out;
}

}  // namespace

Outcome silico_timing(const Request& request) {
  const int runs = request.runs > 0 ? request.runs : 100;
  Outcome out;
  out.text = "                        mean us  median us  iterations  failed steps\n";
  double means[3];
  int i = 0;
  for (const auto& [name, formulation, warm] : {std::tuple{"single level, cold", Formulation::single_level, false},
                                                {"single level, warm", Formulation::single_level, true},
                                                {"bilevel, cold", Formulation::bilevel, false}}) {
    const Timing timing = run(formulation, warm, runs);
    const double iterations =
        static_cast<double>(timing.count.iterations) / static_cast<double>(std::max(1L, timing.count.islands));
    out.text += cli::formatted("  %-20s %8.2f   %8.2f  %10.2f  %12ld\n", name, timing.mean, timing.median, iterations,
                               timing.count.failures);
    out.data[name] = {{"mean", timing.mean},
                      {"median", timing.median},
                      {"iterations", iterations},
                      {"failures", timing.count.failures}};
    means[i++] = timing.mean;
  }
  const double ratio = means[2] / means[0];
  out.text += cli::formatted("  bilevel / single level %.1f (the paper: 30, over a handicapped one)\n", ratio);
  out.data["ratio"] = ratio;
  out.met = ratio >= 8.0;
  return out;
}

}  // namespace tangere::experiments
