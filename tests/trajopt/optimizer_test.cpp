#include "tangere/trajopt/optimizer.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/trajopt/function_dynamics.hpp"
#include "tests/support/allocation.hpp"

namespace tangere {
namespace {

MatrixX random_matrix(Random& random, int rows, int cols) {
  MatrixX out(rows, cols);
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows; ++i) out(i, j) = random.normal();
  return out;
}

/// x' = A x + B u.
struct LinearSystem {
  MatrixX A;
  MatrixX B;

  [[nodiscard]] std::shared_ptr<const Dynamics> dynamics() const {
    return std::make_shared<FunctionDynamics>(
        static_cast<int>(A.rows()), static_cast<int>(B.cols()),
        [*this](const VectorX& x, const VectorX& u, double, VectorX& out, FunctionJacobians* J) {
          out.noalias() = A * x;
          out.noalias() += B * u;
          if (J == nullptr) return;
          J->x = A;
          J->u = B;
        });
  }
};

LinearSystem random_system(Random& random, int nx, int nu) {
  LinearSystem system{random_matrix(random, nx, nx), random_matrix(random, nx, nu)};
  system.A *= 0.5;
  system.A.diagonal().array() += 0.5;
  return system;
}

/// The controls of the textbook recursion P = Q + Aᵀ P (A - B K).
std::vector<VectorX> riccati_controls(const LinearSystem& system, const VectorX& start, double q, double r, int steps) {
  const Eigen::Index nx = system.A.rows();
  const Eigen::Index nu = system.B.cols();
  std::vector<MatrixX> K(steps);
  MatrixX P = q * MatrixX::Identity(nx, nx);
  for (int k = steps - 1; k >= 0; --k) {
    const MatrixX S = r * MatrixX::Identity(nu, nu) + system.B.transpose() * P * system.B;
    K[k] = S.inverse() * system.B.transpose() * P * system.A;
    P = q * MatrixX::Identity(nx, nx) + system.A.transpose() * P * (system.A - system.B * K[k]);
  }
  std::vector<VectorX> controls;
  VectorX x = start;
  for (int k = 0; k < steps; ++k) {
    controls.emplace_back(-K[k] * x);
    x = (system.A * x + system.B * controls.back()).eval();
  }
  return controls;
}

TEST(Optimizer, LinearQuadraticProblemTakesOneIteration) {
  Random random(1);
  for (int trial = 0; trial < 10; ++trial) {
    const int nx = 1 + random.index(6);
    const int nu = 1 + random.index(3);
    const int steps = 5 + random.index(30);
    const LinearSystem system = random_system(random, nx, nu);
    const VectorX start = random_matrix(random, nx, 1);
    OptimalControl problem(system.dynamics(), {start, constant_steps(steps, 0.1)});
    problem.add(StateCost{.target = VectorX::Zero(nx), .weight = all_of(1.0)});
    problem.add(ControlCost{.weight = all_of(0.3)});
    const std::vector<VectorX> expected = riccati_controls(system, start, 1.0, 0.3, steps);
    Optimizer optimizer(problem);
    for (const bool line : {false, true}) {
      const OptimizeResult& result = optimizer.solve(line ? Guess::line(problem, VectorX::Ones(nx)) : Guess{});
      ASSERT_EQ(result.status, OptimizeStatus::solved) << to_string(result.status);
      EXPECT_EQ(result.iterations, 1);
      for (int k = 0; k < steps; ++k)
        EXPECT_LE((result.plan.u[k] - expected[k]).lpNorm<Eigen::Infinity>(), 1e-10 * (1.0 + start.norm()));
    }
  }
}

/// A double integrator from 0 to 1 at rest, |u| ≤ 1, with slack time: bounds are active.
OptimalControl bounded_integrator(double bound) {
  MatrixX A(2, 2), B(2, 1);
  const double h = 0.1;
  A << 1.0, h, 0.0, 1.0;
  B << 0.5 * h * h, h;
  OptimalControl problem(LinearSystem{A, B}.dynamics(), {VectorX::Zero(2), constant_steps(21, h)});
  VectorX goal(2);
  goal << 1.0, 0.0;
  problem.add(ControlCost{.weight = all_of(1.0)});
  problem.add(ControlBounds{.lower = all_of(-bound), .upper = all_of(bound)});
  problem.add(Reach{.target = goal});
  return problem;
}

TEST(Optimizer, BoundsAndGoalHold) {
  Optimizer optimizer(bounded_integrator(1.0));
  const OptimizeResult& result = optimizer.solve();
  ASSERT_EQ(result.status, OptimizeStatus::solved) << result.name << result.violation;
  EXPECT_NEAR(result.plan.u[0][0], 1.0, 1e-5);
  EXPECT_NEAR(result.plan.x.back()[0], 1.0, 1e-6);
  EXPECT_LE(result.iterations, 30);
  const double cost = result.cost;
  EXPECT_EQ(optimizer.solve_again().status, OptimizeStatus::solved);
  EXPECT_LE(optimizer.result().iterations, 2);
  EXPECT_NEAR(optimizer.result().cost, cost, 1e-6 * cost);
}

TEST(Optimizer, ImpossibleGoalIsNamed) {
  Optimizer optimizer(bounded_integrator(0.5));
  const OptimizeResult& result = optimizer.solve();
  EXPECT_EQ(result.status, OptimizeStatus::infeasible) << to_string(result.status);
  EXPECT_EQ(result.knot, 21);
  EXPECT_NE(result.name.find("reach"), std::string::npos) << result.name;
  EXPECT_GT(result.violation, 0.1);
}

TEST(Optimizer, NothingIsAllocatedAfterTheFirstSolve) {
  Optimizer optimizer(bounded_integrator(1.0));
  (void)optimizer.solve();
  const test::AllocationCount count;
  (void)optimizer.solve();
  EXPECT_EQ(count.so_far(), 0);
}

TEST(Optimizer, CallbackStopsAndSeesEveryIteration) {
  Optimizer optimizer(bounded_integrator(1.0));
  int seen = 0;
  const OptimizeResult& result = optimizer.solve({}, [&](const Iteration& row) {
    EXPECT_GE(row.iteration, 0);
    return ++seen < 3;
  });
  EXPECT_EQ(result.status, OptimizeStatus::stopped);
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(result.log.size(), 3u);
}

TEST(Optimizer, WhatIsNotFiniteIsNamed) {
  OptimalControl problem = bounded_integrator(1.0);
  problem.add(ResidualCost{
      .name = "bad cost", .size = 1, .residual = [](const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians*) {
        value[0] = knot.index == 7 ? std::nan("") : 0.0;
      }});
  const OptimizeResult result = Optimizer(problem).solve();
  EXPECT_EQ(result.status, OptimizeStatus::not_finite);
  EXPECT_EQ(result.knot, 7);
  EXPECT_EQ(result.name, "bad cost");
  const auto exploding = std::make_shared<FunctionDynamics>(
      1, 1, [](const VectorX&, const VectorX&, double, VectorX& out, FunctionJacobians*) { out[0] = std::nan(""); });
  OptimalControl runaway(exploding, {VectorX::Zero(1), constant_steps(4, 0.1)});
  const OptimizeResult second = Optimizer(runaway).solve();
  EXPECT_EQ(second.status, OptimizeStatus::not_finite);
  EXPECT_EQ(second.knot, 0);
  EXPECT_EQ(second.name, "dynamics");
}

template <class F>
std::string field_of(F&& f) {
  try {
    f();
  } catch (const InputError& error) {
    return error.field();
  }
  return {};
}

TEST(OptimalControl, WrongInputIsNamed) {
  OptimalControl problem = bounded_integrator(1.0);
  const VectorX three = VectorX::Zero(3);
  EXPECT_EQ(field_of([&] { problem.add(StateCost{.target = three, .weight = all_of(1.0)}); }), "state.target");
  EXPECT_EQ(field_of([&] { problem.add(ControlCost{.weight = three}); }), "control.weight");
  EXPECT_EQ(field_of([&] { problem.add(ControlCost{.weight = all_of(-1.0)}); }), "control.weight");
  EXPECT_EQ(field_of([&] { problem.add(ControlCost{.weight = all_of(1.0), .knots = Knots::all()}); }), "control.knots");
  EXPECT_EQ(field_of([&] { problem.add(ControlBounds{.lower = all_of(1.0), .upper = all_of(0.0)}); }),
            "control bounds.lower[0]");
  EXPECT_EQ(field_of([&] { problem.add(Reach{.target = VectorX::Zero(2), .knots = Knots::at(99)}); }), "reach.knots");
  EXPECT_EQ(field_of([&] { problem.add(FrameCost{.body = "hand"}); }), "frame.body");
  EXPECT_EQ(field_of([&] { problem.add(Inequality{.size = 1}); }), "inequality.value");
  EXPECT_EQ(field_of([&] { problem.set_start(three); }), "start");
  EXPECT_EQ(field_of([&] { OptimalControl(problem.shared_dynamics(), {VectorX::Zero(2), {}}); }), "time_steps");
  EXPECT_EQ(field_of([&] { Optimizer(problem, {.barrier = -1.0}); }), "barrier");
  EXPECT_EQ(field_of([&] { (void)Optimizer(problem).solve({.u = MatrixX::Zero(2, 2)}); }), "guess.u");
}

}  // namespace
}  // namespace tangere
