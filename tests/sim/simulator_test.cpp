/// The simulator answers as the functions it stands on, and its answers are values.

#include "tangere/sim/simulator.hpp"

#include <gtest/gtest.h>

#include "tangere/math/error.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tests/support/step_cases.hpp"

namespace tangere::test {
namespace {

/// A crate that slides over the floor, with a name to ask for its mass by.
Scene crate_scene() {
  ModelBuilder builder("crate");
  const Shape floor = HalfSpace{.normal = {0, 0, 1}};
  const Shape box = Box{.size = {0.5, 0.4, 0.2}};
  BodySpec ground{.name = "floor"};
  ground.shapes = {{.shape = floor, .friction = 0.4}};
  builder.add_body(ground, {.name = "floor", .type = JointType::fixed});
  BodySpec crate{.name = "crate", .inertia = mass_properties(box, 50.0)};
  crate.shapes = {{.shape = box, .friction = 0.4}};
  builder.add_body(crate, {.name = "crate", .type = JointType::free});
  Scene scene{.robot = {.model = builder.build(), .actuators = {}, .keyframes = {}, .notices = {}},
              .q = VectorX::Zero(7),
              .v = VectorX::Zero(6),
              .time_step = 0.005};
  scene.q << 0.0, 0.0, 0.0999, 0.0, 0.0, 0.0, 1.0;
  scene.v << 1.0, 0.3, 0.0, 0.0, 0.0, 0.5;
  return scene;
}

const Formulation kFormulations[] = {Formulation::lcp, Formulation::single_level, Formulation::bilevel};

TEST(Simulator, AnswersAsTheFunctionsItStandsOn) {
  for (const Formulation formulation : kFormulations) {
    Simulator sim(World(crate_scene(), {.formulation = formulation, .kappa = 1e-3, .tolerance = 1e-9}));
    const World& world = sim.world();
    EXPECT_EQ(world.options().time_step, 0.005);
    const VectorX u = VectorX::LinSpaced(6, 1.0, 2.0);
    const State next = sim.step(world.default_state(), u);
    const Linearization L = sim.linearize({"crate.mass", "crate.0.friction"});

    Workspace workspace(world);
    State expected;
    Tape tape;
    const StepResult& result = step(world, world.default_state(), u, workspace, expected, &tape);
    StepJacobians J;
    EXPECT_EQ(step_jacobians(world, tape, workspace, J), GradientQuality::exact);
    // crate and floor have the same friction, and the friction of one of them was asked for
    EXPECT_EQ(L.quality, GradientQuality::halved_at_tie);
    EXPECT_EQ(next.q, expected.q);
    EXPECT_EQ(next.v, expected.v);
    EXPECT_EQ(L.A, J.A());
    EXPECT_EQ(L.B, J.B());
    EXPECT_EQ(L.P.cols(), 2);
    const StepReport report = sim.report();
    EXPECT_EQ(report.status, result.status);
    EXPECT_EQ(report.contacts.size(), result.contacts.size());
    EXPECT_FALSE(report.contacts.empty());
    EXPECT_EQ(report.impulses.size(), report.rows.size());
    // a value: the next step does not change it
    const double before = report.contacts.front().impulse.norm();
    (void)sim.step(next, u);
    EXPECT_EQ(report.contacts.front().impulse.norm(), before);
  }
}

/// A and B by differences of the step, P of worlds with another mass.
TEST(Simulator, LinearizationIsTheDerivativeOfTheStep) {
  for (const Formulation formulation : kFormulations) {
    const World world(crate_scene(), {.formulation = formulation, .kappa = 1e-2, .tolerance = 1e-10});
    Simulator sim(world);
    const State start = world.default_state();
    const VectorX u = VectorX::LinSpaced(6, 1.0, 2.0);
    const State next = sim.step(start, u);
    const Linearization L = sim.linearize({"crate.mass"});
    EXPECT_EQ(L.quality, GradientQuality::exact);
    const int nv = world.nv();
    const auto tangent = [&](const World& in, const State& from, const VectorX& by) {
      Simulator one(in);
      one.workspace().forget();
      const State to = one.step(from, by);
      VectorX d(2 * nv);
      VectorX d_q(nv);
      difference(world.model(), next.q, to.q, d_q);
      d << d_q, to.v - next.v;
      return d;
    };
    const double h = 1e-6;
    for (int k = 0; k < 3 * nv; ++k) {
      VectorX sides[2];
      for (const int side : {0, 1}) {
        State moved = start;
        VectorX moved_u = u;
        const double by = side == 0 ? -h : h;
        if (k < nv) integrate(world.model(), start.q, by * VectorX::Unit(nv, k), moved.q);
        if (k >= nv && k < 2 * nv) moved.v[k - nv] += by;
        if (k >= 2 * nv) moved_u[k - 2 * nv] += by;
        sides[side] = tangent(world, moved, moved_u);
      }
      const VectorX expected = (sides[1] - sides[0]) / (2.0 * h);
      const VectorX column = k < 2 * nv ? VectorX(L.A.col(k)) : VectorX(L.B.col(k - 2 * nv));
      EXPECT_LE((column - expected).norm(), 1e-4 * (1.0 + expected.norm())) << to_string(formulation) << ", " << k;
    }
    const StepParameter mass = find_step_parameter(world, "crate.mass");
    const VectorX value = parameter_values(world, std::span(&mass, 1));
    const VectorX more = tangent(with_parameters(world, std::span(&mass, 1), value * (1.0 + h)), start, u);
    const VectorX less = tangent(with_parameters(world, std::span(&mass, 1), value * (1.0 - h)), start, u);
    const VectorX expected = (more - less) / (2.0 * h * value[0]);
    EXPECT_LE((L.P.col(0) - expected).norm(), 1e-4 * (1.0 + expected.norm())) << to_string(formulation);
    // and the reverse product is the transposed
    const StateTangent g{VectorX::LinSpaced(nv, -1.0, 1.0), VectorX::LinSpaced(nv, 2.0, 1.0)};
    const StepGradient back = sim.gradient(g, {"crate.mass"});
    VectorX weights(2 * nv);
    weights << g.q, g.v;
    VectorX state(2 * nv);
    state << back.state.q, back.state.v;
    EXPECT_LE((state - L.A.transpose() * weights).norm(), 1e-9 * weights.norm() * L.A.norm());
    EXPECT_LE((back.control - L.B.transpose() * weights).norm(), 1e-9 * weights.norm() * L.B.norm());
    EXPECT_LE((back.parameters - L.P.transpose() * weights).norm(), 1e-9 * weights.norm() * L.P.norm());
  }
}

TEST(Simulator, RefusesWhatItDoesNotKnow) {
  Simulator sim(World(crate_scene(), {.formulation = Formulation::single_level}));
  EXPECT_THROW((void)sim.report(), InputError);
  EXPECT_THROW((void)sim.linearize(), InputError);
  (void)sim.step(sim.world().default_state(), sim.world().default_control());
  EXPECT_THROW((void)sim.linearize({"crate.colour"}), InputError);
  for (const GradientMode mode : {GradientMode::complementarity_aware, GradientMode::pre_contact,
                                  GradientMode::reflection, GradientMode::saltation}) {
    EXPECT_THROW((void)sim.linearize(mode), InputError);
    EXPECT_THROW((void)sim.gradient({VectorX::Ones(6), VectorX::Ones(6)}, mode), InputError);
  }
}

/// Worlds made by `with` share their parts, and the warm start goes with the workspace.
TEST(World, ChangesKeepWarmStarts) {
  const World world(crate_scene(), {.formulation = Formulation::single_level, .kappa = 1e-4});
  const World sharper = world.with({.kappa = 1e-5});
  EXPECT_EQ(&world.model(), &sharper.model());
  EXPECT_EQ(sharper.options().smooth.kappa, 1e-5);
  Simulator sim(world);
  State state = world.default_state();
  const VectorX u = world.default_control();
  for (int i = 0; i < 10; ++i) state = sim.step(state, u);
  sim.change({.kappa = 1e-5});
  state = sim.step(state, u);
  EXPECT_EQ(sim.report().smooth.rungs[static_cast<std::size_t>(SmoothRung::warm)], 1);
  // half the time step, hard contact and back
  sim.change({.time_step = 0.0025});
  state = sim.step(state, u);
  EXPECT_EQ(sim.report().smooth.rungs[static_cast<std::size_t>(SmoothRung::warm)], 1);
  sim.change({.formulation = Formulation::lcp});
  state = sim.step(state, u);
  EXPECT_FALSE(sim.report().rows.empty());
  sim.change({.formulation = Formulation::single_level});
  state = sim.step(state, u);
  EXPECT_EQ(sim.report().smooth.rungs[static_cast<std::size_t>(SmoothRung::warm)], 1);
  // a world of its own starts cold
  const World other(world.model(), {}, sim.world().options());
  State next;
  const StepResult& result = step(other, state, u, sim.workspace(), next);
  EXPECT_EQ(result.smooth.rungs[static_cast<std::size_t>(SmoothRung::warm)], 0);
}

}  // namespace
}  // namespace tangere::test
