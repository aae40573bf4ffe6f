/// Nimble, tables II and III: the Jacobians of one step at the benchmark states, their errors against differences, and
/// the time they take beside that of central differences. (bench_contact has more: Ridders' differences, MuJoCo,
/// Atlas.)

#include <algorithm>
#include <chrono>
#include <vector>

#include "apps/cli/gradient_check.hpp"
#include "apps/cli/text.hpp"
#include "experiments/experiment.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/sim/step_derivatives.hpp"

namespace tangere::experiments {
namespace {

/// Microseconds, median of many runs.
template <class F>
double median_time(F&& f) {
  std::vector<double> times;
  for (int run = 0; run < 201; ++run) {
    const auto start = std::chrono::steady_clock::now();
    f();
    times.push_back(1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + 100, times.end());
  return times[100];
}

/// Central differences of a step in every direction of (q, v, u), each from the same warm start.
class CentralDifferences {
 public:
  CentralDifferences(const World& world, const State& state, const VectorX& u, const WarmStart& warm_start)
      : world_(world), state_(state), u_(u), warm_start_(warm_start), workspace_(world) {}

  void run() {
    const int nv = world_.nv();
    columns_.resize(2 * nv, 2 * nv + world_.nu());
    for (int k = 0; k < columns_.cols(); ++k) {
      step_from(k, kStep, high_);
      step_from(k, -kStep, low_);
      auto column = columns_.col(k);
      difference(world_.model(), low_.q, high_.q, column.head(nv));
      column.tail(nv) = high_.v - low_.v;
      column /= 2.0 * kStep;
    }
  }

 private:
  static constexpr double kStep = 1e-7;

  void step_from(int k, double t, State& to) {
    const int nv = world_.nv();
    from_ = state_;
    control_ = u_;
    if (k < nv) {
      delta_.setZero(nv);
      delta_[k] = t;
      integrate(world_.model(), state_.q, delta_, from_.q);
    } else {
      (k < 2 * nv ? from_.v[k - nv] : control_[k - 2 * nv]) += t;
    }
    workspace_.restore(warm_start_);
    (void)step(world_, from_, control_, workspace_, to);
  }

  const World& world_;
  const State& state_;
  const VectorX& u_;
  const WarmStart& warm_start_;
  Workspace workspace_;
  State from_;
  State low_;
  State high_;
  VectorX control_;
  VectorX delta_;
  MatrixX columns_;
};

}  // namespace

Outcome nimble_jacobians(const Request& request) {
  const std::filesystem::path& scenes = request.scenes;
  Outcome out;
  out.met = true;
  out.text =
      "  scene               DoF   contacts   worst error   step + Jacobians (µs)   central differences (µs)   ratio\n";
  for (const char* file : {"jump_worm.xml", "catapult.xml", "half_cheetah.xml", "humanoid.xml"}) {
    const Scene scene = load_scene(scenes / file);
    WorldOptions options{.time_step = scene.time_step};
    options.contact.joint_limits = false;
    options.contact.correction = 0.0;
    const World world(scene.robot.model, {}, options);
    Workspace workspace(world);
    State state{scene.robot.keyframes.back().q, VectorX::Zero(world.nv())};
    const VectorX u = VectorX::Zero(world.nu());
    const std::string name = std::filesystem::path(file).stem().string();
    out.films.push_back(
        film("nimble_jacobians_" + name, "The benchmark state of " + name, world, state, MatrixX::Zero(world.nu(), 1)));
    (void)step(world, state, u, workspace, state);
    WarmStart warm;
    workspace.save(warm);

    cli::GradientCheck check(world);
    check.check(0, state, u, warm);
    double worst = 0.0;
    for (const cli::BlockError& block : check.report().blocks) worst = std::max(worst, block.worst);

    State next;
    Tape tape;
    StepJacobians jacobians;
    const double ours = median_time([&] {
      (void)step(world, state, u, workspace, next, &tape);
      step_jacobians(world, tape, workspace, jacobians);
    });
    CentralDifferences central(world, state, u, warm);
    const double differences = median_time([&] { central.run(); });
    const std::size_t contacts = tape.problem.contacts.size();
    out.met = out.met && worst < 1e-7 && differences > 5.0 * ours;
    out.text += cli::formatted("  %-18s  %3d   %8zu   %11.1e   %21.1f   %24.0f   %5.0f\n", file, world.nv(), contacts,
                               worst, ours, differences, differences / ours);
    out.data.push_back({{"scene", file},
                        {"nv", world.nv()},
                        {"contacts", contacts},
                        {"worst_error", worst},
                        {"step_and_jacobians_us", ours},
                        {"central_differences_us", differences}});
  }
  return out;
}

}  // namespace tangere::experiments
