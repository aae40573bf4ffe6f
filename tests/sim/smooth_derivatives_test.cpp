/// Derivatives of steps with smooth contact beside finite differences of the relaxed step: every shape, what sticks,
/// slides, separates and hits, free and articulated, at κ from 1e-2 to 1e-6; parameters; what hovers; and the limit.

#include <gtest/gtest.h>

#include <cmath>

#include <Eigen/Geometry>

#include "tangere/geometry/bounds.hpp"
#include "tangere/math/random.hpp"
#include "tangere/math/so3.hpp"
#include "tests/sim/smooth_differences.hpp"
#include "tests/support/all_shapes.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere::test {
namespace {

/// Above the floor, in shares of the shape's size.
struct Regime {
  const char* name;
  Vector3 velocity;
  double height;
  double push;
};

class SmoothShape : public testing::TestWithParam<NamedShape> {};

TEST_P(SmoothShape, DerivativesAreThoseOfTheRelaxedStep) {
  const Shape& shape = GetParam().shape;
  const double size = shape.parts()[0].set->outer_radius;
  const double speed = std::sqrt(9.81 * size);
  const Regime regimes[] = {{"sticks", {0.0, 0.0, 0.0}, 0.0, 0.2},
                            {"slides", {0.7, 0.3, 0.0}, 0.0, 0.0},
                            {"separates", {0.2, 0.1, 0.5}, 0.02, 0.0},
                            {"hits", {0.3, -0.2, -1.5}, 0.01, 0.0}};
  const Matrix3 R = so3::exp(Vector3(0.4, -0.3, 0.2));
  for (const Regime& regime : regimes)
    for (const double kappa : kKappas) {
      SCOPED_TRACE(std::string(regime.name) + " at " + std::to_string(kappa));
      // touching: as high as its lowest point is deep
      const double depth = -bounds(shape, Pose::rotation(R)).lower.z();
      FreeBody body{.shape = shape, .X_WB = {R, Vector3(0, 0, depth + regime.height * size)}};
      body.velocity.head<3>() = R.transpose() * (speed * regime.velocity);
      const double dt = 0.03 * std::sqrt(size / 9.81);
      const StepCase scene = free_bodies("one", {body}, 0.4, 0.0, tight(dt, kappa));
      VectorX u = VectorX::Zero(6);
      u.head<3>() = R.transpose() * Vector3(regime.push * 9.81, 0, 0);
      expect_derivatives(scene.world, scene.state, u, kappa);
    }
}

std::vector<NamedShape> one_of_each() {
  std::vector<NamedShape> out;
  std::vector<std::string> seen;
  for (const NamedShape& entry : all_shapes()) {
    const std::string type(entry.shape.type_name());
    if (entry.shape.is_half_space() || std::find(seen.begin(), seen.end(), type) != seen.end()) continue;
    seen.push_back(type);
    out.push_back(entry);
  }
  return out;
}
INSTANTIATE_TEST_SUITE_P(Shapes, SmoothShape, testing::ValuesIn(one_of_each()),
                         shape_test_name<testing::TestParamInfo<NamedShape>>);

/// An arm of a hinge and a ball joint, a floating robot with a limit, and a ball that falls on it.
struct Scene {
  Model model;
  State state;
};

Scene arm() {
  ModelBuilder builder("arm");
  builder.add_body({.name = "floor", .shapes = {{.shape = HalfSpace{{0, 0, 1}}, .friction = 0.6}}},
                   {.name = "floor", .type = JointType::fixed});
  const Shape rod = Capsule{.radius = 0.05, .length = 0.4};
  const Pose end = Pose::translation({0.2, 0, 0});
  const Pose start = Pose::translation({-0.2, 0, 0});
  const int upper = builder.add_body({.name = "upper", .inertia = mass_properties(rod, 1000.0)},
                                     {.name = "shoulder",
                                      .type = JointType::revolute,
                                      .X_PJ = Pose::translation({0, 0, 0.5}),
                                      .X_CJ = start,
                                      .axis = {0, 1, 0}});
  builder.add_body(
      {.name = "lower", .inertia = mass_properties(rod, 1000.0), .shapes = {{.shape = rod, .friction = 0.5}}},
      {.name = "elbow", .type = JointType::ball, .X_PJ = end, .X_CJ = start}, upper);
  Scene scene{builder.build(), {}};
  scene.state = {neutral_configuration(scene.model), VectorX::Zero(4)};
  scene.state.q[0] = 0.63;
  const Vector3 axis = Vector3(0.3, 0.8, 0.1).normalized();
  scene.state.q.segment<4>(1) << std::sin(0.15) * axis, std::cos(0.15);
  scene.state.v << 2.0, 0.5, 0.3, 0.2;
  return scene;
}

Scene floating_robot() {
  ModelBuilder builder("robot");
  builder.add_body({.name = "floor", .shapes = {{.shape = HalfSpace{{0, 0, 1}}, .friction = 0.6}}},
                   {.name = "floor", .type = JointType::fixed});
  const Shape trunk = Box{.size = {0.3, 0.2, 0.1}};
  const Shape rod = Capsule{.radius = 0.04, .length = 0.2};
  const Shape ball = Sphere{0.06};
  const int base = builder.add_body(
      {.name = "trunk", .inertia = mass_properties(trunk, 1000.0), .shapes = {{.shape = trunk, .friction = 0.5}}},
      {.name = "base", .type = JointType::free});
  builder.add_body(
      {.name = "leg", .inertia = mass_properties(rod, 1000.0), .shapes = {{.shape = rod, .friction = 0.4}}},
      {.name = "hip",
       .type = JointType::revolute,
       .X_PJ = Pose::translation({0.2, 0, 0}),
       .X_CJ = Pose::translation({-0.14, 0, 0}),
       .axis = {0, 1, 0},
       .dofs = {{.lower = -1.0, .upper = 0.5, .damping = 0.1, .friction = 0.2}}},
      base);
  builder.add_body(
      {.name = "ball", .inertia = mass_properties(ball, 1000.0), .shapes = {{.shape = ball, .friction = 0.3}}},
      {.name = "ball", .type = JointType::free});
  Scene scene{builder.build(), {}};
  scene.state = {neutral_configuration(scene.model), VectorX::Zero(13)};
  scene.state.q.segment<7>(0) << 0, 0, 0.15, 0.1, 0.2, 0, 1;
  scene.state.q.segment<4>(3).normalize();
  scene.state.q[7] = 0.45;
  scene.state.q.segment<3>(8) << 0, 0, 0.29;
  scene.state.v << 0.5, 0.2, -2.0, 0.3, 1.0, 0.5, 1.5, 0.2, 0.1, -1.5, 0.0, 1.0, 0.0;
  return scene;
}

/// Two arms that hold each other by a point, a gripper whose second finger follows the first, and a box welded to a
/// free one, over a floor. That is not quite level: boxes around level floors are tight, so that by any tilt more pairs
/// hover.
Scene linked() {
  ModelBuilder builder("linked");
  builder.add_body({.name = "floor", .shapes = {{.shape = HalfSpace{{0.01, 0.02, 1}}, .friction = 0.6}}},
                   {.name = "floor", .type = JointType::fixed});
  const Shape rod = Capsule{.radius = 0.04, .length = 0.3};
  const Pose start = Pose::translation({-0.15, 0, 0});
  const auto add_rod = [&](const std::string& name, const Pose& X_PJ, int parent, JointType type) {
    return builder.add_body(
        {.name = name, .inertia = mass_properties(rod, 1000.0), .shapes = {{.shape = rod, .friction = 0.5}}},
        {.name = name, .type = type, .X_PJ = X_PJ, .X_CJ = start, .axis = {0, 1, 0}}, parent);
  };
  const Pose end = Pose::translation({0.15, 0, 0});
  const int left = add_rod("left", Pose::translation({-0.4, 0, 0.3}), kWorld, JointType::revolute);
  const int middle = add_rod("middle", end, left, JointType::ball);
  const int right = add_rod("right", Pose::translation({0.4, 0, 0.3}), kWorld, JointType::ball);
  const int finger = add_rod("finger", Pose::translation({0, 0.5, 0.21}), kWorld, JointType::revolute);
  JointSpec second{.name = "second",
                   .type = JointType::revolute,
                   .X_PJ = end,
                   .X_CJ = start,
                   .axis = {0, 1, 0},
                   .mimic = Mimic{"finger", 0.7, 0.02}};
  builder.add_body({.name = "second", .inertia = mass_properties(rod, 1000.0), .shapes = {{.shape = rod}}}, second,
                   finger);
  const Shape box = Box{.size = {0.2, 0.15, 0.1}};
  int boxes[2];
  for (const int i : {0, 1})
    boxes[i] = builder.add_body(
        {.name = "box" + std::to_string(i), .inertia = mass_properties(box, 500.0), .shapes = {{.shape = box}}},
        {.name = "box" + std::to_string(i), .type = JointType::free});
  builder.add_constraint({.name = "hand",
                          .kind = LoopConstraint::Kind::connect,
                          .body_A = middle,
                          .body_B = right,
                          .X_AC = end,
                          .X_BC = Pose({so3::exp(Vector3(0.1, 0.2, 0.3)), Vector3(0.15, 0.01, 0)})});
  builder.add_constraint({.name = "glue",
                          .kind = LoopConstraint::Kind::weld,
                          .body_A = boxes[0],
                          .body_B = boxes[1],
                          .X_AC = Pose(so3::exp(Vector3(0.2, 0.1, 0)), Vector3(0.15, 0, 0)),
                          .X_BC = Pose::translation({-0.12, 0, 0})});
  Scene scene{builder.build(), {}};
  const int nv = scene.model.nv();
  scene.state = {neutral_configuration(scene.model), VectorX::Zero(nv)};
  scene.state.q[scene.model.joint(left).first_q] = 0.7;
  scene.state.q[scene.model.joint(finger).first_q] = 0.3;
  scene.state.q[scene.model.joint(finger + 1).first_q] = 0.25;
  for (const int i : {0, 1}) {
    const int q = scene.model.joint(boxes[i]).first_q;
    scene.state.q.segment<3>(q) = Vector3(0.28 * i, -0.5, 0.07 + 0.02 * i);
    const Vector3 axis = Vector3(0.3, 0.8, 0.1).normalized();
    scene.state.q.segment<4>(q + 3) << std::sin(0.05) * axis, std::cos(0.05);
  }
  Random random(3);
  for (int k = 0; k < nv; ++k) scene.state.v[k] = 0.5 * random.normal();
  return scene;
}

/// The same with shapes that bounce.
Scene elastic(const Scene& scene) {
  ModelBuilder builder(scene.model);
  for (int b = 0; b < scene.model.num_bodies(); ++b) {
    BodySpec body = scene.model.body(b).spec;
    for (CollisionShape& shape : body.shapes) shape.restitution = 0.8;
    builder.set_body(b, std::move(body));
  }
  return {builder.build(), scene.state};
}

TEST(SmoothDerivatives, OfLoopsAndMimics) {
  for (const double kappa : kKappas) {
    SCOPED_TRACE(kappa);
    const Scene scene = linked();
    const World world(scene.model, {}, tight(0.01, kappa));
    expect_derivatives(world, scene.state, VectorX::Constant(world.nu(), 0.1), kappa);
    expect_parameter_derivatives(world, scene.state, kappa);
  }
}

TEST(SmoothDerivatives, OfArticulatedBodies) {
  for (const double kappa : kKappas) {
    SCOPED_TRACE(kappa);
    const Scene swinging = arm();
    const World world(swinging.model, {}, tight(0.01, kappa));
    expect_derivatives(world, swinging.state, VectorX::Constant(4, 0.1), kappa);
    const Scene robot = floating_robot();
    const World other(robot.model, {}, tight(0.01, kappa));
    expect_derivatives(other, robot.state, VectorX::Constant(13, 0.1), kappa);
  }
}

/// Velocities of steps that are solved to the default tolerance have the derivatives of those that are solved to
/// rounding: everything is taken where the refinements end, the inverse dynamics of trees too.
TEST(SmoothDerivatives, OfTreesDoNotDependOnTheTolerance) {
  // free joints have their velocities in axes as the step turned them, solved to the tolerance
  for (const double kappa : {1e-2, 1e-3, 1e-4})
    for (const auto& [scene, within] : {std::pair{arm(), 1e-6}, std::pair{floating_robot(), 1e-3}}) {
      SCOPED_TRACE(kappa);
      WorldOptions options = tight(0.01, kappa);
      const World exact(scene.model, {}, options);
      options.smooth.tolerance = SmoothContact().tolerance;
      const World rough(scene.model, {}, options);
      const auto jacobians = [&exact](const World& world, State state, int steps) {
        Workspace workspace(exact);
        Tape tape;
        StepJacobians out;
        for (int i = 0; i < steps; ++i) {
          State next;
          EXPECT_EQ(step(exact, state, VectorX::Zero(world.nu()), workspace, next).status, StepStatus::solved);
          state = next;
        }
        Workspace other(world);
        State next;
        EXPECT_EQ(step(world, state, VectorX::Zero(world.nu()), other, next, &tape).status, StepStatus::solved);
        EXPECT_EQ(step_jacobians(world, tape, other, out), GradientQuality::exact);
        return MatrixX(all_columns(out).bottomRows(world.nv()));
      };
      for (const int steps : {0, 3, 6})
        EXPECT_NEAR_RELATIVE(jacobians(rough, scene.state, steps), jacobians(exact, scene.state, steps), within);
    }
}

/// Servos much stiffer than what they move, within and beyond their force limits.
TEST(SmoothDerivatives, OfServos) {
  for (const StepCase& one : all_step_cases()) {
    if (one.name != "ArmWithStiffServos" && one.name != "ArmWithLimitedServos") continue;
    for (const double kappa : kKappas) {
      SCOPED_TRACE(one.name + " at " + std::to_string(kappa));
      const World world(one.world.model(), one.world.actuators(), tight(2e-3, kappa));
      Workspace workspace(world);
      Tape tape;
      State next;
      ASSERT_EQ(step(world, one.state, one.u, workspace, next, &tape).status, StepStatus::solved);
      if (one.name == "ArmWithLimitedServos") {
        EXPECT_EQ(tape.regions[1], ActuatorRegion::upper);
        EXPECT_EQ(tape.regions[2], ActuatorRegion::lower);
      }
      // controls move by this over dt: small enough that no force reaches the end of its range
      expect_derivatives(world, one.state, one.u, kappa, 1e-6, 1e-5);
      expect_parameter_derivatives(world, one.state, one.u, kappa);
    }
  }
}

TEST(SmoothDerivatives, OfBodiesThatHitEachOther) {
  for (const double kappa : kKappas) {
    SCOPED_TRACE(kappa);
    FreeBody box{.shape = Box{.size = {0.2, 0.3, 0.1}}, .X_WB = Pose::translation({0, 0, 0.05})};
    FreeBody capsule{.shape = Capsule{0.05, 0.2},
                     .X_WB = {so3::exp(Vector3(0.2, 0.4, 0.2)), Vector3(0.01, 0.02, 0.17)},
                     .mass = 0.3};
    capsule.velocity << 0.3, 0.2, -1.5, 1.0, 2.0, 0.5;
    const StepCase scene = free_bodies("pile", {box, capsule}, 0.5, 0.0, tight(0.01, kappa));
    expect_derivatives(scene.world, scene.state, VectorX::Zero(12), kappa);
  }
}

/// Elastic: free and articulated bodies; by the relaxed law everything is smooth, the edge of a bounce too.
TEST(SmoothDerivatives, OfWhatBounces) {
  for (const double kappa : kKappas) {
    SCOPED_TRACE(kappa);
    FreeBody box{.shape = Box{.size = {0.2, 0.3, 0.1}},
                 .X_WB = {so3::exp(Vector3(0.3, 0.2, 0.1)), Vector3(0, 0, 0.14)}};
    box.velocity << 0.5, 0.2, -2.0, 1.0, 2.0, 0.5;
    FreeBody ball{.shape = Ellipsoid{.semi_axes = {0.06, 0.05, 0.07}}, .X_WB = Pose::translation({0.01, 0.02, 0.29})};
    ball.velocity << 0.2, -0.1, -4.0, 0.5, 0.0, 1.0;
    const StepCase scene = free_bodies("pair", {box, ball}, 0.5, 0.7, tight(0.01, kappa));
    expect_derivatives(scene.world, scene.state, VectorX::Zero(12), kappa);
    const Scene robot = elastic(floating_robot());
    expect_derivatives(World(robot.model, {}, tight(0.01, kappa)), robot.state, VectorX::Constant(13, 0.1), kappa);
  }
}

/// Several contact points a pair: each is as smooth as the first, in the state and in parameters.
TEST(SmoothDerivatives, OfSeveralPoints) {
  for (const double kappa : kKappas) {
    SCOPED_TRACE(kappa);
    WorldOptions options = tight(0.01, kappa);
    options.smooth.points = 5;
    FreeBody box{.shape = Box{.size = {0.2, 0.3, 0.1}},
                 .X_WB = {so3::exp(Vector3(0.03, 0.02, 0.3)), Vector3(0, 0, 0.06)}};
    box.velocity << 0.5, 0.2, -1.0, 0.2, 0.1, 0.5;
    const StepCase scene = free_bodies("box", {box}, 0.5, 0.0, options);
    expect_derivatives(scene.world, scene.state, VectorX::Zero(6), kappa);
    expect_parameter_derivatives(scene.world, scene.state, kappa);
  }
}

/// A ball that just reaches the floor, just fast enough to bounce: half-way up both gates of rebound.hpp.
TEST(SmoothDerivatives, AtTheEdgeOfABounce) {
  const double kappa = 1e-4;
  const double dt = 0.01;
  const double radius = 0.2;
  const double width = std::sqrt(kappa);
  const double restitution = 0.9 * 0.7;  // the floor's and the ball's
  WorldOptions options = tight(dt, kappa);
  options.contact.bounce_speed = restitution * (1.0 - 0.5 * width);
  FreeBody ball{.shape = Sphere{radius}};
  ball.velocity << 0.1, 0.0, -1.0, 0.0, 0.4, 0.0;
  // relaxed, it is higher by the shift of its contact: both are its two cones
  ball.X_WB.p.z() = radius + dt * (1.0 - 0.5 * width);
  const StepCase scene = free_bodies("edge", {ball}, 0.5, 0.7, options);
  Workspace workspace(scene.world);
  State next;
  ASSERT_EQ(step(scene.world, scene.state, VectorX::Zero(6), workspace, next).status, StepStatus::solved);
  EXPECT_GT(next.v[2], -0.9);
  EXPECT_LT(next.v[2], restitution - 0.1);
  // the gate is a tenth of a millimetre wide
  expect_derivatives(scene.world, scene.state, VectorX::Zero(6), kappa, 1e-6, 1e-5);
}

TEST(SmoothDerivatives, OfBilevelContactAreThoseOfTheSingleLevel) {
  FreeBody box{.shape = Box{.size = {0.2, 0.3, 0.1}}, .X_WB = Pose::translation({0, 0, 0.05})};
  FreeBody capsule{.shape = Capsule{0.05, 0.2}, .X_WB = {so3::exp(Vector3(0.2, 0.4, 0.2)), Vector3(0.01, 0.02, 0.17)}};
  capsule.velocity << 0.3, 0.2, -1.5, 1.0, 2.0, 0.5;
  const auto jacobians = [&](Formulation formulation) {
    WorldOptions options = tight(0.01, 1e-4);
    options.formulation = formulation;
    const StepCase scene = free_bodies("pile", {box, capsule}, 0.5, 0.0, options);
    Workspace workspace(scene.world);
    Tape tape;
    State next;
    EXPECT_EQ(step(scene.world, scene.state, VectorX::Zero(12), workspace, next, &tape).status, StepStatus::solved);
    StepJacobians out;
    (void)step_jacobians(scene.world, tape, workspace, out);
    return all_columns(out);
  };
  EXPECT_NEAR_RELATIVE(jacobians(Formulation::bilevel), jacobians(Formulation::single_level), 1e-6);
}

TEST(SmoothDerivatives, InParametersOfFreeBodies) {
  FreeBody box{.shape = Box{.size = {0.2, 0.3, 0.1}}, .X_WB = {so3::exp(Vector3(0.3, 0.2, 0.1)), Vector3(0, 0, 0.14)}};
  box.velocity << 0.5, 0.2, -2.0, 1.0, 2.0, 0.5;
  FreeBody ball{
      .shape = Ellipsoid{.semi_axes = {0.06, 0.05, 0.07}}, .X_WB = Pose::translation({0.01, 0.02, 0.29}), .mass = 0.4};
  ball.velocity << 0.2, -0.1, -4.0, 0.5, 0.0, 1.0;
  for (const double kappa : kKappas)
    for (const double restitution : {0.0, 0.7}) {
      SCOPED_TRACE(std::to_string(kappa) + " " + std::to_string(restitution));
      const StepCase scene = free_bodies("pair", {box, ball}, 0.5, restitution, tight(0.01, kappa));
      expect_parameter_derivatives(scene.world, scene.state, kappa);
    }
}

TEST(SmoothDerivatives, InParametersOfArticulatedBodies) {
  for (const double kappa : kKappas) {
    SCOPED_TRACE(kappa);
    for (const Scene& scene : {arm(), floating_robot(), elastic(arm()), elastic(floating_robot())})
      expect_parameter_derivatives(World(scene.model, {}, tight(0.01, kappa)), scene.state, kappa);
  }
}

/// What hovers, round or flat, has the derivatives of its step, and they say so: parallel faces too, which the relaxed
/// step turns by an amount of order one within a tilt of the order of κ.
TEST(SmoothDerivatives, OfWhatHovers) {
  const Shape shapes[] = {Sphere{0.2}, Ellipsoid{{0.1, 0.15, 0.2}}, Box{.size = {0.4, 0.4, 0.4}}, Capsule{0.2, 0.3}};
  for (const Shape& shape : shapes)
    for (const double kappa : kKappas)
      for (const double tilt : {0.0, 0.1}) {
        SCOPED_TRACE(std::string(shape.type_name()) + " " + std::to_string(kappa) + " " + std::to_string(tilt));
        const Matrix3 R = so3::exp(tilt * Vector3(1.0, 0.7, 0.3));
        const double height = 0.005 - bounds(shape, Pose::rotation(R)).lower.z();
        FreeBody body{.shape = shape, .X_WB = {R, Vector3(0, 0, height)}};
        body.velocity << 0.2, 0.1, -0.3, 0.0, 0.0, 0.2;
        const StepCase scene = free_bodies("hover", {body}, 0.5, 0.0, tight(0.01, kappa));
        // the band of a parallel face is as wide as κ
        expect_derivatives(scene.world, scene.state, VectorX::Zero(6), kappa, 1e-6, kappa);
        Workspace workspace(scene.world);
        Tape tape;
        State next;
        (void)step(scene.world, scene.state, VectorX::Zero(6), workspace, next, &tape);
        StepJacobians jacobians;
        EXPECT_EQ(step_jacobians(scene.world, tape, workspace, jacobians), GradientQuality::exact);
      }
}

/// Nothing is left out at some κ and not at others: along a schedule gradients of what touches change with κ alone.
TEST(SmoothDerivatives, DoNotJumpAlongAScheduleOfKappa) {
  FreeBody box{.shape = Box{.size = {0.2, 0.3, 0.1}}, .X_WB = {so3::exp(Vector3(0.02, 0.01, 0)), Vector3(0, 0, 0.056)}};
  box.velocity << 0.1, 0.0, -0.2, 0.0, 0.1, 0.0;
  const auto gradient = [&](double kappa) {
    const StepCase scene = free_bodies("box", {box}, 0.5, 0.0, tight(0.01, kappa));
    Workspace workspace(scene.world);
    Tape tape;
    State next;
    EXPECT_EQ(step(scene.world, scene.state, VectorX::Zero(6), workspace, next, &tape).status, StepStatus::solved);
    StepJacobians out;
    EXPECT_EQ(step_jacobians(scene.world, tape, workspace, out), GradientQuality::exact);
    return out.v_v;
  };
  MatrixX last = gradient(1e-3);
  for (double kappa = 1e-3; kappa > 1e-6; kappa *= 0.98) {
    const MatrixX now = gradient(kappa);
    EXPECT_NEAR_RELATIVE(now, last, 0.05) << kappa;
    last = now;
  }
}

/// dv'/dv of a step, hard or relaxed, gaps closed at once.
MatrixX velocity_jacobian(const Model& model, const State& state, Formulation formulation, double kappa) {
  WorldOptions options = tight(0.002, kappa);
  options.formulation = formulation;
  options.contact.correction = 1.0;
  options.hard.touching = 0.0;
  options.contact.correction_speed = 1e6;
  const World world(model, {}, options);
  Workspace workspace(world);
  Tape tape;
  State next;
  EXPECT_EQ(step(world, state, VectorX::Zero(world.nu()), workspace, next, &tape).status, StepStatus::solved);
  StepJacobians out;
  (void)step_jacobians(world, tape, workspace, out);
  return out.v_v;
}

/// The relaxed gradient comes nearer to the hard one as κ → 0. What is left is that contact is at the end of the step
/// in the one and at its beginning in the other, O(dt).
void expect_hard_limit(const Model& model, const State& state, const std::vector<int>& dofs) {
  const MatrixX hard = velocity_jacobian(model, state, Formulation::lcp, 1e-6);
  double last = 1e9;
  for (const double kappa : {1e-3, 1e-5, 1e-7}) {
    const MatrixX relaxed = velocity_jacobian(model, state, Formulation::single_level, kappa);
    double error = 0.0;
    for (const int i : dofs)
      for (const int k : dofs) error = std::max(error, std::abs(relaxed(i, k) - hard(i, k)));
    EXPECT_LE(error, last + 1e-9) << kappa;
    last = error;
  }
  EXPECT_LE(last, 0.01);
}

TEST(SmoothDerivatives, TendToThoseOfHardContact) {
  struct Case {
    const char* name;
    double height;
    Vector3 velocity;
    std::vector<int> dofs;
  };
  const std::vector<int> all = {0, 1, 2, 3, 4, 5};
  // where it slides: in the plane of sliding only, as the box of hard friction holds across it
  const Case cases[] = {{"sticks", 0.2, {0, 0, -0.5}, all},
                        {"slides", 0.2, {1.5, 0, -0.1}, {0, 2, 4}},
                        {"separates", 0.2005, {0.1, 0.2, 1.0}, all},
                        {"hits", 0.202, {0, 0, -2.0}, all}};
  for (const Case& regime : cases) {
    SCOPED_TRACE(regime.name);
    FreeBody ball{.shape = Sphere{0.2}, .X_WB = Pose::translation({0, 0, regime.height})};
    ball.velocity.head<3>() = regime.velocity;
    const StepCase scene = free_bodies("ball", {ball}, 0.3, 0.0, tight(0.002, 1e-6));
    expect_hard_limit(scene.world.model(), scene.state, regime.dofs);
  }
}

/// A double pendulum whose end hits the floor and sticks there in the plane.
TEST(SmoothDerivatives, OfArticulatedBodiesTendToThoseOfHardContact) {
  ModelBuilder builder("pendulum");
  builder.add_body({.name = "floor", .shapes = {{.shape = HalfSpace{{0, 0, 1}}, .friction = 0.9}}}, {.name = "floor"});
  const Shape rod = Capsule{.radius = 0.05, .length = 0.4};
  const Pose start = Pose::translation({-0.2, 0, 0});
  const int upper = builder.add_body({.name = "upper", .inertia = mass_properties(rod, 500.0)},
                                     {.name = "shoulder",
                                      .type = JointType::revolute,
                                      .X_PJ = Pose::translation({0, 0, 0.5}),
                                      .X_CJ = start,
                                      .axis = {0, 1, 0}});
  builder.add_body(
      {.name = "lower", .inertia = mass_properties(rod, 500.0), .shapes = {{.shape = rod, .friction = 0.9}}},
      {.name = "elbow",
       .type = JointType::revolute,
       .X_PJ = Pose::translation({0.2, 0, 0}),
       .X_CJ = start,
       .axis = {0, 1, 0}},
      upper);
  const Model model = builder.build();
  // the lower end is a radius above the floor: 0.5 − 0.4 sin a − 0.4 sin b = 0.05
  State state{VectorX::Zero(2), VectorX::Zero(2)};
  const double a = 0.3;
  const double b = std::asin((0.45 - 0.4 * std::sin(a)) / 0.4);
  state.q << a, b - a;
  state.v << 0.5, 0.5;
  expect_hard_limit(model, state, {0, 1});
}

}  // namespace
}  // namespace tangere::test
