/// Two balls of 1 kg and 0.1 m radius, at x = 0 and 0.52 m, the first one at 1 m/s, elastic, no friction, no gravity,
/// for one second. Nimble's code is reported to answer (0.75, 0.25, 0.91, 0.08).

#include <cmath>

#include "apps/cli/text.hpp"
#include "experiments/experiment.hpp"
#include "tangere/sim/rollout.hpp"

namespace tangere::experiments {
namespace {

World two_balls(double time_step, BounceMode bounce) {
  ModelBuilder builder("two_balls");
  builder.set_gravity(Vector3::Zero());
  const Shape ball = Sphere{0.1};
  const double density = 1.0 / mass_properties(ball).mass;
  for (const char* name : {"first", "second"})
    builder.add_body({.name = name,
                      .inertia = mass_properties(ball, density),
                      .shapes = {{.name = name, .shape = ball, .friction = 0.0, .restitution = 1.0}}},
                     {.name = name, .type = JointType::prismatic, .axis = Vector3::UnitX()});
  WorldOptions options{.time_step = time_step};
  options.hard.bounce = bounce;
  return World(builder.build(), {}, options);
}

Vector4 gradient(const World& world, int steps) {
  Rollout rollout(world);
  rollout.run({Vector2(0.0, 0.52), Vector2(1.0, 0.0)}, MatrixX::Zero(2, steps));
  std::vector<StateTangent> gradients(static_cast<std::size_t>(steps) + 1);
  gradients.back().q = VectorX::Unit(2, 1);
  StateTangent g;
  MatrixX g_controls;
  (void)rollout.reverse(gradients, g, g_controls);
  return {g.q[0], g.q[1], g.v[0], g.v[1]};
}

}  // namespace

Outcome nimble_balls(const Request& /*request*/) {
  Outcome out;
  out.met = true;
  out.text = "  step (s)   bounce     d x2 / d x1        d x2        d v1        d v2\n";
  for (const BounceMode bounce : {BounceMode::event, BounceMode::discrete}) {
    for (const double dt : {0.01, 0.001}) {
      const Vector4 g = gradient(two_balls(dt, bounce), static_cast<int>(std::lround(1.0 / dt)));
      const bool event = bounce == BounceMode::event;
      if (event) out.met = out.met && (g - Vector4(1.0, 0.0, 1.0, 0.0)).cwiseAbs().maxCoeff() < 1e-9;
      out.text += cli::formatted("  %8g   %-8s   %11.8f %11.8f %11.8f %11.8f\n", dt, event ? "event" : "discrete", g[0],
                                 g[1], g[2], g[3]);
      out.data.push_back(
          {{"time_step", dt}, {"bounce", event ? "event" : "discrete"}, {"gradient", {g[0], g[1], g[2], g[3]}}});
    }
  }
  constexpr double kStep = 0.01;
  out.films.push_back(film("nimble_balls", "Two elastic balls: the second takes all of the first one's speed",
                           two_balls(kStep, BounceMode::event), {Vector2(0.0, 0.52), Vector2(1.0, 0.0)},
                           MatrixX::Zero(2, static_cast<int>(std::lround(1.0 / kStep)))));
  return out;
}

}  // namespace tangere::experiments
