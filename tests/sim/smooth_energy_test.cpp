/// Bounces of smooth contact never gain energy, and their derivatives know what they keep of their restitution.

#include <gtest/gtest.h>

#include <cmath>

#include <Eigen/Geometry>

#include "tangere/geometry/bounds.hpp"
#include "tests/sim/elastic_worlds.hpp"
#include "tests/sim/smooth_differences.hpp"
#include "tests/sim/smooth_support.hpp"
#include "tests/support/all_shapes.hpp"
#include "tests/support/allocation.hpp"

namespace tangere::test {
namespace {

struct Count {
  int bounces = 0;
  int reduced = 0;
  int unsolved = 0;
  double most_lost = 0.0;
};

/// Throws what `draw` draws, and watches its kinetic energy. Steps that limit their restitution come out even, or lose.
/// Relaxed contact gives back what it took on the way to it: no more than a few κ of the energy at the start, which
/// what moves never exceeds by more.
struct Allowed {
  /// Over the start, as a part of it.
  double over = 0.0;
  /// In a step that limits its restitution.
  double in_step = 1e-9;
  /// In any other step, as a part of the start: what relaxed contact took before.
  double returned = 0.0;
  /// Whether steps may end unsolved (thin bodies that turn far within a step): the caller counts them.
  bool unsolved = false;
};
template <class Draw>
Count expect_no_gain(const World& world, const Draw& draw, int trials, int steps, Allowed allowed = {}) {
  if (allowed.over == 0.0) allowed.over = 50.0 * world.options().smooth.kappa;
  if (allowed.returned == 0.0) allowed.returned = 500.0 * world.options().smooth.kappa;
  Random random(3);
  Count count;
  for (int trial = 0; trial < trials; ++trial) {
    Workspace workspace(world);
    State state = draw(world, random);
    State next;
    const double start = energy_of(world, state.q, state.v);
    for (int i = 0; i < steps; ++i) {
      const StepResult& result = step(world, state, at_ease(world), workspace, next);
      if (result.status != StepStatus::solved) ++count.unsolved;
      EXPECT_TRUE(allowed.unsolved || result.status == StepStatus::solved) << "trial " << trial << ", step " << i;
      const double before = energy_of(world, state.q, state.v);
      const double after = energy_of(world, next.q, next.v);
      EXPECT_LE(after, start * (1.0 + allowed.over)) << "trial " << trial << ", step " << i;
      const bool halved = result.smooth.rungs[static_cast<std::size_t>(SmoothRung::half_steps)] > 0;
      const bool limited = result.restitution_kept > 0.0 && result.restitution_kept < 1.0 && !halved;
      EXPECT_LE(after, before + (limited ? allowed.in_step * before : allowed.returned * start))
          << "trial " << trial << ", step " << i << (limited ? ", limited" : "");
      if ((next.v - state.v).norm() > 0.1 * state.v.norm()) ++count.bounces;
      if (limited) ++count.reduced;
      count.most_lost = std::max(count.most_lost, 1.0 - after / before);
      state = next;
    }
  }
  return count;
}

State random_spin(const World& world, Random& random) {
  State state = random_fall(world, random);
  state.v.tail<3>() *= 4.0;
  return state;
}

TEST(SmoothEnergy, IsNeverGainedByASpinningBox) {
  for (const Formulation formulation : {Formulation::single_level, Formulation::bilevel})
    for (const double kappa : {1e-4, 1e-6, 1e-8})
      for (const double dt : {1e-3, 1e-2})
        for (const double friction : {0.0, 0.9}) {
          // whose solutions jump in steps that turn so far
          if (formulation == Formulation::bilevel && dt > 5e-3) continue;
          SCOPED_TRACE(std::to_string(kappa) + " " + std::to_string(dt) + " " + std::to_string(friction));
          const World world = tumbling_box(friction, 1.0, smooth(dt, kappa, formulation));
          // a tenth of a radian a step at most: contact at the end of the step gives energy to what turns farther
          const Count count =
              dt < 5e-3 ? expect_no_gain(world, random_spin, 15, 150) : expect_no_gain(world, random_fall, 15, 20);
          EXPECT_GT(count.reduced, 2);
        }
}

TEST(SmoothEnergy, IsNeverGainedByBodiesThatMeet) {
  const World world = two_boxes(1.2, 0.97, smooth(0.005, 1e-6));
  const Count count = expect_no_gain(world, random_crash, 150, 60);
  EXPECT_GT(count.bounces, 20);
  EXPECT_GT(count.reduced, 5);
}

TEST(SmoothEnergy, IsNeverGainedByAnyShape) {
  int reduced = 0;
  int unsolved = 0;
  for (const NamedShape& named : bounded_convex_shapes()) {
    SCOPED_TRACE(named.name);
    ModelBuilder builder(named.name);
    add_floor(builder);
    builder.add_body({.name = "body",
                      .inertia = mass_properties(named.shape),
                      .shapes = {colliding("body", named.shape, 0.8, 0.98)}},
                     {.name = "body", .type = JointType::free});
    const World world = without_gravity(std::move(builder), smooth(0.004, 1e-6));
    const auto low = [&](const World& in, Random& random) {
      State state = random_spin(in, random);
      const Eigen::Quaterniond turned(state.q[6], state.q[3], state.q[4], state.q[5]);
      const Aabb box = bounds(named.shape, Pose(turned.toRotationMatrix(), Vector3::Zero()));
      state.q[2] = 0.02 - box.lower.z();
      return state;
    };
    // what is thin has a soft contact for its mass
    const Count count = expect_no_gain(world, low, 6, 12, {.over = 200e-6, .unsolved = true});
    EXPECT_GT(count.bounces, 0);
    reduced += count.reduced;
    unsolved += count.unsolved;
  }
  EXPECT_LE(unsolved, 2);
  EXPECT_GT(reduced, 10);
}

/// What no start solves is not the step, but momentum, and no energy: here with a tolerance below rounding.
TEST(SmoothEnergy, IsNotGainedByWhatIsNotSolved) {
  for (const bool as_tree : {false, true}) {
    WorldOptions options = smooth(0.004, 1e-6);
    options.smooth.tolerance = 1e-12;
    options.smooth.max_iterations = 2;
    options.smooth.smallest_part = 1.0;
    const Shape needle = Ellipsoid{.semi_axes = {0.01, 2.0, 0.02}};
    const auto needle_in = [&](bool floor) {
      ModelBuilder builder("needle");
      if (floor) add_floor(builder);
      JointSpec joint{.name = "needle", .type = JointType::free};
      // with armature it is a tree
      if (as_tree) joint.dofs = {{.armature = 1e-9}};
      builder.add_body(
          {.name = "needle", .inertia = mass_properties(needle), .shapes = {colliding("needle", needle, 0.8, 0.0)}},
          joint);
      return without_gravity(std::move(builder), options);
    };
    const World world = needle_in(true);
    const World space = needle_in(false);
    Random random(3);
    int unsolved = 0;
    for (int trial = 0; trial < 60; ++trial) {
      State state = random_spin(world, random);
      const Eigen::Quaterniond turned(state.q[6], state.q[3], state.q[4], state.q[5]);
      state.q[2] = 0.02 - bounds(needle, Pose(turned.toRotationMatrix(), Vector3::Zero())).lower.z();
      Workspace workspace(world);
      for (int i = 0; i < 5; ++i) {
        // trees gain by themselves where they turn fast: not more than that
        Workspace other(space);
        State flown;
        (void)step(space, state, at_ease(space), other, flown);
        const double flight = energy_of(space, flown.q, flown.v);
        const bool solved = step(world, state, at_ease(world), workspace, state).status == StepStatus::solved;
        if (solved) continue;
        ++unsolved;
        EXPECT_LE(energy_of(world, state.q, state.v), flight * (1.0 + 1e-8)) << trial << " " << i;
      }
    }
    EXPECT_GT(unsolved, 50);
  }
}

TEST(SmoothEnergy, IsNeverGainedByAnArm) {
  // of trees contact's work is by the masses before the step, whose motion within it is the step's own error; an arm's
  // own flight changes its energy by 6e-6 of the start in a step
  const Allowed allowed{.over = 2e-3, .in_step = 2e-3, .returned = 0.05};
  const Count count = expect_no_gain(arm(0.9, 0.95, smooth(2e-4, 1e-6)), random_swing, 30, 1500, allowed);
  EXPECT_GT(count.reduced, 2);
}

/// Bounces that lose energy anyway keep what they have.
TEST(SmoothEnergy, IsTakenFromNothingElse) {
  const Count rough = expect_no_gain(tumbling_box(0.3, 0.5, smooth(1e-3, 1e-6)), random_fall, 20, 150);
  EXPECT_GT(rough.bounces, 10);
  EXPECT_EQ(rough.reduced, 0);
  // nor does a perfect bounce lose more than the seam
  ModelBuilder builder("ball");
  add_floor(builder);
  const Shape ball = Sphere{0.1};
  builder.add_body({.name = "ball", .inertia = mass_properties(ball), .shapes = {colliding("ball", ball, 0.0, 1.0)}},
                   {.name = "ball", .type = JointType::free});
  const World world = without_gravity(std::move(builder), smooth(0.01, 1e-6));
  const Count perfect = expect_no_gain(world, random_fall, 20, 20);
  EXPECT_GT(perfect.bounces, 15);
  EXPECT_LE(perfect.most_lost, 2.0 * std::sqrt(1e-6));
}

/// A box on a rough floor that is pushed along it while it bounces: contact takes energy, the push gives it, and what
/// the push gives is not held against the bounce, whichever of them is larger.
TEST(SmoothEnergy, OfForcesIsNotThatOfContact) {
  const World world = tumbling_box(0.5, 0.8, smooth(0.01, 1e-6));
  const double mass = world.model().body(1).spec.inertia.mass;
  State state{neutral_configuration(world.model()), VectorX::Zero(world.nv())};
  state.q[2] = 0.1 + 0.003;
  state.v << 3.0, 0.0, -0.5, 0.0, 0.0, 0.0;
  State next;
  double last = 0.0;
  for (double push = 0.0; push <= 400.0; push += 2.0) {
    Workspace workspace(world);
    VectorX u = VectorX::Zero(6);
    u[0] = push * mass;
    const StepResult& result = step(world, state, u, workspace, next);
    EXPECT_EQ(result.restitution_kept, 1.0) << push;
    // it leaves the floor at the restitution's speed, and does not jump with the push
    EXPECT_GT(next.v[2], 0.3) << push;
    EXPECT_NEAR(next.v[2], push > 0.0 ? last : next.v[2], 0.01) << push;
    last = next.v[2];
  }
}

/// What turns far within a step gains nothing where it meets something, whatever its restitution: it would by half of
/// its energy, and is made in parts.
TEST(SmoothEnergy, IsNotGainedByWhatTurnsFarWithinAStep) {
  int halved = 0;
  for (const auto& [restitution, kappa] : {std::pair(0.0, 1e-6), {1.0, 1e-6}, {0.0, 1e-4}, {0.0, 1e-3}})
    for (const double turn : {0.2, 0.3, 0.6})
      for (const bool two : {false, true}) {
        SCOPED_TRACE(std::to_string(restitution) + " " + std::to_string(kappa) + " " + std::to_string(turn) +
                     (two ? " two" : " floor"));
        const WorldOptions options = smooth(turn / 40.0, kappa);
        // what enters relaxed contact within a step is given what it did not pay for
        const double most = 1.005 + 25.0 * kappa;
        const World world = two ? two_boxes(0.0, restitution, options) : tumbling_box(0.0, restitution, options);
        Random random(3);
        for (int trial = 0; trial < 40; ++trial) {
          State state = two ? random_crash(world, random) : random_fall(world, random);
          for (int b = 0; b < world.nv(); b += 6) state.v.segment<3>(b + 3) *= 4.0;
          if (!two) state.q[2] = 0.3;
          Workspace workspace(world);
          const double start = energy_of(world, state.q, state.v);
          for (int i = 0; i < 60; ++i) {
            const StepResult& result = step(world, state, at_ease(world), workspace, state);
            EXPECT_EQ(result.status, StepStatus::solved);
            halved += result.smooth.rungs[static_cast<std::size_t>(SmoothRung::half_steps)];
            EXPECT_LE(energy_of(world, state.q, state.v), most * start) << trial << " " << i;
          }
        }
      }
  EXPECT_GT(halved, 10);
}

/// Islands of different sizes, limited and not.
TEST(SmoothEnergy, AllocatesNothingAfterWarmUp) {
  ModelBuilder builder("boxes");
  add_floor(builder);
  for (const char* name : {"one", "two", "three", "four", "five"}) add_box(builder, name, 0.0, 1.0);
  const World world = without_gravity(std::move(builder), smooth(2e-3, 1e-6));
  Random random(3);
  State start{neutral_configuration(world.model()), VectorX::Zero(world.nv())};
  for (int i = 0; i < 5; ++i) {
    // the first two on each other
    const Pose pose(random.rotation(), {i < 2 ? 0.0 : 5.0 * i, 0.0, i == 1 ? 0.8 : 0.35});
    start.q.segment<7>(7 * i) << pose.p, pose.quaternion();
    start.v.segment<6>(6 * i) << pose.R.transpose() * Vector3(0.0, 0.0, -3.0), 40.0 * random.unit_vector();
  }
  Workspace workspace(world);
  Tape tape;
  State next = start;
  StepJacobians jacobians;
  StateTangent g{VectorX::Ones(world.nv()), VectorX::Ones(world.nv())};
  StateTangent back = g;
  VectorX g_u = VectorX::Zero(world.nu());
  const VectorX u = at_ease(world);
  int limited = 0;
  std::size_t largest = 0;
  State state = start;
  const auto run_all = [&] {
    state.q = start.q;
    state.v = start.v;
    for (int i = 0; i < 200; ++i) {
      const StepResult& result = step(world, state, u, workspace, next, &tape);
      if (result.restitution_kept < 1.0) ++limited;
      largest = std::max(largest, result.contacts.size());
      (void)step_jacobians(world, tape, workspace, jacobians);
      (void)step_vjp(world, tape, workspace, g, back, g_u);
      std::swap(state, next);
    }
  };
  run_all();
  run_all();
  EXPECT_GT(limited, 2);
  EXPECT_GT(largest, 1U);
  const AllocationCount count;
  run_all();
  EXPECT_EQ(count.so_far(), 0);
}

/// The first `wanted` states on the way whose next step limits its restitution, in the seam and beyond it.
template <class Draw>
void expect_derivatives_where_limited(const World& world, const Draw& draw, int wanted) {
  const double kappa = world.options().smooth.kappa;
  Random random(3);
  int left[2] = {wanted, wanted};
  for (int trial = 0; trial < 2000 && left[0] + left[1] > 0; ++trial) {
    Workspace workspace(world);
    State state = draw(world, random);
    State next;
    for (int i = 0; i < 60; ++i) {
      const StepResult& result = step(world, state, at_ease(world), workspace, next);
      const bool halved = result.smooth.rungs[static_cast<std::size_t>(SmoothRung::half_steps)] > 0;
      if (result.restitution_kept < 1.0 && result.restitution_kept > 0.0 && !halved) {
        const int beyond = result.restitution_kept < 1.0 - std::sqrt(kappa) ? 1 : 0;
        if (left[beyond] > 0) {
          SCOPED_TRACE("trial " + std::to_string(trial) + ", step " + std::to_string(i) + ", kept " +
                       std::to_string(result.restitution_kept));
          --left[beyond];
          // the seam is as narrow as √κ: differences from near
          const double scale = std::max(0.02 * std::sqrt(kappa), 5e-5);
          expect_derivatives(world, state, VectorX::Constant(world.nu(), 0.1), kappa, 1e-6, scale);
          expect_parameter_derivatives(world, state, kappa, scale);
        }
        break;
      }
      state = next;
    }
  }
  EXPECT_LE(left[0], 0);
  EXPECT_LE(left[1], 0);
}

/// A box `size` times as large, and its time such that gravity would be the same.
World scaled_box(double size, double kappa) {
  WorldOptions options = tight(0.005 * std::sqrt(size), kappa);
  options.contact.bounce_speed *= std::sqrt(size);
  options.contact.correction_speed *= std::sqrt(size);
  ModelBuilder builder("box");
  add_floor(builder);
  const Shape box = Box{.size = size * Vector3(0.4, 0.3, 0.2)};
  builder.add_body({.name = "box", .inertia = mass_properties(box), .shapes = {colliding("box", box, 0.9, 0.99)}},
                   {.name = "box", .type = JointType::free});
  return without_gravity(std::move(builder), options);
}

/// What is limited at one size is limited alike at others, and so are its derivatives.
TEST(SmoothEnergy, DerivativesScale) {
  for (const double kappa : {1e-3, 1e-6}) {
    const World world = scaled_box(1.0, kappa);
    Random random(3);
    int compared = 0;
    for (int trial = 0; trial < 200 && compared < 5; ++trial) {
      Workspace workspace(world);
      State state = random_spin(world, random);
      State next;
      Tape tape;
      for (int i = 0; i < 60; ++i) {
        const StepResult result = step(world, state, at_ease(world), workspace, next, &tape);
        if (result.restitution_kept == 1.0) {
          state = next;
          continue;
        }
        ++compared;
        StepJacobians jacobians;
        EXPECT_EQ(step_jacobians(world, tape, workspace, jacobians), GradientQuality::exact);
        for (const double size : {1e-2, 1e2}) {
          SCOPED_TRACE(std::to_string(kappa) + ", trial " + std::to_string(trial) + ", size " + std::to_string(size));
          const World other = scaled_box(size, kappa);
          const double speed = std::sqrt(size);
          VectorX by_q(6);
          VectorX by_v(6);
          by_q << Vector3::Constant(size), Vector3::Ones();
          by_v << Vector3::Constant(speed), Vector3::Constant(1.0 / speed);
          State there = state;
          there.q.head<3>() *= size;
          there.v.array() *= by_v.array();
          Workspace memory(other);
          State after;
          Tape other_tape;
          const StepResult& again = step(other, there, at_ease(other), memory, after, &other_tape);
          EXPECT_NEAR(again.restitution_kept, result.restitution_kept, 1e-8);
          StepJacobians others;
          EXPECT_EQ(step_jacobians(other, other_tape, memory, others), GradientQuality::exact);
          const auto from_units = by_v.cwiseInverse().asDiagonal();
          EXPECT_NEAR_RELATIVE(MatrixX(from_units * others.v_q * by_q.asDiagonal()), jacobians.v_q, 1e-6);
          EXPECT_NEAR_RELATIVE(MatrixX(from_units * others.v_v * by_v.asDiagonal()), jacobians.v_v, 1e-6);
        }
        break;
      }
    }
    EXPECT_EQ(compared, 5);
  }
}

/// A face that lands flat: parallel to the floor, and perfectly elastic.
TEST(SmoothEnergy, DerivativesOfAFlatLanding) {
  for (const double kappa : kKappas) {
    SCOPED_TRACE(kappa);
    const World world = tumbling_box(0.5, 1.0, tight(0.005, kappa));
    State state{neutral_configuration(world.model()), VectorX::Zero(world.nv())};
    state.q[2] = 0.1 + 0.006;
    state.v[2] = -3.0;
    Workspace workspace(world);
    State next;
    const double kept = step(world, state, at_ease(world), workspace, next).restitution_kept;
    EXPECT_LT(kept, 1.0);
    EXPECT_GT(kept, 1.0 - std::sqrt(kappa));
    // at 1e-6 a push moves what lands by less than differences can tell
    if (kappa > 1e-5) expect_derivatives(world, state, VectorX::Zero(6), kappa, 1e-6, 10.0 * kappa);
    expect_parameter_derivatives(world, state, kappa, kappa);
  }
}

TEST(SmoothEnergy, DerivativesOfABox) {
  for (const double kappa : kKappas) {
    SCOPED_TRACE(kappa);
    expect_derivatives_where_limited(tumbling_box(0.9, 0.99, tight(0.005, kappa)), random_spin, 3);
  }
}

TEST(SmoothEnergy, DerivativesOfBodiesThatMeet) {
  for (const double kappa : {1e-4, 1e-6}) {
    SCOPED_TRACE(kappa);
    WorldOptions options = tight(0.005, kappa);
    // what is left of the equations moves velocities by up to 1 / κ of it, and derivatives are taken there
    options.smooth.tolerance = 1e-13 / kappa;
    expect_derivatives_where_limited(two_boxes(1.2, 0.99, options), random_crash, 1);
  }
}

TEST(SmoothEnergy, DerivativesOfAnArm) {
  for (const double kappa : kKappas) {
    SCOPED_TRACE(kappa);
    expect_derivatives_where_limited(arm(0.9, 0.99, tight(0.005, kappa)), random_swing, 2);
  }
}

}  // namespace
}  // namespace tangere::test
