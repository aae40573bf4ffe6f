#include "tangere/trajopt/identify.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tangere/io/scene_file.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/trajopt/internal/unknowns.hpp"
#include "tangere/trajopt/world_dynamics.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/folders.hpp"

namespace tangere {
namespace {

constexpr const char* kToss = R"({"format": "tangere-scene", "version": 1, "time_step": 0.005,
  "bodies": [{"name": "floor", "fixed": true, "shape": {"type": "halfspace", "normal": [0, 0, 1]}},
             {"name": "cube", "shapes": [{"shape": {"type": "box", "size": [0.2, 0.2, 0.2]}, "friction": 0.4}],
              "mass": 0.8, "position": [0, 0, 0.4]}]})";

World toss_world() {
  const Scene scene = scene_from_text(kToss, "toss.json");
  return World(scene.robot.model, {}, {.time_step = 0.005});
}

/// A throw: pushed by a known force at first, then in the air, on the floor, at rest.
MotionRecording toss(const World& world, int seed, double noise, bool pushed) {
  Random random(seed);
  const int samples = 160;
  VectorX start = VectorX::Zero(13);
  start.segment<3>(0) << 0.0, 0.0, 0.35 + 0.05 * random.uniform();
  start[6] = 1.0;
  start.segment<3>(7) << 1.5, 0.3 * random.normal(), 0.5;
  start.segment<3>(10) << 1.0 * random.normal(), 2.0 * random.normal(), 1.0 * random.normal();
  MotionRecording motion{.x = MatrixX(13, samples), .u = MatrixX::Zero(6, samples - 1)};
  if (pushed)
    for (int k = 0; k < 20; ++k) motion.u.col(k) << 4.0, 1.0, 8.0, 0.02, 0.03, -0.02;
  const WorldDynamics dynamics(world);
  Workspace workspace(world);
  State state{start.head(7), start.tail(6)};
  VectorX x(13), noisy, away(12);
  for (int k = 0; k < samples; ++k) {
    x << state.q, state.v;
    away.setZero();
    for (int i = 0; i < 6; ++i) away[i] = noise * (i < 3 ? 1.0 : 2.0) * random.normal();
    dynamics.plus(x, away, noisy);
    motion.x.col(k) = noisy;
    if (k + 1 < samples) (void)step(world, state, motion.u.col(k), workspace, state);
  }
  return motion;
}

/// Poses to `noise` (angles to twice that), velocities not at all.
VectorX poses_only(double noise) {
  VectorX out = VectorX::Constant(12, std::numeric_limits<double>::infinity());
  out.head<3>().setConstant(noise);
  out.segment<3>(3).setConstant(2.0 * noise);
  return out;
}

World changed(const World& world, const std::vector<std::string>& names, const VectorX& values) {
  std::vector<StepParameter> parameters;
  for (const std::string& name : names) parameters.push_back(find_step_parameter(world, name));
  return with_parameters(world, parameters, values);
}

const char* const kSize = "cube.cube0.size.x = cube.cube0.size.y = cube.cube0.size.z";

TEST(Identify, MassFrictionAndSizeOfANoisyToss) {
  const World truth = toss_world();
  const World start = changed(
      truth, {"cube.mass", "cube.cube0.friction", "cube.cube0.size.x", "cube.cube0.size.y", "cube.cube0.size.z"},
      (VectorX(5) << 1.2, 0.6, 0.19, 0.19, 0.19).finished());
  std::vector<MotionRecording> recordings;
  for (int seed = 1; seed <= 3; ++seed) recordings.push_back(toss(truth, seed, 1e-3, true));
  const IdentifyResult found =
      identify(start, {"cube.mass", "cube.cube0.friction", kSize}, recordings, {.noise = poses_only(1e-3)});
  EXPECT_EQ(found.status, IdentifyStatus::solved);
  ASSERT_EQ(found.values.size(), 5);
  EXPECT_NEAR(found.values[0], 0.8, 0.01 * 0.8);
  EXPECT_NEAR(found.values[1], 0.4, 0.01 * 0.4);
  EXPECT_NEAR(found.values[2], 0.2, 0.01 * 0.2);
  EXPECT_EQ(found.values[2], found.values[4]);
  EXPECT_TRUE(found.not_identified.empty());
  EXPECT_NEAR(found.misfit, 1.0, 0.1);
  // each within a few of its deviations
  for (int i = 0; i < 3; ++i) {
    const double exact[] = {0.8, 0.4, 0.2};
    EXPECT_LE(std::abs(found.values[i] - exact[i]), 5.0 * found.deviations[i]) << found.names[i];
  }
}

/// No force is known that acts on it: its motion is the same with any mass.
TEST(Identify, SaysThatAFreeTossTellsNoMass) {
  const World truth = toss_world();
  const IdentifyResult found = identify(truth, {"cube.density", "cube.cube0.friction"}, {toss(truth, 2, 1e-3, false)},
                                        {.noise = poses_only(1e-3)});
  ASSERT_EQ(found.not_identified.size(), 1u);
  EXPECT_NEAR(std::abs(found.not_identified[0].direction[0]), 1.0, 1e-3);
  EXPECT_EQ(found.not_identified[0].text, "1.00 cube.density") << found.not_identified[0].text;
  EXPECT_TRUE(found.deviations[0] > 1.0);
  EXPECT_TRUE(found.deviations[7] < 0.05);
}

/// A body pushed by known forces: all ten numbers are told, and the answer is a body that exists.
TEST(Identify, InertiaOfAPushedBody) {
  const World truth = changed(toss_world(), {"cube.center.x", "cube.inertia.xx", "cube.inertia.xy"},
                              (VectorX(3) << 0.01, 0.0062, 0.0004).finished());
  const World start = toss_world();
  Random random(3);
  std::vector<MotionRecording> recordings;
  for (int seed = 1; seed <= 2; ++seed) {
    MotionRecording motion = toss(truth, seed, 0.0, false);
    // in the air all the time, under forces and torques that change
    motion.x = motion.x.leftCols(41).eval();
    motion.u = MatrixX(6, 40);
    for (int k = 0; k < 40; ++k)
      for (int i = 0; i < 6; ++i) motion.u(i, k) = (i < 3 ? 5.0 : 0.2) * std::sin(0.1 * k * (i + seed) + i);
    Workspace workspace(truth);
    State state{motion.x.col(0).head(7), motion.x.col(0).tail(6)};
    state.q[2] = 5.0;
    for (int k = 0; k <= 40; ++k) {
      motion.x.col(k) << state.q, state.v;
      if (k < 40) (void)step(truth, state, motion.u.col(k), workspace, state);
    }
    recordings.push_back(motion);
  }
  const IdentifyResult found =
      identify(start, {"cube.inertial"}, recordings, {.noise = VectorX::Constant(1, 1e-4), .tolerance = 1e-10});
  EXPECT_TRUE(found.not_identified.empty());
  const double exact[] = {0.8, 0.01, 0.0, 0.0, 0.0062, 0.8 * 0.04 / 6.0, 0.8 * 0.04 / 6.0, 0.0004, 0.0, 0.0};
  for (int i = 0; i < 10; ++i)
    EXPECT_NEAR(found.values[i], exact[i], 1e-4 * std::max(0.01, exact[i])) << found.names[i];
  EXPECT_LE(found.misfit, 1e-3);
}

/// The same bits for any number of threads.
TEST(Identify, SameBitsForAnyThreads) {
  const World truth = toss_world();
  const std::vector<MotionRecording> recordings = {toss(truth, 1, 1e-3, true), toss(truth, 2, 1e-3, true)};
  IdentifyOptions options{.noise = poses_only(1e-3), .pieces = {20}, .max_iterations = 3};
  const IdentifyResult one = identify(truth, {"cube.cube0.friction"}, recordings, options);
  options.num_threads = 3;
  const IdentifyResult three = identify(truth, {"cube.cube0.friction"}, recordings, options);
  EXPECT_EQ(one.values, three.values);
  EXPECT_EQ(one.singular_values, three.singular_values);
}

TEST(Identify, BadInput) {
  const World world = toss_world();
  const MotionRecording motion = toss(world, 1, 0.0, true);
  EXPECT_THROW((void)identify(world, {}, {motion}), InputError);
  EXPECT_THROW((void)identify(world, {"cube.weight"}, {motion}), InputError);
  EXPECT_THROW((void)identify(world, {"cube.cube0.restitution"}, {motion}), InputError);
  EXPECT_THROW((void)identify(world, {"cube.mass = cube.cube0.restitution"}, {motion}), InputError);
  EXPECT_THROW((void)identify(world, {"cube.mass"}, {}), InputError);
  MotionRecording broken = motion;
  broken.x(3, 7) = std::nan("");
  EXPECT_THROW((void)identify(world, {"cube.mass"}, {broken}), InputError);
  broken = motion;
  broken.u.conservativeResize(6, 3);
  EXPECT_THROW((void)identify(world, {"cube.mass"}, {broken}), InputError);
  EXPECT_THROW((void)identify(world, {"cube.mass"}, {motion}, {.noise = VectorX::Zero(1)}), InputError);
}

/// Derivatives of parameters in the numbers, and that the start is the world's.
TEST(Unknowns, DerivativesAndStart) {
  const World world = toss_world();
  const internal::Unknowns unknowns(world,
                                    {"cube.inertial", "cube.cube0.friction", kSize, "gravity.z", "cube.density"});
  const VectorX z = unknowns.start();
  const VectorX values = unknowns.values(z);
  EXPECT_TRUE(values.isApprox(parameter_values(world, unknowns.parameters()), 1e-12));
  const MatrixX J = test::finite_difference([&](const VectorX& d) -> VectorX { return unknowns.values(z + d); },
                                            unknowns.size(), static_cast<int>(values.size()));
  EXPECT_TRUE(unknowns.jacobian(z).isApprox(J, 1e-8));
}

/// Every z is a body that exists: the inertia's principal moments keep the triangle inequality.
TEST(Unknowns, EveryInertiaIsPossible) {
  const World world = toss_world();
  const internal::Unknowns unknowns(world, {"cube.inertial"});
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    VectorX z = unknowns.start();
    for (double& entry : z) entry += random.normal();
    EXPECT_NO_THROW((void)with_parameters(world, unknowns.parameters(), unknowns.values(z)));
  }
}

}  // namespace
}  // namespace tangere
