/// Laws of a step with smooth contact: rest, flight, collisions, friction, limits; that scale, place and order do not
/// matter; what is refused.

#include <gtest/gtest.h>

#include <cmath>

#include <Eigen/Geometry>

#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/proximity/distance.hpp"
#include "tangere/sim/rollout.hpp"
#include "tests/support/all_shapes.hpp"
#include "tests/support/allocation.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/step_cases.hpp"

namespace tangere::test {
namespace {

WorldOptions smooth(double time_step, double kappa, Formulation formulation = Formulation::single_level) {
  WorldOptions options;
  options.time_step = time_step;
  options.formulation = formulation;
  options.smooth.kappa = kappa;
  return options;
}

/// To rounding, nearly.
WorldOptions exactly(WorldOptions options) {
  options.smooth.tolerance = 1e-11 / options.smooth.kappa;
  return options;
}

VectorX at_ease(const World& world) { return VectorX::Zero(world.nu()); }

Shape cube(double size) { return Box{.size = Vector3::Constant(size)}; }

/// Steps, all of which must be solved; the last state.
State run(const World& world, State state, int steps, const VectorX& u = {}) {
  Workspace workspace(world);
  const VectorX control = u.size() > 0 ? u : VectorX::Zero(world.nu());
  for (int i = 0; i < steps; ++i)
    EXPECT_EQ(step(world, state, control, workspace, state).status, StepStatus::solved) << "step " << i;
  return state;
}

/// The deepest penetration of all pairs of shapes, by the distance query.
double smallest_distance(const World& world, const State& state) {
  Data data(world.model());
  forward_kinematics(world.model(), data, state.q);
  double smallest = 1e9;
  DistanceWorkspace workspace;
  const auto count = static_cast<int>(world.scene().shapes().size());
  for (int a = 0; a < count; ++a)
    for (int b = a + 1; b < count; ++b) {
      const CollisionShape& A = world.scene().shape(world.model(), a);
      const CollisionShape& B = world.scene().shape(world.model(), b);
      const Pose X_A =
          body_pose(world.model(), data, world.scene().shapes()[static_cast<std::size_t>(a)].body) * A.X_BS;
      const Pose X_B =
          body_pose(world.model(), data, world.scene().shapes()[static_cast<std::size_t>(b)].body) * B.X_BS;
      smallest = std::min(smallest, distance(A.shape, X_A, B.shape, X_B, {}, workspace).distance);
    }
  return smallest;
}

/// Of free bodies, by the velocity that the centre of mass had over the step.
double energy(const World& world, const State& state) {
  double total = 0.0;
  const double h = world.options().time_step;
  for (int b = 0; b < world.model().num_bodies(); ++b) {
    const Joint& joint = world.model().joint(b);
    if (joint.nv != 6) continue;
    const MassProperties& inertia = world.model().body(b).spec.inertia;
    const Eigen::Quaterniond turned(state.q[joint.first_q + 6], state.q[joint.first_q + 3], state.q[joint.first_q + 4],
                                    state.q[joint.first_q + 5]);
    const Vector3 w = state.v.segment<3>(joint.first_v + 3);
    const Eigen::Quaterniond before(1.0, -0.5 * h * w[0], -0.5 * h * w[1], -0.5 * h * w[2]);
    const Vector3 velocity =
        Vector3(state.v.segment<3>(joint.first_v)) + (inertia.center - before.normalized() * inertia.center) / h;
    const Vector3 center = Vector3(state.q.segment<3>(joint.first_q)) + turned * inertia.center;
    total += 0.5 * inertia.mass * velocity.squaredNorm() + 0.5 * w.dot(inertia.inertia * w) -
             inertia.mass * world.model().gravity().dot(center);
  }
  return total;
}

/// The momentum that free bodies keep (contact/free_mover.hpp): linear, and angular about the world's origin.
Vector6 discrete_total(const World& world, const State& state) {
  Vector6 total = Vector6::Zero();
  const double h = world.options().time_step;
  for (int b = 0; b < world.model().num_bodies(); ++b) {
    const Joint& joint = world.model().joint(b);
    if (joint.nv != 6) continue;
    const MassProperties& inertia = world.model().body(b).spec.inertia;
    const Eigen::Quaterniond quaternion(state.q[joint.first_q + 6], state.q[joint.first_q + 3],
                                        state.q[joint.first_q + 4], state.q[joint.first_q + 5]);
    const Matrix3 R = quaternion.toRotationMatrix();
    const Vector3 r = state.q.segment<3>(joint.first_q);
    const Vector3 P = inertia.mass * (R * state.v.segment<3>(joint.first_v));
    const Vector3 w = state.v.segment<3>(joint.first_v + 3);
    const Vector3 L = inertia.inertia * w;
    const Vector3 spin = L - 0.5 * h * w.cross(L) + 0.25 * h * h * w.dot(L) * w;
    total.head<3>() += P;
    total.tail<3>() += r.cross(P) + R * spin;
  }
  return total;
}

/// No floor, no gravity.
World in_space(const std::vector<Shape>& shapes, const WorldOptions& options, double friction = 0.5) {
  ModelBuilder builder("space");
  builder.set_gravity(Vector3::Zero());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    MassProperties inertia = mass_properties(shapes[i]);
    inertia.inertia /= inertia.mass;
    inertia.mass = 1.0;
    builder.add_body({.name = "body" + std::to_string(i),
                      .inertia = inertia,
                      .shapes = {{.shape = shapes[i], .friction = friction}}},
                     {.type = JointType::free});
  }
  return World(builder.build(), {}, options);
}

TEST(SmoothStep, BoxAtRestStaysAtEveryKappa) {
  for (const double kappa : {1e-3, 1e-4, 1e-6, 1e-8})
    for (const double dt : {0.05, 0.01}) {
      const StepCase scene = free_bodies("rest", {{.shape = cube(0.5), .X_WB = Pose::translation({0, 0, 0.25})}}, 0.5,
                                         0.0, smooth(dt, kappa));
      State state = run(scene.world, scene.state, static_cast<int>(2.0 / dt));
      EXPECT_LE(state.v.norm(), 1e-7) << kappa << " " << dt;
      EXPECT_LE(state.q.head<2>().norm(), 1e-9);
      EXPECT_GE(smallest_distance(scene.world, state), -1e-12);
      // the gap that the relaxation keeps
      EXPECT_LE(state.q[2] - 0.25, 20.0 * kappa);
    }
}

/// The paper's Appendix C: a box on the ground. The solution is known, and the Jacobian has full rank though any point
/// of the face could be the contact point.
TEST(SmoothStep, BoxOnGroundIsSolvedExactlyAndHasAJacobian) {
  const double dt = 0.01;
  const double kappa = 1e-6;
  const StepCase scene = free_bodies("ground", {{.shape = cube(1.0), .X_WB = Pose::translation({0.3, -0.2, 0.5})}}, 0.5,
                                     0.0, exactly(smooth(dt, kappa)));
  State state = run(scene.world, scene.state, 400);
  Workspace workspace(scene.world);
  Tape tape;
  State next;
  const StepResult& result = step(scene.world, state, at_ease(scene.world), workspace, next, &tape);
  ASSERT_EQ(result.contacts.size(), 1U);
  const Contact& contact = result.contacts[0];
  // weight times time, under the centre
  EXPECT_NEAR(contact.impulse[0], 9.81 * dt, 1e-6);
  EXPECT_NEAR(contact.impulse.tail<2>().norm(), 0.0, 1e-7);
  EXPECT_NEAR_ABSOLUTE(Vector3(contact.frame.col(0).cwiseAbs()), Vector3(0, 0, 1), 1e-9);
  EXPECT_NEAR_ABSOLUTE(Vector2(contact.point.head<2>()), Vector2(state.q.head<2>()), 1e-6);
  EXPECT_NEAR(contact.point.z(), 0.0, 1e-4);
  // γ (α − 1 − d κ) = κ in units of the box: m √(g l), l its half diagonal; seven faces are in play
  const double l = std::sqrt(0.75);
  const double alpha = contact.distance * 2.0 + 1.0;
  const double gamma = contact.impulse[0] / std::sqrt(9.81 * l);
  EXPECT_NEAR(gamma * (alpha - 1.0 - 7.0 * kappa), kappa, 1e-3 * kappa);
  StepJacobians jacobians;
  step_jacobians(scene.world, tape, workspace, jacobians);
  ASSERT_TRUE(jacobians.v_q.allFinite());
  // pushed into the ground it is thrown out, beside that position and attitude do not act
  EXPECT_NEAR(jacobians.v_q(2, 2), -1.0 / dt, 2e-2 / dt);
}

TEST(SmoothStep, TowersStand) {
  for (const int count : {4, 10}) {
    std::vector<FreeBody> bodies;
    for (int i = 0; i < count; ++i)
      bodies.push_back({.shape = cube(0.5), .X_WB = Pose::translation({0.02 * (i % 2), 0, 0.25 + 0.5 * i})});
    const StepCase scene = free_bodies("tower", bodies, 0.5, 0.0, smooth(0.02, 1e-8));
    const State state = run(scene.world, scene.state, 500);
    EXPECT_LE(state.v.norm(), 1e-6) << count;
    EXPECT_NEAR(state.q[7 * (count - 1) + 2], 0.25 + 0.5 * (count - 1), 1e-3);
  }
}

/// Shapes that drop onto the floor: what touches never penetrates, loses energy, and keeps to the cone.
class SmoothDrop : public testing::TestWithParam<NamedShape> {};

TEST_P(SmoothDrop, DoesNotPenetrateGainEnergyOrLeaveTheCone) {
  const Shape& shape = GetParam().shape;
  Random random(17);
  for (const double kappa : {1e-3, 1e-6}) {
    const double size = shape.parts()[0].set->outer_radius;
    const double dt = 0.02 * std::sqrt(size);
    FreeBody body{.shape = shape, .X_WB = {random.rotation(), Vector3(0, 0, 2.5 * size)}};
    body.velocity << random.normal3() * std::sqrt(size), random.normal3() / std::sqrt(size);
    const StepCase scene = free_bodies("drop", {body}, 0.4, 0.0, smooth(dt, kappa));
    Workspace workspace(scene.world);
    State state = scene.state;
    double before = energy(scene.world, state);
    for (int i = 0; i < 100; ++i) {
      const StepResult& result = step(scene.world, state, at_ease(scene.world), workspace, state);
      ASSERT_EQ(result.status, StepStatus::solved) << "step " << i;
      EXPECT_GE(smallest_distance(scene.world, state), -1e-7 * size) << "step " << i;
      const double after = energy(scene.world, state);
      // the relaxation works, and a step this long, at the end of which contact is judged, turns energy by some 1e-3
      EXPECT_LE(after, before + 9.81 * size * (20.0 * kappa + 2e-3)) << "step " << i;
      before = after;
      for (const Contact& contact : result.contacts)
        EXPECT_LE(contact.impulse.tail<2>().norm(), contact.friction * contact.impulse[0] * (1.0 + 1e-6) + 1e-9);
    }
  }
}

std::vector<NamedShape> droppable() {
  std::vector<NamedShape> out;
  for (const NamedShape& entry : all_shapes()) {
    const double radius = entry.shape.parts()[0].set->outer_radius;
    const double inner = entry.shape.parts()[0].set->inner_radius;
    // needles and grains have tests of their own: a step of 0.02 √l is long for them
    if (!entry.shape.is_half_space() && inner > 0.1 * radius) out.push_back(entry);
  }
  return out;
}
INSTANTIATE_TEST_SUITE_P(Shapes, SmoothDrop, testing::ValuesIn(droppable()),
                         shape_test_name<testing::TestParamInfo<NamedShape>>);

TEST(SmoothStep, FreeFlightKeepsMomentumToRounding) {
  const World world = in_space({Box{.size = {0.3, 0.5, 0.9}}}, smooth(0.01, 1e-6));
  State state{neutral_configuration(world.model()), VectorX::Zero(6)};
  state.v << 1.0, -2.0, 0.5, 4.0, 0.1, 5.0;
  const Vector6 before = discrete_total(world, state);
  state = run(world, state, 1000);
  EXPECT_NEAR_ABSOLUTE(discrete_total(world, state), before, 1e-11);
}

TEST(SmoothStep, CollisionsKeepMomentum) {
  for (const double kappa : {1e-4, 1e-8}) {
    const World world = in_space(
        {Box{.size = {0.4, 0.5, 0.6}}, Cone{.height = 0.8, .half_angle = 0.4}, Capsule{.radius = 0.1, .length = 0.5}},
        smooth(0.01, kappa));
    State state{neutral_configuration(world.model()), VectorX::Zero(18)};
    state.q.segment<3>(7) << 1.0, 0.1, 0.05;
    state.q.segment<3>(14) << -0.9, 0.1, -0.1;
    state.v.segment<6>(6) << -1.5, 0.0, 0.0, 0.5, 1.0, 2.0;
    state.v.segment<6>(12) << 1.2, 0.1, 0.1, 1.0, 0.0, 0.3;
    const Vector6 before = discrete_total(world, state);
    Workspace workspace(world);
    double largest = 0.0;
    for (int i = 0; i < 100; ++i) {
      const StepResult& result = step(world, state, VectorX::Zero(18), workspace, state);
      ASSERT_EQ(result.status, StepStatus::solved);
      ASSERT_EQ(result.smooth.rungs[static_cast<std::size_t>(SmoothRung::half_steps)], 0);
      for (const Contact& contact : result.contacts) largest = std::max(largest, contact.impulse[0]);
    }
    EXPECT_GT(largest, 0.3);
    const Vector6 drift = discrete_total(world, state) - before;
    EXPECT_LE(drift.cwiseAbs().maxCoeff(), kappa <= 1e-8 ? 1e-8 : 1e-4) << kappa;
  }
}

TEST(SmoothStep, SizesAndMassesAreTheSameProblem) {
  // 2⁸ in length, 2⁴ in time: gravity stays; every number is scaled by a power of two, so bits stay too
  const auto states = [](double length, double mass) {
    const double time = std::sqrt(length);
    FreeBody body{.shape = Box{.size = {0.5 * length, 0.25 * length, 0.75 * length}},
                  .X_WB = {so3::exp(Vector3(0.3, 0.2, -0.5)), Vector3(0, 0, length)},
                  .mass = mass};
    body.velocity << Vector3(0.5, -0.25, -1.0) * length / time, Vector3(1.0, 2.0, -0.5) / time;
    const StepCase scene = free_bodies("scaled", {body}, 0.5, 0.0, smooth(0.015625 * time, 1e-6));
    std::vector<State> out;
    State state = scene.state;
    Workspace workspace(scene.world);
    for (int i = 0; i < 80; ++i) {
      EXPECT_EQ(step(scene.world, state, at_ease(scene.world), workspace, state).status, StepStatus::solved);
      out.push_back({state.q, state.v});
      out.back().q.head<3>() /= length;
      out.back().v.head<3>() *= time / length;
      out.back().v.tail<3>() *= time;
    }
    return out;
  };
  const std::vector<State> reference = states(1.0, 1.0);
  for (const auto& [length, mass] : {std::pair{256.0, 1024.0}, std::pair{1.0 / 256.0, 1.0 / 1024.0}}) {
    const std::vector<State> scaled = states(length, mass);
    for (std::size_t i = 0; i < reference.size(); ++i) {
      ASSERT_EQ((scaled[i].q - reference[i].q).norm(), 0.0) << "step " << i << " at " << length << " m";
      ASSERT_EQ((scaled[i].v - reference[i].v).norm(), 0.0);
    }
  }
}

TEST(SmoothStep, OrderOfBodiesDoesNotMatter) {
  const Shape box = Box{.size = {0.6, 0.6, 0.2}};
  const Shape ball = Sphere{0.2};
  const auto states = [&](bool swapped) {
    const World world =
        in_space(swapped ? std::vector<Shape>{ball, box} : std::vector<Shape>{box, ball}, smooth(0.01, 1e-6));
    const int of_ball = swapped ? 0 : 1;
    State state{neutral_configuration(world.model()), VectorX::Zero(12)};
    state.q.segment<3>(7 * of_ball) << 0.1, 0.05, 0.5;
    state.v.segment<6>(6 * of_ball) << 0.3, 0.1, -1.0, 0.0, 1.0, 0.0;
    state = run(world, state, 60);
    VectorX out(26);
    const int of_box = 1 - of_ball;
    out << state.q.segment<7>(7 * of_ball), state.q.segment<7>(7 * of_box), state.v.segment<6>(6 * of_ball),
        state.v.segment<6>(6 * of_box);
    return out;
  };
  const VectorX one = states(false);
  // the box was hit
  EXPECT_LT(one[14 + 6 + 2], -0.1);
  EXPECT_NEAR_ABSOLUTE(one, states(true), 1e-6);
}

TEST(SmoothStep, TurnedAndShiftedScenesMoveAlike) {
  const auto final_height = [](const Pose& X) {
    FreeBody box{.shape = Box{.size = {0.4, 0.5, 0.3}},
                 .X_WB = X * Pose(so3::exp(Vector3(0.2, 0.4, 0.1)), {0, 0, 0.5})};
    box.velocity << 1.0, 0.5, 0.0, 0.5, 0.0, 1.0;
    const StepCase scene = free_bodies("turned", {box}, 0.4, 0.0, smooth(0.01, 1e-6));
    const State state = run(scene.world, scene.state, 100);
    const Vector3 p = X.inverse() * Vector3(state.q.head<3>());
    VectorX out(9);
    out << p, state.v;
    return out;
  };
  const VectorX reference = final_height(Pose());
  EXPECT_NEAR_ABSOLUTE(final_height(Pose(so3::exp(Vector3(0, 0, 0.7)), Vector3(3, -2, 0))), reference, 1e-6);
}

TEST(SmoothStep, AgreesWithHardContactWhereThatIsUnambiguous) {
  const auto final_state = [](Formulation formulation, const FreeBody& body) {
    const StepCase scene = free_bodies("both", {body}, 0.3, 0.0, smooth(0.005, 1e-8, formulation));
    return run(scene.world, scene.state, 60);
  };
  // a ball that drops and rolls, a box that slides
  FreeBody ball{.shape = Sphere{0.25}, .X_WB = Pose::translation({0, 0, 0.3})};
  ball.velocity << 1.0, 0.0, 0.0, 0.0, 0.0, 0.0;
  FreeBody box{.shape = cube(0.4), .X_WB = Pose::translation({0, 0, 0.2})};
  box.velocity << 0.8, 0.0, 0.0, 0.0, 0.0, 0.0;
  for (const FreeBody& body : {ball, box}) {
    const State hard = final_state(Formulation::lcp, body);
    const State relaxed = final_state(Formulation::single_level, body);
    EXPECT_NEAR_ABSOLUTE(VectorX(relaxed.q.head<3>()), VectorX(hard.q.head<3>()), 5e-3);
    EXPECT_NEAR_ABSOLUTE(relaxed.v, hard.v, 5e-2);
  }
}

TEST(SmoothStep, BilevelGivesTheSameMotion) {
  FreeBody box{.shape = Box{.size = {0.4, 0.5, 0.3}}, .X_WB = {so3::exp(Vector3(0.3, 0.2, 0.1)), Vector3(0, 0, 0.45)}};
  box.velocity << 0.5, 0.2, -0.5, 0.5, 1.0, 0.0;
  const FreeBody capsule{.shape = Capsule{0.1, 0.3}, .X_WB = {so3::exp(Vector3(0.1, 0.5, 0.0)), Vector3(0.05, 0, 0.9)}};
  for (const double kappa : {1e-3, 1e-6}) {
    const StepCase one = free_bodies("one", {box, capsule}, 0.4, 0.0, exactly(smooth(0.01, kappa)));
    const StepCase two =
        free_bodies("two", {box, capsule}, 0.4, 0.0, exactly(smooth(0.01, kappa, Formulation::bilevel)));
    Workspace workspace(one.world);
    Workspace other(two.world);
    State state = one.state;
    const VectorX u = at_ease(one.world);
    int compared = 0;
    for (int i = 0; i < 60; ++i) {
      State by_bilevel;
      const StepResult& result = step(two.world, state, u, other, by_bilevel);
      ASSERT_EQ(result.status, StepStatus::solved) << "step " << i;
      // impacts that only the single level solves in one: two half steps are another discretisation
      const bool halved = result.smooth.rungs[static_cast<std::size_t>(SmoothRung::half_steps)] > 0;
      ASSERT_EQ(step(one.world, state, u, workspace, state).status, StepStatus::solved) << "step " << i;
      if (halved) continue;
      EXPECT_NEAR_ABSOLUTE(state.v, by_bilevel.v, 1e-5) << "step " << i << " at " << kappa;
      ++compared;
    }
    EXPECT_GE(compared, 50) << kappa;
  }
}

TEST(SmoothStep, FrictionHoldsAndLetsGo) {
  // a push below and above friction times weight
  const StepCase scene =
      free_bodies("push", {{.shape = cube(0.4), .X_WB = Pose::translation({0, 0, 0.2})}}, 0.5, 0.0, smooth(0.01, 1e-8));
  VectorX u = VectorX::Zero(6);
  u[0] = 0.45 * 9.81;
  EXPECT_LE(run(scene.world, scene.state, 100, u).v.head<3>().norm(), 1e-4);
  u[0] = 0.55 * 9.81;
  const State sliding = run(scene.world, scene.state, 100, u);
  EXPECT_NEAR(sliding.v[0], 0.05 * 9.81, 0.02);
}

TEST(SmoothStep, WithoutFrictionNothingSlowsDown) {
  FreeBody box{.shape = cube(0.4), .X_WB = Pose::translation({0, 0, 0.2})};
  box.velocity[0] = 1.0;
  const StepCase scene = free_bodies("ice", {box}, 0.0, 0.0, smooth(0.01, 1e-6));
  EXPECT_NEAR(run(scene.world, scene.state, 100).v[0], 1.0, 1e-9);
}

TEST(SmoothStep, TorsionStopsWhatIsFlatAndOnlyThat) {
  FreeBody box{.shape = cube(0.4), .X_WB = Pose::translation({0, 0, 0.2})};
  box.velocity[5] = 3.0;
  FreeBody ball{.shape = Sphere{0.2}, .X_WB = Pose::translation({0, 0, 0.2})};
  ball.velocity[5] = 3.0;
  const auto spin = [](const FreeBody& body, double torsion) {
    WorldOptions options = smooth(0.01, 1e-6);
    options.smooth.torsion = torsion;
    const StepCase scene = free_bodies("spin", {body}, 0.5, 0.0, options);
    return run(scene.world, scene.state, 100).v[5];
  };
  EXPECT_LE(std::abs(spin(box, 0.2)), 1e-3);
  EXPECT_NEAR(spin(box, 0.0), 3.0, 1e-2);
  EXPECT_NEAR(spin(ball, 0.2), 3.0, 1e-3);
}

TEST(SmoothStep, PyramidsOfFrictionHoldToo) {
  WorldOptions options = smooth(0.01, 1e-8);
  options.smooth.friction = FrictionShape::pyramid;
  FreeBody box{.shape = cube(0.4), .X_WB = Pose::translation({0, 0, 0.2})};
  box.velocity << 0.5, 0.2, 0.0, 0.0, 0.0, 0.3;
  const StepCase scene = free_bodies("pyramid", {box}, 0.5, 0.0, options);
  const State state = run(scene.world, scene.state, 150);
  EXPECT_LE(state.v.norm(), 1e-4);
  EXPECT_GT(state.q[0], 0.01);
}

TEST(SmoothStep, WarmAndColdStartsEndAtTheSamePlace) {
  FreeBody box{.shape = Box{.size = {0.4, 0.5, 0.3}}, .X_WB = {so3::exp(Vector3(0.4, 0.2, 0.1)), Vector3(0, 0, 0.6)}};
  box.velocity << 0.5, 0.0, -1.0, 1.0, 1.0, 0.0;
  WorldOptions options = exactly(smooth(0.01, 1e-6));
  const StepCase warm = free_bodies("warm", {box}, 0.4, 0.0, options);
  options.smooth.warm_start = false;
  const StepCase cold = free_bodies("cold", {box}, 0.4, 0.0, options);
  Workspace workspace(warm.world);
  Workspace other(cold.world);
  State state = warm.state;
  int warm_iterations = 0;
  int cold_iterations = 0;
  for (int i = 0; i < 120; ++i) {
    State by_cold;
    cold_iterations += step(cold.world, state, at_ease(cold.world), other, by_cold).smooth.iterations;
    warm_iterations += step(warm.world, state, at_ease(warm.world), workspace, state).smooth.iterations;
    EXPECT_NEAR_ABSOLUTE(state.v, by_cold.v, 1e-6) << "step " << i;
  }
  EXPECT_LT(warm_iterations, cold_iterations * 3 / 4);
}

/// The highest point after the first bounce.
double rebound_height(const World& world, State state, double radius) {
  Workspace workspace(world);
  bool bounced = false;
  double highest = 0.0;
  for (int i = 0; i < 2000; ++i) {
    const double before = state.v[2];
    EXPECT_EQ(step(world, state, at_ease(world), workspace, state).status, StepStatus::solved);
    bounced = bounced || (before < 0.0 && state.v[2] > 0.0);
    if (bounced) highest = std::max(highest, state.q[2] - radius);
    if (bounced && state.v[2] < 0.0) break;
  }
  return highest;
}

TEST(SmoothStep, BallsBounceToTheSquareOfRestitution) {
  // the floor's restitution is 0.9
  const double radius = 0.1;
  const double height = 1.0;
  for (const Formulation formulation : {Formulation::single_level, Formulation::bilevel})
    for (const double restitution : {0.5, 0.8, 1.0})
      for (const double dt : {0.01, 0.001}) {
        const StepCase scene =
            free_bodies("ball", {{.shape = Sphere{radius}, .X_WB = Pose::translation({0, 0, radius + height})}}, 0.5,
                        restitution, smooth(dt, 1e-6, formulation));
        const double e = 0.9 * restitution;
        // the impact lies within a step, at either end of which the ball moves at √(2 g h)
        const double allowed = 3.0 * dt * std::sqrt(2.0 * 9.81 * height);
        EXPECT_NEAR(rebound_height(scene.world, scene.state, radius), e * e * height, allowed) << dt;
      }
}

/// The energy that flights of such steps keep: half the velocity's way of a step is not yet fallen.
double flight_energy(const World& world, const State& state) {
  const double h = world.options().time_step;
  const Eigen::Quaterniond turned(state.q[6], state.q[3], state.q[4], state.q[5]);
  const Vector3 velocity = turned * Vector3(state.v.head<3>());
  return energy(world, state) + 0.5 * h * world.model().gravity().dot(velocity);
}

TEST(SmoothStep, BouncesDoNotGainEnergyAndComeToRest) {
  const Shape shapes[] = {Sphere{0.2}, Box{.size = {0.4, 0.3, 0.2}}, Capsule{0.1, 0.3}};
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(shape.type_name());
    FreeBody body{.shape = shape, .X_WB = {so3::exp(Vector3(0.3, 0.2, 0.1)), Vector3(0, 0, 0.8)}};
    body.velocity << 0.3, 0.1, 0.0, 0.5, -0.3, 0.2;
    const StepCase scene = free_bodies("bounce", {body}, 0.3, 0.8, smooth(0.002, 1e-8));
    Workspace workspace(scene.world);
    State state = scene.state;
    const double start = flight_energy(scene.world, state);
    double before = start;
    double fastest_up = 0.0;
    for (int i = 0; i < 2500; ++i) {
      ASSERT_EQ(step(scene.world, state, at_ease(scene.world), workspace, state).status, StepStatus::solved) << i;
      EXPECT_GE(smallest_distance(scene.world, state), -1e-9) << i;
      const double after = flight_energy(scene.world, state);
      EXPECT_LE(after, before + 2e-3 * start) << i;
      before = after;
      fastest_up = std::max(fastest_up, state.v[2]);
    }
    EXPECT_GT(fastest_up, 1.0);
    // it has come down: no hovering, no trembling (what is round may roll)
    EXPECT_LE(smallest_distance(scene.world, state), 1e-5);
    const Eigen::Quaterniond turned(state.q[6], state.q[3], state.q[4], state.q[5]);
    EXPECT_LE(std::abs((turned * Vector3(state.v.head<3>())).z()), 1e-3);
  }
}

TEST(SmoothStep, RestitutionThatIsNotThereChangesNothing) {
  FreeBody box{.shape = cube(0.4), .X_WB = {so3::exp(Vector3(0.3, 0.2, 0.1)), Vector3(0, 0, 0.5)}};
  box.velocity << 0.5, 0.2, -1.0, 0.5, 1.0, 0.0;
  const auto final_state = [&](double restitution, double bounce_speed) {
    WorldOptions options = smooth(0.01, 1e-6);
    options.contact.bounce_speed = bounce_speed;
    const StepCase scene = free_bodies("box", {box}, 0.4, restitution, options);
    return run(scene.world, scene.state, 60);
  };
  const State plain = final_state(0.0, 0.1);
  // impacts too slow to bounce
  const State slow = final_state(0.5, 100.0);
  EXPECT_EQ((plain.q - slow.q).norm() + (plain.v - slow.v).norm(), 0.0);
  EXPECT_GT((plain.q - final_state(0.5, 0.1).q).norm(), 1e-3);
}

TEST(SmoothStep, EqualBallsExchangeVelocities) {
  // the public report of Nimble's bounce: the first stands where the second goes on
  ModelBuilder builder("balls");
  builder.set_gravity(Vector3::Zero());
  for (const char* name : {"one", "two"})
    builder.add_body({.name = name,
                      .inertia = mass_properties(Shape(Sphere{0.1}), 1.0 / mass_properties(Shape(Sphere{0.1})).mass),
                      .shapes = {{.shape = Sphere{0.1}, .friction = 0.0, .restitution = 1.0}}},
                     {.name = name, .type = JointType::free});
  const World world(builder.build(), {}, smooth(0.01, 1e-8));
  State state{neutral_configuration(world.model()), VectorX::Zero(12)};
  state.q[7] = 0.52;
  state.v[0] = 1.0;
  state = run(world, state, 100);
  EXPECT_NEAR(state.v[0], 0.0, 1e-3);
  EXPECT_NEAR(state.v[6], 1.0, 1e-3);
  EXPECT_NEAR(state.q[7], 1.2, 0.02);
}

TEST(SmoothStep, BundlesAndSumsTouchByTheirParts) {
  // a dumbbell lies on two balls; a rounded box by its rounding
  const Shape dumbbell =
      Bundle{{{Sphere{0.1}, Pose::translation({-0.3, 0, 0})}, {Sphere{0.1}, Pose::translation({0.3, 0, 0})}}};
  const Shape rounded = MinkowskiSum{{{Box{.size = {0.3, 0.2, 0.1}}, Pose()}, {Sphere{0.05}, Pose()}}};
  const StepCase one = free_bodies("dumbbell", {{.shape = dumbbell, .X_WB = Pose::translation({0, 0, 0.12})}}, 0.5, 0.0,
                                   smooth(0.01, 1e-6));
  const State lying = run(one.world, one.state, 100);
  EXPECT_NEAR(lying.q[2], 0.1, 1e-4);
  EXPECT_LE(lying.v.norm(), 1e-5);
  const StepCase two = free_bodies("rounded", {{.shape = rounded, .X_WB = Pose::translation({0, 0, 0.12})}}, 0.5, 0.0,
                                   smooth(0.01, 1e-6));
  const State resting = run(two.world, two.state, 100);
  EXPECT_NEAR(resting.q[2], 0.1, 1e-4);
}

/// A pendulum with limits and dry friction.
Model pendulum(double friction) {
  ModelBuilder builder("pendulum");
  const Shape rod = Capsule{.radius = 0.05, .length = 0.6};
  builder.add_body({.name = "arm", .inertia = mass_properties(rod, 200.0)},
                   {.name = "hinge",
                    .type = JointType::revolute,
                    .X_CJ = Pose::translation({-0.3, 0, 0}),
                    .axis = {0, 1, 0},
                    .dofs = {{.lower = -0.5, .upper = 0.7, .friction = friction}}});
  return builder.build();
}

TEST(SmoothStep, JointsStopAtTheirLimits) {
  const World world(pendulum(0.0), {}, smooth(0.01, 1e-6));
  State state{VectorX::Zero(1), VectorX::Zero(1)};
  state = run(world, state, 200);
  EXPECT_LE(state.q[0], 0.7);
  EXPECT_NEAR(state.q[0], 0.7, 1e-3);
  EXPECT_LE(std::abs(state.v[0]), 1e-6);
}

TEST(SmoothStep, DryFrictionHoldsAJoint) {
  const double weight = mass_properties(Shape(Capsule{.radius = 0.05, .length = 0.6}), 200.0).mass * 9.81 * 0.3;
  const World held(pendulum(1.2 * weight), {}, smooth(0.01, 1e-8));
  EXPECT_NEAR(run(held, {VectorX::Zero(1), VectorX::Zero(1)}, 100).q[0], 0.0, 1e-4);
  const World slipping(pendulum(0.5 * weight), {}, smooth(0.01, 1e-8));
  EXPECT_GT(run(slipping, {VectorX::Zero(1), VectorX::Zero(1)}, 100).q[0], 0.5);
}

TEST(SmoothStep, AllocatesNothingOnceWarm) {
  FreeBody box{.shape = Box{.size = {0.4, 0.5, 0.3}}, .X_WB = Pose::translation({0, 0, 0.16})};
  const FreeBody capsule{.shape = Capsule{0.1, 0.3}, .X_WB = Pose::translation({0, 0, 0.45})};
  const StepCase scene = free_bodies("quiet", {box, capsule}, 0.4, 0.0, smooth(0.01, 1e-6));
  Workspace workspace(scene.world);
  State state = scene.state;
  State next = state;
  const VectorX u = at_ease(scene.world);
  Tape tape;
  StepJacobians jacobians;
  for (int i = 0; i < 60; ++i) {
    (void)step(scene.world, state, u, workspace, next, &tape);
    step_jacobians(scene.world, tape, workspace, jacobians);
    std::swap(state, next);
  }
  const AllocationCount count;
  for (int i = 0; i < 10; ++i) {
    (void)step(scene.world, state, u, workspace, next, &tape);
    step_jacobians(scene.world, tape, workspace, jacobians);
    std::swap(state, next);
  }
  EXPECT_EQ(count.so_far(), 0);
}

TEST(SmoothStep, RolloutsGoBackOverCheckpoints) {
  FreeBody box{.shape = Box{.size = {0.4, 0.5, 0.3}}, .X_WB = {so3::exp(Vector3(0.1, 0.2, 0)), Vector3(0, 0, 0.4)}};
  const StepCase scene = free_bodies("rollout", {box}, 0.4, 0.0, smooth(0.01, 1e-3));
  const auto gradient = [&](int tapes) {
    Rollout rollout(scene.world, {.max_tapes = tapes});
    rollout.run(scene.state, MatrixX::Zero(6, 40));
    std::vector<StateTangent> g(41);
    g.back() = {VectorX::Ones(6), VectorX::Zero(6)};
    StateTangent start;
    MatrixX controls;
    rollout.reverse(g, start, controls);
    VectorX out(12);
    out << start.q, start.v;
    return out;
  };
  EXPECT_EQ((gradient(100) - gradient(7)).norm(), 0.0);
}

TEST(SmoothStep, RefusesWhatItCannotDo) {
  const Model model = pendulum(0.0);
  EXPECT_THROW(World(model, {}, smooth(0.01, 0.0)), InputError);
  EXPECT_THROW(World(model, {}, smooth(0.01, 1.0)), InputError);
  WorldOptions options = smooth(0.01, 1e-6);
  options.integrator = Integrator::explicit_position;
  EXPECT_THROW(World(model, {}, options), InputError);
  options = smooth(0.01, 1e-6);
  options.smooth.max_iterations = 0;
  EXPECT_THROW(World(model, {}, options), InputError);
  ModelBuilder builder(model);
  builder.add_constraint({.name = "held", .kind = LoopConstraint::Kind::weld, .body_A = kWorld, .body_B = 0});
  const Model welded = builder.build();
  EXPECT_THROW(World(welded, {}, smooth(0.01, 1e-6)), InputError);
  options = smooth(0.01, 1e-6);
  options.contact.constraints = false;
  EXPECT_NO_THROW(World(welded, {}, options));
  EXPECT_THROW((void)formulation_from("soft"), InputError);
  EXPECT_EQ(formulation_from("single_level"), Formulation::single_level);
}

}  // namespace
}  // namespace tangere::test
