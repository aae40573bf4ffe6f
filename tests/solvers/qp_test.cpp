/// Quadratic programs: the interior point against known solutions, the active set against the interior point, and the
/// sensitivities of both against finite differences.

#include "tangere/solvers/qp/qp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/SVD>

#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/solvers/qp/qp_active_set.hpp"
#include "tangere/solvers/qp/qp_interior_point.hpp"
#include "tangere/solvers/qp/qp_sensitivity.hpp"
#include "tests/support/allocation.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere::test {
namespace {

constexpr QpOptions kTight{.gap_tolerance = 1e-15, .gap_floor = 1e-20, .residual_tolerance = 1e-12};

MatrixX random_matrix(Random& random, Eigen::Index rows, Eigen::Index columns) {
  return MatrixX::NullaryExpr(rows, columns, [&] { return random.normal(); });
}

/// A program with a known, unique and strictly complementary solution: x, s and z are drawn, q and h follow. Q has the
/// given rank; the active rows see to the rest.
struct KnownProgram {
  QpProblem problem;
  VectorX x, s, z;
  /// The least singular value of the curvature and the active rows together.
  double conditioning = 0.0;
};

KnownProgram known_program(Random& random, int n, int m, int rank) {
  const MatrixX F = random_matrix(random, rank, n);
  const MatrixX Q = F.transpose() * F;
  const MatrixX G = random_matrix(random, m, n);
  KnownProgram k;
  k.x = random_matrix(random, n, 1);
  k.s = VectorX::Zero(m);
  k.z = VectorX::Zero(m);
  const int active = std::clamp(n - rank, std::min(1, m), std::min(n, m));
  for (int i = 0; i < m; ++i) (i < active ? k.z[i] : k.s[i]) = random.uniform(0.5, 2.0);
  MatrixX both(rank + active, n);
  both << F, G.topRows(active);
  k.conditioning = both.jacobiSvd().singularValues()[n - 1];
  k.problem = QpProblem(Q, -(Q * k.x + G.transpose() * k.z), G, G * k.x + k.s);
  return k;
}

QpProblem box_program(const MatrixX& Q, const VectorX& q, const VectorX& lower, const VectorX& upper) {
  const auto n = q.size();
  MatrixX G(2 * n, n);
  G << MatrixX::Identity(n, n), -MatrixX::Identity(n, n);
  VectorX h(2 * n);
  h << upper, -lower;
  return {Q, q, G, h};
}

/// All numbers of the data, with Q's upper triangle standing for both.
VectorX data_of(const QpProblem& p) {
  const int n = p.num_variables();
  VectorX v(n * (n + 1) / 2 + n + p.G().size() + p.h().size());
  Eigen::Index at = 0;
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) v[at++] = p.Q()(i, j);
  for (int i = 0; i < n; ++i) v[at++] = p.q()[i];
  for (int i = 0; i < p.num_rows(); ++i)
    for (int j = 0; j < n; ++j) v[at++] = p.G()(i, j);
  for (int i = 0; i < p.num_rows(); ++i) v[at++] = p.h()[i];
  return v;
}

QpProblem with_data(const QpProblem& p, const VectorX& v) {
  const int n = p.num_variables();
  QpProblem out = p;
  Eigen::Index at = 0;
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) out.Q()(i, j) = out.Q()(j, i) = v[at++];
  for (int i = 0; i < n; ++i) out.q()[i] = v[at++];
  for (int i = 0; i < p.num_rows(); ++i)
    for (int j = 0; j < n; ++j) out.G()(i, j) = v[at++];
  for (int i = 0; i < p.num_rows(); ++i) out.h()[i] = v[at++];
  return out;
}

/// A gradient as `data_of` orders it: the entries off Q's diagonal count twice.
VectorX gradient_of(QpProblem gradient) {
  for (int i = 0; i < gradient.num_variables(); ++i)
    for (int j = i + 1; j < gradient.num_variables(); ++j) gradient.Q()(i, j) *= 2.0;
  return data_of(gradient);
}

/// Backward against differences, and forward against backward, at the solution that `solve` finds.
template <class Solve>
void check_sensitivities(const QpProblem& problem, bool relaxed, Solve&& solve, Random& random) {
  const int n = problem.num_variables();
  const VectorX direction = random_matrix(random, n, 1);
  QpSolution solution = solve(problem);
  QpSensitivity sensitivity;
  sensitivity.linearise(problem, solution, relaxed);
  ASSERT_EQ(sensitivity.freedom(), 0);
  QpProblem gradient;
  sensitivity.backward(direction, gradient);
  const VectorX data = data_of(problem);
  const VectorX expected = finite_difference_gradient(
      [&](const VectorX& d) { return direction.dot(solve(with_data(problem, data + d)).x()); },
      static_cast<int>(data.size()), 1e-3);
  EXPECT_NEAR_RELATIVE(gradient_of(gradient), expected, 1e-6);
  // forward along one change is the same derivative
  const VectorX change = random_matrix(random, data.size(), 1);
  VectorX dx(n);
  sensitivity.forward(with_data(problem, change), dx);
  EXPECT_NEAR(direction.dot(dx), change.dot(gradient_of(gradient)), 1e-9 * (change.norm() * expected.norm()));
}

TEST(QpInteriorPoint, KnownSolutions) {
  Random random(1);
  QpInteriorPoint solver;
  int most = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const int n = 1 + random.index(kMaxQpVariables);
    const int m = n + random.index(40);
    const KnownProgram k = known_program(random, n, m, 1 + random.index(n));
    ASSERT_NO_THROW(k.problem.verify());
    const QpSolution& answer = solver.solve(k.problem);
    ASSERT_EQ(answer.status, QpStatus::solved) << trial;
    EXPECT_NEAR(answer.objective, k.problem.objective(k.x), 1e-8 * (1.0 + std::abs(answer.objective))) << trial;
    most = std::max(most, answer.iterations);
    // the refined solution is the solution
    if (k.conditioning < 0.01) continue;
    QpSensitivity sensitivity;
    sensitivity.linearise(k.problem, answer, false);
    EXPECT_EQ(sensitivity.freedom(), 0) << trial;
    EXPECT_TRUE(sensitivity.refine(solver.solution())) << trial;
    EXPECT_NEAR_RELATIVE(answer.x(), k.x, 1e-9);
    EXPECT_NEAR_RELATIVE(answer.z(), k.z, 1e-8);
  }
  EXPECT_LE(most, 30);
}

TEST(QpInteriorPoint, ScaleInvariant) {
  Random random(2);
  QpInteriorPoint solver;
  for (int trial = 0; trial < 200; ++trial) {
    const KnownProgram k = known_program(random, 4, 15, 3);
    if (k.conditioning < 0.1) continue;
    for (const double length : {1e-6, 1e6}) {
      for (const double force : {1e-6, 1e6}) {
        // x in units of `length`, z in units of `force`
        const QpProblem scaled(force / length * k.problem.Q(), force * k.problem.q(), k.problem.G(),
                               length * k.problem.h());
        const QpSolution& answer = solver.solve(scaled, {.gap_tolerance = 1e-12});
        ASSERT_EQ(answer.status, QpStatus::solved) << trial;
        EXPECT_NEAR_RELATIVE(answer.x() / length, k.x, 1e-5);
      }
    }
  }
}

TEST(QpInteriorPoint, StopsAtARelaxation) {
  Random random(3);
  QpInteriorPoint solver;
  for (int trial = 0; trial < 300; ++trial) {
    const KnownProgram k = known_program(random, 1 + random.index(6), 20, 1);
    for (const double kappa : {1e-1, 1e-4, 1e-8}) {
      const QpSolution& answer = solver.solve(k.problem, {.kappa = kappa});
      ASSERT_EQ(answer.status, QpStatus::solved) << trial << " " << kappa;
      EXPECT_NEAR_ABSOLUTE(VectorX(answer.s().cwiseProduct(answer.z())), VectorX::Constant(20, kappa), 1e-9 * kappa);
      EXPECT_NEAR_ABSOLUTE(VectorX(k.problem.G() * answer.x() + answer.s()), k.problem.h(), 1e-9 * answer.s().norm());
    }
  }
}

TEST(QpInteriorPoint, WithoutRows) {
  QpInteriorPoint solver;
  const QpProblem problem(2.0 * MatrixX::Identity(2, 2), Vector2(1, -3), MatrixX(0, 2), VectorX(0));
  const QpSolution& answer = solver.solve(problem);
  EXPECT_EQ(answer.status, QpStatus::solved);
  EXPECT_NEAR_ABSOLUTE(answer.x(), Vector2(-0.5, 1.5), 1e-14);
}

TEST(QpInteriorPoint, SaysWhenItFails) {
  QpInteriorPoint solver;
  // x ≤ -1 and x ≥ 1
  const QpProblem infeasible(MatrixX::Identity(1, 1), VectorX::Zero(1), MatrixX{{1.0}, {-1.0}}, Vector2(-1, -1));
  EXPECT_NE(solver.solve(infeasible).status, QpStatus::solved);
  EXPECT_TRUE(solver.solution().x().allFinite());
  Random random(4);
  const KnownProgram k = known_program(random, 3, 8, 2);
  EXPECT_EQ(solver.solve(k.problem, {.max_iterations = 2}).status, QpStatus::iteration_limit);
  EXPECT_EQ(solver.solution().iterations, 2);
}

TEST(QpActiveSet, AgreesWithTheInteriorPointOnTenThousandPrograms) {
  Random random(5);
  QpInteriorPoint solver;
  QpSolution active;
  double worst = 0.0;
  for (int trial = 0; trial < 10000; ++trial) {
    const MatrixX F = random_matrix(random, 3, 2);
    const VectorX q = random.log_uniform(0.1, 10.0) * random_matrix(random, 2, 1);
    const Vector2 lower = Vector2(random.uniform(-1, 0), random.uniform(-1, 0));
    const Vector2 upper = lower + Vector2(random.uniform(0.1, 2), random.uniform(0.1, 2));
    const QpProblem problem = trial % 2 == 0
                                  ? box_program(F.transpose() * F, q, Vector2(0, 0), Vector2(1, 1))  // as in the paper
                                  : box_program(F.transpose() * F, q, lower, upper);
    solve_active_set_2d(problem, active);
    const QpSolution& interior = solver.solve(problem, kTight);
    worst = std::max(worst, (active.x() - interior.x()).cwiseAbs().maxCoeff());
    worst = std::max(worst, (active.z() - interior.z()).cwiseAbs().maxCoeff() / (1.0 + active.z().maxCoeff()));
    // and the active set's answer is a solution by itself
    EXPECT_TRUE((active.s().array() >= 0.0).all() && (active.z().array() >= 0.0).all());
    EXPECT_NEAR_ABSOLUTE(VectorX(problem.Q() * active.x() + problem.q() + problem.G().transpose() * active.z()),
                         VectorX::Zero(2), 1e-11 * (1.0 + q.norm()));
  }
  EXPECT_LE(worst, 1e-8);
  RecordProperty("worst_difference", std::to_string(worst));
}

TEST(QpActiveSet, Singular) {
  QpSolution answer;
  const Vector2 zero(0, 0);
  const Vector2 one(1, 1);
  const MatrixX parallel = (MatrixX(2, 2) << 1, -1, -1, 1).finished();
  // all x with x₁ = x₂ are minimisers: the middle one
  solve_active_set_2d(box_program(parallel, zero, zero, one), answer);
  EXPECT_NEAR_ABSOLUTE(answer.x(), Vector2(0.5, 0.5), 1e-15);
  EXPECT_EQ(answer.z().maxCoeff(), 0.0);
  // x₁ - x₂ = ½
  solve_active_set_2d(box_program(parallel, Vector2(-0.5, 0.5), zero, one), answer);
  EXPECT_NEAR_ABSOLUTE(answer.x(), Vector2(0.75, 0.25), 1e-15);
  // the line of minimisers misses the box
  solve_active_set_2d(box_program(parallel, Vector2(-3, 3), zero, one), answer);
  EXPECT_NEAR_ABSOLUTE(answer.x(), Vector2(1, 0), 0.0);
  // no curvature at all
  solve_active_set_2d(box_program(MatrixX::Zero(2, 2), Vector2(1, 0), zero, one), answer);
  EXPECT_NEAR_ABSOLUTE(answer.x(), Vector2(0, 0.5), 0.0);
  // sizes from 1e-12 to 1e12
  for (const double k : {1e-12, 1e12}) {
    solve_active_set_2d(box_program(parallel, Vector2(-0.5 * k, 0.5 * k), zero, k * one), answer);
    EXPECT_NEAR_RELATIVE(answer.x(), Vector2(0.75 * k, 0.25 * k), 1e-15);
  }
  QpSensitivity sensitivity;
  const QpProblem problem = box_program(parallel, zero, zero, one);
  solve_active_set_2d(problem, answer);
  sensitivity.linearise(problem, answer, false);
  EXPECT_EQ(sensitivity.freedom(), 1);
}

TEST(QpActiveSet, NearlySingularAgreesInTheObjective) {
  Random random(6);
  QpInteriorPoint solver;
  QpSolution active;
  for (int trial = 0; trial < 2000; ++trial) {
    const double angle = random.log_uniform(1e-12, 1e-2);
    const MatrixX Q{{1.0, -std::cos(angle)}, {-std::cos(angle), 1.0}};
    const QpProblem problem = box_program(Q, random_matrix(random, 2, 1), Vector2(0, 0), Vector2(1, 1));
    solve_active_set_2d(problem, active);
    const QpSolution& interior = solver.solve(problem, {.gap_tolerance = 1e-13});
    EXPECT_NEAR(active.objective, interior.objective, 1e-11 * (1.0 + std::abs(active.objective))) << trial;
  }
}

TEST(QpActiveSet, RefusesWhatItCannotSolve) {
  QpSolution answer;
  const MatrixX I = MatrixX::Identity(2, 2);
  const VectorX q = VectorX::Zero(2);
  EXPECT_THROW(solve_active_set_2d(QpProblem(I, q, MatrixX::Ones(4, 2), VectorX::Ones(4)), answer), InputError);
  EXPECT_THROW(solve_active_set_2d(QpProblem(I, q, I, VectorX::Ones(2)), answer), InputError);
  EXPECT_THROW(solve_active_set_2d(box_program(I, q, Vector2(1, 1), Vector2(0, 0)), answer), InputError);
  EXPECT_THROW(solve_active_set_2d(
                   box_program(MatrixX::Identity(3, 3), VectorX::Zero(3), VectorX::Zero(3), VectorX::Ones(3)), answer),
               InputError);
}

TEST(QpSensitivity, InteriorPointExact) {
  Random random(7);
  QpInteriorPoint solver;
  const auto solve = [&](const QpProblem& problem) {
    QpSolution solution = solver.solve(problem, {.gap_tolerance = 1e-12});
    QpSensitivity sensitivity;
    sensitivity.linearise(problem, solution, false);
    EXPECT_TRUE(sensitivity.refine(solution));
    return solution;
  };
  for (int trial = 0; trial < 30; ++trial) {
    const int n = 1 + trial % kMaxQpVariables;
    // full rank: the differences change Q, which must stay semidefinite
    const KnownProgram k = known_program(random, n, n + random.index(6), n);
    if (k.conditioning > 0.1) check_sensitivities(k.problem, false, solve, random);
  }
}

TEST(QpSensitivity, InteriorPointAtARelaxation) {
  Random random(8);
  QpInteriorPoint solver;
  for (int trial = 0; trial < 30; ++trial) {
    const int n = 1 + trial % kMaxQpVariables;
    const double kappa = trial % 2 == 0 ? 1e-1 : 1e-2;
    const auto solve = [&](const QpProblem& problem) {
      return solver.solve(problem, {.residual_tolerance = 1e-12, .kappa = kappa});
    };
    check_sensitivities(known_program(random, n, n + 2 + random.index(6), n).problem, true, solve, random);
  }
}

TEST(QpSensitivity, ActiveSet) {
  Random random(9);
  for (int trial = 0; trial < 200; ++trial) {
    const MatrixX F = random_matrix(random, 3, 2);
    const QpProblem problem =
        box_program(F.transpose() * F, 2.0 * random_matrix(random, 2, 1), Vector2(0, 0), Vector2(1, 1));
    QpSolution solution;
    solve_active_set_2d(problem, solution);
    // away from changes of the active rows, and without the zeros of G, which must stay zero
    double margin = 1.0;
    for (int i = 0; i < 4; ++i) margin = std::min(margin, std::max(solution.s()[i], solution.z()[i]));
    if (margin < 0.05) continue;
    QpSensitivity sensitivity;
    sensitivity.linearise(problem, solution, false);
    const Vector2 direction(random.normal(), random.normal());
    QpProblem gradient;
    sensitivity.backward(direction, gradient);
    VectorX data(7);
    data << problem.Q()(0, 0), problem.Q()(0, 1), problem.Q()(1, 1), problem.q(), problem.h().head(2);
    const VectorX expected = finite_difference_gradient(
        [&](const VectorX& d) {
          QpProblem changed = problem;
          changed.Q() << data[0] + d[0], data[1] + d[1], data[1] + d[1], data[2] + d[2];
          changed.q() = data.segment(3, 2) + d.segment(3, 2);
          changed.h().head(2) = data.tail(2) + d.tail(2);
          QpSolution moved;
          solve_active_set_2d(changed, moved);
          return direction.dot(moved.x());
        },
        7, 1e-3);
    VectorX actual(7);
    actual << gradient.Q()(0, 0), 2.0 * gradient.Q()(0, 1), gradient.Q()(1, 1), gradient.q(), gradient.h().head(2);
    EXPECT_NEAR_ABSOLUTE(actual, expected, 1e-7 * (1.0 + expected.norm()));
  }
}

TEST(Qp, NothingIsAllocatedAfterWarmUp) {
  Random random(10);
  const QpProblem large = known_program(random, 6, 40, 3).problem;
  const QpProblem small = known_program(random, 2, 5, 2).problem;
  const QpProblem box = box_program(MatrixX::Identity(2, 2), Vector2(3, -1), Vector2(0, 0), Vector2(1, 1));
  QpInteriorPoint solver;
  QpSensitivity sensitivity;
  QpProblem gradient;
  QpSolution active;
  const auto all = [&] {
    for (const QpProblem* problem : {&large, &small}) {
      const QpSolution& answer = solver.solve(*problem);
      sensitivity.linearise(*problem, answer, false);
      (void)sensitivity.refine(solver.solution());
      sensitivity.backward(answer.x(), gradient);
    }
    solve_active_set_2d(box, active);
  };
  all();
  const AllocationCount count;
  all();
  EXPECT_EQ(count.so_far(), 0);
}

TEST(Qp, BadInput) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const MatrixX I = MatrixX::Identity(2, 2);
  const Vector2 one(1, 1);
  EXPECT_THROW(QpProblem(MatrixX::Identity(7, 7), VectorX::Zero(7), MatrixX(0, 7), VectorX(0)), InputError);
  EXPECT_THROW(QpProblem(I, VectorX::Ones(3), I, one), InputError);
  EXPECT_THROW(QpProblem(I, one, I, VectorX::Ones(3)), InputError);
  EXPECT_THROW(QpProblem(nan * I, one, I, one).verify(), InputError);
  EXPECT_THROW(QpProblem(-I, one, I, one).verify(), InputError);
  EXPECT_THROW(QpProblem(MatrixX{{1, 0.5}, {0, 1}}, one, I, one).verify(), InputError);
  EXPECT_THROW(QpProblem(I, one, I, Vector2(1, nan)).verify(), InputError);
  EXPECT_THROW(QpOptions{.gap_tolerance = -1.0}.verify(), InputError);
  EXPECT_THROW(QpOptions{.max_iterations = 0}.verify(), InputError);
  EXPECT_THROW(QpOptions{.kappa = nan}.verify(), InputError);
  EXPECT_NO_THROW(QpOptions{}.verify());
  EXPECT_EQ(to_string(QpStatus::solved), "solved");
}

}  // namespace
}  // namespace tangere::test
