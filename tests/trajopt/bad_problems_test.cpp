/// Problems without a solution, and functions that are not finite: a status that names knot and term.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tangere/math/error.hpp"
#include "tangere/trajopt/function_dynamics.hpp"
#include "tangere/trajopt/keep_apart.hpp"
#include "tangere/trajopt/optimizer.hpp"

namespace tangere {
namespace {

/// A point in the plane: x = (p, v), p' = p + h v + ½ h² u, v' = v + h u.
std::shared_ptr<const Dynamics> point_in_plane() {
  return std::make_shared<FunctionDynamics>(
      4, 2, [](const VectorX& x, const VectorX& u, double h, VectorX& out, FunctionJacobians* J) {
        out.head(2) = x.head(2) + h * x.tail(2) + 0.5 * h * h * u;
        out.tail(2) = x.tail(2) + h * u;
        if (J == nullptr) return;
        J->x.setIdentity();
        J->x.topRightCorner(2, 2) = h * MatrixX::Identity(2, 2);
        J->u.topRows(2) = 0.5 * h * h * MatrixX::Identity(2, 2);
        J->u.bottomRows(2) = h * MatrixX::Identity(2, 2);
      });
}

VectorX state(double x, double y) {
  VectorX out = VectorX::Zero(4);
  out[0] = x;
  out[1] = y;
  return out;
}

OptimalControl way_to(const VectorX& goal, double bound = 20.0) {
  OptimalControl problem(point_in_plane(), {VectorX::Zero(4), constant_steps(20, 0.1)});
  problem.add(ControlCost{.weight = all_of(1e-2)});
  problem.add(ControlBounds{.lower = all_of(-bound), .upper = all_of(bound)});
  problem.add(Reach{.target = goal});
  return problem;
}

Collider point_ball(double radius) {
  return {"ball", Sphere{radius}, [](const Knot& knot, Pose& X, Eigen::Ref<MatrixX>* J) {
            X = Pose::translation({knot.x[0], knot.x[1], 0.0});
            if (J != nullptr) J->topLeftCorner(2, 2).setIdentity();
          }};
}

TEST(BadProblems, GoalInAWallIsNamedWithTheLeastViolation) {
  OptimalControl problem = way_to(state(2.0, 0.0));
  VectorX upper = VectorX::Constant(4, std::numeric_limits<double>::infinity());
  upper[0] = 1.0;
  problem.add(StateBounds{.name = "wall", .lower = all_of(-std::numeric_limits<double>::infinity()), .upper = upper});
  const OptimizeResult result = Optimizer(problem).solve();
  EXPECT_EQ(result.status, OptimizeStatus::infeasible) << to_string(result.status);
  EXPECT_EQ(result.knot, 20);
  // the wall is a metre before the goal: the least sum of squares leaves more than half of it at one of them
  EXPECT_GT(result.violation, 0.5);
  EXPECT_LT(result.violation, 0.7);
  EXPECT_TRUE(result.name.find("wall") != std::string::npos || result.name.find("reach") != std::string::npos)
      << result.name;
}

TEST(BadProblems, StartInAnObstacleIsNamed) {
  OptimalControl problem = way_to(state(3.0, 0.0));
  add(problem,
      KeepApart{.name = "apart", .movers = {point_ball(0.1)}, .obstacles = {fixed("rock", Sphere{0.5}, Pose{})}});
  const OptimizeResult result = Optimizer(problem).solve();
  EXPECT_EQ(result.status, OptimizeStatus::infeasible) << to_string(result.status);
  EXPECT_EQ(result.knot, 0);
  EXPECT_EQ(result.name, "apart: ball, rock");
  EXPECT_GT(result.violation, 0.05);
}

TEST(BadProblems, ARegionThatIsNotFiniteIsNamed) {
  // beyond x = 1 the user's function has no value, and the goal lies there
  OptimalControl problem = way_to(state(2.0, 0.0));
  problem.add(
      Inequality{.name = "root", .size = 1, .value = [](const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) {
                   const double room = 1.0 - knot.x[0];
                   value[0] = -std::sqrt(room) - 10.0;
                   if (J != nullptr) J->x(0, 0) = 0.5 / std::sqrt(room);
                 }});
  const OptimizeResult result = Optimizer(problem).solve();
  EXPECT_TRUE(result.status == OptimizeStatus::not_finite || result.status == OptimizeStatus::infeasible)
      << to_string(result.status);
  EXPECT_FALSE(result.name.empty());
  EXPECT_GE(result.knot, 0);
  for (const VectorX& x : result.plan.x) EXPECT_TRUE(x.allFinite());
}

TEST(BadProblems, AnExceptionOfAUsersFunctionIsTheirs) {
  OptimalControl problem = way_to(state(2.0, 0.0));
  problem.add(ResidualCost{.name = "own", .size = 1, .residual = [](const Knot&, Eigen::Ref<VectorX>, KnotJacobians*) {
                             throw std::runtime_error("mine");
                           }});
  EXPECT_THROW((void)Optimizer(problem, {.num_threads = 2}).solve(), std::runtime_error);
}

TEST(BadProblems, AFunctionThatResizesIsRefused) {
  const auto dynamics = std::make_shared<FunctionDynamics>(
      2, 1, [](const VectorX&, const VectorX&, double, VectorX& out, FunctionJacobians*) { out.setZero(3); });
  OptimalControl problem(dynamics, {VectorX::Zero(2), constant_steps(3, 0.1)});
  problem.add(ControlCost{.weight = all_of(1.0)});
  EXPECT_THROW((void)Optimizer(problem).solve(), InputError);
}

TEST(BadProblems, NothingToGoOnFromIsRefused) {
  Optimizer optimizer(way_to(state(1.0, 0.0)));
  EXPECT_THROW((void)optimizer.solve_again(), InputError);
  EXPECT_THROW(optimizer.shift(VectorX::Zero(4)), InputError);
}

TEST(BadProblems, StoppedKeepsTheBestIterate) {
  // the callback stops while the goal is not yet reached: the plan is the least violation seen, not the last
  Optimizer optimizer(way_to(state(1.0, 1.0), 2.0));
  double least = std::numeric_limits<double>::infinity();
  for (int most = 1; most < 8; ++most) {
    least = std::numeric_limits<double>::infinity();
    int seen = 0;
    const OptimizeResult result = optimizer.solve({}, [&](const Iteration& row) {
      least = std::min(least, std::max({row.defect, row.equality, row.inequality}));
      return ++seen < most;
    });
    if (result.status != OptimizeStatus::stopped) break;
    EXPECT_LE(result.violation, least + 1e-12) << most;
  }
}

}  // namespace
}  // namespace tangere
