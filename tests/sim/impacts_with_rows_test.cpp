/// Impacts inside the step on trees that other rows push meanwhile: what rests on something, dry friction and limits of
/// joints, loops, mimics. The step is cut where surfaces meet there too, and its derivatives are those of that.

#include <gtest/gtest.h>

#include <cmath>

#include "tangere/math/so3.hpp"
#include "tangere/multibody/energy.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/sim/impulse_derivatives.hpp"
#include "tangere/sim/rollout.hpp"
#include "tangere/sim/tape/hard_tape.hpp"
#include "tests/sim/impact_checks.hpp"

namespace tangere::test {
namespace {

constexpr double kRadius = 0.1;

MassProperties inertia_of(const Shape& shape, double mass) {
  MassProperties out = mass_properties(shape);
  out.inertia *= mass / out.mass;
  out.mass = mass;
  return out;
}

CollisionShape colliding(const char* name, const Shape& shape, double restitution) {
  return {.name = name, .shape = shape, .friction = 0.4, .restitution = restitution};
}

void add_ball(ModelBuilder& builder, const char* name = "ball") {
  const Shape ball = Sphere{kRadius};
  builder.add_body({.name = name, .inertia = inertia_of(ball, 0.5), .shapes = {colliding(name, ball, 0.9)}},
                   {.name = name, .type = JointType::free});
}

/// A bar along x from a hinge about y at `from`, 0.6 m long and 0.1 m thick.
void add_bar(ModelBuilder& builder, const std::string& name, const Vector3& from, const DofSpec& dof,
             const std::optional<Mimic>& mimic = {}) {
  const Shape bar = Box{.size = {0.6, 0.3, 0.1}};
  MassProperties inertia = inertia_of(bar, 3.0);
  inertia.center = {0.3, 0.0, 0.0};
  CollisionShape shape = colliding(name.c_str(), bar, 0.8);
  shape.X_BS = Pose::translation({0.3, 0.0, 0.0});
  builder.add_body({.name = name, .inertia = inertia, .shapes = {shape}}, {.name = name,
                                                                           .type = JointType::revolute,
                                                                           .X_PJ = Pose::translation(from),
                                                                           .axis = Vector3::UnitY(),
                                                                           .dofs = {dof},
                                                                           .mimic = mimic});
}

/// A world, and the state of a ball about to fall on what is in it. The ball's coordinates are the last ones.
struct Scene {
  World world;
  State state;
};

Scene with_ball(ModelBuilder builder, const Vector3& place, double time_step = 0.01) {
  add_ball(builder);
  WorldOptions options;
  options.time_step = time_step;
  World world(builder.build(), {}, options);
  State state{neutral_configuration(world.model()), VectorX::Zero(world.nv())};
  state.q.segment<3>(world.nq() - 7) = place;
  state.v.tail<6>() << 0.3, -0.2, -2.0, 1.0, -2.0, 0.5;
  return {std::move(world), std::move(state)};
}

/// A box that rests on a floor it rubs against.
Scene ball_on_a_box(double time_step = 0.01) {
  ModelBuilder builder("box");
  builder.add_body({.name = "floor", .shapes = {colliding("floor", HalfSpace{Vector3::UnitZ(), 0.0}, 0.5)}},
                   {.name = "floor"});
  const Shape box = Box{.size = {0.8, 0.6, 0.4}};
  builder.add_body({.name = "box", .inertia = inertia_of(box, 5.0), .shapes = {colliding("box", box, 0.8)}},
                   {.name = "box", .type = JointType::free});
  Scene out = with_ball(std::move(builder), {0.05, 0.03, 0.4 + kRadius + 0.008}, time_step);
  out.state.q[2] = 0.2 - 2e-6;
  return out;
}

/// A bar whose hinge rubs more than its weight pulls.
Scene ball_on_a_rubbing_bar(double friction) {
  ModelBuilder builder("bar");
  add_bar(builder, "bar", {0.0, 0.0, 1.0}, {.friction = friction});
  return with_ball(std::move(builder), {0.45, 0.02, 1.05 + kRadius + 0.008});
}

/// A bar that lies on the limit of its hinge.
Scene ball_on_a_bar_at_its_limit() {
  ModelBuilder builder("limit");
  add_bar(builder, "bar", {0.0, 0.0, 1.0}, {.upper = 0.0});
  Scene out = with_ball(std::move(builder), {0.45, 0.02, 1.05 + kRadius + 0.008});
  out.state.q[0] = 1e-6;
  return out;
}

/// Two bars whose tips are connected, the second one of which is on its limit.
Scene ball_on_connected_bars() {
  ModelBuilder builder("loop");
  add_bar(builder, "left", {0.0, 0.0, 1.0}, {.damping = 0.2});
  add_bar(builder, "right", {0.0, 1.0, 1.0}, {.upper = 0.0});
  builder.add_constraint({.name = "pin",
                          .kind = LoopConstraint::Kind::connect,
                          .body_A = builder.find_body("left"),
                          .body_B = builder.find_body("right"),
                          .X_AC = Pose::translation({0.6, 0.5, 0.3}),
                          .X_BC = Pose::translation({0.6, -0.5, 0.3})});
  return with_ball(std::move(builder), {0.45, 0.02, 1.05 + kRadius + 0.008});
}

/// Two bars of which one follows the other.
Scene ball_on_a_mimic() {
  ModelBuilder builder("mimic");
  add_bar(builder, "source", {0.0, 1.0, 1.0}, {.damping = 0.2});
  add_bar(builder, "follower", {0.0, 0.0, 1.0}, {.friction = 1.0}, Mimic{.source = "source", .multiplier = 0.7});
  return with_ball(std::move(builder), {0.45, 0.02, 1.05 + kRadius + 0.008});
}

void expect_inside(const Scene& scene, const std::set<std::string>& kinks = {}) {
  const VectorX u = VectorX::LinSpaced(scene.world.nv(), -0.2, 0.3);
  const Made made = make_step(scene.world, scene.state, u);
  EXPECT_EQ(made.tape.num_impacts(), 1);
  EXPECT_FALSE(made.bounced_at_end);
  // the rows push before and after the impact
  EXPECT_GT(made.tape.hard().f.view().cwiseAbs().maxCoeff(), 0.0);
  EXPECT_GT(made.tape.after_impact(0).hard().f.view().cwiseAbs().maxCoeff(), 0.0);
  // what they hold does not go inside
  const Tape& after = made.tape.after_impact(0);
  for (std::size_t r = 0; r < after.hard().problem.rows.size(); ++r)
    if (after.hard().problem.rows[r].kind == RowKind::normal || after.hard().problem.rows[r].kind == RowKind::limit) {
      EXPECT_GE(after.hard().problem.jacobian(scene.world.nv()).row(static_cast<Eigen::Index>(r)).dot(after.v), -2e-3);
    }
  expect_derivatives(scene.world, scene.state, u, 1e-4, 1e-5, kinks);
}

TEST(ImpactsWithRows, BallOnABoxThatRests) { expect_inside(ball_on_a_box()); }
TEST(ImpactsWithRows, BarThatSticksInItsHinge) { expect_inside(ball_on_a_rubbing_bar(20.0)); }
TEST(ImpactsWithRows, BarThatRubsInItsHinge) { expect_inside(ball_on_a_rubbing_bar(2.0)); }
TEST(ImpactsWithRows, BarAtItsLimit) { expect_inside(ball_on_a_bar_at_its_limit()); }
/// Hinges that are parallel cannot move across, where the pin has a row as soon as they are not.
TEST(ImpactsWithRows, ConnectedBars) {
  expect_inside(ball_on_connected_bars(), {"left.placement.rz", "right.placement.rz"});
}
TEST(ImpactsWithRows, Mimic) { expect_inside(ball_on_a_mimic()); }

/// Trees that a loop joins are hit together: the connected points stay together through the impact.
TEST(ImpactsWithRows, LoopsHoldInTheImpact) {
  const Scene scene = ball_on_connected_bars();
  const Made made = make_step(scene.world, scene.state, VectorX::Zero(scene.world.nv()));
  ASSERT_EQ(made.tape.num_impacts(), 1);
  EXPECT_EQ(std::count(made.tape.hard().events[0].dofs.begin(), made.tape.hard().events[0].dofs.end(), 1), 8);
  EXPECT_LT(made.tape.impact(0).v_plus[0], 1e-5);
  EXPECT_NEAR(made.tape.impact(0).v_plus[0], made.tape.impact(0).v_plus[1], 1e-5);
}

/// A row that has to stop something within the step cannot be told from an impact: such steps follow the discrete rule,
/// and say so.
TEST(ImpactsWithRows, WhatIsStoppedInTheStepBouncesAtItsEnd) {
  Scene scene = ball_on_a_bar_at_its_limit();
  scene.state.q[0] = -0.004;
  scene.state.v[0] = 1.5;
  const Made made = make_step(scene.world, scene.state, VectorX::Zero(scene.world.nv()));
  EXPECT_TRUE(made.bounced_at_end);
  EXPECT_EQ(made.tape.num_impacts(), 0);
  EXPECT_EQ(made.impacts, 0U);
}

/// A slider that stops at its limit while a ball bounces elsewhere has no part in the impact.
TEST(ImpactsWithRows, WhatIsNotHitHasNoRows) {
  ModelBuilder builder("apart");
  builder.add_body({.name = "floor", .shapes = {colliding("floor", HalfSpace{Vector3::UnitZ(), 0.0}, 0.9)}},
                   {.name = "floor"});
  const Shape block = Box{.size = {0.6, 0.3, 0.1}};
  builder.add_body({.name = "slider", .inertia = inertia_of(block, 2.0)}, {.name = "slider",
                                                                           .type = JointType::prismatic,
                                                                           .X_PJ = Pose::translation({0.0, 3.0, 3.0}),
                                                                           .axis = Vector3::UnitX(),
                                                                           .dofs = {DofSpec{.upper = 0.0}}});
  Scene scene = with_ball(builder, {0.0, 0.0, kRadius + 0.012});
  scene.state.q[0] = -0.001;
  scene.state.v[0] = 1.0;
  Workspace workspace(scene.world);
  State next;
  Tape tape;
  (void)step(scene.world, scene.state, VectorX::Zero(scene.world.nu()), workspace, next, &tape);
  ASSERT_EQ(tape.num_impacts(), 1);
  for (const Row& row : tape.impact(0).hard().problem.rows) EXPECT_NE(row.kind, RowKind::limit);
  // the impulses are those that changed the slider's velocity
  VectorX impulses;
  step_impulses(tape, impulses);
  double of_limits = 0.0;
  for (int r = 0; r < tape.hard().problem.num_rows(); ++r)
    if (tape.hard().problem.rows[r].kind == RowKind::limit) of_limits += impulses[r];
  EXPECT_NEAR(of_limits, 2.0 * (scene.state.v[0] - next.v[0]), 1e-9);
}

/// Two bodies that are welded and spin keep their momentum where a ball hits one of them.
TEST(ImpactsWithRows, FloatingBodiesKeepTheirMomentum) {
  ModelBuilder builder("pair");
  builder.set_gravity(Vector3::Zero());
  const Shape box = Box{.size = {0.2, 0.2, 0.2}};
  for (const char* name : {"left", "right"})
    builder.add_body({.name = name, .inertia = inertia_of(box, 1.0), .shapes = {colliding(name, box, 0.9)}},
                     {.name = name, .type = JointType::free});
  builder.add_constraint({.name = "weld",
                          .kind = LoopConstraint::Kind::weld,
                          .body_A = builder.find_body("left"),
                          .body_B = builder.find_body("right"),
                          .X_AC = Pose::translation({0.5, 0.0, 0.0}),
                          .X_BC = Pose::translation({-0.5, 0.0, 0.0})});
  Scene scene = with_ball(builder, {0.5, 0.235, 0.0});
  State& state = scene.state;
  state.q[0] = -0.5;
  state.q[7] = 0.5;
  state.v.setZero();
  state.v[1] = -5.0;
  state.v[7] = 5.0;
  state.v[5] = state.v[11] = 10.0;
  state.v[13] = -2.0;
  const Model& model = scene.world.model();
  const auto momentum = [&](const State& at) -> Vector6 {
    Data data(model);
    forward_kinematics(model, data, at.q, at.v);
    return centroidal_momentum(model, data);
  };
  Workspace workspace(scene.world);
  State next;
  const Vector6 before = momentum(state);
  const StepResult& result = step(scene.world, state, VectorX::Zero(scene.world.nu()), workspace, next);
  EXPECT_TRUE(result.bounced_at_end);
  EXPECT_GT((next.v - state.v).norm(), 1.0);
  EXPECT_NEAR_ABSOLUTE(momentum(next), before, 1e-12 * before.norm());
}

/// In short steps too a limit that has to stop what comes fast does not throw it back.
TEST(ImpactsWithRows, LimitsOfShortStepsDoNotThrowBack) {
  for (const double dt : {1e-4, 1e-5}) {
    const double gap = 1.2e-5;
    ModelBuilder builder("short");
    add_bar(builder, "bar", {0.0, 0.0, 1.0}, {.upper = 0.0});
    Scene scene = with_ball(builder, {0.45, 0.0, 1.05 + kRadius + 0.45 * gap + 1.9 * dt}, dt);
    scene.state.q[0] = -gap;
    scene.state.v.setZero();
    scene.state.v[3] = -2.0;
    Workspace workspace(scene.world);
    State state = scene.state;
    double fastest = 0.0;
    double after_stop = 0.0;
    for (int i = 0; i < 6; ++i) {
      (void)step(scene.world, state, VectorX::Zero(scene.world.nu()), workspace, state);
      fastest = std::max(fastest, state.v[0]);
      after_stop = state.v[0];
    }
    // the ball alone would push the bar to 1.455 rad/s
    EXPECT_GT(fastest, 0.01);
    EXPECT_LT(fastest, 1.46);
    EXPECT_LT(std::abs(after_stop), 0.1);
  }
}

/// The gradient of the motion, not only of its steps: over a box that rests on a floor a ball bounces as over the
/// floor.
TEST(ImpactsWithRows, GradientOfTheMotionOverABox) {
  const double dt = 0.01;
  Scene scene = ball_on_a_box(dt);
  scene.state.q.segment<3>(7) << 0.05, 0.03, 0.4 + kRadius + 0.5;
  scene.state.v.tail<6>().setZero();
  // above the middle of the floor's contacts nothing tips; parabolas between impacts of e = 0.72
  const double e = 0.9 * 0.8;
  const double time = 0.8;
  const auto height_after = [&](double z, double v) {
    double left = time;
    const double ground = 0.4 + kRadius - 2e-6;
    while (true) {
      const double fall = (v + std::sqrt(v * v + 2.0 * 9.81 * (z - ground))) / 9.81;
      if (fall > left) return z + v * left - 0.5 * 9.81 * left * left;
      left -= fall;
      v = -e * (v - 9.81 * fall);
      z = ground;
    }
  };
  scene.state.v[8] = 0.5 * dt * 9.81;
  const int steps = static_cast<int>(std::lround(time / dt));
  Rollout rollout(scene.world, {});
  rollout.run(scene.state, MatrixX::Zero(scene.world.nu(), steps));
  EXPECT_NEAR(rollout.states().back().q[9], height_after(1.0, 0.0), 1e-3);
  std::vector<StateTangent> gradients(static_cast<std::size_t>(steps) + 1);
  gradients.back().q = VectorX::Unit(scene.world.nv(), 8);
  StateTangent g;
  MatrixX g_controls;
  (void)rollout.reverse(gradients, g, g_controls);
  const VectorX expected =
      finite_difference_gradient([&](const VectorX& d) { return height_after(1.0 + d[0], d[1]); }, 2, 1e-4);
  EXPECT_NEAR(g.q[8], expected[0], 0.01 * expected.norm());
  EXPECT_NEAR(g.v[8], expected[1], 0.01 * expected.norm());
}

/// Seconds of bouncing: no impact is left to the discrete rule.
TEST(ImpactsWithRows, RealisticMotionsBounceInside) {
  for (const Scene& scene :
       {ball_on_a_box(), ball_on_a_rubbing_bar(20.0), ball_on_a_bar_at_its_limit(), ball_on_connected_bars()}) {
    Workspace workspace(scene.world);
    State state = scene.state;
    state.v.tail<6>().setZero();
    state.q[scene.world.nq() - 5] += 0.5;
    int inside = 0;
    int at_end = 0;
    for (int i = 0; i < 300; ++i) {
      const StepResult& result = step(scene.world, state, VectorX::Zero(scene.world.nv()), workspace, state);
      inside += result.impacts.empty() ? 0 : 1;
      at_end += result.bounced_at_end ? 1 : 0;
    }
    EXPECT_GE(inside, 4) << scene.world.model().name();
    EXPECT_EQ(at_end, 0) << scene.world.model().name();
  }
}

}  // namespace
}  // namespace tangere::test
