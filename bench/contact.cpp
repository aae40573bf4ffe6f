/// bench_contact: a step with hard contact and its Jacobians, at the states of Nimble's benchmark, beside differences
/// of the same step and MuJoCo's mjd_transitionFD on the same file, in the same run.
///
/// The states are those of experiments/nimble_states.hpp, after one plain step. All figures are medians over rounds,
/// each of which measures everything once: the machine is shared, and slow moments meet all alike.

#include <cstdio>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "bench/support/mujoco_transition.hpp"
#include "bench/support/statistics.hpp"
#include "bench/support/timer.hpp"
#include "experiments/nimble_states.hpp"
#include "experiments/step_differences.hpp"
#include "tangere/sim/tape/hard_tape.hpp"

namespace tangere::bench {
namespace {

using experiments::NimbleState;
using experiments::StepDifferences;

constexpr int kRounds = 31;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Microseconds of Nimble's analytical Jacobians: Table III of the paper, and as given to us for an EPYC core.
struct NimbleTime {
  double paper;
  double epyc;
};
/// In the order of nimble_states.
constexpr NimbleTime kNimbleTimes[] = {{256.0, 81.0}, {265.0, 92.0}, {395.0, 146.0}, {kNone, 2230.0}, {8530.0, 5900.0}};

/// Something to measure: `prepare`, which is not timed, then `run`.
struct Task {
  std::function<void()> prepare;
  std::function<void()> run;
  /// Short ones are measured several times a round, after one run that is not.
  bool is_short = true;
  std::vector<double> microseconds{};
};

void measure(std::vector<Task*> tasks) {
  static const CallTimer timer;
  for (int round = 0; round < kRounds; ++round)
    for (Task* task : tasks) {
      for (int i = 0; i < (task->is_short ? 6 : 1); ++i) {
        task->prepare();
        const double ns = timer([&] { task->run(); });
        if (i > 0 || !task->is_short) task->microseconds.push_back(1e-3 * ns);
      }
    }
}

struct Figures {
  int contacts = 0;
  int rows = 0;
  /// Rows that push within their bounds.
  int clamped = 0;
  double plain = kNone, taped = kNone, jacobians = kNone, vjp = kNone, sum = kNone, central = kNone, ridders = kNone;
  int mujoco_contacts = 0;
  double mujoco_step = kNone, mujoco_jacobians = kNone;
  /// |ours - Ridders| and |central - Ridders|, as parts of the largest entry: dq'/dq, dv'/dq, dq'/dv, dv'/dv, dv'/du.
  double ours_error[5] = {}, central_error[5] = {};
  int ties = 0;
};

void compare(const StepJacobians& ours, const StepJacobians& reference, double* errors) {
  const MatrixX* a[5] = {&ours.q_q, &ours.v_q, &ours.q_v, &ours.v_v, &ours.v_u};
  const MatrixX* b[5] = {&reference.q_q, &reference.v_q, &reference.q_v, &reference.v_v, &reference.v_u};
  for (int k = 0; k < 5; ++k) errors[k] = (*a[k] - *b[k]).cwiseAbs().maxCoeff() / b[k]->cwiseAbs().maxCoeff();
}

Figures run(const NimbleState& one) {
  const World& world = one.world;
  const VectorX u = VectorX::Zero(world.nu());
  Workspace workspace(world);
  State state;
  (void)step(world, one.start, u, workspace, state);
  WarmStart warm_start;
  workspace.save(warm_start);

  State next;
  Tape tape;
  StepJacobians ours, central, ridders;
  StateTangent g{VectorX::Ones(world.nv()), VectorX::Ones(world.nv())}, g_state;
  VectorX g_u;
  StepDifferences differences(world, state, u, warm_start);
  MujocoTransition mujoco(one.file);
  const auto restore = [&] { workspace.restore(warm_start); };
  const auto nothing = [] {};

  Task plain{restore, [&] { (void)step(world, state, u, workspace, next); }};
  Task taped{restore, [&] { (void)step(world, state, u, workspace, next, &tape); }};
  Task jacobians{nothing, [&] { (void)step_jacobians(world, tape, workspace, ours); }};
  Task vjp{nothing, [&] { (void)step_vjp(world, tape, workspace, g, g_state, g_u); }};
  Task sum{restore, [&] {
             (void)step(world, state, u, workspace, next, &tape);
             (void)step_jacobians(world, tape, workspace, ours);
           }};
  Task by_central{nothing, [&] { differences.central(central); }, false};
  Task by_ridders{nothing, [&] { differences.ridders(ridders); }, false};
  Task mujoco_step{[&] { mujoco.reset(); }, [&] { mujoco.step(); }};
  Task mujoco_jacobians{[&] { mujoco.reset(); }, [&] { mujoco.jacobians(); }, false};
  std::vector<Task*> tasks{&plain, &taped, &jacobians, &vjp, &sum, &by_central, &by_ridders};
  if (mujoco.present()) tasks.insert(tasks.end(), {&mujoco_step, &mujoco_jacobians});
  measure(tasks);

  Figures out;
  out.contacts = static_cast<int>(tape.hard().problem.contacts.size());
  out.rows = tape.hard().problem.num_rows();
  for (const RowSet set : tape.hard().sets) out.clamped += set == RowSet::clamped ? 1 : 0;
  out.plain = median(plain.microseconds);
  out.taped = median(taped.microseconds);
  out.jacobians = median(jacobians.microseconds);
  out.vjp = median(vjp.microseconds);
  out.sum = median(sum.microseconds);
  out.central = median(by_central.microseconds);
  out.ridders = median(by_ridders.microseconds);
  out.ties = differences.ties();
  if (mujoco.present()) {
    out.mujoco_contacts = mujoco.num_contacts();
    out.mujoco_step = median(mujoco_step.microseconds);
    out.mujoco_jacobians = median(mujoco_jacobians.microseconds);
  }
  compare(ours, ridders, out.ours_error);
  compare(central, ridders, out.central_error);
  return out;
}

/// Dashes for what was not measured.
std::string number(double value, int digits = 1) {
  if (!(value == value)) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string scientific(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", value);
  return text;
}

void print(const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) std::printf(i == 0 ? "%-17s" : "%13s", cells[i].c_str());
  std::printf("\n");
}

}  // namespace
}  // namespace tangere::bench

int main() {
  using namespace tangere::bench;
  using namespace tangere::experiments;
  const std::vector<NimbleState> cases = nimble_states(TANGERE_SCENES);
  if (cases.size() < std::size(kNimbleTimes)) std::printf("%s", kAtlasIsMissing);
  std::vector<Figures> all;
  for (const NimbleState& one : cases) all.push_back(run(one));

  std::printf("a step, microseconds\n");
  print({"", "DoF", "contacts", "rows", "clamped", "plain", "with tape", "Jacobians", "VJP", "step + Jac.", "central",
         "Ridders"});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Figures& f = all[i];
    print({cases[i].name, std::to_string(cases[i].world.nv()), std::to_string(f.contacts), std::to_string(f.rows),
           std::to_string(f.clamped), number(f.plain), number(f.taped), number(f.jacobians), number(f.vjp),
           number(f.sum), number(f.central, 0), number(f.ridders, 0)});
  }

  std::printf(
      "\nothers, microseconds (MuJoCo: measured here, same file, centred; Nimble: published or given, not here)\n");
  print({"", "MJ contacts", "MJ step", "MJ FD", "Nimble paper", "Nimble EPYC"});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Figures& f = all[i];
    const bool has = f.mujoco_step == f.mujoco_step;
    print({cases[i].name, has ? std::to_string(f.mujoco_contacts) : "-", number(f.mujoco_step),
           number(f.mujoco_jacobians, 0), number(kNimbleTimes[i].paper, 0), number(kNimbleTimes[i].epyc, 0)});
  }

  std::printf("\ntimes step + Jacobians\n");
  print({"", "central", "Ridders", "MJ FD", "Nimble paper", "Nimble EPYC"});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Figures& f = all[i];
    print({cases[i].name, number(f.central / f.sum), number(f.ridders / f.sum), number(f.mujoco_jacobians / f.sum),
           number(kNimbleTimes[i].paper / f.sum), number(kNimbleTimes[i].epyc / f.sum)});
  }

  std::printf("\nlargest error against Ridders, as a part of the block's largest entry\n");
  print({"", "", "dq'/dq", "dv'/dq", "dq'/dv", "dv'/dv", "dv'/du", "ties"});
  for (std::size_t i = 0; i < cases.size(); ++i)
    for (const bool ours : {true, false}) {
      std::vector<std::string> cells{ours ? cases[i].name : "", ours ? "analytical" : "central"};
      for (int k = 0; k < 5; ++k) cells.push_back(scientific(ours ? all[i].ours_error[k] : all[i].central_error[k]));
      cells.push_back(std::to_string(all[i].ties));
      print(cells);
    }
  return 0;
}
