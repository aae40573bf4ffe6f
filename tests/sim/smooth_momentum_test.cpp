/// Momentum in steps with smooth contact: of free bodies it is kept to rounding, linear and angular, in flight and when
/// they hit each other; wherever their mass is, however long the steps are, and however well these are solved.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <Eigen/Geometry>

#include "tangere/math/random.hpp"
#include "tangere/multibody/energy.hpp"
#include "tests/sim/smooth_differences.hpp"
#include "tests/sim/smooth_support.hpp"
#include "tests/support/all_shapes.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere::test {
namespace {

struct Flyer {
  Shape shape;
  Vector3 position = Vector3::Zero();
  Vector6 velocity = Vector6::Zero();
  /// Of the mass from the joint's origin, beside the shape's own centre.
  Vector3 off_center = Vector3::Zero();
};

/// Frictions differ, so that derivatives in them are unambiguous.
Model in_space(const std::vector<Flyer>& flyers, double friction, double restitution) {
  ModelBuilder builder("space");
  builder.set_gravity(Vector3::Zero());
  for (std::size_t i = 0; i < flyers.size(); ++i) {
    MassProperties inertia = mass_properties(flyers[i].shape);
    inertia.inertia /= inertia.mass;
    inertia.mass = 1.0;
    inertia.center += flyers[i].off_center;
    builder.add_body({.name = "body" + std::to_string(i),
                      .inertia = inertia,
                      .shapes = {{.shape = flyers[i].shape,
                                  .friction = friction + 0.1 * static_cast<double>(i),
                                  .restitution = restitution}}},
                     {.type = JointType::free});
  }
  return builder.build();
}

State start_of(const Model& model, const std::vector<Flyer>& flyers) {
  State state{neutral_configuration(model), VectorX::Zero(model.nv())};
  for (std::size_t i = 0; i < flyers.size(); ++i) {
    state.q.segment<3>(static_cast<Eigen::Index>(7 * i)) = flyers[i].position;
    state.v.segment<6>(static_cast<Eigen::Index>(6 * i)) = flyers[i].velocity;
  }
  return state;
}

/// Linear, and angular about the world's origin.
Vector6 momentum(const Model& model, const State& state) {
  Data data(model);
  forward_kinematics(model, data, state.q, state.v);
  Vector6 out = centroidal_momentum(model, data);
  out.tail<3>() += center_of_mass(model, data).cross(Vector3(out.head<3>()));
  return out;
}

double kinetic(const Model& model, const State& state) {
  Data data(model);
  forward_kinematics(model, data, state.q, state.v);
  return kinetic_energy(model, data, state.v);
}

/// A brick that tumbles, its mass where it is and beside it.
std::vector<Flyer> brick(const Vector3& off_center) {
  Flyer out{.shape = Box{.size = {0.3, 0.5, 0.9}}, .position = {0.2, -0.1, 0.4}, .off_center = off_center};
  out.velocity << 1.0, -2.0, 0.5, 4.0, 0.1, 5.0;
  return {out};
}

/// A box that is hit by a spinning cone and by a capsule.
std::vector<Flyer> pile_up(const Vector3& off_center) {
  std::vector<Flyer> out = {
      {.shape = Box{.size = {0.4, 0.5, 0.6}}, .off_center = off_center},
      {.shape = Cone{.height = 0.8, .half_angle = 0.4}, .position = {1.0, 0.1, 0.05}, .off_center = -off_center},
      {.shape = Capsule{.radius = 0.1, .length = 0.5}, .position = {-0.9, 0.1, -0.1}, .off_center = off_center}};
  out[1].velocity << -1.5, 0.0, 0.0, 0.5, 1.0, 2.0;
  out[2].velocity << 1.2, 0.1, 0.1, 1.0, 0.0, 0.3;
  return out;
}

const Vector3 kOffCenters[] = {Vector3::Zero(), Vector3(0.05, -0.08, 0.06)};

TEST(SmoothMomentum, IsKeptInFlightAndEnergyToo) {
  for (const Vector3& off_center : kOffCenters) {
    const std::vector<Flyer> flyers = brick(off_center);
    const World world(in_space(flyers, 0.5, 0.0), {}, smooth(0.01, 1e-6));
    const State start = start_of(world.model(), flyers);
    const State end = run(world, start, 1000);
    EXPECT_NEAR_RELATIVE(momentum(world.model(), end), momentum(world.model(), start), 1e-12);
    EXPECT_NEAR_RELATIVE(kinetic(world.model(), end), kinetic(world.model(), start), 1e-12);
  }
}

/// Stored velocities are those of the body, and know nothing of the step that led to them.
TEST(SmoothMomentum, IsKeptWhereTheTimeStepChanges) {
  for (const Vector3& off_center : kOffCenters) {
    const std::vector<Flyer> flyers = brick(off_center);
    const Model model = in_space(flyers, 0.5, 0.0);
    State state = start_of(model, flyers);
    const Vector6 before = momentum(model, state);
    for (const double dt : {0.02, 0.001, 0.01, 0.005, 0.03}) state = run(World(model, {}, smooth(dt, 1e-6)), state, 10);
    EXPECT_NEAR_RELATIVE(momentum(model, state), before, 1e-12);
  }
}

/// Without contact both formulations are the same motion.
TEST(SmoothMomentum, FlightIsThatOfHardContact) {
  for (const Vector3& off_center : kOffCenters) {
    const std::vector<Flyer> flyers = brick(off_center);
    const Model model = in_space(flyers, 0.5, 0.0);
    const State start = start_of(model, flyers);
    const State relaxed = run(World(model, {}, smooth(0.01, 1e-6)), start, 100);
    const State hard = run(World(model, {}, smooth(0.01, 1e-6, Formulation::lcp)), start, 100);
    EXPECT_NEAR_ABSOLUTE(relaxed.q, hard.q, 1e-11);
    EXPECT_NEAR_ABSOLUTE(relaxed.v, hard.v, 1e-11);
  }
}

/// The worst of all steps, with how often there was a half step and the largest impulse.
struct Drift {
  double worst = 0.0;
  double impulse = 0.0;
  int halved = 0;
  int unsolved = 0;
};

Drift drift_of(const World& world, State state, int steps) {
  Workspace workspace(world);
  const Vector6 before = momentum(world.model(), state);
  Drift out;
  for (int i = 0; i < steps; ++i) {
    const StepResult& result = step(world, state, at_ease(world), workspace, state);
    out.halved += result.smooth.rungs[static_cast<std::size_t>(SmoothRung::half_steps)];
    if (result.status != StepStatus::solved) ++out.unsolved;
    for (const Contact& contact : result.contacts) out.impulse = std::max(out.impulse, contact.impulse[0]);
    out.worst = std::max(out.worst, (momentum(world.model(), state) - before).cwiseAbs().maxCoeff());
  }
  return out;
}

TEST(SmoothMomentum, IsKeptInCollisions) {
  for (const Formulation formulation : {Formulation::single_level, Formulation::bilevel})
    for (const Vector3& off_center : kOffCenters)
      for (const double restitution : {0.0, 0.8})
        for (const double kappa : {1e-2, 1e-4, 1e-6, 1e-8}) {
          const std::vector<Flyer> flyers = pile_up(off_center);
          const World world(in_space(flyers, 0.5, restitution), {}, smooth(0.01, kappa, formulation));
          const Drift drift = drift_of(world, start_of(world.model(), flyers), 100);
          EXPECT_EQ(drift.unsolved, 0);
          EXPECT_GT(drift.impulse, 0.2);
          EXPECT_LE(drift.worst, 1e-12) << kappa << " " << restitution << " " << off_center.transpose();
        }
}

/// With a tolerance below rounding impacts are made in parts, and are not solved at all.
TEST(SmoothMomentum, IsKeptInHalfStepsAndInWhatIsNotSolved) {
  for (const Vector3& off_center : kOffCenters) {
    const std::vector<Flyer> flyers = pile_up(off_center);
    WorldOptions options = smooth(0.01, 1e-6);
    options.smooth.max_iterations = 2;
    options.smooth.tolerance = 1e-12;
    const World world(in_space(flyers, 0.5, 0.0), {}, options);
    const Drift drift = drift_of(world, start_of(world.model(), flyers), 100);
    EXPECT_GT(drift.halved, 1);
    EXPECT_GT(drift.unsolved, 5);
    EXPECT_GT(drift.impulse, 0.02);
    EXPECT_LE(drift.worst, 1e-12);
  }
}

/// One of each shape, thrown at each other at 100 Hz.
TEST(SmoothMomentum, OfAllShapesIsKeptAndNothingPenetrates) {
  Random random(11);
  std::vector<Flyer> flyers;
  std::vector<std::string> seen;
  for (const NamedShape& entry : all_shapes()) {
    const std::string type(entry.shape.type_name());
    if (entry.shape.is_half_space() || std::find(seen.begin(), seen.end(), type) != seen.end()) continue;
    seen.push_back(type);
    // on a grid, so that they start apart
    const auto i = static_cast<int>(seen.size());
    Flyer flyer{.shape = entry.shape, .position = 5.0 * Vector3(i % 3 - 1, i / 3 % 2, i / 6)};
    flyer.velocity << -0.5 * flyer.position + random.normal3(), random.normal3();
    flyers.push_back(flyer);
  }
  const World world(in_space(flyers, 0.4, 0.0), {}, smooth(0.01, 1e-6));
  Workspace workspace(world);
  State state = start_of(world.model(), flyers);
  const Vector6 before = momentum(world.model(), state);
  double largest = 0.0;
  for (int i = 0; i < 200; ++i) {
    const StepResult& result = step(world, state, at_ease(world), workspace, state);
    ASSERT_EQ(result.status, StepStatus::solved) << "step " << i;
    for (const Contact& contact : result.contacts) largest = std::max(largest, contact.impulse[0]);
    EXPECT_GE(smallest_distance(world, state), -1e-8) << "step " << i;
  }
  EXPECT_GT(largest, 0.3);
  EXPECT_NEAR_ABSOLUTE(momentum(world.model(), state), before, 1e-11);
}

/// Where the mass is beside the joint, in the state and in all parameters.
TEST(SmoothMomentum, OffCentreBodiesHaveDerivatives) {
  for (const double kappa : kKappas) {
    SCOPED_TRACE(kappa);
    std::vector<Flyer> flyers = pile_up(kOffCenters[1]);
    flyers.pop_back();
    flyers[1].position.x() = 0.49;
    flyers[0].velocity << 0.1, 0.2, 0.0, 1.0, -2.0, 0.5;
    const Model model = in_space(flyers, 0.4, 0.7);
    const World world(model, {}, tight(0.01, kappa));
    const State state = start_of(model, flyers);
    expect_derivatives(world, state, VectorX::Constant(12, 0.1), kappa);
    expect_parameter_derivatives(world, state, kappa);
  }
}

}  // namespace
}  // namespace tangere::test
