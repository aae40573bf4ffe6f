/// Derivatives at another relaxation than the step's (SmoothContact::gradient_kappa): they are those of the step at
/// that relaxation, by every function that gives derivatives, and the step knows nothing of it.

#include <gtest/gtest.h>

#include "tangere/geometry/support.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/sim/rollout.hpp"
#include "tests/sim/smooth_differences.hpp"
#include "tests/sim/smooth_support.hpp"

namespace tangere::test {
namespace {

constexpr double kStiff = 1e-6;

/// A box that slides, one that comes down on it, and a ball that has not met anything yet.
StepCase scene_at(double kappa, double gradient_kappa, Formulation formulation = Formulation::single_level,
                  double restitution = 0.3) {
  WorldOptions options = tight(0.01, kappa);
  options.formulation = formulation;
  options.smooth.tolerance = 1e-3;
  options.smooth.gradient_kappa = gradient_kappa;
  const auto body = [](const Shape& shape, const Vector3& p, double tilt, const Vector3& v) {
    FreeBody out{.shape = shape, .X_WB = {so3::exp(Vector3(tilt, 0.2 * tilt, 0.0)), p}};
    out.velocity << v, 0.2, 0.5, -0.4;
    return out;
  };
  return free_bodies(
      "bodies",
      {body(cube(0.4), {0, 0, 0.22}, 0.1, {0.6, -0.1, -0.8}), body(cube(0.3), {0.05, 0, 0.62}, -0.2, {0, 0, -1.0}),
       body(Sphere{0.1}, {3, 0, 0.103}, 0.0, {0.3, 0.2, -0.1})},
      0.4, restitution, options);
}

struct Derivatives {
  MatrixX jacobians;
  MatrixX parameters;
  VectorX reverse;
  VectorX forward;
  GradientQuality quality = GradientQuality::exact;
};

Derivatives derivatives_of(const StepCase& scene) {
  const World& world = scene.world;
  Workspace workspace(world);
  Tape tape;
  State next;
  EXPECT_EQ(step(world, scene.state, at_ease(world), workspace, next, &tape).status, StepStatus::solved);
  Derivatives out;
  StepJacobians J;
  out.quality = step_jacobians(world, tape, workspace, J);
  out.jacobians = all_columns(J);
  const VectorX ones = VectorX::LinSpaced(world.nv(), -1.0, 2.0);
  StateTangent back;
  VectorX g_u;
  out.quality = worst(out.quality, step_vjp(world, tape, workspace, {ones, -ones}, back, g_u));
  out.reverse.resize(2 * world.nv() + world.nu());
  out.reverse << back.q, back.v, g_u;
  StateTangent forward;
  out.quality = worst(out.quality, step_jvp(world, tape, workspace, {ones, -ones}, VectorX::Ones(world.nu()), forward));
  out.forward.resize(2 * world.nv());
  out.forward << forward.q, forward.v;
  StepParameterJacobians P;
  out.quality = worst(out.quality, step_parameter_jacobians(world, tape, workspace, all_step_parameters(world), P));
  out.parameters.resize(2 * world.nv(), P.q.cols());
  out.parameters << P.q, P.v;
  return out;
}

/// A body that sees a floor from `sight_distance` has a gradient of it, the slope of the step; without it has none.
TEST(SmoothRelaxation, SeesFromTheDistanceThatIsAskedFor) {
  for (const double sight : {0.0, 1.0, 3.0}) {
    SCOPED_TRACE(sight);
    WorldOptions options = tight(0.01, 1e-2);
    options.smooth.sight_distance = sight;
    const double height = sight == 0.0 ? 1.0 : 0.98 * sight;
    const Matrix3 R = so3::exp(Vector3(0.1, 0.2, 0.3));
    const Shape box = cube(0.2);
    const double below = -support(box, R.transpose() * -Vector3::UnitZ()).dot(R.transpose() * Vector3::UnitZ());
    const StepCase scene =
        free_bodies("far", {{.shape = box, .X_WB = {R, Vector3(0, 0, below + height)}}}, 0.5, 0.0, options);
    Workspace workspace(scene.world);
    Tape tape;
    State next;
    ASSERT_EQ(step(scene.world, scene.state, at_ease(scene.world), workspace, next, &tape).status, StepStatus::solved);
    StepJacobians J;
    EXPECT_EQ(step_jacobians(scene.world, tape, workspace, J), GradientQuality::exact);
    const double slope = (R * J.v_q.block<3, 3>(0, 0) * R.transpose())(2, 2);
    if (sight == 0.0) {
      EXPECT_EQ(slope, 0.0);
      continue;
    }
    // it falls off with the square of the distance
    EXPECT_LT(slope, -1e-6);
    expect_derivatives(scene.world, scene.state, VectorX::Zero(6), 1e-2);
  }
}

TEST(SmoothRelaxation, DerivativesAreThoseOfTheRelaxedStep) {
  for (const Formulation formulation : {Formulation::single_level, Formulation::bilevel})
    for (const double kappa : {1e-2, 1e-4}) {
      SCOPED_TRACE(std::string(to_string(formulation)) + " " + std::to_string(kappa));
      const Derivatives stiff = derivatives_of(scene_at(kStiff, 0.0, formulation));
      const Derivatives relaxed = derivatives_of(scene_at(kappa, 0.0, formulation));
      const Derivatives asked = derivatives_of(scene_at(kStiff, kappa, formulation));
      EXPECT_EQ(asked.quality, worst(GradientQuality::relaxed, relaxed.quality));
      EXPECT_NEAR_RELATIVE(asked.jacobians, relaxed.jacobians, 1e-6);
      EXPECT_NEAR_RELATIVE(asked.reverse, relaxed.reverse, 1e-6);
      EXPECT_NEAR_RELATIVE(asked.forward, relaxed.forward, 1e-6);
      EXPECT_NEAR_RELATIVE(asked.parameters, relaxed.parameters, 1e-6);
      // which are others
      EXPECT_GE((asked.jacobians - stiff.jacobians).norm(), 1e-3 * stiff.jacobians.norm());
    }
}

/// Of joints as well: a pendulum with dry friction that comes to its limit.
TEST(SmoothRelaxation, DerivativesOfJointsToo) {
  const auto pendulum_at = [](double kappa, double gradient_kappa) {
    WorldOptions options = tight(0.01, kappa);
    options.smooth.gradient_kappa = gradient_kappa;
    return derivatives_of({"pendulum",
                           World(pendulum(0.3), {}, options),
                           {VectorX::Constant(1, 0.69), VectorX::Constant(1, 0.8)},
                           VectorX::Zero(1)});
  };
  const Derivatives stiff = pendulum_at(kStiff, 0.0);
  const Derivatives relaxed = pendulum_at(1e-2, 0.0);
  const Derivatives asked = pendulum_at(kStiff, 1e-2);
  EXPECT_EQ(asked.quality, GradientQuality::relaxed);
  EXPECT_NEAR_RELATIVE(asked.jacobians, relaxed.jacobians, 1e-6);
  EXPECT_NEAR_RELATIVE(asked.reverse, relaxed.reverse, 1e-6);
  EXPECT_NEAR_RELATIVE(asked.parameters, relaxed.parameters, 1e-6);
  EXPECT_GE((asked.jacobians - stiff.jacobians).norm(), 1e-3 * stiff.jacobians.norm());
}

/// The ball has not touched the floor: only the relaxed gradient knows of it.
TEST(SmoothRelaxation, SeesContactFromFarther) {
  const auto by_floor = [](double gradient_kappa) {
    const StepCase scene = scene_at(kStiff, gradient_kappa);
    const MatrixX J = derivatives_of(scene).jacobians;
    // how the ball's vertical velocity answers to its height
    const int nv = scene.world.nv();
    return J(nv + 14, 14);
  };
  EXPECT_LE(std::abs(by_floor(0.0)), 0.1);
  EXPECT_GE(std::abs(by_floor(1e-2)), 1.0);
}

TEST(SmoothRelaxation, LeavesTheMotionAlone) {
  const StepCase plain = scene_at(kStiff, 0.0);
  const StepCase relaxed = scene_at(kStiff, 1e-2);
  Workspace workspace(relaxed.world);
  State state = relaxed.state;
  Tape tape;
  StepJacobians J;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(step(relaxed.world, state, at_ease(relaxed.world), workspace, state, &tape).status, StepStatus::solved);
    (void)step_jacobians(relaxed.world, tape, workspace, J);
  }
  const State other = run(plain.world, plain.state, 20);
  EXPECT_EQ((state.q - other.q).norm() + (state.v - other.v).norm(), 0.0);
}

TEST(SmoothRelaxation, OutOfRangeIsRefused) {
  for (const double kappa : {-1e-3, 1e-13, 0.2, std::nan("")}) {
    SmoothContact options;
    options.gradient_kappa = kappa;
    EXPECT_THROW(options.verify(), InputError) << kappa;
  }
}

}  // namespace
}  // namespace tangere::test
