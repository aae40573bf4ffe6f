/// Nimble, tables II and III: the five Jacobians of one step at the benchmark states, in closed form, by central and by
/// Ridders' differences: what each takes, and how far it is off. (bench_contact has MuJoCo beside them.)

#include <algorithm>
#include <chrono>
#include <vector>

#include "apps/cli/gradient_check.hpp"
#include "apps/cli/text.hpp"
#include "experiments/experiment.hpp"
#include "experiments/nimble_states.hpp"
#include "experiments/step_differences.hpp"
#include "tangere/sim/tape/hard_tape.hpp"

namespace tangere::experiments {
namespace {

/// Microseconds, median of many runs.
template <class F>
double median_time(int runs, F&& f) {
  std::vector<double> times;
  for (int run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    f();
    times.push_back(1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  const auto middle = times.begin() + runs / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

/// Of the five Jacobians (dq'/du is dt dv'/du): the largest difference, as a part of the block's largest entry.
double largest_difference(const StepJacobians& a, const StepJacobians& b) {
  double out = 0.0;
  for (const auto block :
       {&StepJacobians::q_q, &StepJacobians::v_q, &StepJacobians::q_v, &StepJacobians::v_v, &StepJacobians::v_u})
    out = std::max(out, (a.*block - b.*block).cwiseAbs().maxCoeff() / (b.*block).cwiseAbs().maxCoeff());
  return out;
}

struct Figures {
  std::size_t contacts = 0;
  /// Microseconds: a step and its Jacobians, and differences of the step.
  double closed_form = 0.0;
  double central = 0.0;
  double ridders = 0.0;
  /// Of closed forms against differences that are refined until they settle (`--check-gradients`); of both differences
  /// against closed forms.
  double closed_form_error = 0.0;
  double central_error = 0.0;
  double ridders_error = 0.0;
};

Figures figures_of(const World& world, const State& start) {
  const VectorX u = VectorX::Zero(world.nu());
  Workspace workspace(world);
  State state;
  (void)step(world, start, u, workspace, state);
  WarmStart warm;
  workspace.save(warm);

  Figures out;
  State next;
  Tape tape;
  StepJacobians closed_form, central, ridders;
  out.closed_form = median_time(201, [&] {
    (void)step(world, state, u, workspace, next, &tape);
    (void)step_jacobians(world, tape, workspace, closed_form);
  });
  out.contacts = tape.hard().problem.contacts.size();
  StepDifferences differences(world, state, u, warm);
  out.central = median_time(21, [&] { differences.central(central); });
  out.ridders = median_time(5, [&] { differences.ridders(ridders); });
  out.central_error = largest_difference(central, closed_form);
  out.ridders_error = largest_difference(ridders, closed_form);

  cli::GradientCheck check(world);
  check.check(0, state, u, warm);
  for (const cli::BlockError& block : check.report().blocks)
    out.closed_form_error = std::max(out.closed_form_error, block.worst);
  return out;
}

std::string file_name(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == ',' || c == '-'; }, '_');
  return name;
}

}  // namespace

Outcome nimble_jacobians(const Request& request) {
  Outcome out;
  out.met = true;
  out.text =
      "                                     microseconds                            largest error\n"
      "  scene              DoF  contacts   step + Jacobians   central  Ridders     closed form  central  Ridders\n";
  const std::vector<NimbleState> states = nimble_states(request.scenes);
  for (const NimbleState& one : states) {
    if (request.films)
      out.films.push_back(film("nimble_jacobians_" + file_name(one.name), "The benchmark state of " + one.name,
                               one.world, one.start, MatrixX::Zero(one.world.nu(), 1)));
    const Figures f = figures_of(one.world, one.start);
    out.met = out.met && f.closed_form_error < 1e-7 && f.central > 5.0 * f.closed_form;
    out.text += cli::formatted("  %-17s  %3d  %8zu   %16.1f  %8.0f  %7.0f     %11.1e  %7.1e  %7.1e\n", one.name.c_str(),
                               one.world.nv(), f.contacts, f.closed_form, f.central, f.ridders, f.closed_form_error,
                               f.central_error, f.ridders_error);
    out.data.push_back({{"scene", one.name},
                        {"nv", one.world.nv()},
                        {"contacts", f.contacts},
                        {"step_and_jacobians_us", f.closed_form},
                        {"central_differences_us", f.central},
                        {"ridders_us", f.ridders},
                        {"worst_error", f.closed_form_error},
                        {"central_error", f.central_error},
                        {"ridders_error", f.ridders_error}});
  }
  if (states.back().name != "Atlas, mesh feet") out.text += std::string("  ") + kAtlasIsMissing;
  return out;
}

}  // namespace tangere::experiments
