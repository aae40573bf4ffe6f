/// Nimble, figure 7: catapult, cartpole and double cartpole by gradients (our iteration on a Riccati recursion) and by
/// stochastic search (CEM, MPPI), wall clock and what is missing at the end. All in one run, from zero controls, with
/// the goals of `tangere optimize`. Methods are reported as they come out; the claim is that gradients reach all three.

#include <chrono>

#include "apps/cli/text.hpp"
#include "experiments/experiment.hpp"
#include "tangere/io/problem_file.hpp"
#include "tangere/trajopt/search.hpp"

namespace tangere::experiments {
namespace {

/// Seconds that a search may take.
constexpr double kMostSeconds = 10.0;

struct Answer {
  std::string method;
  bool reached = false;
  /// Iterations of all starts, or rollouts.
  int effort = 0;
  double seconds = 0.0;
  double missing = 0.0;
};

Answer by_gradients(const ProblemFile& file) {
  Answer out{.method = "gradients"};
  Optimizer optimizer(file.problem, file.options);
  const OptimizeResult result =
      solve_with_restarts(optimizer, file.restarts, file.guess, [&](const Iteration& iteration) {
        out.effort += iteration.trials > 0;
        return true;
      });
  out.reached = result.status == OptimizeStatus::solved;
  out.missing = result.violation;
  return out;
}

Answer by_search(const ProblemFile& file, SearchMethod method) {
  SearchOptions options{.method = method,
                        .samples = 96,
                        .elite = 12,
                        .generations = 100'000,
                        .nodes = 20,
                        .contact = file.options.phases.back(),
                        .constraint_tolerance = file.options.constraint_tolerance,
                        .stop_when_feasible = true,
                        .max_seconds = kMostSeconds};
  const SearchResult result = search(file.problem, options);
  return {.method = std::string(to_string(method)),
          .reached = result.violation <= options.constraint_tolerance,
          .effort = result.rollouts,
          .missing = result.violation};
}

template <class F>
Answer timed(F&& run) {
  const auto begin = std::chrono::steady_clock::now();
  Answer out = run();
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return out;
}

}  // namespace

Outcome nimble_search(const Request& request) {
  Outcome out;
  out.met = true;
  out.text = "  task              method      reached   seconds   iterations or rollouts   missing\n";
  for (const char* name : {"catapult", "cartpole", "double_cartpole"}) {
    const ProblemFile file = load_problem(request.scenes / "problems" / (std::string(name) + ".json"));
    std::vector<Answer> answers = {timed([&] { return by_gradients(file); })};
    for (const SearchMethod method : {SearchMethod::cem, SearchMethod::mppi})
      answers.push_back(timed([&] { return by_search(file, method); }));
    out.met = out.met && answers.front().reached;
    for (const Answer& a : answers) {
      out.text += cli::formatted("  %-16s  %-10s  %-7s  %8.2f  %23d  %8.1e\n", name, a.method.c_str(),
                                 a.reached ? "yes" : "no", a.seconds, a.effort, a.missing);
      out.data[name][a.method] = {
          {"reached", a.reached}, {"seconds", a.seconds}, {"effort", a.effort}, {"missing", a.missing}};
    }
  }
  out.text += "  Searches end after 10 s. Shooting by Ipopt is a module of its own and not in this table.\n";
  return out;
}

}  // namespace tangere::experiments
