/// Steps with smooth contact from states that overlap: overlaps go away at the speed of correction and not at once, by
/// a law that has derivatives; what does not overlap does not know of it.

#include <gtest/gtest.h>

#include <cmath>

#include <Eigen/Geometry>

#include "tangere/math/so3.hpp"
#include "tests/sim/smooth_differences.hpp"
#include "tests/sim/smooth_support.hpp"

namespace tangere::test {
namespace {

/// A box of half a metre, so deep in the floor.
FreeBody sunk_box(double depth) {
  return {.shape = cube(0.5), .X_WB = {so3::exp(Vector3(0, 0, 0.3)), Vector3(0, 0, 0.25 - depth)}};
}

TEST(SmoothOverlap, GoesAwayAtTheSpeedOfCorrection) {
  const double depth = 0.01;
  for (const Formulation formulation : {Formulation::single_level, Formulation::bilevel})
    for (const double dt : {1e-2, 1e-3, 1e-4}) {
      SCOPED_TRACE(dt);
      WorldOptions options = smooth(dt, 1e-6, formulation);
      const double speed = options.contact.correction_speed;
      const StepCase scene = free_bodies("sunk", {sunk_box(depth)}, 0.5, 0.0, options);
      Workspace workspace(scene.world);
      State state = scene.state;
      const double start = energy(scene.world, state);
      double fastest = 0.0;
      double time = 0.0;
      while (smallest_distance(scene.world, state) < 0.0 && time < 0.5) {
        ASSERT_EQ(step(scene.world, state, at_ease(scene.world), workspace, state).status, StepStatus::solved);
        fastest = std::max(fastest, state.v[2]);
        time += dt;
      }
      // up to a third faster near the end of it, and by what κ adds
      EXPECT_LE(fastest, 1.4 * speed);
      EXPECT_NEAR(time, depth / speed, 0.2 * depth / speed + 2.0 * dt);
      // the way up, and the speed at its end
      EXPECT_LE(energy(scene.world, state), start + 9.81 * 1.2 * depth + 0.5 * fastest * fastest);
    }
}

/// The same scene at any size: nothing that overlaps comes apart faster than at the speed of correction, but for what
/// the seam of it (1.3) and κ add, however deep and whatever the line of centres is.
TEST(SmoothOverlap, GoesAwayAtTheSameSpeedAtAnySize) {
  struct Scene {
    const char* name;
    std::vector<FreeBody> bodies;
    bool on_block = false;
  };
  for (const bool weightless : {false, true})
    for (const double size : {0.01, 0.1, 1.0, 3.0, 10.0, 30.0, 100.0}) {
      const Shape box = cube(size);
      const Shape ball = Sphere{0.5 * size};
      const Scene scenes[] = {
          {"two boxes",
           {{.shape = box, .X_WB = Pose::translation(size * Vector3(0, 0, 0.5))},
            {.shape = box, .X_WB = Pose::translation(size * Vector3(0.7, 0.1, 0.5))}}},
          {"sunk box", {{.shape = box, .X_WB = Pose::translation(size * Vector3(0, 0, 0.3))}}},
          {"ball below the plane", {{.shape = ball, .X_WB = Pose::translation(size * Vector3(0, 0, -0.3))}}},
          {"ball in a block", {{.shape = ball, .X_WB = Pose::translation(size * Vector3(0.2, 0.1, -0.3))}}, true}};
      for (const Scene& scene : scenes) {
        SCOPED_TRACE(std::string(scene.name) + " of " + std::to_string(size) + " m" +
                     (weightless ? ", weightless" : ""));
        WorldOptions options = smooth(0.01, 1e-6);
        World world = free_bodies("scene", scene.bodies, 0.5, 0.0, options).world;
        ModelBuilder builder(world.model());
        if (weightless) builder.set_gravity(Vector3::Zero());
        if (scene.on_block) {
          BodySpec floor = world.model().body(0).spec;
          floor.shapes[0].shape = Box{.size = size * Vector3(20, 20, 2)};
          floor.shapes[0].X_BS = Pose::translation(Vector3(0, 0, -size));
          builder.set_body(0, floor);
        }
        world = World(builder.build(), {}, options);
        State state = free_bodies("scene", scene.bodies, 0.5, 0.0, options).state;
        Workspace workspace(world);
        const double speed = world.options().contact.correction_speed;
        double fastest = 0.0;
        for (int i = 0; i < 300; ++i) {
          ASSERT_EQ(step(world, state, at_ease(world), workspace, state).status, StepStatus::solved) << i;
          for (int b = 0; b < world.nv(); b += 6) fastest = std::max(fastest, state.v.segment<3>(b).norm());
        }
        EXPECT_LE(fastest, 1.5 * speed);
        // small ones are out within a step, and two share the speed
        EXPECT_GE(fastest, size >= 1.0 ? 0.45 * speed : 0.0);
      }
    }
}

/// A half-space is lowered below what is deep in it: a function of the state like any other.
TEST(SmoothOverlap, DeepInAHalfSpaceHasDerivatives) {
  for (const double kappa : kKappas)
    for (const double height : {0.1, 0.05, -0.02, -0.3}) {
      SCOPED_TRACE(std::to_string(kappa) + " " + std::to_string(height));
      FreeBody body{.shape = Box{.size = {0.5, 0.6, 0.4}},
                    .X_WB = {so3::exp(Vector3(0.1, 0.2, 0.3)), Vector3(0, 0, height)}};
      body.velocity << 0.2, 0.1, 0.1, 0.2, 0.1, 0.5;
      const StepCase scene = free_bodies("deep", {body}, 0.5, 0.0, tight(0.01, kappa));
      expect_derivatives(scene.world, scene.state, VectorX::Zero(6), kappa);
      if (kappa == 1e-4) expect_parameter_derivatives(scene.world, scene.state, kappa);
    }
}

TEST(SmoothOverlap, ThatIsNotToBeCorrectedStays) {
  for (const double correction : {0.0, 0.2}) {
    WorldOptions options = smooth(0.01, 1e-6);
    options.contact.correction = correction;
    options.contact.correction_speed = correction == 0.0 ? 0.5 : 0.0;
    const StepCase scene = free_bodies("sunk", {sunk_box(0.01)}, 0.5, 0.0, options);
    const State state = run(scene.world, scene.state, 20);
    // but for what κ lifts it
    EXPECT_NEAR(smallest_distance(scene.world, state), -0.01, 2e-4);
  }
}

/// Two bodies deep in each other come apart without a bang, wherever the normal is.
TEST(SmoothOverlap, OfTwoBodiesIsTakenBackToo) {
  FreeBody capsule{
      .shape = Capsule{0.1, 0.4}, .X_WB = {so3::exp(Vector3(0.2, 0.4, 0.2)), Vector3(0.02, 0.03, 0.45)}, .mass = 0.5};
  for (const double dt : {1e-2, 1e-3}) {
    const StepCase scene = free_bodies("pair", {sunk_box(0.0), capsule}, 0.5, 0.0, smooth(dt, 1e-6));
    ASSERT_LT(smallest_distance(scene.world, scene.state), -0.05);
    Workspace workspace(scene.world);
    State state = scene.state;
    const double start = energy(scene.world, state);
    for (int i = 0; i < static_cast<int>(0.5 / dt); ++i) {
      ASSERT_EQ(step(scene.world, state, at_ease(scene.world), workspace, state).status, StepStatus::solved) << i;
      EXPECT_LE(energy(scene.world, state), start + 2.0) << i;
    }
    EXPECT_GE(smallest_distance(scene.world, state), -1e-6);
  }
}

TEST(SmoothOverlap, HasDerivatives) {
  FreeBody capsule{
      .shape = Capsule{0.1, 0.4}, .X_WB = {so3::exp(Vector3(0.2, 0.4, 0.2)), Vector3(0.02, 0.03, 0.5)}, .mass = 0.5};
  capsule.velocity << 0.3, 0.2, -0.5, 1.0, 0.5, 0.5;
  FreeBody box = sunk_box(0.01);
  box.X_WB.R = so3::exp(Vector3(0.1, 0.2, 0.3));
  box.velocity << 0.2, 0.1, -0.3, 0.2, 0.1, 0.5;
  for (const double kappa : kKappas)
    for (const double restitution : {0.0, 0.7})
      // deeper than a step takes back, and about as deep
      for (const double speed : {0.5, 6.0}) {
        SCOPED_TRACE(std::to_string(kappa) + " " + std::to_string(restitution) + " " + std::to_string(speed));
        WorldOptions options = tight(0.01, kappa);
        options.contact.correction_speed = speed;
        const StepCase scene = free_bodies("pair", {box, capsule}, 0.5, restitution, options);
        expect_derivatives(scene.world, scene.state, VectorX::Zero(12), kappa);
        if (kappa == 1e-4) expect_parameter_derivatives(scene.world, scene.state, kappa);
      }
}

/// Where centres coincide there is no direction to come apart in: steps and their derivatives are numbers, and not
/// said to be exact.
TEST(SmoothOverlap, OfCentresIsNotDifferentiable) {
  const Vector3 at(0, 0, 0.5);
  const FreeBody box{.shape = cube(1.0), .X_WB = Pose::translation(at)};
  const FreeBody ball{.shape = Sphere{0.5}, .X_WB = Pose::translation(at)};
  const FreeBody small{.shape = Sphere{0.1}, .X_WB = Pose::translation(at)};
  for (const Formulation formulation : {Formulation::single_level, Formulation::bilevel})
    for (const double kappa : {1e-2, 1e-6})
      for (const auto& [first, second] : {std::pair(box, box), std::pair(ball, ball), std::pair(box, small)}) {
        SCOPED_TRACE(kappa);
        WorldOptions options = smooth(0.01, kappa, formulation);
        const StepCase scene = free_bodies("coincident", {first, second}, 0.5, 0.2, options);
        Workspace workspace(scene.world);
        State next;
        Tape tape;
        const StepResult& result = step(scene.world, scene.state, at_ease(scene.world), workspace, next, &tape);
        for (const Contact& contact : result.contacts) {
          EXPECT_TRUE(std::isfinite(contact.distance));
          EXPECT_TRUE(contact.impulse.allFinite() && contact.frame.allFinite() && contact.point.allFinite());
        }
        StepJacobians jacobians;
        EXPECT_NE(step_jacobians(scene.world, tape, workspace, jacobians), GradientQuality::exact);
        for (const MatrixX* matrix :
             {&jacobians.q_q, &jacobians.q_v, &jacobians.q_u, &jacobians.v_q, &jacobians.v_v, &jacobians.v_u})
          EXPECT_TRUE(matrix->allFinite());
        const StateTangent g{VectorX::Ones(12), VectorX::Ones(12)};
        StateTangent g_state;
        VectorX g_u;
        EXPECT_NE(step_vjp(scene.world, tape, workspace, g, g_state, g_u), GradientQuality::exact);
        EXPECT_TRUE(g_state.q.allFinite() && g_state.v.allFinite() && g_u.allFinite());
        StepParameterJacobians by_parameter;
        const std::vector<StepParameter> parameters = all_step_parameters(scene.world);
        EXPECT_NE(step_parameter_jacobians(scene.world, tape, workspace, parameters, by_parameter),
                  GradientQuality::exact);
        EXPECT_TRUE(by_parameter.q.allFinite() && by_parameter.v.allFinite());
      }
}

/// Pairs that are apart have the bits that they had without correction, whatever its speed.
TEST(SmoothOverlap, ThatIsNotThereChangesNothing) {
  FreeBody box{.shape = cube(0.4), .X_WB = {so3::exp(Vector3(0.3, 0.2, 0.1)), Vector3(0, 0, 0.5)}};
  box.velocity << 0.5, 0.2, -1.0, 0.5, 1.0, 0.0;
  const auto final_state = [&](double speed) {
    WorldOptions options = smooth(0.01, 1e-6);
    options.contact.correction_speed = speed;
    const StepCase scene = free_bodies("box", {box}, 0.4, 0.0, options);
    return run(scene.world, scene.state, 60);
  };
  const State slow = final_state(0.1);
  const State fast = final_state(10.0);
  EXPECT_EQ((slow.q - fast.q).norm() + (slow.v - fast.v).norm(), 0.0);
}

}  // namespace
}  // namespace tangere::test
