/// Steps with smooth contact of articulated bodies: limits, dry friction, mimics, loops; and that steps allocate
/// nothing.

#include <cmath>
#include <string>

#include <Eigen/Geometry>

#include "tangere/sim/step_derivatives.hpp"
#include "tests/sim/smooth_differences.hpp"
#include "tests/sim/smooth_support.hpp"
#include "tests/support/allocation.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere::test {
namespace {

TEST(SmoothStep, JointsStopAtTheirLimits) {
  const World world(pendulum(0.0), {}, smooth(0.01, 1e-6));
  State state{VectorX::Zero(1), VectorX::Zero(1)};
  state = run(world, state, 200);
  EXPECT_LE(state.q[0], 0.7);
  EXPECT_NEAR(state.q[0], 0.7, 1e-3);
  EXPECT_LE(std::abs(state.v[0]), 1e-6);
}

/// As overlaps: at the speed of correction, up to a third faster at the end, and not beyond the limit. Weight pushes
/// into it.
TEST(SmoothStep, ViolatedLimitsComeBackAtTheSpeedOfCorrection) {
  for (const double start : {1.3, -1.1}) {
    ModelBuilder builder(pendulum(0.0));
    builder.set_gravity({0, 0, start > 0.0 ? -9.81 : 9.81});
    const World world(builder.build(), {}, smooth(0.01, 1e-6));
    Workspace workspace(world);
    State state{VectorX::Constant(1, start), VectorX::Zero(1)};
    const double limit = start > 0.0 ? 0.7 : 0.5;
    const double speed = world.options().contact.correction_speed;
    for (int i = 0; i < 200; ++i) {
      const double before = std::abs(state.q[0]);
      ASSERT_EQ(step(world, state, at_ease(world), workspace, state).status, StepStatus::solved) << "step " << i;
      const double back = (before - std::abs(state.q[0])) / 0.01;
      if (before > limit + 0.02) {
        EXPECT_NEAR(back, speed, 0.01 * speed) << "step " << i;
      }
      EXPECT_LE(back, 1.34 * speed) << "step " << i;
    }
    EXPECT_LE(std::abs(state.q[0]), limit);
    EXPECT_NEAR(std::abs(state.q[0]), limit, 1e-3);
  }
}

/// But for what weight makes of κ in a step, at most 100 κ.
TEST(SmoothStep, ViolatedLimitsThatAreNotToBeCorrectedStay) {
  const double kappa = 1e-6;
  WorldOptions options = smooth(0.01, kappa);
  options.contact.correction = 0.0;
  const World world(pendulum(0.0), {}, options);
  EXPECT_NEAR(run(world, {VectorX::Constant(1, 1.2), VectorX::Zero(1)}, 100).q[0], 1.2, 100 * 100.0 * kappa);
}

/// Deep, and where what is left of the violation is between nothing and all that a step does not take back.
TEST(SmoothStep, ViolatedLimitsHaveDerivatives) {
  for (const double kappa : kKappas)
    for (const double q : {1.0, 0.7075, -0.508}) {
      SCOPED_TRACE(std::to_string(kappa) + " " + std::to_string(q));
      const World world(pendulum(0.3), {}, tight(0.01, kappa));
      const State state{VectorX::Constant(1, q), VectorX::Constant(1, 0.2)};
      Workspace workspace(world);
      Tape tape;
      State next;
      ASSERT_EQ(step(world, state, at_ease(world), workspace, next, &tape).status, StepStatus::solved);
      StepJacobians jacobians;
      EXPECT_EQ(step_jacobians(world, tape, workspace, jacobians), GradientQuality::exact);
      const auto moved = [&](const VectorX& d) -> VectorX {
        return next_from(world, {state.q + d.segment(0, 1), state.v + d.segment(1, 1)}, d.segment(2, 1), next);
      };
      const Difference numeric = difference(moved, 3, 2, {.scale = std::min(1e-3, 100.0 * kappa), .noise = 1e-13});
      EXPECT_NEAR_RELATIVE(all_columns(jacobians), numeric.jacobian, 1e-6);
    }
}

TEST(SmoothStep, DryFrictionHoldsAJoint) {
  const double weight = mass_properties(Shape(Capsule{.radius = 0.05, .length = 0.6}), 200.0).mass * 9.81 * 0.3;
  const World held(pendulum(1.2 * weight), {}, smooth(0.01, 1e-8));
  EXPECT_NEAR(run(held, {VectorX::Zero(1), VectorX::Zero(1)}, 100).q[0], 0.0, 1e-4);
  const World slipping(pendulum(0.5 * weight), {}, smooth(0.01, 1e-8));
  EXPECT_GT(run(slipping, {VectorX::Zero(1), VectorX::Zero(1)}, 100).q[0], 0.5);
}

/// Two pendula of which the second follows the first, held by a connected point or not at all.
Model fingers(double multiplier) {
  ModelBuilder builder("fingers");
  const Shape rod = Capsule{.radius = 0.05, .length = 0.6};
  for (const char* name : {"one", "two"}) {
    JointSpec joint{.name = name,
                    .type = JointType::revolute,
                    .X_PJ = Pose::translation({0, name[0] == 'o' ? 0.0 : 1.0, 0}),
                    .X_CJ = Pose::translation({-0.3, 0, 0}),
                    .axis = {0, 1, 0}};
    if (name[0] == 't') joint.mimic = Mimic{"one", multiplier, 0.1};
    builder.add_body({.name = name, .inertia = mass_properties(rod, 200.0)}, joint);
  }
  return builder.build();
}

TEST(SmoothStep, MimicsFollow) {
  const World world(fingers(-0.5), {}, smooth(0.01, 1e-6));
  State state{VectorX::Zero(2), VectorX::Zero(2)};
  state.q << 0.2, 0.0;
  state.v << 1.0, -0.5;
  for (int i = 0; i < 5; ++i) {
    state = run(world, state, 20);
    EXPECT_NEAR(state.q[1], 0.1 - 0.5 * state.q[0], 1e-7);
  }
  // a mimic that is out of place comes back by a fifth of the way a step
  State wrong{VectorX::Zero(2), VectorX::Zero(2)};
  wrong.q << 0.2, 0.05;
  const State next = run(world, wrong, 1);
  EXPECT_NEAR(next.q[1] + 0.5 * next.q[0] - 0.1, 0.8 * (0.05 + 0.1 - 0.1), 1e-6);
}

TEST(SmoothStep, LoopsMoveAsInHardContact) {
  // a four-bar linkage that falls
  ModelBuilder builder("linkage");
  const Shape rod = Capsule{.radius = 0.03, .length = 0.5};
  const Pose start = Pose::translation({-0.25, 0, 0});
  const Pose end = Pose::translation({0.25, 0, 0});
  const auto add = [&](const char* name, const Pose& X_PJ, int parent) {
    return builder.add_body({.name = name, .inertia = mass_properties(rod, 500.0)},
                            {.name = name, .type = JointType::revolute, .X_PJ = X_PJ, .X_CJ = start, .axis = {0, 1, 0}},
                            parent);
  };
  const int left = add("left", Pose(), kWorld);
  const int across = add("across", end, left);
  const int right = add("right", Pose::translation({0.5, 0, 0}), kWorld);
  builder.add_constraint({.name = "loop",
                          .kind = LoopConstraint::Kind::connect,
                          .body_A = across,
                          .body_B = right,
                          .X_AC = end,
                          .X_BC = end});
  const Model model = builder.build();
  const auto swing = [&](Formulation formulation) {
    const World world(model, {}, smooth(0.001, 1e-6, formulation));
    State state{VectorX::Zero(3), VectorX::Zero(3)};
    state.q << 0.5, -0.5, 0.5;
    return run(world, state, 300);
  };
  const State relaxed = swing(Formulation::single_level);
  // a parallelogram: the redundant rows of a planar loop do no harm
  EXPECT_NEAR(relaxed.q[0], relaxed.q[2], 1e-6);
  EXPECT_NEAR(relaxed.q[0], -relaxed.q[1], 1e-6);
  EXPECT_GT(relaxed.q[0], 0.8);
  EXPECT_NEAR_ABSOLUTE(relaxed.q, swing(Formulation::lcp).q, 1e-3);
}

TEST(SmoothStep, WeldedBodiesAreOne) {
  ModelBuilder builder("welded");
  builder.add_body({.name = "floor", .shapes = {{.shape = HalfSpace{{0, 0, 1}}, .friction = 0.5}}}, {.name = "floor"});
  const Shape box = Box{.size = {0.4, 0.2, 0.2}};
  for (const char* name : {"one", "two"})
    builder.add_body(
        {.name = name, .inertia = mass_properties(box, 300.0), .shapes = {{.shape = box, .friction = 0.5}}},
        {.name = name, .type = JointType::free});
  builder.add_constraint({.name = "glue",
                          .kind = LoopConstraint::Kind::weld,
                          .body_A = 1,
                          .body_B = 2,
                          .X_AC = Pose::translation({0.2, 0, 0}),
                          .X_BC = Pose::translation({-0.21, 0, 0})});
  const World world(builder.build(), {}, smooth(0.01, 1e-6));
  State state{neutral_configuration(world.model()), VectorX::Zero(12)};
  state.q.segment<3>(0) << -0.2, 0, 0.4;
  state.q.segment<3>(7) << 0.21, 0, 0.4;  // they do not touch
  state.v[4] = state.v[10] = 2.0;
  state.v[2] = 0.4;
  state.v[8] = -0.4;
  state = run(world, state, 300);
  EXPECT_LE(state.v.norm(), 1e-4);
  // a centimetre apart still
  const Eigen::Quaterniond one(state.q[6], state.q[3], state.q[4], state.q[5]);
  EXPECT_NEAR_ABSOLUTE(Vector3(state.q.segment<3>(7)), Vector3(state.q.head<3>() + one * Vector3(0.41, 0, 0)), 1e-6);
  EXPECT_NEAR(std::abs(state.q.segment<4>(3).dot(state.q.segment<4>(10))), 1.0, 1e-9);
}

/// Without any contact too.
TEST(SmoothStep, JointRowsStartWarm) {
  const Model model = chain_of_links(4, 0.3, 0.5);
  int iterations[2] = {0, 0};
  State ends[2];
  for (const bool warm : {false, true}) {
    WorldOptions options = exactly(smooth(0.005, 1e-6));
    options.smooth.warm_start = warm;
    const World world(model, {}, options);
    Workspace workspace(world);
    State state{VectorX::Zero(4), VectorX::Zero(4)};
    int started_warm = 0;
    for (int i = 0; i < 200; ++i) {
      const StepResult& result = step(world, state, at_ease(world), workspace, state);
      ASSERT_EQ(result.status, StepStatus::solved);
      iterations[warm] += result.smooth.iterations;
      started_warm += result.smooth.rungs[static_cast<std::size_t>(SmoothRung::warm)];
    }
    EXPECT_GE(started_warm, warm ? 190 : 0);
    ends[warm] = state;
  }
  EXPECT_LT(iterations[true], 3 * iterations[false] / 4);
  EXPECT_NEAR_ABSOLUTE(ends[true].q, ends[false].q, 1e-6);
}

/// Of which derivatives allocate nothing: not sizes of shapes, nor what trees are made of.
std::vector<StepParameter> quiet_parameters(const World& world) {
  std::vector<StepParameter> out;
  for (const StepParameter& parameter : all_step_parameters(world))
    if (parameter.kind != StepParameter::Kind::shape_size) out.push_back(parameter);
  return out;
}

/// Steps, tapes and derivatives once everything has its memory.
void expect_no_allocations(const World& world, State state, std::span<const StepParameter> parameters) {
  Workspace workspace(world);
  State next = state;
  const VectorX u = at_ease(world);
  Tape tape;
  StepJacobians jacobians;
  StepParameterJacobians by_parameters;
  const StateTangent g{VectorX::Ones(world.nv()), VectorX::Ones(world.nv())};
  StateTangent before;
  VectorX g_u;
  const auto advance = [&](int steps) {
    for (int i = 0; i < steps; ++i) {
      (void)step(world, state, u, workspace, next, &tape);
      (void)step_jacobians(world, tape, workspace, jacobians);
      (void)step_vjp(world, tape, workspace, g, before, g_u);
      if (!parameters.empty()) (void)step_parameter_jacobians(world, tape, workspace, parameters, by_parameters);
      std::swap(state, next);
    }
  };
  advance(60);
  const AllocationCount count;
  advance(10);
  EXPECT_EQ(count.so_far(), 0);
}

TEST(SmoothStep, AllocatesNothingOnceWarm) {
  FreeBody box{.shape = Box{.size = {0.4, 0.5, 0.3}}, .X_WB = Pose::translation({0, 0, 0.16})};
  const FreeBody capsule{.shape = Capsule{0.1, 0.3}, .X_WB = Pose::translation({0, 0, 0.45})};
  for (const double restitution : {0.0, 0.6}) {
    const StepCase scene = free_bodies("quiet", {box, capsule}, 0.4, restitution, smooth(0.01, 1e-6));
    expect_no_allocations(scene.world, scene.state, quiet_parameters(scene.world));
  }
}

TEST(SmoothStep, AllocatesNothingForArticulatedBodies) {
  // a chain from the ceiling, closed by a loop, with a mimic, a limit and friction, on a floor
  ModelBuilder builder("chain");
  builder.add_body({.name = "floor", .shapes = {{.shape = HalfSpace{{0, 0, 1}}, .friction = 0.5}}}, {.name = "floor"});
  const Shape rod = Capsule{.radius = 0.05, .length = 0.4};
  const Pose start = Pose::translation({-0.2, 0, 0});
  int parent = kWorld;
  for (int i = 0; i < 3; ++i) {
    const std::string name = "rod" + std::to_string(i);
    JointSpec joint{.name = name,
                    .type = i == 1 ? JointType::ball : JointType::revolute,
                    .X_PJ = Pose::translation({i == 0 ? 0.0 : 0.2, 0, i == 0 ? 0.5 : 0.0}),
                    .X_CJ = start,
                    .axis = {0, 1, 0}};
    if (i == 0) joint.dofs = {{.lower = -1.0, .upper = 1.2, .damping = 0.1, .friction = 0.1}};
    if (i == 2) joint.mimic = Mimic{"rod0", 0.5, 0.0};
    parent = builder.add_body(
        {.name = name, .inertia = mass_properties(rod, 300.0), .shapes = {{.shape = rod, .friction = 0.4}}}, joint,
        parent);
  }
  builder.add_constraint({.name = "string",
                          .kind = LoopConstraint::Kind::connect,
                          .body_A = kWorld,
                          .body_B = parent,
                          .X_AC = Pose::translation({0.9, 0, 0.1}),
                          .X_BC = Pose::translation({0.2, 0, 0})});
  const World world(builder.build(), {}, smooth(0.01, 1e-6));
  expect_no_allocations(world, {neutral_configuration(world.model()), VectorX::Zero(world.nv())}, {});
}

}  // namespace
}  // namespace tangere::test
