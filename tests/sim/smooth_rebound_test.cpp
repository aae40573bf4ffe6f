/// Steps with smooth contact: what bounces, and faces that touch in several points.

#include <cmath>

#include <Eigen/Geometry>

#include "tangere/math/so3.hpp"
#include "tests/sim/smooth_support.hpp"

namespace tangere::test {
namespace {

TEST(SmoothStep, FacesRestOnSeveralPoints) {
  for (const Formulation formulation : {Formulation::single_level, Formulation::bilevel}) {
    WorldOptions options = smooth(0.01, 1e-6, formulation);
    options.smooth.points = 5;
    const StepCase scene =
        free_bodies("rest", {{.shape = cube(0.4), .X_WB = Pose::translation({0.1, 0.2, 0.2})}}, 0.5, 0.0, options);
    const State state = run(scene.world, scene.state, 100);
    EXPECT_LE(state.v.norm(), 1e-6);
    EXPECT_LE((state.q.head<2>() - Vector2(0.1, 0.2)).norm(), 1e-8);
    EXPECT_GE(smallest_distance(scene.world, state), -1e-12);
    Workspace workspace(scene.world);
    State next;
    const StepResult& result = step(scene.world, state, at_ease(scene.world), workspace, next);
    // one in the middle and one at each corner, which share the weight
    ASSERT_EQ(result.contacts.size(), 5U);
    double weight = 0.0;
    for (std::size_t i = 0; i < 5; ++i) {
      const Contact& contact = result.contacts[i];
      weight += contact.impulse[0];
      EXPECT_GT(contact.impulse[0], 0.05 * 9.81 * 0.01);
      const Vector2 from_middle = contact.point.head<2>() - Vector2(0.1, 0.2);
      for (int k = 0; k < 2; ++k) EXPECT_NEAR(std::abs(from_middle[k]), i == 0 ? 0.0 : 0.2, 1e-3);
    }
    EXPECT_NEAR(weight, 9.81 * 0.01, 1e-5);
  }
}

TEST(SmoothStep, SeveralPointsStopSpinWithoutTorsion) {
  FreeBody box{.shape = cube(0.4), .X_WB = Pose::translation({0, 0, 0.2})};
  box.velocity[5] = 3.0;
  const auto spin = [&](int points) {
    WorldOptions options = smooth(0.01, 1e-6);
    options.smooth.torsion = 0.0;
    options.smooth.points = points;
    const StepCase scene = free_bodies("spin", {box}, 0.5, 0.0, options);
    return run(scene.world, scene.state, 100).v[5];
  };
  EXPECT_NEAR(spin(1), 3.0, 1e-2);
  EXPECT_LE(std::abs(spin(5)), 1e-3);
}

TEST(SmoothStep, TowersStandOnSeveralPoints) {
  std::vector<FreeBody> bodies;
  for (int i = 0; i < 5; ++i)
    bodies.push_back({.shape = cube(0.5), .X_WB = Pose::translation({0.02 * (i % 2), 0, 0.25 + 0.5 * i})});
  WorldOptions options = smooth(0.02, 1e-8);
  options.smooth.points = 5;
  const StepCase scene = free_bodies("tower", bodies, 0.5, 0.0, options);
  const State state = run(scene.world, scene.state, 200);
  EXPECT_LE(state.v.norm(), 1e-6);
  EXPECT_NEAR(state.q[7 * 4 + 2], 0.25 + 0.5 * 4, 1e-3);
}

/// Further points change nothing of what touches in one.
TEST(SmoothStep, BallsHaveOnePoint) {
  WorldOptions options = smooth(0.01, 1e-6);
  options.smooth.points = 5;
  for (const Shape& shape : {Shape(Sphere{0.2}), Shape(Bundle{{{Sphere{0.2}, Pose()}}}),
                             Shape(MinkowskiSum{{{Sphere{0.15}, Pose()}, {Ellipsoid{{0.05, 0.05, 0.05}}, Pose()}}})}) {
    const StepCase scene =
        free_bodies("ball", {{.shape = shape, .X_WB = Pose::translation({0, 0, 0.2})}}, 0.5, 0.0, options);
    Workspace workspace(scene.world);
    State next;
    EXPECT_EQ(step(scene.world, scene.state, at_ease(scene.world), workspace, next).contacts.size(), 1U);
  }
}

/// The highest point after the first bounce.
double rebound_height(const World& world, State state, double radius) {
  Workspace workspace(world);
  bool bounced = false;
  double highest = 0.0;
  for (int i = 0; i < 10000; ++i) {
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

/// The gates of a bounce are as narrow in short steps as in long ones, and at every κ.
TEST(SmoothStep, BallsBounceAlikeInShortStepsAndAtLargeKappa) {
  const double radius = 0.1;
  const double height = 0.5;
  for (const double kappa : {1e-3, 1e-4, 1e-6, 1e-8})
    for (const double dt : {1e-2, 1e-3, 1e-4}) {
      FreeBody ball{.shape = Sphere{radius}, .X_WB = Pose::translation({0, 0, radius + 0.05})};
      // as after the fall so far
      ball.velocity[2] = -std::sqrt(2.0 * 9.81 * (height - 0.05));
      const StepCase scene = free_bodies("ball", {ball}, 0.5, 0.8 / 0.9, smooth(dt, kappa));
      const double expected = 0.64 * height;
      // a step's way, within which the impact lies, and what κ softens
      const double allowed = 0.03 * expected + dt * std::sqrt(2.0 * 9.81 * height);
      EXPECT_NEAR(rebound_height(scene.world, scene.state, radius), expected, allowed) << kappa << " " << dt;
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

}  // namespace
}  // namespace tangere::test
