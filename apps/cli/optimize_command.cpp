/// `tangere optimize FILE|NAME|all`: solves problems of trajectory optimisation, shows how, and keeps the best plan.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
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
#include "experiments/optimize_task.hpp"
#include "tangere/io/grasp_file.hpp"
#include "tangere/io/problem_file.hpp"
#include "tangere/io/recording.hpp"
#include "tangere/io/text/text.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/trajopt/verification.hpp"

namespace tangere::cli {
namespace {

using experiments::OptimizeTask;

/// The finer check takes so many steps per step of the plan.
constexpr int kRefine = 10;
/// Constraints may be violated by this at the knots, unless a problem has a larger tolerance of its own.
constexpr double kMostViolation = 1e-4;
/// Between knots shapes may overlap by this.
constexpr double kMostBetween = 1e-3;

/// A problem by the name it is asked for: a file, or one that is written in C++.
struct Source {
  std::string name;
  std::filesystem::path file{};
  OptimizeTask (*make)() = nullptr;

  [[nodiscard]] OptimizeTask task() const {
    return make != nullptr ? make() : experiments::task_of(load_problem(file));
  }
};

struct Outcome {
  OptimizeResult result;
  int starts = 0;
  double seconds = 0.0;
  Verification replay;
  Verification refined;
  bool reached = false;
};

/// How the seeds of a problem went.
struct Tally {
  int count = 0;
  int reached = 0;
  int reached_at_once = 0;
  std::vector<double> seconds{};
  std::vector<int> iterations{};

  void add(const Outcome& out) {
    ++count;
    reached += out.reached ? 1 : 0;
    reached_at_once += out.reached && out.starts == 1 ? 1 : 0;
    seconds.push_back(out.seconds);
    iterations.push_back(out.result.iterations);
  }
};

template <class T>
T median(std::vector<T> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

std::vector<Source> sources_of(const OptimizeArguments& arguments) {
  if (std::filesystem::exists(arguments.problem))
    return {{std::filesystem::path(arguments.problem).stem().string(), arguments.problem}};
  std::vector<Source> all;
  for (const experiments::NamedTask& task : experiments::all_tasks()) all.push_back({task.name, {}, task.make});
  const std::filesystem::path folder = scenes_folder(arguments.scenes, "--scenes") / "problems";
  std::vector<std::filesystem::path> files;
  if (std::filesystem::exists(folder))
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) all.push_back({file.stem().string(), file});
  if (arguments.problem == "all") return all;
  std::string names;
  for (const Source& source : all) {
    if (source.name == arguments.problem) return {source};
    names += (names.empty() ? "" : ", ") + source.name;
  }
  throw InputError("PROBLEM", "no file and no problem '" + arguments.problem + "'; there are " + names);
}

/// Adds noise to the controls of the guess, as parts of half their range.
void disturb_controls(OptimizeTask& task, double noise, Random& random) {
  const OptimalControl& problem = task.problem;
  if (task.guess.u.size() == 0) task.guess.u.setZero(problem.dynamics().nu(), problem.num_steps());
  for (Eigen::Index k = 0; k < task.guess.u.cols(); ++k)
    for (Eigen::Index i = 0; i < task.guess.u.rows(); ++i) {
      const double range = 0.5 * (problem.upper_controls()(i, k) - problem.lower_controls()(i, k));
      task.guess.u(i, k) += noise * (std::isfinite(range) ? range : 1.0) * random.normal();
    }
}

/// The start with noise, as tests of a problem have it.
void disturb(OptimizeTask& task, int seed) {
  Random random(static_cast<std::uint64_t>(seed));
  const Dynamics& dynamics = task.problem.dynamics();
  VectorX noise(dynamics.ndx());
  for (Eigen::Index i = 0; i < noise.size(); ++i) noise[i] = task.start_noise[i] * random.normal();
  VectorX start;
  dynamics.plus(task.problem.horizon().start, noise, start);
  task.problem.set_start(start);
  disturb_controls(task, task.control_noise, random);
  task.restarts.seed = static_cast<std::uint64_t>(seed);
}

void show(const Iteration& row) {
  std::fprintf(stderr, "%4d  phase %d  cost %-12.6g violation %-9.2e gradient %-9.2e step %-7.3g%s\n", row.iteration,
               row.phase + 1, row.cost, std::max({row.defect, row.equality, row.inequality}), row.gradient, row.step,
               row.restoring         ? "  restoring"
               : row.exact_curvature ? "  curvature"
                                     : "");
}

Outcome solve(const OptimizeTask& task, bool progress) {
  Outcome out;
  const auto begin = std::chrono::steady_clock::now();
  Optimizer optimizer(task.problem, task.options);
  out.result = solve_with_restarts(
      optimizer, task.restarts, task.guess,
      [&](const Iteration& row) {
        if (progress) show(row);
        return interrupted_by() == 0;
      },
      &out.starts);
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const ContactPhase& contact = task.options.phases.back();
  out.replay = verify(task.problem, out.result.plan, {.contact = contact});
  out.refined = verify(task.problem, out.result.plan, {.refine = kRefine, .contact = contact});
  const double most = std::max(kMostViolation, task.options.constraint_tolerance);
  out.reached = out.result.violation <= most && out.replay.finite && out.replay.equality <= task.goal_tolerance &&
                out.refined.between <= kMostBetween;
  return out;
}

/// The parameters of the world that were chosen.
std::vector<std::pair<std::string, double>> design_of(const OptimizeTask& task, const Outcome& out) {
  std::vector<std::pair<std::string, double>> design;
  for (std::size_t i = 0; i < task.design.size(); ++i)
    design.emplace_back(task.design[i], out.result.plan.x.front().tail(
                                            static_cast<Eigen::Index>(task.design.size()))[static_cast<int>(i)]);
  return design;
}

nlohmann::ordered_json to_json(const OptimizeTask& task, const Outcome& out, int seed) {
  nlohmann::ordered_json json{{"name", task.name},
                              {"status", to_string(out.result.status)},
                              {"iterations", out.result.iterations},
                              {"seconds", out.seconds},
                              {"cost", out.result.cost},
                              {"violation", out.result.violation},
                              {"refined_violation", out.refined.between},
                              {"goal_error", out.replay.equality},
                              {"reached", out.reached},
                              {"refined_goal_error", out.refined.equality},
                              {"replay_strays", out.replay.strays},
                              {"rows_between_knots", out.result.rows_between},
                              {"starts", out.starts}};
  for (const auto& [name, value] : design_of(task, out)) json["design"][name] = value;
  if (seed > 0) json["seed"] = seed;
  if (out.result.status != OptimizeStatus::solved) {
    json["worst_knot"] = out.result.knot;
    json["worst_name"] = out.result.name;
  }
  return json;
}

void print(const OptimizeTask& task, const Outcome& out, int seed) {
  const std::string title = seed > 0 ? formatted("%s, seed %d", task.name.c_str(), seed) : task.name;
  std::printf("%s: %s after %d iterations, start %d, %.3f s; cost %.6g\n", title.c_str(),
              std::string(to_string(out.result.status)).c_str(), out.result.iterations, out.starts, out.seconds,
              out.result.cost);
  if (out.result.violation > 0.0)
    std::printf("  worst constraint: %s at knot %d, %.2e\n", out.result.name.c_str(), out.result.knot,
                out.result.violation);
  std::printf("  played: goal missed by %.2e, at a %dth of the step by %.2e; overlap between knots %.2e%s\n",
              out.replay.equality, kRefine, out.refined.equality, out.refined.between,
              out.reached ? "" : "   GOAL MISSED");
  for (const auto& [name, value] : design_of(task, out)) std::printf("  %s = %.6g\n", name.c_str(), value);
}

/// On standard error beside objects for machines.
void print(const std::string& name, const Tally& tally, bool json) {
  std::fprintf(json ? stderr : stdout,
               "%s: %d of %d seeds reach the goal, %d with one start; median %.3f s, %d iterations\n", name.c_str(),
               tally.reached, tally.count, tally.reached_at_once, median(tally.seconds), median(tally.iterations));
}

/// The plan's motion as a recording or a page.
void write_motion(const OptimizeArguments& arguments, const OptimizeTask& task, const Plan& plan) {
  if (arguments.record.empty() && arguments.html.empty()) return;
  Audience audience(arguments.html, false, 0);
  RecordingOptions options;
  options.made_by.command = "optimize " + arguments.problem;
  if (audience.is_there()) options.listener = &audience;
  const World display = task.display_at == nullptr ? task.display : task.display_at(plan.x.front());
  WorldOptions pace = display.options();
  pace.time_step = task.problem.horizon().time_steps[0];
  RecordingWriter recording(display.with_options(pace), arguments.record, options);
  for (std::size_t k = 0; k < plan.x.size(); ++k) recording.add(static_cast<int>(k), task.shown(plan.x[k]));
  recording.finish();
  audience.write_page();
}

/// False if a solve misses its goal.
bool solve_all_seeds(const Source& source, const OptimizeArguments& arguments) {
  bool all_reached = true;
  Tally tally;
  for (int seed = arguments.seeds == 0 ? 0 : 1; seed <= arguments.seeds; ++seed) {
    OptimizeTask task = source.task();
    if (seed > 0) disturb(task, seed);
    const Outcome out = solve(task, arguments.progress);
    tally.add(out);
    all_reached = all_reached && out.reached;
    if (arguments.json) std::printf("%s\n", to_json(task, out, seed).dump().c_str());
    if (!arguments.json) print(task, out, seed);
    std::fflush(stdout);
    if (seed <= 1) write_motion(arguments, task, out.result.plan);
    if (interrupted_by() != 0) break;
  }
  if (arguments.seeds > 0) print(source.name, tally, arguments.json);
  // of many starts one may fail in twenty
  return arguments.seeds > 0 ? 20 * tally.reached >= 19 * tally.count : all_reached;
}

int optimize(const OptimizeArguments& arguments) {
  const std::vector<Source> sources = sources_of(arguments);
  if (sources.size() > 1 && !(arguments.record.empty() && arguments.html.empty()))
    throw InputError("--html", "and --record are for one problem");
  if (arguments.seeds < 0) throw InputError("--seeds", "must not be negative");
  const InterruptGuard guard;
  bool all_reached = true;
  for (const Source& source : sources) {
    const bool is_grasp = source.make == nullptr && is_grasp_file(source.file);
    all_reached = (is_grasp ? plan_grasp(source.file, arguments) : solve_all_seeds(source, arguments)) && all_reached;
    if (interrupted_by() != 0) {
      std::fprintf(stderr, "tangere optimize: interrupted; the plan is the best iterate\n");
      return 128 + interrupted_by();
    }
  }
  return all_reached ? kExitOk : kExitFailed;
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
