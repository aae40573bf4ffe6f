/// bench_smooth_contact: steps with smooth contact. The planar box of Silico's timing test, cold and warm, by the
/// single level and by the bilevel form in the same run; its Jacobians beside the step; and many free boxes on a floor,
/// where the cost goes with the number of pairs.
///
/// Medians and means over rounds, each of which measures everything once.

#include <cstdio>
#include <string>
#include <vector>

#include "bench/support/statistics.hpp"
#include "bench/support/timer.hpp"
#include "tangere/geometry/mass_properties.hpp"
#include "tangere/math/random.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/sim/step_derivatives.hpp"

namespace tangere::bench {
namespace {

WorldOptions options_of(Formulation formulation, double kappa, bool warm) {
  WorldOptions options;
  options.time_step = 0.01;
  options.formulation = formulation;
  options.smooth.kappa = kappa;
  options.smooth.warm_start = warm;
  return options;
}

/// A unit square in the plane over the floor y ≤ 0.
World planar_box(const WorldOptions& options) {
  ModelBuilder builder("box");
  builder.set_gravity({0.0, -9.81, 0.0});
  builder.add_body(
      {.name = "floor", .shapes = {{.name = "floor", .shape = HalfSpace{Vector3::UnitY(), 0.0}, .friction = 0.1}}},
      {.name = "floor"});
  MassProperties inertia;
  inertia.mass = 1.0;
  inertia.center.setZero();
  inertia.inertia = 0.2 * Matrix3::Identity();
  builder.add_body({.name = "box",
                    .inertia = inertia,
                    .shapes = {{.name = "box", .shape = Box{.size = {1.0, 1.0, 1.0}}, .friction = 0.1}}},
                   {.name = "box", .type = JointType::planar, .axis = Vector3::UnitZ()});
  return World(builder.build(), {}, options);
}

/// `count` free boxes at rest on a floor, apart.
World boxes_on_floor(int count, const WorldOptions& options, State& state) {
  ModelBuilder builder("boxes");
  builder.add_body(
      {.name = "floor", .shapes = {{.name = "floor", .shape = HalfSpace{Vector3::UnitZ(), 0.0}, .friction = 0.5}}},
      {.name = "floor"});
  const Shape box = Box{.size = {0.4, 0.3, 0.2}};
  for (int i = 0; i < count; ++i) {
    const std::string name = "box" + std::to_string(i);
    builder.add_body({.name = name,
                      .inertia = mass_properties(box, 1000.0),
                      .shapes = {{.name = name, .shape = box, .friction = 0.5}}},
                     {.name = name, .type = JointType::free});
  }
  World world(builder.build(), {}, options);
  state = {neutral_configuration(world.model()), VectorX::Zero(world.nv())};
  Random random(7);
  for (int i = 0; i < count; ++i) {
    state.q.segment<3>(7 * i) = Vector3(1.0 * (i % 32), 1.0 * (i / 32), 0.1);
    state.v[6 * i] = random.uniform(-0.5, 0.5);
  }
  return world;
}

struct Measured {
  std::vector<double> microseconds;
  void print(const char* name) {
    const Statistics all = statistics(microseconds);
    std::printf("  %-34s %9.2f %9.2f %9.2f\n", name, all.mean, all.median, all.p99);
  }
  [[nodiscard]] double mean() const { return statistics(microseconds).mean; }
};

void planar() {
  constexpr int kRuns = 100;
  constexpr int kSteps = 200;
  std::printf("planar box on a floor, %d starts of %d steps, kappa 1e-4        us: mean    median       p99\n", kRuns,
              kSteps);
  const CallTimer timer;
  Measured cold, warm, bilevel, cold_taped, cold_jacobians, warm_taped, warm_jacobians;
  const World single_cold = planar_box(options_of(Formulation::single_level, 1e-4, false));
  const World single_warm = planar_box(options_of(Formulation::single_level, 1e-4, true));
  const World two_levels = planar_box(options_of(Formulation::bilevel, 1e-4, false));
  Random random(0);
  for (int run = 0; run < kRuns; ++run) {
    State start{VectorX(3), VectorX(3)};
    start.q << 0.0, random.uniform(1.0, 3.0), random.uniform(-3.0, 3.0);
    start.v << random.uniform(-2.0, 2.0), random.uniform(-2.0, 2.0), random.uniform(-2.0, 2.0);
    const VectorX u = VectorX::Zero(3);
    const auto measure = [&](const World& world, Measured& to) {
      State state = start;
      Workspace workspace(world);
      for (int i = 0; i < kSteps; ++i) {
        bool near = false;
        const double ns = timer([&] { near = !step(world, state, u, workspace, state).contacts.empty(); });
        if (near) to.microseconds.push_back(1e-3 * ns);
      }
    };
    measure(single_cold, cold);
    measure(single_warm, warm);
    measure(two_levels, bilevel);
    const auto measure_jacobians = [&](const World& world, Measured& steps, Measured& more) {
      State state = start;
      Workspace workspace(world);
      Tape tape;
      StepJacobians out;
      for (int i = 0; i < kSteps; ++i) {
        State next;
        bool near = false;
        const double ns = timer([&] { near = !step(world, state, u, workspace, next, &tape).contacts.empty(); });
        const double ns_more = timer([&] { (void)step_jacobians(world, tape, workspace, out); });
        if (near) {
          steps.microseconds.push_back(1e-3 * ns);
          more.microseconds.push_back(1e-3 * ns_more);
        }
        state = next;
      }
    };
    measure_jacobians(single_cold, cold_taped, cold_jacobians);
    measure_jacobians(single_warm, warm_taped, warm_jacobians);
  }
  cold.print("single level, cold");
  warm.print("single level, warm");
  bilevel.print("bilevel, cold");
  cold_taped.print("single level, cold, with a tape");
  cold_jacobians.print("all Jacobians of it");
  warm_taped.print("single level, warm, with a tape");
  warm_jacobians.print("all Jacobians of it");
  std::printf("  bilevel / single level, cold: %.1f (means)\n", bilevel.mean() / cold.mean());
  std::printf("  Jacobians / step: cold %.2f, warm %.2f (means)\n\n", cold_jacobians.mean() / cold_taped.mean(),
              warm_jacobians.mean() / warm_taped.mean());
}

void many() {
  std::printf("free boxes that slide on a floor, kappa 1e-6, warm: us a step and a box (medians of 30 steps)\n");
  const CallTimer timer;
  for (const int count : {10, 100, 1000}) {
    State state;
    const World world = boxes_on_floor(count, options_of(Formulation::single_level, 1e-6, true), state);
    Workspace workspace(world);
    const VectorX u = VectorX::Zero(world.nu());
    // dense matrices of all are for few
    const bool derivatives = count <= 10;
    Tape tape;
    StepJacobians out;
    std::vector<double> times, more;
    for (int i = 0; i < 35; ++i) {
      State next;
      const double ns = timer([&] { (void)step(world, state, u, workspace, next, derivatives ? &tape : nullptr); });
      if (i >= 5) times.push_back(1e-3 * ns);
      if (derivatives) more.push_back(1e-3 * timer([&] { (void)step_jacobians(world, tape, workspace, out); }));
      state = next;
    }
    const double median = statistics(times).median;
    std::printf("  %5d boxes: %10.1f us a step, %6.2f us a box\n", count, median, median / count);
    if (derivatives) {
      const double all = statistics(more).median;
      std::printf("               %10.1f us all Jacobians of it, %.2f of the step\n", all, all / median);
    }
  }
}

}  // namespace
}  // namespace tangere::bench

int main() {
  tangere::bench::planar();
  tangere::bench::many();
}
