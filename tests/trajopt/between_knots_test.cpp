/// Inequalities that hold between knots too, curvature, threads and free starts.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tangere/io/scene_file.hpp"
#include "tangere/trajopt/function_dynamics.hpp"
#include "tangere/trajopt/keep_apart.hpp"
#include "tangere/trajopt/optimizer.hpp"
#include "tangere/trajopt/verification.hpp"
#include "tangere/trajopt/world_dynamics.hpp"
#include "tests/support/allocation.hpp"
#include "tests/support/folders.hpp"

namespace tangere {
namespace {

std::shared_ptr<const Dynamics> point_in_plane() {
  return std::make_shared<FunctionDynamics>(
      4, 2, runge_kutta(4, 2, [](const VectorX& x, const VectorX& u, double, VectorX& out, FunctionJacobians* J) {
        out.head(2) = x.tail(2);
        out.tail(2) = u;
        if (J == nullptr) return;
        J->x.topRightCorner(2, 2).setIdentity();
        J->u.bottomRows(2).setIdentity();
      }));
}

Collider point_ball(double radius) {
  return {"ball", Sphere{radius}, [](const Knot& knot, Pose& X, Eigen::Ref<MatrixX>* J) {
            X = Pose::translation({knot.x[0], knot.x[1], 0.0});
            if (J != nullptr) J->topLeftCorner(2, 2).setIdentity();
          }};
}

/// Past a thin post with few knots: a trajectory may jump over it between two of them.
OptimalControl past_a_post() {
  VectorX start = VectorX::Zero(4), goal = VectorX::Zero(4);
  start[0] = -2.0;
  start[1] = 0.005;
  goal[0] = 2.0;
  OptimalControl problem(point_in_plane(), {start, constant_steps(9, 0.4)});
  problem.add(ControlCost{.weight = all_of(1.0)});
  problem.add(ControlBounds{.lower = all_of(-10.0), .upper = all_of(10.0)});
  problem.add(Reach{.target = goal});
  add(problem, KeepApart{.movers = {point_ball(0.02)},
                         .obstacles = {fixed("post", Sphere{0.04}, Pose{})},
                         .metric = KeepApart::Metric::distance});
  return problem;
}

TEST(BetweenKnots, NothingIsJumpedOver) {
  const OptimalControl problem = past_a_post();
  const OptimizeResult jumps = Optimizer(problem, {.between = 0}).solve();
  ASSERT_EQ(jumps.status, OptimizeStatus::solved);
  EXPECT_GT(verify(problem, jumps.plan, {.refine = 10}).inequality, 0.02) << "no test of it";
  const OptimizeResult result = Optimizer(problem).solve();
  ASSERT_EQ(result.status, OptimizeStatus::solved) << result.name;
  EXPECT_GT(result.rows_between, 0);
  EXPECT_LE(result.between, 1e-4);
  EXPECT_LE(verify(problem, result.plan, {.refine = 10}).inequality, 1e-3);
}

TEST(Threads, SameBits) {
  const OptimalControl problem = past_a_post();
  for (const CurvatureUse curvature : {CurvatureUse::when_slow, CurvatureUse::always}) {
    const OptimizeResult one = Optimizer(problem, {.curvature = curvature}).solve();
    const OptimizeResult three = Optimizer(problem, {.curvature = curvature, .num_threads = 3}).solve();
    EXPECT_EQ(one.iterations, three.iterations);
    for (std::size_t k = 0; k < one.plan.x.size(); ++k) EXPECT_EQ(one.plan.x[k], three.plan.x[k]);
    for (std::size_t k = 0; k < one.plan.u.size(); ++k) EXPECT_EQ(one.plan.u[k], three.plan.u[k]);
  }
}

struct CartPole {
  std::shared_ptr<const WorldDynamics> dynamics;
  VectorX start;
};

/// A pole that is to be brought upright in a second, with its damping and its mass as variables.
CartPole cartpole_with_design() {
  const Scene scene = load_scene(test::scenes_folder() / "cartpole.xml");
  World world(scene.robot.model, scene.robot.actuators, {.time_step = 0.02});
  const std::string pole = scene.robot.model.body(scene.robot.model.num_bodies() - 1).spec.name;
  const std::string joint = scene.robot.model.dof_name(scene.robot.model.nv() - 1);
  std::vector<DesignVariable> design = {design_variable(world, pole + ".mass"),
                                        design_variable(world, joint + ".damping")};
  CartPole out{std::make_shared<WorldDynamics>(world, design), {}};
  VectorX q(2);
  q << 0.1, 0.05;
  out.start = out.dynamics->state(q, VectorX::Zero(2));
  return out;
}

OptimalControl upright(const CartPole& cartpole, bool free) {
  VectorX mask = VectorX::Zero(6);
  if (free) mask.tail(2).setOnes();
  OptimalControl problem(cartpole.dynamics, {cartpole.start, constant_steps(150, 0.02), mask});
  problem.add(ControlCost{.weight = all_of(1.0), .per_second = true});
  problem.add(ControlBounds{.lower = all_of(-10.0), .upper = all_of(10.0)});
  VectorX target = cartpole.start, weight = VectorX::Zero(6);
  weight.tail(2).setConstant(10.0);
  problem.add(StateCost{.name = "design", .target = target, .weight = weight, .knots = Knots::at(0)});
  VectorX lower = VectorX::Constant(6, -std::numeric_limits<double>::infinity());
  lower.tail(2).setConstant(1e-3);
  if (free)
    problem.add(StateBounds{.name = "least design",
                            .lower = lower,
                            .upper = all_of(std::numeric_limits<double>::infinity()),
                            .knots = Knots::at(0)});
  VectorX reach = VectorX::Ones(6);
  reach.tail(2).setZero();
  problem.add(Reach{.target = VectorX::Zero(6), .mask = reach});
  return problem;
}

const OptimizerOptions kExact{.tolerance = 1e-7, .constraint_tolerance = 1e-9};

/// The start at all knots.
Guess still(const CartPole& cartpole) { return {.x = cartpole.start.replicate(1, 151)}; }

TEST(Design, JacobiansMatchDifferences) {
  CartPole cartpole = cartpole_with_design();
  cartpole.start.tail(2) += VectorX::Constant(2, 0.1);
  const auto stepper = cartpole.dynamics->stepper(constant_steps(1, 0.01), {}, 1);
  VectorX u = VectorX::Constant(1, 0.7), next, ahead, behind, moved, dx;
  VectorX x = cartpole.start;
  x.segment(2, 2) << 0.4, -0.8;
  MatrixX A, B;
  ASSERT_TRUE(stepper->linearize(0, 0, x, u, next, A, B));
  ASSERT_EQ(A.rows(), 6);
  for (int i = 0; i < 6; ++i) {
    constexpr double kStep = 1e-6;
    dx = VectorX::Zero(6);
    dx[i] = kStep;
    MatrixX unused_A, unused_B;
    cartpole.dynamics->plus(x, dx, moved);
    ASSERT_TRUE(stepper->linearize(0, 0, moved, u, ahead, unused_A, unused_B));
    dx[i] = -kStep;
    cartpole.dynamics->plus(x, dx, moved);
    ASSERT_TRUE(stepper->linearize(0, 0, moved, u, behind, unused_A, unused_B));
    VectorX slope;
    cartpole.dynamics->minus(behind, ahead, slope);
    EXPECT_LE((slope / (2.0 * kStep) - A.col(i)).lpNorm<Eigen::Infinity>(), 1e-7) << i;
  }
}

TEST(Design, IsChosenTogetherWithTheMotion) {
  CartPole cartpole = cartpole_with_design();
  const OptimizeResult held = Optimizer(upright(cartpole, false), kExact).solve(still(cartpole));
  ASSERT_EQ(held.status, OptimizeStatus::solved) << held.name;
  const OptimizeResult chosen = Optimizer(upright(cartpole, true), kExact).solve(still(cartpole));
  ASSERT_EQ(chosen.status, OptimizeStatus::solved) << chosen.name << chosen.violation;
  EXPECT_LT(chosen.cost, held.cost - 1e-4);
  const VectorX theta = chosen.plan.x[0].tail(2);
  EXPECT_GT((theta - cartpole.start.tail(2)).norm(), 1e-3);
  for (const VectorX& x : chosen.plan.x) EXPECT_LE((x.tail(2) - theta).norm(), 1e-12);
  // with that design held the motion is the same, and with any other one near it costs more
  cartpole.start.tail(2) = theta;
  const double weight = 10.0;
  const auto total = [&](const VectorX& design) {
    CartPole other = cartpole;
    other.start.tail(2) = design;
    const OptimizeResult result = Optimizer(upright(other, false), kExact).solve(still(other));
    EXPECT_EQ(result.status, OptimizeStatus::solved);
    return result.cost + 0.5 * weight * (design - cartpole_with_design().start.tail(2)).squaredNorm();
  };
  EXPECT_NEAR(total(theta), chosen.cost, 1e-6);
  for (int i = 0; i < 2; ++i)
    for (const double change : {-0.02, 0.02}) {
      VectorX other = theta;
      other[i] += change;
      if (other[i] < 1e-3) continue;
      EXPECT_GT(total(other), chosen.cost) << i << " " << change;
    }
}

TEST(Curvature, LeadsToTheSameOptimum) {
  const OptimalControl problem = past_a_post();
  const OptimizeResult newton = Optimizer(problem, {.curvature = CurvatureUse::always, .between = 0}).solve();
  const OptimizeResult gauss = Optimizer(problem, {.curvature = CurvatureUse::never, .between = 0}).solve();
  ASSERT_EQ(newton.status, OptimizeStatus::solved);
  EXPECT_NEAR(newton.cost, gauss.cost, 1e-4 * gauss.cost);
}

TEST(RecedingHorizon, ShiftedSolvesTakeFewIterationsAndNoMemory) {
  VectorX start(4);
  start << -1.0, 0.5, 0.0, 0.0;
  OptimalControl problem(point_in_plane(), {start, constant_steps(20, 0.1)});
  problem.add(StateCost{.target = VectorX::Zero(4), .weight = all_of(1.0)});
  problem.add(ControlCost{.weight = all_of(0.1)});
  problem.add(ControlBounds{.lower = all_of(-1.0), .upper = all_of(1.0)});
  Optimizer optimizer(problem);
  ASSERT_EQ(optimizer.solve().status, OptimizeStatus::solved);
  VectorX x = optimizer.result().plan.x[1];
  optimizer.shift(x);
  (void)optimizer.solve_again();
  const test::AllocationCount count;
  for (int k = 0; k < 60; ++k) {
    x = optimizer.result().plan.x[1];
    optimizer.shift(x);
    const OptimizeResult& result = optimizer.solve_again();
    ASSERT_EQ(result.status, OptimizeStatus::solved) << k;
    EXPECT_LE(result.iterations, 8) << k;
  }
  EXPECT_EQ(count.so_far(), 0);
  EXPECT_LE(x.norm(), 0.02);
  // no time: the plan that is there comes back at once
  const OptimizeResult& result = optimizer.solve_within(0.0);
  EXPECT_TRUE(result.status == OptimizeStatus::stopped || result.status == OptimizeStatus::solved);
  EXPECT_EQ(result.iterations, 0);
}

}  // namespace
}  // namespace tangere
