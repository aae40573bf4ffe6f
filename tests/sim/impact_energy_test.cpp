/// Impacts never gain energy. Newton's restitution with friction alone would (Kane's paradox): such impacts keep only a
/// part of their restitution, and their derivatives know how that part moves.

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "tangere/math/random.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/sim/impulse_derivatives.hpp"
#include "tangere/sim/tape/hard_tape.hpp"
#include "tests/sim/elastic_worlds.hpp"
#include "tests/sim/impact_checks.hpp"
#include "tests/support/step_cases.hpp"

namespace tangere::test {
namespace {

/// A step, and what it came to.
struct Hit {
  State state;
  double kept = 1.0;
};

/// Steps until something bounces; the state before that step.
template <class Check>
std::optional<Hit> first_hit(const World& world, State state, const Check& check) {
  Workspace workspace(world);
  State next;
  Tape tape;
  const VectorX u = VectorX::Zero(world.nu());
  for (int i = 0; i < 60; ++i) {
    const StepResult& result = step(world, state, u, workspace, next, &tape);
    EXPECT_EQ(result.status, StepStatus::solved);
    for (int k = 0; k < tape.num_impacts(); ++k) check(tape.impact(k), result);
    if (tape.bounced()) return Hit{state, result.restitution_kept};
    state = next;
  }
  return {};
}

struct Count {
  int impacts = 0;
  int reduced = 0;
};

/// Energy before and after every impact; those that are short of it come out even.
template <class Draw>
Count expect_no_gain(const World& world, const Draw& draw, int trials) {
  Random random(3);
  Count count;
  for (int trial = 0; trial < trials; ++trial)
    (void)first_hit(world, draw(world, random), [&](const Tape& impact, const StepResult& result) {
      const double before = energy_of(world, impact.q, impact.v);
      const double after = energy_of(world, impact.q, impact.v_plus);
      EXPECT_LE(after, before * (1.0 + 1e-10)) << "trial " << trial;
      EXPECT_LE(result.restitution_kept, impact.hard().restitution_kept);
      ++count.impacts;
      if (impact.hard().restitution_kept == 1.0) return;
      ++count.reduced;
      EXPECT_GT(impact.hard().restitution_kept, 0.0);
      EXPECT_NEAR(after, before, 1e-12 * before) << "trial " << trial;
    });
  return count;
}

TEST(ImpactEnergy, IsNeverGainedByABoxOnAFloor) {
  const Count rough = expect_no_gain(tumbling_box(0.9, 0.9), random_fall, 400);
  EXPECT_GT(rough.impacts, 350);
  EXPECT_GT(rough.reduced, 40);
  EXPECT_LT(rough.reduced, 120);
  // nothing is taken from impacts that lose energy anyway
  EXPECT_EQ(expect_no_gain(tumbling_box(0.9, 0.5), random_fall, 100).reduced, 0);
  EXPECT_EQ(expect_no_gain(tumbling_box(0.0, 1.0), random_fall, 100).reduced, 0);
}

TEST(ImpactEnergy, IsNeverGainedByBodiesThatMeet) {
  const Count count = expect_no_gain(two_boxes(1.2, 0.97), random_crash, 500);
  EXPECT_GT(count.impacts, 150);
  EXPECT_GT(count.reduced, 10);
}

TEST(ImpactEnergy, IsNeverGainedByAnArm) {
  const Count count = expect_no_gain(arm(0.9, 0.95), random_swing, 200);
  EXPECT_GT(count.impacts, 100);
  EXPECT_GT(count.reduced, 10);
}

/// Boxes thrown on the floor by the discrete rule, step by step.
template <class Check>
void for_discrete_steps(int trials, const Check& check) {
  const World world = tumbling_box(0.9, 0.9, by(BounceMode::discrete));
  Random random(4);
  for (int trial = 0; trial < trials; ++trial) {
    Workspace workspace(world);
    State state = random_fall(world, random);
    State next;
    Tape tape;
    for (int i = 0; i < 60; ++i) {
      const double kept = step(world, state, VectorX::Zero(world.nu()), workspace, next, &tape).restitution_kept;
      check(world, tape, workspace, kept);
      state = next;
    }
  }
}

/// The velocity after the step against that without the contact, no forces acting.
TEST(ImpactEnergy, IsNeverGainedByTheDiscreteRule) {
  int reduced = 0;
  for_discrete_steps(200, [&](const World& world, const Tape& tape, Workspace&, double kept) {
    reduced += kept < 1.0 ? 1 : 0;
    EXPECT_LE(energy_of(world, tape.q, tape.v_plus), energy_of(world, tape.q, tape.v) * (1.0 + 1e-10));
  });
  EXPECT_GT(reduced, 20);
}

/// Forces that slow an approach down take nothing from its restitution: without friction e = 1 throws back at the speed
/// that came in.
TEST(ImpactEnergy, IsNotWhatForcesTookFromTheApproach) {
  for (const double force : {0.0, 20.0, -20.0}) {
    ModelBuilder builder("slider");
    add_floor(builder);
    const Shape ball = Sphere{0.1};
    builder.add_body(
        {.name = "ball", .inertia = mass_properties(ball), .shapes = {colliding("ball", ball, 0.0, 1.0)}},
        {.name = "ball", .type = JointType::prismatic, .axis = Vector3::UnitZ(), .dofs = {{.damping = 0.5}}});
    const World world = without_gravity(std::move(builder), by(BounceMode::discrete));
    const State state{VectorX::Constant(1, 0.1001), VectorX::Constant(1, -1.0)};
    Workspace workspace(world);
    State next;
    const StepResult& result = step(world, state, VectorX::Constant(1, force), workspace, next);
    EXPECT_EQ(result.restitution_kept, 1.0) << force;
    EXPECT_NEAR(next.v[0], 1.0, 1e-8) << force;
  }
}

/// A body on two balls that meet the floor together, with different friction and restitution.
World dumbbell(Redundancy redundancy) {
  ModelBuilder builder("dumbbell");
  add_floor(builder);
  CollisionShape left = colliding("left", Sphere{0.02}, 0.9, 0.99);
  CollisionShape right = colliding("right", Sphere{0.02}, 0.95, 0.93);
  left.X_BS = Pose::translation({0.25, 0.15, -0.1});
  right.X_BS = Pose::translation({0.25, -0.15, -0.1});
  builder.add_body({.name = "body",
                    .inertia = mass_properties(Shape(Box{.size = {0.5, 0.3, 0.2}})),
                    .shapes = {std::move(left), std::move(right)}},
                   {.name = "body", .type = JointType::free});
  builder.set_gravity(Vector3::Zero());
  WorldOptions options;
  options.time_step = 0.01;
  options.hard.touching = 5e-3;
  options.hard.redundancy = redundancy;
  return World(builder.build(), {}, options);
}

State random_landing(const World& world, Random& random) {
  State state{neutral_configuration(world.model()), VectorX::Zero(world.nv())};
  const Matrix3 R =
      so3::exp(Vector3(0.004 * random.uniform(-1, 1), 0, 0)) * so3::exp(Vector3(0.0, random.uniform(-0.5, 1.2), 0.0));
  const double lowest = std::min((R * Vector3(0.25, 0.15, -0.1)).z(), (R * Vector3(0.25, -0.15, -0.1)).z());
  const Pose pose(R, {0.0, 0.0, 0.03 - lowest});
  state.q << pose.p, pose.quaternion();
  state.v << R.transpose() * Vector3{random.uniform(-3, 3), random.uniform(-0.3, 0.3), -3.0},
      R.transpose() * Vector3{random.uniform(-0.2, 0.2), random.uniform(-15, 15), random.uniform(-0.2, 0.2)};
  return state;
}

TEST(ImpactEnergy, IsNeverGainedByTwoPointsAtOnce) {
  for (const Redundancy redundancy : {Redundancy::compliance, Redundancy::least_squares}) {
    const Count count = expect_no_gain(dumbbell(redundancy), random_landing, 150);
    EXPECT_GT(count.impacts, 80);
    EXPECT_GT(count.reduced, 10);
  }
}

/// Two boxes that can only move in planes, side by side: they touch, in a row that nothing moves along, and so are hit
/// together; each has an energy of its own.
World planar_boxes() {
  ModelBuilder builder("planar");
  add_floor(builder);
  const Shape box = Box{.size = {0.5, 0.2, 0.2}};
  for (const char* name : {"near", "far"})
    builder.add_body({.name = name, .inertia = mass_properties(box), .shapes = {colliding(name, box, 0.9, 0.95)}},
                     {.name = name,
                      .type = JointType::planar,
                      .X_PJ = Pose::translation({0.0, name[0] == 'n' ? 0.0 : 0.2, 0.0}),
                      .axis = Vector3::UnitY()});
  builder.set_gravity(Vector3::Zero());
  WorldOptions options;
  options.time_step = 0.01;
  options.hard.touching = 2e-3;
  return World(builder.build(), {}, options);
}

TEST(ImpactEnergy, EveryIslandHasItsOwn) {
  const World world = planar_boxes();
  const int nv = world.nv();
  Random random(3);
  int found = 0;
  for (int trial = 0; trial < 2000 && found < 3; ++trial) {
    State state{VectorX(6), VectorX(6)};
    const double angle = random.uniform(-1, 1);
    const double along = random.uniform(-3, 3);
    const double spin = random.uniform(-10, 10);
    state.q << 0.0, 0.7, angle, 0.0, 0.7, angle;
    state.v << along, -4.0, spin, along + 0.3, -4.0, spin + 0.01;
    const std::optional<Hit> hit = first_hit(world, state, [](const Tape&, const StepResult&) {});
    if (!hit) continue;
    const Made made = make_step(world, hit->state, VectorX::Zero(world.nu()));
    const std::vector<int>& islands = made.tape.impact(0).hard().short_of_energy;
    if (made.tape.num_impacts() != 1 || islands.empty() || islands.front() == islands.back()) continue;
    if (islands.front() == 0 || islands.back() == 0) continue;
    ++found;
    Workspace workspace(world);
    StepJacobians jacobians;
    EXPECT_EQ(step_jacobians(world, made.tape, workspace, jacobians), GradientQuality::exact);
    MatrixX actual(2 * nv, 2 * nv);
    actual << jacobians.q_q, jacobians.q_v, jacobians.v_q, jacobians.v_v;
    const auto next_of = [&](const VectorX& delta) -> VectorX {
      const State from{hit->state.q + delta.head(nv), hit->state.v + delta.tail(nv)};
      const Made moved = make_step(world, from, VectorX::Zero(world.nu()));
      return (VectorX(2 * nv) << moved.next.q, moved.next.v).finished();
    };
    const MatrixX expected = finite_difference(next_of, 2 * nv, 2 * nv, 1e-5);
    EXPECT_NEAR_ABSOLUTE(actual, expected, 1e-6 * (1.0 + expected.cwiseAbs().maxCoeff())) << "trial " << trial;
  }
  EXPECT_EQ(found, 3);
}

/// Where restitution begins to be kept in part the derivative has two sides: the margin says so.
TEST(ImpactEnergy, WhereItBeginsToLackIsATie) {
  Random random(5);
  int found = 0;
  for (int trial = 0; trial < 100 && found < 3; ++trial) {
    const std::optional<Hit> hit =
        first_hit(tumbling_box(0.9, 0.9), random_fall(tumbling_box(0.9, 0.9), random), [](const auto&...) {});
    if (!hit || hit->kept == 1.0) continue;
    const auto step_with = [&](double restitution) {
      const World world = tumbling_box(0.9, restitution);
      Workspace workspace(world);
      State next;
      Tape tape;
      const StepResult& result = step(world, hit->state, VectorX::Zero(world.nu()), workspace, next, &tape);
      return std::pair(result.restitution_kept, result.margin);
    };
    double low = 0.2;
    double high = 0.9;
    if (step_with(low).first < 1.0) continue;
    ++found;
    for (int i = 0; i < 50; ++i) (step_with(0.5 * (low + high)).first < 1.0 ? high : low) = 0.5 * (low + high);
    EXPECT_LT(step_with(low).second, 1e-9);
    EXPECT_LT(step_with(high).second, 1e-9);
    EXPECT_GT(step_with(0.9 * low).second, 1e-4);
  }
  EXPECT_EQ(found, 3);
}

/// By the discrete rule derivatives hold the part that is kept, and say that they are not those of the step.
TEST(ImpactEnergy, DerivativesOfTheDiscreteRuleSayThatItIsHeld) {
  int held = 0;
  for_discrete_steps(40, [&](const World& world, const Tape& tape, Workspace& workspace, double kept) {
    StepJacobians jacobians;
    EXPECT_EQ(step_jacobians(world, tape, workspace, jacobians),
              kept < 1.0 ? GradientQuality::restitution_held : GradientQuality::exact);
    held += kept < 1.0 ? 1 : 0;
  });
  EXPECT_GT(held, 5);
}

/// Boxes that bounce about for two seconds, inside steps and at their ends. What is read is at times half a step apart,
/// which alone is some m g v dt / 2.
TEST(ImpactEnergy, IsNotGainedOverManyBounces) {
  Random random(11);
  for (const double restitution : {0.9, 1.0}) {
    for (int trial = 0; trial < 30; ++trial) {
      ModelBuilder builder("box");
      add_floor(builder);
      add_box(builder, "box", 0.9, restitution);
      WorldOptions options;
      options.time_step = 0.005;
      const World world(builder.build(), {}, options);
      State state{neutral_configuration(world.model()), VectorX::Zero(world.nv())};
      const Pose pose(random.rotation(), {0.0, 0.0, 0.6});
      state.q << pose.p, pose.quaternion();
      state.v << random.normal3(), 5.0 * random.normal3();
      Workspace workspace(world);
      Data data(world.model());
      const auto energy = [&] {
        forward_kinematics(world.model(), data, state.q, state.v);
        return kinetic_energy(world.model(), data, state.v) + potential_energy(world.model(), data, state.q);
      };
      const double start = energy();
      int bounces = 0;
      for (int i = 0; i < 400; ++i) {
        const StepResult& result = step(world, state, VectorX::Zero(world.nu()), workspace, state);
        if (!result.impacts.empty() || result.bounced_at_end) ++bounces;
        EXPECT_LT(energy(), 1.03 * start) << "restitution " << restitution << ", trial " << trial << ", step " << i;
      }
      EXPECT_GE(bounces, 2);
    }
  }
}

/// States whose next step has an impact that is short of energy.
template <class Draw>
void expect_derivatives_where_reduced(const World& world, const Draw& draw, int wanted) {
  Random random(5);
  int found = 0;
  for (int trial = 0; trial < 400 && found < wanted; ++trial) {
    const std::optional<Hit> hit = first_hit(world, draw(world, random), [](const Tape&, const StepResult&) {});
    if (!hit || hit->kept == 1.0) continue;
    ++found;
    expect_derivatives(world, hit->state, VectorX::Zero(world.nu()), 1e-5, 1e-5);
    if (testing::Test::HasFailure()) FAIL() << "trial " << trial;
  }
  EXPECT_EQ(found, wanted);
}

/// The case that all laws of steps are tested with is such a one.
TEST(ImpactEnergy, IsShortInTheCaseThatSaysSo) {
  const auto& cases = all_step_cases();
  const auto found =
      std::find_if(cases.begin(), cases.end(), [](const auto& c) { return c.name == "BoxShortOfEnergy"; });
  ASSERT_NE(found, cases.end());
  const Made made = make_step(found->world, found->state, found->u);
  ASSERT_EQ(made.tape.num_impacts(), 1);
  EXPECT_LT(made.tape.impact(0).hard().restitution_kept, 0.95);
  EXPECT_GT(made.tape.impact(0).hard().restitution_kept, 0.5);
}

TEST(ImpactEnergy, DerivativesOfABoxOnAFloor) {
  expect_derivatives_where_reduced(tumbling_box(0.9, 0.9), random_fall, 5);
}
TEST(ImpactEnergy, DerivativesOfBodiesThatMeet) {
  expect_derivatives_where_reduced(two_boxes(1.2, 0.97), random_crash, 3);
}
TEST(ImpactEnergy, DerivativesOfAnArm) { expect_derivatives_where_reduced(arm(0.9, 0.95), random_swing, 5); }

}  // namespace
}  // namespace tangere::test
