#include "experiments/step_timing.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "apps/cli/text.hpp"

namespace tangere::experiments {

void Timing::add(const Timing& other) {
  times.insert(times.end(), other.times.begin(), other.times.end());
  count.add(other.count);
}

double Timing::mean() const {
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

double Timing::median() const {
  std::vector<double> sorted = times;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

nlohmann::json to_json(const Timing& timing) {
  return {{"microseconds", timing.times}, {"count", to_json(timing.count)}};
}

Timing timing_from(const nlohmann::json& json) {
  return {json.at("microseconds").get<std::vector<double>>(), run_count(json.at("count"))};
}

namespace {

/// Of this thread alone: a busy machine takes turns with others.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

Timing time_steps(Setup setup, int steps) {
  Workspace workspace(setup.world);
  const VectorX u = VectorX::Zero(setup.world.nu());
  Timing timing;
  for (int i = 0; i < steps; ++i) {
    const double before = thread_seconds();
    const StepResult& result = step(setup.world, setup.state, u, workspace, setup.state);
    timing.times.push_back(1e6 * (thread_seconds() - before));
    timing.count.add(result);
  }
  return timing;
}

const char* const kTimingHead = "                        mean us  median us  iterations  unsolved     of\n";

std::string timing_row(const std::string& name, const Timing& timing) {
  return cli::formatted("  %-20s %8.2f   %8.2f  %10.2f  %8ld %6ld\n", name.c_str(), timing.mean(), timing.median(),
                        timing.count.mean_iterations(), timing.count.failures, timing.count.steps);
}

nlohmann::json summary(const Timing& timing) {
  return {{"mean", timing.mean()},
          {"median", timing.median()},
          {"iterations", timing.count.mean_iterations()},
          {"failures", timing.count.failures},
          {"steps", timing.count.steps}};
}

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

}  // namespace tangere::experiments
