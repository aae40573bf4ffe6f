/// Laws of a step, over all cases; flights, impacts and stacks in particular; what is refused.

#include "tangere/sim/step.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/geometry/mass_properties.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/multibody/mass_matrix.hpp"
#include "tangere/sim/actuation.hpp"
#include "tangere/sim/step_derivatives.hpp"
#include "tangere/sim/tape/hard_tape.hpp"
#include "tests/support/allocation.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/step_cases.hpp"

namespace tangere::test {
namespace {

class Step : public testing::TestWithParam<StepCase> {
 protected:
  const World& world = GetParam().world;
  const State& state = GetParam().state;
  const VectorX& u = GetParam().u;
  Workspace workspace{world};
  State next;
  Tape tape;
};

/// Every row, judged by what v⁺ and the impulses are, not by what the solver says.
TEST_P(Step, RowsAreComplementary) {
  ASSERT_EQ(step(world, state, u, workspace, next, &tape).status, StepStatus::solved);
  const VectorX w = tape.hard().problem.jacobian(world.nv()) * tape.v_plus;
  for (int r = 0; r < tape.hard().problem.num_rows(); ++r) {
    const Row& row = tape.hard().problem.rows[r];
    const BoxedLcpRow& box = tape.hard().problem.boxes[r];
    const double f = tape.hard().f[r];
    const double over = w[r] - row.target;
    const double most = box.normal >= 0 ? box.friction * tape.hard().f[box.normal] : box.upper;
    const double least = box.normal >= 0 ? -most : box.lower;
    const double tiny = 1e-12 * (1.0 + std::abs(f));
    EXPECT_LE(f, most + tiny);
    EXPECT_GE(f, least - tiny);
    // what pushes is at its target but for the compliance
    const double slack = 10.0 * box.compliance * (std::abs(f) + tape.hard().f.view().cwiseAbs().maxCoeff()) + 1e-12;
    if (f < most - tiny) {
      EXPECT_GE(over, -slack) << to_string(row.kind) << " row " << r;
    }
    if (f > least + tiny) {
      EXPECT_LE(over, slack) << to_string(row.kind) << " row " << r;
    }
  }
}

/// Rows take energy out, and never put any in: f · J (v_free + v⁺) / 2 ≤ 0, by the discrete rule for what bounces too.
TEST_P(Step, WithoutCorrectionRowsDoNoWork) {
  WorldOptions options = world.options();
  options.contact.correction = 0.0;
  options.hard.bounce = BounceMode::discrete;
  const World still(world.model(), world.actuators(), options);
  Workspace memory(still);
  State now = state;
  Data data(still.model());
  ImplicitForces implicit;
  for (int i = 0; i < 20; ++i) {
    (void)step(still, now, u, memory, next, &tape);
    (void)mass_matrix(still.model(), data, now.q);
    set_implicit_forces(still, options.time_step, tape.regions, implicit);
    factor_mass_matrix(still.model(), data, implicit.inertia);
    VectorX change = tape.hard().problem.jacobian(still.nv()).transpose() * tape.hard().f.view();
    const VectorX impulse = change;
    solve_mass_matrix(still.model(), data, change);
    const double work = impulse.dot(tape.v_plus - 0.5 * change);
    EXPECT_LE(work, 1e-12 * (1.0 + impulse.cwiseAbs().dot(tape.v_plus.cwiseAbs()))) << "step " << i;
    now = next;
  }
}

TEST_P(Step, SameBitsAgainAndNothingAllocated) {
  (void)step(world, state, u, workspace, next, &tape);
  (void)step(world, state, u, workspace, next, &tape);
  State again = next;
  const AllocationCount count;
  (void)step(world, state, u, workspace, again, &tape);
  EXPECT_EQ(count.so_far(), 0);
  EXPECT_EQ(again.q, next.q);
  EXPECT_EQ(again.v, next.v);
}

/// Memory is that of the most rows there were: fewer, in whatever islands, take none.
TEST(StepMemory, FewerContactsAllocateNothing) {
  std::vector<FreeBody> boxes;
  for (int i = 0; i < 3; ++i) boxes.push_back({Box{{0.2, 0.2, 0.2}}, Pose::translation({0.0, 0.0, 0.1 + 0.2 * i})});
  const StepCase stack = free_bodies("stack", boxes, 0.5, 0.0, {});
  Workspace workspace(stack.world);
  State next;
  Tape tape;
  ASSERT_EQ(step(stack.world, stack.state, stack.u, workspace, next, &tape).contacts.size(), 12U);
  ASSERT_EQ(step(stack.world, stack.state, stack.u, workspace, next, &tape).num_islands, 1);
  // each box up in the air, beside the others, or where it was
  std::vector<State> states;
  for (int places = 1; places < 27; ++places) {
    State& state = states.emplace_back(stack.state);
    for (int box = 0, rest = places; box < 3; ++box, rest /= 3) {
      if (rest % 3 == 1) state.q[7 * box + 2] += 10.0 + box;
      if (rest % 3 == 2) state.q.segment<3>(7 * box) << 1.0 + box, 0.0, 0.1;
    }
  }
  std::size_t fewest = 12;
  const AllocationCount count;
  for (const State& state : states)
    fewest = std::min(fewest, step(stack.world, state, stack.u, workspace, next, &tape).contacts.size());
  EXPECT_EQ(count.so_far(), 0);
  EXPECT_EQ(fewest, 0U);
}

INSTANTIATE_TEST_SUITE_P(AllCases, Step, testing::ValuesIn(all_step_cases()),
                         step_test_name<testing::TestParamInfo<StepCase>>);

/// A spinning body in free flight keeps its momentum to rounding, whatever its axes do.
TEST(Flight, KeepsMomentum) {
  WorldOptions options;
  options.time_step = 0.01;
  ModelBuilder builder("flight");
  builder.set_gravity(Vector3::Zero());
  builder.add_body(
      {.name = "body",
       .inertia = {.mass = 2.0, .center = Vector3::Zero(), .inertia = Vector3(0.5, 0.5, 0.2).asDiagonal()}},
      {.name = "body", .type = JointType::free});
  const World world(builder.build(), {}, options);
  State state{neutral_configuration(world.model()), VectorX::Zero(6)};
  state.v << 1.0, 0.0, 0.0, 0.0, 0.0, 10.0;
  Workspace workspace(world);
  const VectorX u = VectorX::Zero(6);
  for (int i = 0; i < 100; ++i) (void)step(world, state, u, workspace, state);
  Data data(world.model());
  forward_kinematics(world.model(), data, state.q, state.v);
  const Vector6 V = body_velocity(world.model(), data, 0);
  EXPECT_NEAR_ABSOLUTE(Vector3(V.head<3>()), Vector3(1.0, 0.0, 0.0), 1e-12);
  EXPECT_NEAR_ABSOLUTE(Vector3(V.tail<3>()), Vector3(0.0, 0.0, 10.0), 1e-12);
  EXPECT_NEAR_ABSOLUTE(Vector3(state.q.head<3>()), Vector3(1.0, 0.0, 0.0), 1e-12);
}

/// However it tumbles, and wherever its centre is: linear and angular momentum, energy, and the way of the centre.
TEST(Flight, OfATumblingBody) {
  for (const double time_step : {1e-3, 1e-2, 5e-2}) {
    SCOPED_TRACE(time_step);
    WorldOptions options;
    options.time_step = time_step;
    ModelBuilder builder("flight");
    builder.set_gravity(Vector3::Zero());
    MassProperties inertia = mass_properties(Box{.size = {0.3, 0.2, 0.1}}, 1000.0);
    inertia.center = {0.05, -0.1, 0.02};
    builder.add_body({.name = "body", .inertia = inertia}, {.name = "body", .type = JointType::free});
    const World world(builder.build(), {}, options);
    State state{neutral_configuration(world.model()), VectorX::Zero(6)};
    state.v << 1.0, 0.2, -0.3, 0.4, 10.0, 0.1;
    Data data(world.model());
    const auto invariants = [&]() -> Eigen::Matrix<double, 10, 1> {
      forward_kinematics(world.model(), data, state.q, state.v);
      const Pose X = body_pose(world.model(), data, 0);
      const Vector6 V = body_velocity(world.model(), data, 0);
      const Vector3 arm = X.R * inertia.center;
      const Vector3 linear = inertia.mass * (V.head<3>() + V.tail<3>().cross(arm));
      const Vector3 spin = X.R.transpose() * V.tail<3>();
      Eigen::Matrix<double, 10, 1> out;
      out << linear, X.R * (inertia.inertia * spin),
          0.5 * (linear.squaredNorm() / inertia.mass + spin.dot(inertia.inertia * spin)), X.p + arm;
      return out;
    };
    const Eigen::Matrix<double, 10, 1> before = invariants();
    Workspace workspace(world);
    const VectorX u = VectorX::Zero(6);
    constexpr int kSteps = 1000;
    for (int i = 0; i < kSteps; ++i) (void)step(world, state, u, workspace, state);
    const Eigen::Matrix<double, 10, 1> after = invariants();
    EXPECT_NEAR_RELATIVE(VectorX(after.head<7>()), VectorX(before.head<7>()), 1e-12);
    const Vector3 flown = kSteps * time_step * before.head<3>() / inertia.mass;
    EXPECT_NEAR_RELATIVE(Vector3(after.tail<3>()), Vector3(before.tail<3>() + flown), 1e-12);
  }
}

/// Two bodies in the air push each other: together they keep their momentum.
TEST(Impact, KeepsMomentum) {
  WorldOptions options;
  options.contact.correction = 0.0;
  const Shape ball = Sphere{0.1};
  Vector6 there = Vector6::Zero();
  there[0] = 1.0;
  const StepCase balls = free_bodies("balls",
                                     {{ball, Pose::translation({0, 0, 5}), there, 1.0},
                                      {ball, Pose::translation({0.19, 0.03, 5}), Vector6::Zero(), 3.0}},
                                     0.5, 0.0, options);
  Workspace workspace(balls.world);
  State next;
  const VectorX u = VectorX::Zero(12);
  const StepResult& result = step(balls.world, balls.state, u, workspace, next);
  ASSERT_EQ(result.contacts.size(), 1U);
  EXPECT_GT(result.contacts[0].impulse[0], 0.1);
  const auto momentum = [&](const State& state) -> Vector3 {
    Data data(balls.world.model());
    forward_kinematics(balls.world.model(), data, state.q, state.v);
    return body_velocity(balls.world.model(), data, 1).head<3>() +
           3.0 * body_velocity(balls.world.model(), data, 2).head<3>();
  };
  const Vector3 gravity(0.0, 0.0, -9.81 * 4.0 * options.time_step);
  EXPECT_NEAR_ABSOLUTE(Vector3(momentum(next)), Vector3(momentum(balls.state) + gravity), 1e-12);
}

/// What would end inside the floor ends on it.
TEST(Impact, StopsAtTheSurface) {
  WorldOptions options;
  options.time_step = 0.01;
  Vector6 down = Vector6::Zero();
  down[2] = -3.0;
  const StepCase ball = free_bodies("ball", {{Sphere{0.1}, Pose::translation({0, 0, 0.12}), down}}, 0.5, 0.0, options);
  Workspace workspace(ball.world);
  State next;
  (void)step(ball.world, ball.state, VectorX::Zero(6), workspace, next);
  EXPECT_NEAR(next.q[2], 0.1 + 0.8 * options.hard.touching, 1e-7);
}

/// A block on a slope: sticks below the angle of friction, slides above it with g (sin − μ cos).
TEST(Friction, OfABlockOnASlope) {
  for (const double angle : {0.3, 0.6}) {
    const double friction = 0.5;
    WorldOptions options;
    options.time_step = 1e-3;
    ModelBuilder builder("slope");
    builder.set_gravity(9.81 * Vector3(std::sin(angle), 0.0, -std::cos(angle)));
    builder.add_body(
        {.name = "floor", .shapes = {{.name = "f", .shape = HalfSpace{Vector3::UnitZ(), 0.0}, .friction = friction}}},
        {.name = "floor"});
    const Shape box = Box{.size = {0.4, 0.4, 0.1}};
    builder.add_body({.name = "box",
                      .inertia = mass_properties(box, 100.0),
                      .shapes = {{.name = "b", .shape = box, .friction = 1.0}}},
                     {.name = "box", .type = JointType::free});
    const World world(builder.build(), {}, options);
    State state{neutral_configuration(world.model()), VectorX::Zero(6)};
    state.q[2] = 0.05;
    Workspace workspace(world);
    for (int i = 0; i < 500; ++i)
      ASSERT_EQ(step(world, state, VectorX::Zero(6), workspace, state).status, StepStatus::solved);
    const double expected = std::max(0.0, 9.81 * (std::sin(angle) - friction * std::cos(angle)) * 0.5);
    EXPECT_NEAR(state.v[0], expected, 1e-5) << "angle " << angle;
    EXPECT_NEAR(state.v.tail<3>().norm(), 0.0, 1e-6);
  }
}

/// A stack of ten boxes stands for ten seconds, and every step is solved.
TEST(Stack, TenBoxesStand) {
  WorldOptions options;
  options.time_step = 5e-3;
  std::vector<FreeBody> boxes;
  for (int i = 0; i < 10; ++i)
    boxes.push_back({Box{.size = {0.3, 0.3, 0.2}}, Pose::translation({0.002 * (i % 3), 0.0, 0.1 + 0.2 * i})});
  const StepCase stack = free_bodies("stack", boxes, 0.6, 0.0, options);
  Workspace workspace(stack.world);
  State state = stack.state;
  const VectorX u = VectorX::Zero(60);
  for (int i = 0; i < 2000; ++i)
    ASSERT_EQ(step(stack.world, state, u, workspace, state).status, StepStatus::solved) << "step " << i;
  for (int i = 0; i < 10; ++i) {
    EXPECT_NEAR(state.q[7 * i + 2], 0.1 + 0.2 * i, 1e-4);
    EXPECT_NEAR(state.q[7 * i], 0.002 * (i % 3), 1e-4);
  }
  EXPECT_LT(state.v.norm(), 1e-4);
}

/// A ball that only falls, on a belt that only runs: the normal moves one and friction the other, within its bound.
TEST(Friction, BetweenBodiesOnDifferentRails) {
  ModelBuilder builder("belt");
  const Shape ball = Sphere{0.1};
  const Shape belt = Box{.size = {4.0, 1.0, 0.1}};
  builder.add_body({.name = "belt",
                    .inertia = mass_properties(belt, 2.5),
                    .shapes = {{.name = "belt", .shape = belt, .friction = 0.1}}},
                   {.name = "belt", .type = JointType::prismatic, .axis = Vector3::UnitX()});
  MassProperties inertia = mass_properties(ball);
  inertia.inertia /= inertia.mass;
  inertia.mass = 1.0;
  builder.add_body({.name = "ball", .inertia = inertia, .shapes = {{.name = "ball", .shape = ball, .friction = 0.1}}},
                   {.name = "ball", .type = JointType::prismatic, .axis = Vector3::UnitZ()});
  const World world(builder.build());
  for (const double speed : {2.0, -2.0}) {
    Workspace workspace(world);
    State state{Vector2(0.0, 0.1499), Vector2(speed, 0.0)};
    State next;
    const StepResult& result = step(world, state, VectorX::Zero(2), workspace, next);
    ASSERT_EQ(result.contacts.size(), 1U);
    const Vector3 impulse = result.contacts[0].impulse;
    EXPECT_GT(impulse[0], 0.0);
    EXPECT_NEAR(impulse.tail<2>().cwiseAbs().maxCoeff(), 0.1 * impulse[0], 1e-9);
    EXPECT_LT(std::abs(next.v[0]), 2.0);
    EXPECT_GT(std::abs(next.v[0]), 1.99);
  }
}

/// A link without shapes, whose origin is on its hinge, pinned to the world: its rows have a compliance all the same.
TEST(Constraints, OfALinkThatOnlyTurns) {
  ModelBuilder builder("pinned");
  builder.add_body({.name = "link",
                    .inertia = {.mass = 1.0, .center = Vector3(0.3, 0.0, 0.0), .inertia = 0.01 * Matrix3::Identity()}},
                   {.name = "hinge", .type = JointType::revolute, .axis = Vector3::UnitY()});
  builder.add_constraint({.name = "pin",
                          .kind = LoopConstraint::Kind::connect,
                          .body_A = kWorld,
                          .body_B = 0,
                          .X_AC = Pose::translation({0.5, 1e-6, 0.0}),
                          .X_BC = Pose::translation({0.5, 0.0, 0.0})});
  const World world(builder.build());
  Workspace workspace(world);
  State state{VectorX::Zero(1), VectorX::Zero(1)};
  Tape tape;
  for (int i = 0; i < 100; ++i) (void)step(world, state, VectorX::Zero(1), workspace, state, &tape);
  EXPECT_LT(std::abs(state.v[0]), 1e-4);
  EXPECT_LT(tape.hard().f.view().cwiseAbs().maxCoeff(), 1.0);
  for (const BoxedLcpRow& box : tape.hard().problem.boxes) EXPECT_GT(box.compliance, 0.0);
}

/// A weld that is far open is closed at the speed of corrections, not at once.
TEST(Constraints, AreClosedGently) {
  ModelBuilder builder("open");
  builder.set_gravity(Vector3::Zero());
  for (const char* name : {"left", "right"})
    builder.add_body(
        {.name = name, .inertia = {.mass = 1.0, .center = Vector3::Zero(), .inertia = 0.01 * Matrix3::Identity()}},
        {.name = name, .type = JointType::free});
  builder.add_constraint({.name = "weld", .kind = LoopConstraint::Kind::weld, .body_A = 0, .body_B = 1});
  const World world(builder.build(), {}, {.time_step = 1e-3});
  Workspace workspace(world);
  State state{neutral_configuration(world.model()), VectorX::Zero(12)};
  state.q[7] = 0.2;
  state.q.segment<4>(10) = Eigen::Quaterniond(so3::exp({0.0, 0.0, 0.5})).coeffs();
  (void)step(world, state, VectorX::Zero(12), workspace, state);
  const double limit = world.options().contact.correction_speed;
  EXPECT_NEAR(state.v.segment<3>(0).norm() + state.v.segment<3>(6).norm(), limit, 0.2 * limit);
  EXPECT_NEAR(state.v.segment<3>(9).norm() + state.v.segment<3>(3).norm(), limit, 0.2 * limit);
  for (int i = 0; i < 2000; ++i) (void)step(world, state, VectorX::Zero(12), workspace, state);
  EXPECT_NEAR_ABSOLUTE(Vector3(state.q.head<3>()), Vector3(state.q.segment<3>(7)), 1e-6);
}

/// A link that stands inside the floor, straight under its hinge, can leave only by a fast turn: it is left alone.
TEST(Penetration, IsNotTakenBackByForce) {
  for (const StepCase& one : all_step_cases()) {
    if (one.name != "StandingLink") continue;
    Workspace workspace(one.world);
    State state{one.state.q, VectorX::Zero(1)};
    Tape tape;
    ASSERT_EQ(step(one.world, state, VectorX::Zero(1), workspace, state, &tape).contacts.size(), 1U);
    EXPECT_LT(tape.hard().problem.contacts[0].distance, -5e-4);
    EXPECT_EQ(tape.hard().problem.rows[0].target, 0.0);
    EXPECT_LT(std::abs(state.v[0]), 0.1);
    return;
  }
  FAIL();
}

/// Forces that a step begins with bring bodies farther than their velocities do: they stop all the same.
TEST(Tunnelling, NotByForces) {
  const StepCase ball =
      free_bodies("ball", {{Sphere{0.1}, Pose::translation({0.0, 0.0, 0.15})}}, 0.5, 0.0, {.time_step = 0.01});
  Workspace workspace(ball.world);
  State next;
  VectorX u = VectorX::Zero(6);
  u[2] = -1e4;
  EXPECT_EQ(step(ball.world, ball.state, u, workspace, next).contacts.size(), 1U);
  EXPECT_GE(next.q[2], 0.0999);

  // by a spring, to the end of a rail
  ModelBuilder builder("rail");
  builder.add_body(
      {.name = "cart", .inertia = {.mass = 1.0, .center = Vector3::Zero(), .inertia = Matrix3::Identity()}},
      {.name = "rail",
       .type = JointType::prismatic,
       .axis = Vector3::UnitX(),
       .dofs = {{.lower = -0.1, .upper = 0.1, .stiffness = 1e4, .rest = 5.0}}});
  const World rail(builder.build(), {}, {.time_step = 0.01});
  Workspace on_rail(rail);
  EXPECT_EQ(step(rail, {VectorX::Zero(1), VectorX::Zero(1)}, VectorX::Zero(1), on_rail, next).status,
            StepStatus::solved);
  EXPECT_LE(next.q[0], 0.1 + 1e-9);
  EXPECT_GT(next.q[0], 0.09);
}

/// Where no answer meets the tolerance, the best impulses found are applied: inside their bounds, and here as good as
/// rounding lets them be. Result and tape say so, and the derivatives are those of the answer.
TEST(StepStatus, SaysWhereContactIsApproximate) {
  std::vector<FreeBody> boxes;
  for (int i = 0; i < 3; ++i) {
    FreeBody& box =
        boxes.emplace_back(FreeBody{Box{{0.3, 0.2, 0.2}}, Pose::translation({0.01 * i, 0.0, 0.1 + 0.2 * i})});
    box.velocity << 0.3 - 0.2 * i, 0.1, 0.0, 0.0, 0.0, 0.7;
  }
  WorldOptions impossible;
  impossible.hard.tolerance = 1e-300;
  const StepCase asked = free_bodies("asked", boxes, 0.4, 0.0, {});
  const StepCase exact = free_bodies("exact", boxes, 0.4, 0.0, impossible);
  Workspace workspace(asked.world);
  Workspace strict(exact.world);
  State next;
  State best;
  Tape tape;
  Tape best_tape;
  ASSERT_EQ(step(asked.world, asked.state, asked.u, workspace, next, &tape).status, StepStatus::solved);
  const StepResult& result = step(exact.world, exact.state, exact.u, strict, best, &best_tape);
  EXPECT_EQ(result.status, StepStatus::approximate_contact);
  EXPECT_EQ(best_tape.status, StepStatus::approximate_contact);
  EXPECT_GT(result.residual, 1e-300);
  EXPECT_LT(result.residual, 1e-9);
  EXPECT_NEAR_ABSOLUTE(best.q, next.q, 1e-9);
  EXPECT_NEAR_ABSOLUTE(best.v, next.v, 1e-8);
  for (int r = 0; r < best_tape.hard().problem.num_rows(); ++r) {
    const BoxedLcpRow& box = best_tape.hard().problem.boxes[r];
    const double most = box.normal >= 0 ? box.friction * best_tape.hard().f[box.normal] : box.upper;
    EXPECT_LE(best_tape.hard().f[r], most);
    EXPECT_GE(best_tape.hard().f[r], box.normal >= 0 ? -most : box.lower);
  }
  StepJacobians jacobians;
  StepJacobians of_best;
  (void)step_jacobians(asked.world, tape, workspace, jacobians);
  (void)step_jacobians(exact.world, best_tape, strict, of_best);
  ASSERT_EQ(tape.hard().sets, best_tape.hard().sets);
  EXPECT_NEAR_ABSOLUTE(of_best.v_v, jacobians.v_v, 1e-6);
}

/// A loop of bodies that weigh nothing is refused when it is built, by the name of what could not move.
TEST(StepInput, MasslessLoopsAreRefused) {
  ModelBuilder builder("loop");
  builder.add_body({.name = "left"}, {.name = "left", .type = JointType::revolute, .axis = Vector3::UnitY()});
  builder.add_body({.name = "right"}, {.name = "right",
                                       .type = JointType::revolute,
                                       .X_PJ = Pose::translation({1.0, 0.0, 0.0}),
                                       .axis = Vector3::UnitY()});
  builder.add_constraint({.name = "pin",
                          .kind = LoopConstraint::Kind::connect,
                          .body_A = builder.find_body("left"),
                          .body_B = builder.find_body("right"),
                          .X_AC = Pose::translation({0.5, 0.0, 0.0}),
                          .X_BC = Pose::translation({-0.5, 0.0, 0.0})});
  try {
    const World world(builder.build(), {}, {});
    ADD_FAILURE() << "was not refused";
  } catch (const InputError& error) {
    // both could not move
    EXPECT_TRUE(error.field().find("left") != std::string::npos || error.field().find("right") != std::string::npos)
        << error.what();
  }
}

TEST(StepInput, IsChecked) {
  const StepCase& one = all_step_cases().front();
  Workspace workspace(one.world);
  State next = one.state;
  const auto field = [&](const State& state, const VectorX& u) -> std::string {
    try {
      (void)step(one.world, state, u, workspace, next);
    } catch (const InputError& error) {
      return error.field();
    }
    return "";
  };
  State wrong = one.state;
  wrong.v[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(field(wrong, one.u), "v[3]");
  wrong = one.state;
  wrong.q[1] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(field(wrong, one.u), "q[1]");
  wrong.q.resize(2);
  EXPECT_EQ(field(wrong, one.u), "q");
  EXPECT_EQ(field(one.state, VectorX::Zero(1)), "u");
  EXPECT_EQ(next.q, one.state.q);

  const Model& model = one.world.model();
  const auto refuse = [&](const WorldOptions& options) -> std::string {
    try {
      const World world(model, {}, options);
    } catch (const InputError& error) {
      return error.field();
    }
    return "";
  };
  EXPECT_EQ(refuse({.time_step = 0.0}), "time_step");
  EXPECT_EQ(refuse({.time_step = -1.0}), "time_step");
  EXPECT_EQ(refuse({.contact = {.correction = 2.0}}), "contact.correction");
  EXPECT_EQ(refuse({.hard = {.margin = -1.0}}), "hard.margin");
  EXPECT_THROW(World(model, {Actuator{.name = "a", .dof = 77}}), InputError);
}

}  // namespace
}  // namespace tangere::test
