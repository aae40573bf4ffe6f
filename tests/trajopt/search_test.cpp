#include "tangere/trajopt/search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tangere/math/error.hpp"
#include "tangere/trajopt/function_dynamics.hpp"

namespace tangere {
namespace {

/// A point mass, to be brought from 0 to 1 at rest.
OptimalControl point_mass() {
  const auto f = [](const VectorX& x, const VectorX& u, double dt, VectorX& out, FunctionJacobians* J) {
    out = Vector2(x[0] + dt * x[1], x[1] + dt * u[0]);
    if (J == nullptr) return;
    J->x << 1.0, dt, 0.0, 1.0;
    J->u << 0.0, dt;
  };
  OptimalControl problem(std::make_shared<FunctionDynamics>(2, 1, f), {VectorX::Zero(2), constant_steps(40, 0.05)});
  problem.add(ControlCost{.weight = all_of(0.01), .per_second = true});
  problem.add(ControlBounds{.lower = all_of(-4.0), .upper = all_of(4.0)});
  problem.add(Reach{.target = Vector2(1.0, 0.0)});
  return problem;
}

class SearchMethods : public testing::TestWithParam<SearchMethod> {};

TEST_P(SearchMethods, BringsAPointMassHome) {
  const OptimalControl problem = point_mass();
  const SearchResult found = search(problem, {.method = GetParam(), .samples = 64, .generations = 100, .nodes = 6});
  EXPECT_LE(found.violation, 0.05);
  EXPECT_EQ(found.guess.u.cols(), 40);
  EXPECT_LE(found.guess.u.cwiseAbs().maxCoeff(), 4.0);
  // a start from which the optimiser goes on
  Optimizer optimizer(problem);
  EXPECT_EQ(optimizer.solve(found.guess).status, OptimizeStatus::solved);
}

TEST_P(SearchMethods, SameBitsForAnyThreads) {
  const OptimalControl problem = point_mass();
  SearchOptions options{.method = GetParam(), .generations = 5};
  const SearchResult one = search(problem, options);
  options.num_threads = 4;
  const SearchResult four = search(problem, options);
  EXPECT_EQ(one.guess.u, four.guess.u);
  EXPECT_EQ(one.objective, four.objective);
  options.seed = 2;
  EXPECT_NE(search(problem, options).objective, one.objective);
}

INSTANTIATE_TEST_SUITE_P(All, SearchMethods, testing::Values(SearchMethod::cem, SearchMethod::mppi),
                         [](const auto& one) { return std::string(to_string(one.param)); });

TEST(Search, StopsWhenToldAndRefusesBadInput) {
  const OptimalControl problem = point_mass();
  int calls = 0;
  (void)search(problem, {}, {}, [&](const SearchResult&) { return ++calls < 3; });
  EXPECT_EQ(calls, 3);
  EXPECT_THROW((void)search(problem, {.samples = 1}), InputError);
  EXPECT_THROW((void)search(problem, {.elite = 100}), InputError);
  EXPECT_THROW((void)search(problem, {.spread = 0.0}), InputError);
  EXPECT_THROW((void)search(problem, {}, {.u = MatrixX::Zero(2, 3)}), InputError);
}

/// A problem in which every motion runs away has no plan, and says so.
TEST(Search, NoFiniteMotion) {
  const auto f = [](const VectorX&, const VectorX&, double, VectorX& out, FunctionJacobians*) {
    out.setConstant(1, std::numeric_limits<double>::quiet_NaN());
  };
  OptimalControl problem(std::make_shared<FunctionDynamics>(1, 1, f), {VectorX::Zero(1), constant_steps(3, 0.1)});
  problem.add(ControlCost{.weight = all_of(1.0)});
  const SearchResult found = search(problem, {.generations = 2});
  EXPECT_FALSE(std::isfinite(found.violation));
}

}  // namespace
}  // namespace tangere
