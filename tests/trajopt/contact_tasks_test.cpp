#include <gtest/gtest.h>

#include "tangere/io/scene_file.hpp"
#include "tangere/math/random.hpp"
#include "tangere/trajopt/restarts.hpp"
#include "tangere/trajopt/verification.hpp"
#include "tangere/trajopt/world_dynamics.hpp"
#include "tests/support/folders.hpp"

namespace tangere {
namespace {

struct Task {
  OptimalControl problem;
  OptimizerOptions options;
};

/// A scene in its first keyframe, with noise on the start.
struct Start {
  std::shared_ptr<const WorldDynamics> dynamics;
  VectorX x;
};

Start start_of(const char* file, double time_step, bool joint_limits, int seed) {
  const Scene scene = load_scene(test::scenes_folder() / file);
  WorldOptions options;
  options.time_step = time_step;
  options.contact.joint_limits = joint_limits;
  auto dynamics = std::make_shared<WorldDynamics>(World(scene.robot.model, scene.robot.actuators, options));
  VectorX x(dynamics->nx());
  x << scene.robot.keyframes.front().q, VectorX::Zero(scene.robot.model.nv());
  Random random(seed);
  VectorX noise(dynamics->ndx());
  for (double& entry : noise) entry = 0.01 * random.normal();
  VectorX noisy;
  dynamics->plus(x, noise, noisy);
  return {std::move(dynamics), noisy};
}

/// The range of the first control, which all have, and a cost on parts of it.
void add_controls(OptimalControl& problem, double weight) {
  VectorX lower, upper;
  problem.dynamics().control_limits(lower, upper);
  problem.add(ControlCost{.weight = all_of(weight / (upper[0] * upper[0])), .per_second = true});
  problem.add(ControlBounds{.lower = lower, .upper = upper});
}

/// Some positions at the end.
void add_goal(OptimalControl& problem, std::initializer_list<std::pair<int, double>> goal) {
  Reach reach{.target = VectorX::Zero(problem.dynamics().nx()), .mask = VectorX::Zero(problem.dynamics().ndx())};
  for (const auto& [i, value] : goal) {
    reach.target[i] = value;
    reach.mask[i] = 1.0;
  }
  problem.add(reach);
}

OptimizerOptions seeing(double margin) {
  OptimizerOptions options = OptimizerOptions::through_contact();
  for (ContactPhase& phase : options.phases) phase.margin = margin;
  return options;
}

Task cartpole(int seed) {
  Start start = start_of("cartpole.xml", 0.01, false, seed);
  OptimalControl problem(start.dynamics, {start.x, constant_steps(500, 0.01)});
  add_controls(problem, 0.1);
  problem.add(Reach{.target = VectorX::Zero(4)});
  OptimizerOptions options = OptimizerOptions::hard_contact();
  options.regularisation = options.least_regularisation = 1e-6;
  options.memory = 1;
  return {problem, options};
}

Task jump_worm(int seed) {
  Start start = start_of("jump_worm.xml", 0.005, false, seed);
  OptimalControl problem(start.dynamics, {start.x, constant_steps(160, 0.005)});
  add_controls(problem, 0.02);
  add_goal(problem, {{1, 0.575}});
  return {problem, seeing(1.0)};
}

Task catapult(int seed) {
  Start start = start_of("catapult.xml", 0.005, true, seed);
  OptimalControl problem(start.dynamics, {start.x, constant_steps(100, 0.005)});
  add_controls(problem, 0.02);
  add_goal(problem, {{0, 2.2}, {1, 2.2}});
  return {problem, seeing(1.0)};
}

Task half_cheetah(int seed) {
  Start start = start_of("half_cheetah.xml", 0.01, false, seed);
  OptimalControl problem(start.dynamics, {start.x, constant_steps(80, 0.01)});
  add_controls(problem, 0.02);
  problem.add(ReachFrame{.body = "head", .target = Pose::translation({0.5, 1.0, 0.0})});
  return {problem, OptimizerOptions::hard_contact()};
}

struct Case {
  const char* name;
  Task (*make)(int seed);
  double tolerance;
};

class ContactTasks : public testing::TestWithParam<Case> {};

/// From noisy controls and starts, restarts included: the goal is reached, and the plan replays with hard contact.
TEST_P(ContactTasks, SolvedAndReplayed) {
  for (int seed = 101; seed <= 103; ++seed) {
    const Task task = GetParam().make(seed);
    Optimizer optimizer(task.problem, task.options);
    RestartOptions restarts{.noisy_first = true, .seed = static_cast<std::uint64_t>(seed)};
    if (task.options.least_regularisation < 1.0) restarts.least_regularisation = {};
    const OptimizeResult result = solve_with_restarts(optimizer, restarts);
    ASSERT_EQ(result.status, OptimizeStatus::solved) << "seed " << seed << ": " << result.name << result.violation;
    const Verification replay = verify(task.problem, result.plan);
    ASSERT_TRUE(replay.finite);
    EXPECT_LE(replay.strays, 1e-6);
    EXPECT_LE(replay.equality, GetParam().tolerance);
    EXPECT_LE(replay.inequality, 0.0);
  }
}

/// The same bits, and nothing is allocated for a smaller log.
TEST_P(ContactTasks, SameBits) {
  Task task = GetParam().make(7);
  task.options.max_iterations = 12;
  Optimizer first(task.problem, task.options);
  Optimizer second(task.problem, task.options);
  const OptimizeResult a = first.solve();
  const OptimizeResult b = second.solve();
  const OptimizeResult c = first.solve();
  for (std::size_t k = 0; k < a.plan.x.size(); ++k) {
    ASSERT_EQ(a.plan.x[k], b.plan.x[k]);
    ASSERT_EQ(a.plan.x[k], c.plan.x[k]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ContactTasks,
                         testing::Values(Case{"cartpole", cartpole, 1e-3}, Case{"jump_worm", jump_worm, 1e-3},
                                         Case{"catapult", catapult, 1e-3}, Case{"half_cheetah", half_cheetah, 1e-3}),
                         [](const auto& one) { return std::string(one.param.name); });

/// Feedback takes a disturbed start back to the plan.
TEST(TrackingGains, BringADisturbedCartpoleBack) {
  Task task = cartpole(1);
  Optimizer optimizer(task.problem, task.options);
  const OptimizeResult& result = optimizer.solve();
  ASSERT_EQ(result.status, OptimizeStatus::solved);
  const std::vector<MatrixX> gains = tracking_gains(task.problem, result.plan, 1.0, 1e-2);
  VectorX start = task.problem.horizon().start;
  start[1] += 0.01;
  task.problem.set_start(start);
  const double open = verify(task.problem, result.plan).equality;
  const double closed = verify(task.problem, result.plan, {.gains = gains}).equality;
  EXPECT_LE(closed, 0.1 * open);
}

}  // namespace
}  // namespace tangere
