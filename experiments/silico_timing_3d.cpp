/// The timing test in space: twelve scenes at κ = 1e-6 and 100 Hz, by the single level and by the bilevel form, cold
/// and warm, all rungs of the ladder included. Eight shapes fall on a floor, and four pairs of them on each other.

#include <array>
#include <vector>

#include "apps/cli/progress.hpp"
#include "apps/cli/text.hpp"
#include "experiments/experiment.hpp"
#include "experiments/step_timing.hpp"

namespace tangere::experiments {
namespace {

constexpr std::array kMethods = {Method{"single level, cold", Formulation::single_level, false},
                                 Method{"single level, warm", Formulation::single_level, true},
                                 Method{"bilevel, cold", Formulation::bilevel, false},
                                 Method{"bilevel, warm", Formulation::bilevel, true}};

struct TimedScene {
  std::string name;
  /// The lower one first.
  std::vector<Shape> shapes;
};

std::vector<TimedScene> timed_scenes() {
  const std::vector<Kind> all = kinds(1.0);
  std::vector<TimedScene> out;
  for (const Kind& kind : all) out.push_back({kind.name, {kind.shape}});
  // box, capsule, cylinder, cone, ellipsoid, polytope, padded polygon: each in a pair, the box in two
  for (const auto& [low, high] : {std::pair{1, 1}, std::pair{1, 3}, std::pair{7, 2}, std::pair{6, 4}})
    out.push_back({std::string(all[low].name) + ", " + all[high].name, {all[low].shape, all[high].shape}});
  return out;
}

/// All starts of a scene by one method.
Timing run_scene(const Method& method, const TimedScene& scene, int runs) {
  constexpr int kSteps = 150;
  WorldOptions options = smooth_options(100.0, 1e-6);
  options.formulation = method.formulation;
  options.smooth.warm_start = method.warm;
  Random random(41);
  Timing out;
  for (int run = 0; run < runs; ++run) {
    std::vector<FreeBody> bodies;
    for (const Shape& shape : scene.shapes) {
      const double height = 0.7 + 1.0 * static_cast<double>(bodies.size());
      bodies.push_back(random_body(shape, 1.0, 1.0, height, height + 0.2, random));
    }
    out.add(time_steps(free_setup(bodies, true, 0.3, options), kSteps));
  }
  return out;
}

}  // namespace

Outcome silico_timing_3d(const Request& request) {
  constexpr int kRuns = 10;
  const int runs = request.runs > 0 ? request.runs : kRuns;
  const std::vector<TimedScene> scenes = timed_scenes();
  Outcome out;
  std::array<Timing, kMethods.size()> totals;
  cli::Progress progress("timing", static_cast<int>(scenes.size() * kMethods.size()));
  int done = 0;
  for (const TimedScene& scene : scenes) {
    out.text += "  " + scene.name + "\n";
    for (std::size_t m = 0; m < kMethods.size(); ++m) {
      progress.show(done++);
      const Timing timing =
          timing_from(request.log.result(cli::formatted("%s, %s, %d runs", scene.name.c_str(), kMethods[m].name, runs),
                                         [&] { return to_json(run_scene(kMethods[m], scene, runs)); }));
      totals[m].add(timing);
      out.text += timing_row(std::string("  ") + kMethods[m].name, timing);
      out.data["scenes"][scene.name][kMethods[m].name] = summary(timing);
    }
  }
  progress.clear();
  Chart chart{"Twelve scenes in space: how long a step takes", {"microseconds", true}, {"% of steps"}};
  std::string all;
  for (std::size_t m = 0; m < kMethods.size(); ++m) {
    all += timing_row(kMethods[m].name, totals[m]);
    out.data["all"][kMethods[m].name] = summary(totals[m]);
    chart.lines.push_back(histogram(kMethods[m], totals[m]));
  }
  const double cold = totals[2].mean() / totals[0].mean();
  const double warm = totals[3].mean() / totals[1].mean();
  out.text =
      kTimingHead + all + "\n" + out.text +
      cli::formatted("\n  bilevel / single level, means: %.1f cold, %.1f warm; medians: %.1f cold, %.1f warm\n", cold,
                     warm, totals[2].median() / totals[0].median(), totals[3].median() / totals[1].median());
  out.data["ratio"] = {{"cold", cold}, {"warm", warm}};
  out.runs = runs;
  out.runs_claimed = kRuns;
  out.met = totals[0].count.failures == 0 && totals[1].count.failures == 0;
  out.svg = chart_svg({chart});
  return out;
}

}  // namespace tangere::experiments
