/// `tangere optimize FILE|NAME|all`: solves problems of trajectory optimisation, shows how, and keeps the best plan.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/cli/audience.hpp"
#include "apps/cli/commands.hpp"
#include "apps/cli/folders.hpp"
#include "apps/cli/grasp_problem.hpp"
#include "apps/cli/interrupt.hpp"
#include "apps/cli/text.hpp"
#include "tangere/io/grasp_file.hpp"
#include "tangere/io/problem_file.hpp"
#include "tangere/io/recording.hpp"
#include "tangere/io/text/text.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/trajopt/verification.hpp"

namespace tangere::cli {
namespace {

/// The finer check takes so many steps per step of the plan.
constexpr int kRefine = 5;

struct Outcome {
  OptimizeResult result;
  int starts = 0;
  double seconds = 0.0;
  Verification replay;
  Verification refined;
};

std::vector<std::filesystem::path> problem_files(const OptimizeArguments& arguments) {
  if (std::filesystem::exists(arguments.problem)) return {arguments.problem};
  const std::filesystem::path folder = scenes_folder(arguments.scenes, "--scenes") / "problems";
  std::vector<std::filesystem::path> files;
  std::string names;
  if (std::filesystem::exists(folder))
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".json") continue;
      names += (names.empty() ? "" : ", ") + entry.path().stem().string();
      if (arguments.problem == "all" || entry.path().stem() == arguments.problem) files.push_back(entry.path());
    }
  if (files.empty())
    throw InputError("PROBLEM", "no file and no problem '" + arguments.problem + "'; there are " + names);
  std::sort(files.begin(), files.end());
  return files;
}

/// The start with noise, as tests of a problem have it.
void disturb(ProblemFile& file, int seed) {
  Random random(static_cast<std::uint64_t>(seed));
  VectorX noise(file.dynamics->ndx());
  for (double& entry : noise) entry = file.start_noise * random.normal();
  noise.tail(file.dynamics->num_design()).setZero();
  VectorX start;
  file.dynamics->plus(file.problem.horizon().start, noise, start);
  file.problem.set_start(start);
  file.restarts.noisy_first = true;
  file.restarts.seed = static_cast<std::uint64_t>(seed);
}

void show(const Iteration& row) {
  std::fprintf(stderr, "%4d  phase %d  cost %-12.6g violation %-9.2e step %-7.3g\n", row.iteration, row.phase + 1,
               row.cost, std::max({row.defect, row.equality, row.inequality}), row.step);
}

Outcome solve(const ProblemFile& file, bool progress) {
  Outcome out;
  const auto begin = std::chrono::steady_clock::now();
  Optimizer optimizer(file.problem, file.options);
  out.result = solve_with_restarts(
      optimizer, file.restarts, file.guess,
      [&](const Iteration& row) {
        if (progress) show(row);
        return interrupted_by() == 0;
      },
      &out.starts);
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const ContactPhase& contact = file.options.phases.back();
  out.replay = verify(file.problem, out.result.plan, {.contact = contact});
  out.refined = verify(file.problem, out.result.plan, {.refine = kRefine, .contact = contact});
  return out;
}

nlohmann::ordered_json to_json(const ProblemFile& file, const Outcome& out, int seed) {
  nlohmann::ordered_json json{{"name", file.name},
                              {"status", to_string(out.result.status)},
                              {"iterations", out.result.iterations},
                              {"seconds", out.seconds},
                              {"cost", out.result.cost},
                              {"violation", out.result.violation},
                              {"refined_violation", out.refined.inequality},
                              {"goal_error", out.replay.equality},
                              {"refined_goal_error", out.refined.equality},
                              {"replay_strays", out.replay.strays},
                              {"starts", out.starts}};
  for (int i = 0; i < file.dynamics->num_design(); ++i)
    json["design"][file.dynamics->design()[i].name] = out.result.plan.x.front().tail(file.dynamics->num_design())[i];
  if (seed > 0) json["seed"] = seed;
  if (out.result.status != OptimizeStatus::solved) {
    json["worst_knot"] = out.result.knot;
    json["worst_name"] = out.result.name;
  }
  return json;
}

void print(const ProblemFile& file, const Outcome& out, int seed) {
  const std::string title = seed > 0 ? formatted("%s, seed %d", file.name.c_str(), seed) : file.name;
  std::printf("%s: %s after %d iterations, start %d, %.2f s; cost %.6g\n", title.c_str(),
              std::string(to_string(out.result.status)).c_str(), out.result.iterations, out.starts, out.seconds,
              out.result.cost);
  if (out.result.violation > 0.0)
    std::printf("  worst constraint: %s at knot %d, %.2e\n", out.result.name.c_str(), out.result.knot,
                out.result.violation);
  for (int i = 0; i < file.dynamics->num_design(); ++i)
    std::printf("  %s: %.4g, was %.4g\n", file.dynamics->design()[i].name.c_str(),
                out.result.plan.x.front().tail(file.dynamics->num_design())[i], file.dynamics->design()[i].value);
  std::printf("  played with hard contact: goal missed by %.2e; at a %dth of the step by %.2e\n", out.replay.equality,
              kRefine, out.refined.equality);
}

/// The plan's motion as a recording or a page.
void write_motion(const OptimizeArguments& arguments, const ProblemFile& file, const Plan& plan) {
  if (arguments.record.empty() && arguments.html.empty()) return;
  const World world = file.dynamics->world_at(plan.x.front().tail(file.dynamics->num_design()));
  Audience audience(arguments.html, false, 0);
  RecordingOptions options;
  options.made_by.command = "optimize " + arguments.problem;
  if (audience.is_there()) options.listener = &audience;
  RecordingWriter recording(world, arguments.record, options);
  for (std::size_t k = 0; k < plan.x.size(); ++k)
    recording.add(static_cast<int>(k), {plan.x[k].head(world.nq()), plan.x[k].segment(world.nq(), world.nv())});
  recording.finish();
  audience.write_page();
}

int optimize(const OptimizeArguments& arguments) {
  const std::vector<std::filesystem::path> files = problem_files(arguments);
  if (files.size() > 1 && !(arguments.record.empty() && arguments.html.empty()))
    throw InputError("--html", "and --record are for one problem");
  if (arguments.seeds < 0) throw InputError("--seeds", "must not be negative");
  const InterruptGuard guard;
  bool all_solved = true;
  for (const std::filesystem::path& path : files) {
    if (is_grasp_file(path)) {
      all_solved = plan_grasp(path, arguments) && all_solved;
      if (interrupted_by() != 0) return 128 + interrupted_by();
      continue;
    }
    for (int seed = arguments.seeds == 0 ? 0 : 1; seed <= arguments.seeds; ++seed) {
      ProblemFile file = load_problem(path);
      if (seed > 0) disturb(file, seed);
      const Outcome out = solve(file, arguments.progress);
      all_solved = all_solved && out.result.status == OptimizeStatus::solved;
      if (arguments.json) std::printf("%s\n", to_json(file, out, seed).dump().c_str());
      if (!arguments.json) print(file, out, seed);
      std::fflush(stdout);
      if (seed <= 1) write_motion(arguments, file, out.result.plan);
      if (interrupted_by() != 0) {
        std::fprintf(stderr, "tangere optimize: interrupted; the plan is the last iterate\n");
        return 128 + interrupted_by();
      }
    }
  }
  return all_solved ? kExitOk : kExitFailed;
}

}  // namespace

int run_optimize(const OptimizeArguments& arguments) {
  try {
    return optimize(arguments);
  } catch (const InputError& error) {
    std::fprintf(stderr, "tangere optimize: %s\n", printable(error.what()).c_str());
    return kExitBadInput;
  }
}

}  // namespace tangere::cli
