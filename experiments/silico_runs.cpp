#include "experiments/silico_runs.hpp"

#include <algorithm>
#include <cmath>

#include "tangere/geometry/bounds.hpp"

namespace tangere::experiments {
namespace {

constexpr double kDropSeconds = 1.5;
constexpr double kStackSeconds = 1.0;
constexpr double kStackInertia = 0.2;

Shape polygon() {
  return prism({{1.0, 0.2}, {0.0, 1.0}, {-1.0, -0.3}, {0.0, -1.0}, {0.8, -0.8}}, {0.4, 0.4, 0.4, 0.4, 0.4}, 0.4);
}

/// κ of the same ρ: ours is relative to m √(g l) of the smaller body.
double relative(double rho, const Shape& shape, double mass) {
  const Aabb box = bounds(shape, Pose());
  return rho / (mass * std::sqrt(9.81 * 0.5 * (box.upper - box.lower).norm()));
}

/// Moves a setup by `steps`; `look` is called after each.
template <class Look>
RunCount run(Setup& setup, int steps, std::vector<State>* states, Look&& look) {
  Workspace workspace(setup.world);
  const VectorX u = VectorX::Zero(setup.world.nu());
  RunCount count;
  if (states != nullptr) states->push_back(setup.state);
  for (int i = 0; i < steps; ++i) {
    count.add(step(setup.world, setup.state, u, workspace, setup.state));
    if (states != nullptr) states->push_back(setup.state);
    look();
  }
  return count;
}

}  // namespace

RunCount drop_polygon(double frequency, double kappa, Random& random, std::vector<State>* states) {
  PlanarBody body{polygon()};
  body.q = {0.0, random.uniform(std::sqrt(0.5), 1.5), random.uniform(0.0, 2.0 * M_PI)};
  body.v = {random.uniform(-1.0, 1.0), random.uniform(-2.0, 0.0), random.uniform(-1.0, 1.0)};
  Setup setup = planar_setup({body}, {}, 0.2, smooth_options(frequency, kappa));
  Data data(setup.world.model());
  double worst = 0.0;
  const int steps = static_cast<int>(std::floor(kDropSeconds * frequency + 1e-9));
  RunCount count =
      run(setup, steps, states, [&] { worst = std::max(worst, violation(setup.world, setup.state.q, data)); });
  count.violation = worst;
  return count;
}

StackRun stack_blocks(double frequency, double rho, double offset, std::vector<State>* states) {
  const Shape square = Box{.size = {0.5, 0.5, 0.5}};
  PlanarBody lower{square};
  lower.q = {offset, 0.25, 0.0};
  PlanarBody upper{square};
  upper.q = {0.0, 0.75, 0.0};
  WorldOptions options = smooth_options(frequency, relative(rho, square, 1.0));
  options.smooth.shift = false;
  Setup setup = planar_setup({lower, upper}, {}, 0.5, options);
  const VectorX start = setup.state.q;
  const int steps = static_cast<int>(std::lround(kStackSeconds * frequency));
  StackRun out;
  out.count = run(setup, steps, states, [&] {
    const VectorX& v = setup.state.v;
    out.linear += Vector2(v[0] + v[3], v[1] + v[4]).norm() / steps;
    out.angular += std::abs(kStackInertia * (v[2] + v[5])) / steps;
  });
  out.stable = (setup.state.q - start).cwiseAbs().maxCoeff() < 0.05;
  return out;
}

RunCount drop_bodies(const std::vector<FreeBody>& bodies, double seconds, double friction, const WorldOptions& options,
                     const std::vector<Fixture>& walls, std::vector<State>* states) {
  Setup setup = free_setup(bodies, true, friction, options, 9.81, walls);
  RunCount count = run(setup, static_cast<int>(std::lround(seconds / options.time_step)), states, [] {});
  Data data(setup.world.model());
  count.violation = violation(setup.world, setup.state.q, data);
  return count;
}

RunCount drop_shape(int kind, double frequency, double kappa, Random& random, std::vector<State>* states) {
  const Shape shape = kinds(1.0).at(static_cast<std::size_t>(kind)).shape;
  return drop_bodies({random_body(shape, 1.0, 1.0, 0.7, 1.5, random)}, kDropSeconds, 0.3,
                     smooth_options(frequency, kappa), {}, states);
}

RunCount drop_two(double frequency, double kappa, Random& random, std::vector<State>* states) {
  const std::vector<Kind> shapes = kinds(1.0);
  const auto any = [&]() -> const Shape& { return shapes[random.index(static_cast<int>(shapes.size()))].shape; };
  // two statements, so that the numbers are drawn in this order
  const FreeBody low = random_body(any(), 1.0, 1.0, 0.7, 0.9, random);
  const FreeBody high = random_body(any(), 1.0, 1.0, 1.8, 2.3, random);
  return drop_bodies({low, high}, kDropSeconds, 0.3, smooth_options(frequency, kappa), {}, states);
}

}  // namespace tangere::experiments
