/// Servos act at the end of the step (tangere/sim/actuation.hpp): they are springs and dampers of the joints, stable
/// however strong, and their force limits hold there too, by hard and by smooth contact.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tangere/geometry/mass_properties.hpp"
#include "tangere/math/random.hpp"
#include "tangere/multibody/inverse_dynamics.hpp"
#include "tangere/sim/step.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere::test {
namespace {

WorldOptions options_of(Formulation formulation, double time_step) {
  WorldOptions options;
  options.time_step = time_step;
  options.formulation = formulation;
  options.smooth.kappa = 1e-6;
  options.smooth.tolerance = 1e-6;
  return options;
}

class Servos : public testing::TestWithParam<Formulation> {};

/// Light links on a free or fixed base; `floor` is where their last tip touches.
Model chain(int count, double mass, bool floating, const std::vector<DofSpec>& dofs = {}) {
  ModelBuilder builder("chain");
  const Shape rod = Capsule{.radius = 0.03, .length = 0.2};
  const Shape trunk = Box{.size = {0.3, 0.2, 0.1}};
  int parent = kWorld;
  if (floating)
    parent = builder.add_body({.name = "trunk", .inertia = mass_properties(trunk, 500.0)},
                              {.name = "trunk", .type = JointType::free});
  for (int i = 0; i < count; ++i) {
    JointSpec joint{.name = "joint" + std::to_string(i),
                    .type = JointType::revolute,
                    .X_PJ = Pose::translation({i == 0 ? 0.0 : 0.2, 0.0, 0.0}),
                    .X_CJ = Pose::translation({-0.1, 0.0, 0.0}),
                    .axis = i % 2 == 0 ? Vector3(0.0, 1.0, 0.0) : Vector3(0.0, 0.6, 0.8)};
    if (!dofs.empty()) joint.dofs = {dofs[i]};
    MassProperties inertia = mass_properties(rod, 1.0);
    inertia = mass_properties(rod, mass / inertia.mass);
    parent = builder.add_body({.name = "link" + std::to_string(i), .inertia = inertia}, std::move(joint), parent);
  }
  return builder.build();
}

Actuator servo(int dof, double gain, double damping, double limit = Actuator::kInfinity) {
  return {.name = "servo" + std::to_string(dof),
          .kind = Actuator::Kind::position,
          .dof = dof,
          .gain = gain,
          .damping = damping,
          .lower_force = -limit,
          .upper_force = limit};
}

/// A position servo is the joint's own spring and damper, whatever its gear: the same steps to rounding.
TEST_P(Servos, AreSpringsAndDampersOfTheJoints) {
  const double gears[] = {1.0, -3.0, 0.5};
  const double gains[] = {2e3, 7e4, 1e-1};
  const double dampings[] = {30.0, 0.0, 200.0};
  const double targets[] = {0.4, -0.2, 0.7};
  std::vector<DofSpec> dofs(3);
  std::vector<Actuator> actuators;
  VectorX u(3);
  for (int i = 0; i < 3; ++i) {
    const double square = gears[i] * gears[i];
    dofs[i].stiffness = square * gains[i];
    dofs[i].damping = square * dampings[i];
    dofs[i].rest = targets[i];
    actuators.push_back(servo(i, gains[i], dampings[i]));
    actuators.back().gear = gears[i];
    u[i] = gears[i] * targets[i];
  }
  // the third by its general law
  actuators[2].kind = Actuator::Kind::affine;
  actuators[2].stiffness = actuators[2].gain;
  actuators[2].gain = 5.0;
  actuators[2].bias = (gains[2] - 5.0) * u[2];

  const World springs(chain(3, 0.2, false, dofs), {}, options_of(GetParam(), 2e-3));
  const World servos(chain(3, 0.2, false), actuators, options_of(GetParam(), 2e-3));
  Workspace of_springs(springs);
  Workspace of_servos(servos);
  State a{VectorX::Zero(3), Vector3(0.5, -1.0, 2.0)};
  State b = a;
  for (int i = 0; i < 100; ++i) {
    (void)step(springs, a, VectorX::Zero(3), of_springs, a);
    (void)step(servos, b, u, of_servos, b);
    ASSERT_TRUE(matrices_near(a.q, b.q, 1e-9, true));
    ASSERT_TRUE(matrices_near(a.v, b.v, 1e-9, true));
  }
}

/// Spot's gains on Spot's inertias (and stronger ones): damping dt / inertia is 400 and more, and everything comes to
/// rest. By the old state this gained a factor of 400 a step.
TEST_P(Servos, ComeToRestHoweverStrong) {
  for (const double strength : {1.0, 100.0, 1e4}) {
    SCOPED_TRACE(strength);
    std::vector<Actuator> actuators;
    for (int i = 0; i < 4; ++i) actuators.push_back(servo(i, 500.0 * strength, 40.0 * strength));
    const World world(chain(4, 0.05, false), actuators, options_of(GetParam(), 2e-3));
    Workspace workspace(world);
    State state{VectorX::Zero(4), VectorX::Constant(4, 3.0)};
    const VectorX u = VectorX::Constant(4, 0.3);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(step(world, state, u, workspace, state).status, StepStatus::solved);
    EXPECT_LT(state.v.norm(), 1e-6);
    EXPECT_LT((state.q - u).norm(), 1e-2);
  }
}

/// The force of every step is what the law says at its end, within its limits: by inverse dynamics at the step's
/// acceleration. At random states and controls, weak and strong, on a fixed and on a floating base.
TEST_P(Servos, GiveTheForceOfTheEndOfTheStep) {
  Random random(7);
  const double dt = 2e-3;
  int counts[3] = {};
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(trial);
    const int first = trial % 2 == 0 ? 0 : 6;
    std::vector<Actuator> actuators;
    for (int i = 0; i < 4; ++i) {
      Actuator one = servo(first + i, std::pow(10.0, random.uniform(0.0, 6.0)),
                           std::pow(10.0, random.uniform(-2.0, 4.0)), std::pow(10.0, random.uniform(-1.0, 3.0)));
      if (random.uniform(0.0, 1.0) < 0.3) one.kind = Actuator::Kind::velocity;
      one.gear = random.uniform(-3.0, 3.0);
      actuators.push_back(one);
    }
    const World world(chain(4, 0.2, first > 0), actuators, options_of(GetParam(), dt));
    State state{VectorX::Zero(world.nq()), VectorX::Zero(world.nv())};
    if (first > 0) state.q[6] = 1.0;
    VectorX u(4);
    for (int i = 0; i < 4; ++i) {
      state.q[world.nq() - 4 + i] = random.uniform(-1.0, 1.0);
      state.v[first + i] = random.uniform(-3.0, 3.0);
      u[i] = random.uniform(-1.0, 1.0);
    }
    Workspace workspace(world);
    Tape tape;
    State next;
    ASSERT_EQ(step(world, state, u, workspace, next, &tape).status, StepStatus::solved);
    VectorX acceleration = (tape.v_plus - state.v) / dt;
    if (first > 0) acceleration.head<3>() -= state.v.segment<3>(3).cross(state.v.head<3>());
    Data data(world.model());
    const VectorX tau = inverse_dynamics(world.model(), data, state.q, state.v, acceleration);
    for (int i = 0; i < 4; ++i) {
      const Actuator& one = actuators[i];
      const double q = state.q[world.nq() - 4 + i];
      const double v = tape.v_plus[one.dof];
      const ActuatorLaw law = law_of(one);
      const double output = law.gain * u[i] - law.stiffness * one.gear * (q + dt * v) - law.damping * one.gear * v;
      const double force = one.gear * std::clamp(output, one.lower_force, one.upper_force);
      const double rounding = std::abs(law.gain * u[i]) + std::abs(law.damping * one.gear * v);
      EXPECT_NEAR(tau[one.dof], force, 1e-8 * (1.0 + tau.cwiseAbs().maxCoeff() + rounding));
      ++counts[output > one.upper_force ? 0 : output < one.lower_force ? 1 : 2];
    }
  }
  for (const int count : counts) EXPECT_GT(count, 100);
}

/// A slide pressed against a wall by a servo that wants to be far behind it: the wall feels the largest force, and a
/// servo that is not at its limit the force of its spring.
TEST_P(Servos, PressByNoMoreThanTheirLimit) {
  for (const double limit : {5.0, 1e6}) {
    ModelBuilder builder("press");
    builder.add_body({.name = "wall", .shapes = {{.name = "wall", .shape = HalfSpace{-Vector3::UnitX(), 0.0}}}},
                     {.name = "wall"});
    const Shape box = Box{.size = {0.1, 0.1, 0.1}};
    builder.add_body({.name = "hand", .inertia = mass_properties(box, 1000.0), .shapes = {{.shape = box}}},
                     {.name = "slide", .type = JointType::prismatic, .axis = Vector3::UnitX()});
    const World world(builder.build(), {servo(0, 1e4, 100.0, limit)}, options_of(GetParam(), 2e-3));
    Workspace workspace(world);
    State state{VectorX::Constant(1, -0.06), VectorX::Zero(1)};
    const VectorX u = VectorX::Constant(1, 0.2);
    for (int i = 0; i < 500; ++i) ASSERT_EQ(step(world, state, u, workspace, state).status, StepStatus::solved);
    Vector3 force = Vector3::Zero();
    const StepResult& result = step(world, state, u, workspace, state);
    for (const Contact& contact : result.contacts) force += contact.frame * contact.impulse / 2e-3;
    EXPECT_NEAR(std::abs(force.x()), std::min(limit, 1e4 * 0.25), 1e-3 * std::min(limit, 2500.0));
    EXPECT_NEAR(state.q[0], -0.05, 1e-4);
  }
}

std::string formulation_name(const testing::TestParamInfo<Formulation>& info) {
  return std::string(to_string(info.param));
}

INSTANTIATE_TEST_SUITE_P(Formulations, Servos,
                         testing::Values(Formulation::lcp, Formulation::single_level, Formulation::bilevel),
                         formulation_name);

}  // namespace
}  // namespace tangere::test
