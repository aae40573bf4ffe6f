/// Swept clearance beside samples of the motion and differences.
///
/// TANGERE_STRESS_SWEPT: how many random motions (60), each beside 1000 samples.

#include "tangere/sim/swept_clearance.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "tangere/math/error.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/planner_worlds.hpp"
#include "tests/support/random_shapes.hpp"

namespace tangere::test {
namespace {

constexpr int kSamples = 1000;

int num_motions() {
  const char* text = std::getenv("TANGERE_STRESS_SWEPT");
  return text == nullptr ? 60 : std::max(1, std::atoi(text));
}

/// A free body and three obstacles, of random types.
World free_body_world(Random& random) {
  ModelBuilder builder("free");
  const auto& types = bounded_types();
  const Shape shape = random_shape(types[random.index(static_cast<int>(types.size()))], random, 0.4);
  builder.add_body({.name = "body", .inertia = mass_properties(shape), .shapes = {{.name = "body", .shape = shape}}},
                   {.name = "body", .type = JointType::free});
  return World(with_obstacles(builder.build(), 3, {-0.8, -0.8, -0.8}, {0.8, 0.8, 0.8}, 0.4, random));
}

/// Any start, and an end by turns of up to 180 degrees in every joint.
struct Motion {
  VectorX q0;
  VectorX q1;
};
Motion random_motion(const World& world, Random& random) {
  Motion out{planner_configuration(world, random), VectorX(world.nq())};
  VectorX delta(world.nv());
  const double most = random.log_uniform(0.05, 1.0) * std::numbers::pi;
  for (int k = 0; k < world.nv(); ++k) delta[k] = random.uniform(-most, most);
  for (const int first : world.free_dofs()) {
    delta.segment<3>(first) *= 0.3;
    delta.segment<3>(first + 3) = random.uniform(0.0, most) * random.unit_vector();
  }
  integrate(world.model(), out.q0, delta, out.q1);
  return out;
}

VectorX at_time(const World& world, const Motion& motion, double t) {
  VectorX delta(world.nv());
  difference(world.model(), motion.q0, motion.q1, delta);
  VectorX q(world.nq());
  integrate(world.model(), motion.q0, t * delta, q);
  return q;
}

void expect_certified(const World& world, const Motion& motion, const SweptOptions& options,
                      const SweptClearance& swept, ClearanceWorkspace& workspace) {
  EXPECT_TRUE(swept.certified);
  EXPECT_LE(swept.lower_bound, swept.distance);
  EXPECT_GE(swept.lower_bound, swept.distance - options.accuracy);
  double least = options.margin;
  for (int s = 0; s <= kSamples; ++s) {
    const VectorX q = at_time(world, motion, s / double{kSamples});
    least = std::min(least, clearance(world, q, {.margin = options.margin, .gradients = false}, workspace).smallest());
  }
  EXPECT_GE(least, swept.lower_bound);
  if (!swept.nearer) return;
  // what is reported is there
  const VectorX q = at_time(world, motion, swept.time);
  EXPECT_NEAR(plain_value(world, q, swept.pair.shape_A, swept.pair.shape_B, ClearanceMetric::distance), swept.distance,
              1e-8);
}

TEST(SweptClearance, IsNeverAboveSamples) {
  Random random(1);
  long intervals = 0;
  int nearer = 0;
  const int count = num_motions();
  const std::vector<PlannerWorld> robots = planner_worlds(5, 2);
  for (int k = 0; k < count; ++k) {
    SCOPED_TRACE(k);
    const World world = k % 2 == 0 ? free_body_world(random) : robots[k / 2 % 2].world;
    ClearanceWorkspace workspace(world);
    const Motion motion = random_motion(world, random);
    const SweptOptions options{.margin = k % 3 == 0 ? 0.5 : 0.1, .accuracy = k % 5 == 0 ? 1e-5 : 1e-3};
    const SweptClearance swept = swept_clearance(world, motion.q0, motion.q1, options);
    intervals += swept.intervals;
    nearer += swept.nearer ? 1 : 0;
    expect_certified(world, motion, options, swept, workspace);
  }
  std::printf("%d motions, %d within the margin, %.1f intervals each\n", count, nearer,
              static_cast<double>(intervals) / count);
  EXPECT_GT(2 * nearer, count);
}

TEST(SweptClearance, GradientsAreDifferences) {
  Random random(3);
  int compared = 0;
  int kinks = 0;
  const std::vector<PlannerWorld> robots = planner_worlds(4, 4);
  for (int k = 0; k < 40; ++k) {
    SCOPED_TRACE(k);
    const World world = k % 2 == 0 ? free_body_world(random) : robots[0].world;
    const int nv = world.nv();
    SweptWorkspace workspace(world);
    const Motion motion = random_motion(world, random);
    const SweptOptions options{.margin = 0.5, .accuracy = 1e-4};
    const SweptClearance swept = swept_clearance(world, motion.q0, motion.q1, options, workspace);
    if (!swept.nearer) continue;
    const auto moved = [&](const VectorX& delta) -> VectorX {
      Motion at = motion;
      integrate(world.model(), motion.q0, delta.head(nv), at.q0);
      integrate(world.model(), motion.q1, delta.tail(nv), at.q1);
      return VectorX::Constant(1, swept_clearance(world, at.q0, at.q1, options, workspace).distance);
    };
    const Difference numeric = difference(moved, 2 * nv, 1, {.scale = 1e-3, .floor = 1e-10, .num_steps = 5});
    if (numeric.error.maxCoeff() > 2e-6) {
      ++kinks;
      continue;
    }
    ++compared;
    VectorX ours(2 * nv);
    ours << swept.d_q0, swept.d_q1;
    EXPECT_LE((ours.transpose() - numeric.jacobian.row(0)).cwiseAbs().maxCoeff(), 1e-5)
        << swept.pair.a << " and " << swept.pair.b << ", " << swept.distance << " at " << swept.time << "\n"
        << ours.transpose() << "\n"
        << numeric.jacobian;
  }
  std::printf("%d gradients compared, %d beside kinks\n", compared, kinks);
  EXPECT_GT(compared, 4 * kinks);
}

/// A ball on a turntable of radius 1 passes a ball at rest.
World turntable(double at) {
  ModelBuilder builder("turntable");
  builder.add_body({.name = "arm",
                    .inertia = mass_properties(Sphere{0.1}),
                    .shapes = {{.name = "ball", .shape = Sphere{0.1}, .X_BS = Pose::translation({1.0, 0.0, 0.0})}}},
                   {.name = "arm", .type = JointType::revolute});
  builder.add_body({.name = "post", .shapes = {{.name = "post", .shape = Sphere{0.1}}}},
                   {.name = "post", .X_PJ = Pose::translation({0.0, at, 0.0})});
  return World(builder.build());
}

TEST(SweptClearance, PassesAPostHalfWay) {
  const World world = turntable(1.5);
  const VectorX q0 = VectorX::Zero(1);
  const VectorX q1 = VectorX::Constant(1, std::numbers::pi);
  const SweptClearance swept = swept_clearance(world, q0, q1, {.margin = 1.0});
  EXPECT_NEAR(swept.distance, 0.3, 1e-12);
  EXPECT_NEAR(swept.time, 0.5, 1e-7);
  EXPECT_EQ(swept.pair.a, "arm/ball");
  EXPECT_NEAR(swept.d_q0[0], 0.0, 1e-6);
  const FirstContact contact = first_contact(world, q0, q1);
  EXPECT_FALSE(contact.touches);
  EXPECT_EQ(contact.free_until, 1.0);
}

TEST(SweptClearance, FirstContactIsWhereTheDistanceIsZero) {
  // chord of 0.2 about the circle: |(cos φ, sin φ) - (0, 1)| = 0.2
  const World world = turntable(1.0);
  const double angle = std::numbers::pi / 2.0 - 2.0 * std::asin(0.1);
  const FirstContact contact = first_contact(world, VectorX::Zero(1), VectorX::Constant(1, std::numbers::pi));
  EXPECT_TRUE(contact.touches);
  EXPECT_NEAR(contact.time, angle / std::numbers::pi, 1e-12);
  EXPECT_LE(contact.free_until, contact.time);
  EXPECT_GT(contact.free_until, contact.time - 1e-3);
  EXPECT_NEAR(contact.pair.value, 0.0, 1e-12);
}

TEST(SweptClearance, FirstContactsAreBeforeAllOverlappingSamples) {
  Random random(5);
  int contacts = 0;
  const std::vector<PlannerWorld> robots = planner_worlds(3, 6);
  for (int k = 0; k < num_motions(); ++k) {
    SCOPED_TRACE(k);
    const World world = k % 3 == 0 ? robots[0].world : free_body_world(random);
    ClearanceWorkspace workspace(world);
    const Motion motion = random_motion(world, random);
    const FirstContact contact = first_contact(world, motion.q0, motion.q1, {.accuracy = 1e-5});
    EXPECT_TRUE(contact.certified);
    contacts += contact.touches ? 1 : 0;
    for (int s = 0; s <= kSamples; ++s) {
      const double t = s / double{kSamples};
      if (t >= contact.free_until) break;
      EXPECT_FALSE(in_collision(world, at_time(world, motion, t), workspace)) << t;
    }
    if (!contact.touches) {
      EXPECT_FALSE(in_collision(world, motion.q1, workspace));
      continue;
    }
    const VectorX q = at_time(world, motion, contact.time);
    const double value = plain_value(world, q, contact.pair.shape_A, contact.pair.shape_B, ClearanceMetric::distance);
    EXPECT_LE(value, 1e-5);
    if (contact.time > 0.0) {
      EXPECT_GE(value, -1e-9);
    }
  }
  EXPECT_GT(contacts, 5);
}

TEST(SweptClearance, WrongInputIsAnError) {
  const World world = turntable(1.5);
  const VectorX q = VectorX::Zero(1);
  EXPECT_THROW((void)swept_clearance(world, q, VectorX::Zero(2)), InputError);
  EXPECT_THROW((void)swept_clearance(world, q, VectorX::Constant(1, std::nan(""))), InputError);
  EXPECT_THROW((void)swept_clearance(world, q, q, {.margin = -1.0}), InputError);
  EXPECT_THROW((void)swept_clearance(world, q, q, {.accuracy = 0.0}), InputError);
  EXPECT_THROW((void)first_contact(world, q, q, {}, {.include = {{"nobody", "*"}}}), InputError);
}

TEST(SweptClearance, GivesUpWithABoundThatHolds) {
  Random random(7);
  const World world = planner_worlds(10, 8)[0].world;
  const Motion motion = random_motion(world, random);
  const SweptClearance full = swept_clearance(world, motion.q0, motion.q1, {.margin = 0.3, .accuracy = 1e-6});
  const SweptClearance early =
      swept_clearance(world, motion.q0, motion.q1, {.margin = 0.3, .accuracy = 1e-6, .max_intervals = 5});
  EXPECT_FALSE(early.certified);
  EXPECT_LE(early.lower_bound, full.distance);
}

TEST(SweptClearance, StandingStillIsClearance) {
  Random random(9);
  const World world = planner_worlds(10, 10)[0].world;
  const VectorX q = planner_configuration(world, random);
  const SweptClearance swept = swept_clearance(world, q, q, {.margin = 0.5});
  EXPECT_NEAR(swept.distance, clearance(world, q, {.margin = 0.5}).smallest(), 1e-9);
  EXPECT_TRUE(swept.certified);
}

}  // namespace
}  // namespace tangere::test
