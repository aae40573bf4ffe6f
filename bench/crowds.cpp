/// bench_crowds [seconds]: hard contact where many bodies hold each other: steps a second of processor time, how many
/// of them are solved to the tolerance, how many rows they have, and which stage of the solver's chain answered.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "bench/support/statistics.hpp"
#include "tangere/sim/step.hpp"
#include "tests/support/crowds.hpp"

namespace tangere::bench {
namespace {

struct Figures {
  int steps = 0;
  int exact = 0;
  double rows = 0.0;
  int most_rows = 0;
  double largest_residual = 0.0;
  std::vector<double> seconds;
  StepProfile profile;
  std::array<int, kNumBoxedLcpStages> stages{};
};

/// A scene that takes longer ends there; how many steps there were is printed.
constexpr std::clock_t kMostSeconds = 60;

Figures run(const test::Crowd& crowd, double duration) {
  const World& world = crowd.world;
  Workspace workspace(world);
  workspace.set_profiling(true);
  State state = crowd.start;
  const VectorX u = VectorX::Zero(world.nu());
  Figures out;
  const std::clock_t start = std::clock();
  for (double t = 0.0; t < duration; t += world.options().time_step) {
    const std::clock_t begin = std::clock();
    if (begin - start > kMostSeconds * CLOCKS_PER_SEC) break;
    const StepResult& result = step(world, state, u, workspace, state);
    out.seconds.push_back(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    ++out.steps;
    out.exact += result.status == StepStatus::solved ? 1 : 0;
    out.rows += static_cast<double>(result.rows.size());
    out.most_rows = std::max(out.most_rows, static_cast<int>(result.rows.size()));
    out.largest_residual = std::max(out.largest_residual, result.residual);
    out.profile.dynamics += result.profile.dynamics;
    out.profile.collision += result.profile.collision;
    out.profile.rows += result.profile.rows;
    out.profile.contact += result.profile.contact;
    for (int i = 0; i < kNumBoxedLcpStages; ++i) out.stages[i] += result.stages[i];
  }
  return out;
}

void print(const char* name, const Figures& f) {
  double total = 0.0;
  for (const double s : f.seconds) total += s;
  const double ms = 1e3 / f.steps;
  std::printf("%-26s %6d %8.1f %9.2f %9.2f %8.2f%% %8.0f %6d %9.0e  | %7.3f %7.3f %7.3f %7.3f |", name, f.steps,
              f.steps / total, 1e3 * median(f.seconds), 1e3 * *std::max_element(f.seconds.begin(), f.seconds.end()),
              100.0 * f.exact / f.steps, f.rows / f.steps, f.most_rows, f.largest_residual, ms * f.profile.dynamics,
              ms * f.profile.collision, ms * f.profile.rows, ms * f.profile.contact);
  for (int i = 0; i < kNumBoxedLcpStages; ++i) std::printf(" %d", f.stages[i]);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace tangere::bench

int main(int argc, char** argv) {
  using namespace tangere;
  const double duration = argc > 1 ? std::atof(argv[1]) : 5.0;
  std::printf(
      "%-26s %6s %8s %9s %9s %9s %8s %6s %9s  | dynamics, collision, rows, contact: mean ms | islands by stage:", "",
      "steps", "steps/s", "median ms", "worst ms", "exact", "rows", "most", "residual");
  for (int i = 0; i < kNumBoxedLcpStages; ++i)
    std::printf(" %s", std::string(to_string(static_cast<BoxedLcpStage>(i))).c_str());
  std::printf("\n");
  std::fflush(stdout);
  for (const test::Crowd& crowd :
       {test::bin_of_boxes(40), test::bin_of_boxes(200), test::brick_pyramid(10), test::heap_of_shapes(100)})
    bench::print(crowd.name.c_str(), bench::run(crowd, duration));
  return 0;
}
