#include "apps/cli/grasp_problem.hpp"

#include <cstdio>

#include <nlohmann/json.hpp>

#include "apps/cli/audience.hpp"
#include "apps/cli/interrupt.hpp"
#include "tangere/io/grasp_file.hpp"
#include "tangere/io/recording.hpp"

namespace tangere::cli {
namespace {

void write_motion(const OptimizeArguments& arguments, const GraspFile& file, const ContactRrtResult& result) {
  if (arguments.record.empty() && arguments.html.empty()) return;
  const World& world = file.problem.world;
  Audience audience(arguments.html, false, 0);
  RecordingOptions options;
  options.made_by.command = "optimize " + arguments.problem;
  if (audience.is_there()) options.listener = &audience;
  RecordingWriter recording(world, arguments.record, options);
  int k = 0;
  for (const GraspStep& step : result.plan) recording.add(k++, {step.q, VectorX::Zero(world.nv())});
  recording.finish();
  audience.write_page();
}

}  // namespace

bool plan_grasp(const std::filesystem::path& path, const OptimizeArguments& arguments) {
  GraspFile file = load_grasp(path);
  bool all_reached = true;
  for (int seed = arguments.seeds == 0 ? 0 : 1; seed <= arguments.seeds; ++seed) {
    file.options.seed = static_cast<std::uint64_t>(seed);
    const ContactRrtResult result = plan_through_contact(file.problem, file.options, [&](int nodes, double distance) {
      if (arguments.progress) std::fprintf(stderr, "%4d nodes, goal missed by %.3g\n", nodes, distance);
      return interrupted_by() == 0;
    });
    const double strays = replay_strays(file.problem, result.plan);
    const bool reached = result.reached && strays <= 1e-6;
    all_reached = all_reached && reached;
    nlohmann::ordered_json json{{"name", file.name},
                                {"status", reached ? "solved" : "infeasible"},
                                {"iterations", result.nodes},
                                {"seconds", result.seconds},
                                {"cost", static_cast<double>(result.plan.size()) - 1.0},
                                {"violation", 0.0},
                                {"refined_violation", 0.0},
                                {"goal_error", result.goal_error},
                                {"replay_strays", strays},
                                {"starts", result.trees}};
    if (seed > 0) json["seed"] = seed;
    if (arguments.json) {
      std::printf("%s\n", json.dump().c_str());
    } else {
      std::printf("%s, seed %d: %s with %d nodes, a way of %zu steps, %.2f s\n", file.name.c_str(), seed,
                  reached ? "reached" : "not reached", result.nodes, result.plan.size() - 1, result.seconds);
      std::printf("  goal missed by %.2e, replay strays by %.2e\n", result.goal_error, strays);
    }
    std::fflush(stdout);
    if (seed <= 1) write_motion(arguments, file, result);
    if (interrupted_by() != 0) return false;
  }
  return all_reached;
}

}  // namespace tangere::cli
