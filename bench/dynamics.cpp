/// bench_dynamics: the multibody algorithms on the 33-DoF humanoid of scenes/, beside MuJoCo on the same file where it
/// has the call, and on chains of 10, 100 and 1000 links.
///
/// Each figure is the median over 64 random states, of the best of some runs at each state: the machine is shared.

#include <algorithm>
#include <cstdio>
#include <limits>
#include <vector>

#include "bench/support/mujoco_peer.hpp"
#include "bench/support/statistics.hpp"
#include "bench/support/timer.hpp"
#include "tangere/io/robot_file.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/forward_dynamics.hpp"
#include "tangere/multibody/forward_dynamics_derivatives.hpp"
#include "tangere/multibody/inverse_dynamics.hpp"
#include "tangere/multibody/inverse_dynamics_derivatives.hpp"
#include "tangere/multibody/mass_matrix.hpp"

namespace tangere::bench {
namespace {

constexpr int kStates = 64;
constexpr int kRuns = 200;

struct States {
  std::vector<VectorX> q;
  std::vector<VectorX> v;
  std::vector<VectorX> a;

  explicit States(const Model& model) {
    Random random(5);
    const auto draw = [&] {
      VectorX x(model.nv());
      for (int k = 0; k < model.nv(); ++k) x[k] = random.normal();
      return x;
    };
    for (int i = 0; i < kStates; ++i) {
      q.push_back(random_configuration(model, random));
      v.push_back(draw());
      a.push_back(draw());
    }
  }
};

/// Microseconds: f(state).
template <class F>
double median_us(F&& f) {
  static const CallTimer timer;
  std::vector<double> best(kStates, std::numeric_limits<double>::infinity());
  for (int run = 0; run < kRuns; ++run)
    for (std::size_t i = 0; i < best.size(); ++i) best[i] = std::min(best[i], timer([&] { f(i); }));
  return 1e-3 * statistics(std::move(best)).median;
}

/// What MuJoCo calls a state: only the time matters here, so only the quaternion's order is changed.
VectorX to_mujoco(const VectorX& q) {
  VectorX out = q;
  out[3] = q[6];
  for (int k = 0; k < 3; ++k) out[4 + k] = q[3 + k];
  return out;
}

void print_humanoid(const std::filesystem::path& file) {
  const Robot robot = load_robot(file);
  const Model& model = robot.model;
  const States states(model);
  Data data(model);
  MujocoPeer peer(file);
  const auto theirs = [&](auto&& call) {
    if (!peer.present()) return std::numeric_limits<double>::quiet_NaN();
    return median_us([&](std::size_t i) {
      peer.set_state(to_mujoco(states.q[i]), states.v[i], states.a[i]);
      call();
    });
  };
  std::printf("%s: %d degrees of freedom, %.1f kg; microseconds\n%-32s %8s %8s %8s\n", model.name().c_str(), model.nv(),
              model.total_mass(), "", "tangere", "MuJoCo", "bar");
  const auto print = [](const char* name, double ours, double mujoco, double bar) {
    std::printf("%-32s %8.2f %8.2f %8.0f\n", name, ours, mujoco, bar);
  };
  const double none = std::numeric_limits<double>::quiet_NaN();
  print("inverse dynamics",
        median_us([&](std::size_t i) { (void)inverse_dynamics(model, data, states.q[i], states.v[i], states.a[i]); }),
        theirs([&] { peer.inverse_dynamics(); }), 6.0);
  print("mass matrix and factors", median_us([&](std::size_t i) {
          (void)mass_matrix(model, data, states.q[i]);
          factor_mass_matrix(model, data);
        }),
        theirs([&] { peer.mass_matrix(); }), 6.0);
  print("forward dynamics",
        median_us([&](std::size_t i) { (void)forward_dynamics(model, data, states.q[i], states.v[i], states.a[i]); }),
        theirs([&] { peer.forward_dynamics(); }), 12.0);
  print("inverse dynamics' derivatives", median_us([&](std::size_t i) {
          (void)inverse_dynamics_derivatives(model, data, states.q[i], states.v[i], states.a[i]);
        }),
        none, 25.0);
  print("forward dynamics' derivatives", median_us([&](std::size_t i) {
          (void)forward_dynamics_derivatives(model, data, states.q[i], states.v[i], states.a[i]);
        }),
        none, 45.0);
}

Model chain(int count) {
  ModelBuilder builder("chain");
  const MassProperties rod = mass_properties(Capsule{0.05, 0.3});
  for (int i = 0; i < count; ++i) {
    const Vector3 axis = i % 2 == 0 ? Vector3::UnitX() : Vector3::UnitY();
    builder.add_body({.name = "link" + std::to_string(i), .inertia = rod},
                     {.type = JointType::revolute, .X_PJ = Pose::translation({0.0, 0.0, 0.3}), .axis = axis}, i - 1);
  }
  return builder.build();
}

void print_chains() {
  std::printf("\nchains of revolute joints; microseconds\n%8s %18s %18s\n", "links", "inverse dynamics",
              "forward dynamics");
  for (const int count : {10, 100, 1000}) {
    const Model model = chain(count);
    const States states(model);
    Data data(model);
    const double inverse =
        median_us([&](std::size_t i) { (void)inverse_dynamics(model, data, states.q[i], states.v[i], states.a[i]); });
    const double forward =
        median_us([&](std::size_t i) { (void)forward_dynamics(model, data, states.q[i], states.v[i], states.a[i]); });
    std::printf("%8d %18.2f %18.2f\n", count, inverse, forward);
  }
}

}  // namespace
}  // namespace tangere::bench

int main() {
  tangere::bench::print_humanoid(std::filesystem::path(TANGERE_SCENES) / "humanoid.xml");
  tangere::bench::print_chains();
  return 0;
}
