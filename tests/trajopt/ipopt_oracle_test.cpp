/// Random problems against Ipopt's optima (tests/oracles/ipopt_optimal_control.py, which states them).

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "tangere/trajopt/function_dynamics.hpp"
#include "tangere/trajopt/optimizer.hpp"
#include "tests/support/folders.hpp"

namespace tangere::test {
namespace {

VectorX vector_of(const nlohmann::json& json) {
  VectorX out(static_cast<Eigen::Index>(json.size()));
  for (std::size_t i = 0; i < json.size(); ++i) out[static_cast<Eigen::Index>(i)] = json[i];
  return out;
}

MatrixX matrix_of(const nlohmann::json& json) {
  MatrixX out(static_cast<Eigen::Index>(json.size()), static_cast<Eigen::Index>(json[0].size()));
  for (std::size_t i = 0; i < json.size(); ++i) out.row(static_cast<Eigen::Index>(i)) = vector_of(json[i]).transpose();
  return out;
}

std::shared_ptr<const Dynamics> dynamics_of(const nlohmann::json& p) {
  const MatrixX A = matrix_of(p.at("A")), B = matrix_of(p.at("B")), D = matrix_of(p.at("D"));
  const double bend = p.at("bend");
  const auto f = [=](const VectorX& x, const VectorX& u, double, VectorX& out, FunctionJacobians* J) {
    const VectorX inner = D * x;
    out = A * x + B * u + bend * VectorX(inner.array().sin());
    if (J == nullptr) return;
    J->x = A + bend * MatrixX(inner.array().cos().matrix().asDiagonal() * D);
    J->u = B;
  };
  return std::make_shared<FunctionDynamics>(static_cast<int>(A.rows()), static_cast<int>(B.cols()), f);
}

OptimalControl problem_of(const nlohmann::json& p) {
  const VectorX start = vector_of(p.at("start"));
  const VectorX target = vector_of(p.at("target"));
  const int nx = static_cast<int>(start.size());
  OptimalControl problem(dynamics_of(p), {start, constant_steps(p.at("steps"), 1.0)});
  problem.add(StateCost{.target = target, .weight = all_of(p.at("q"))});
  problem.add(ControlCost{.weight = all_of(p.at("r"))});
  const double most = p.at("u_max");
  problem.add(ControlBounds{.lower = all_of(-most), .upper = all_of(most)});
  VectorX upper = VectorX::Constant(nx, std::numeric_limits<double>::infinity());
  upper[0] = p.at("wall");
  problem.add(StateBounds{.lower = all_of(-std::numeric_limits<double>::infinity()), .upper = upper});
  if (const double radius = p.at("radius"); radius > 0.0) {
    const VectorX center = vector_of(p.at("center"));
    problem.add(Inequality{.name = "circle",
                           .size = 1,
                           .value =
                               [=](const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) {
                                 const VectorX away = knot.x.head(2) - center;
                                 value[0] = radius * radius - away.squaredNorm();
                                 if (J != nullptr) J->x.block(0, 0, 1, 2) = -2.0 * away.transpose();
                               },
                           .knots = Knots::after_start()});
  }
  if (p.at("has_end")) {
    Reach end{.target = VectorX::Zero(nx), .mask = VectorX::Zero(nx)};
    end.target[nx - 1] = p.at("end");
    end.mask[nx - 1] = 1.0;
    problem.add(end);
  }
  return problem;
}

TEST(IpoptOracle, SameOptimumOfRandomProblems) {
  std::ifstream file(data_folder() / "ipopt_optimal_control.jsonl");
  ASSERT_TRUE(file);
  int count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    SCOPED_TRACE("line " + std::to_string(count + 1));
    const nlohmann::json record = nlohmann::json::parse(line);
    const OptimalControl problem = problem_of(record);
    Optimizer optimizer(problem, {.tolerance = 1e-8, .constraint_tolerance = 1e-8});
    const VectorX start = vector_of(record.at("start"));
    const OptimizeResult& result = optimizer.solve({.x = start.replicate(1, problem.num_steps() + 1)});
    EXPECT_EQ(result.status, OptimizeStatus::solved) << result.name;
    EXPECT_LE(result.iterations, 100);
    EXPECT_LE(result.violation, 1e-8);
    const double expected = record.at("cost");
    EXPECT_NEAR(result.cost, expected, 1e-6 * (1.0 + std::abs(expected)));
    (void)optimizer.solve_again();
    EXPECT_EQ(optimizer.result().status, OptimizeStatus::solved);
    EXPECT_LE(optimizer.result().iterations, 2);
  }
  EXPECT_EQ(count, 20);
}

}  // namespace
}  // namespace tangere::test
