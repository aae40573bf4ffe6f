/// The contact problem in the space of its rows, against closed forms and against its own conditions, which are checked
/// here without the solver.

#include "tangere/solvers/lcp/boxed_lcp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <Eigen/LU>

#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tests/support/allocation.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kGravity = 9.81;
constexpr double kTimeStep = 0.01;

struct Lcp {
  MatrixX A;
  VectorX b;
  std::vector<BoxedLcpRow> rows;
};

BoxedLcpRow equality() { return {.lower = -kInfinity, .upper = kInfinity}; }
BoxedLcpRow dry_friction(double most) { return {.lower = -most, .upper = most}; }
BoxedLcpRow tangential(int normal, double friction) { return {.normal = normal, .friction = friction}; }

/// Free bodies and contact points between them (-1: the world), three rows a point.
struct Bodies {
  struct Point {
    int a, b;
    Vector3 p, n;
    double friction;
  };
  std::vector<double> mass;
  std::vector<Vector3> inertia, centre, v, omega;
  std::vector<Point> points;

  void add(double m, const Vector3& moments, const Vector3& p, const Vector3& linear, const Vector3& angular) {
    mass.push_back(m);
    inertia.push_back(moments);
    centre.push_back(p);
    v.push_back(linear);
    omega.push_back(angular);
  }

  [[nodiscard]] Lcp problem() const {
    const auto n = static_cast<Eigen::Index>(6 * mass.size());
    const auto m = static_cast<Eigen::Index>(3 * points.size());
    MatrixX J = MatrixX::Zero(m, n);
    VectorX velocity(n);
    VectorX inverse_mass(n);
    for (std::size_t i = 0; i < mass.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(6 * i);
      velocity.segment<3>(at) = v[i];
      velocity.segment<3>(at + 3) = omega[i];
      inverse_mass.segment<3>(at).setConstant(1.0 / mass[i]);
      inverse_mass.segment<3>(at + 3) = inertia[i].cwiseInverse();
    }
    Lcp lcp;
    for (const Point& point : points) {
      const int first = static_cast<int>(lcp.rows.size());
      const Vector3 t = point.n.unitOrthogonal();
      const Vector3 frame[3] = {point.n, t, point.n.cross(t)};
      for (int r = 0; r < 3; ++r) {
        for (const auto& [body, sign] : {std::pair(point.a, -1.0), std::pair(point.b, 1.0)}) {
          if (body < 0) continue;
          const Vector3 arm = point.p - centre[body];
          J.block<1, 3>(first + r, 6 * body) = sign * frame[r].transpose();
          J.block<1, 3>(first + r, 6 * body + 3) = sign * arm.cross(frame[r]).transpose();
        }
        lcp.rows.push_back(r == 0 ? BoxedLcpRow{} : tangential(first, point.friction));
      }
    }
    const MatrixX half = J * inverse_mass.cwiseSqrt().asDiagonal();
    lcp.A = half * half.transpose();
    lcp.b = J * velocity;
    return lcp;
  }
};

/// Unit boxes on each other, four points a face. Disturbed: masses from 1 to 100, positions, normals, friction and
/// velocities up to 0.5 m/s at random.
Bodies box_stack(int boxes, bool disturbed, Random& random) {
  Bodies stack;
  const auto some = [&](double size) { return disturbed ? random.uniform(-size, size) : 0.0; };
  for (int i = 0; i < boxes; ++i) {
    const double m = disturbed ? random.log_uniform(1.0, 100.0) : 1.0;
    stack.add(m, Vector3::Constant(m / 6.0), {some(0.1), some(0.1), 0.5 + i},
              {some(0.5), some(0.5), some(0.5) - kGravity * kTimeStep}, {some(0.5), some(0.5), some(0.5)});
    for (int corner = 0; corner < 4; ++corner) {
      const Vector3 p((corner & 1) != 0 ? 0.5 : -0.5, (corner & 2) != 0 ? 0.5 : -0.5, i);
      const Vector3 n(some(0.03), some(0.03), 1.0);
      stack.points.push_back({i - 1, i, p + Vector3(some(0.05), some(0.05), some(0.01)), n.normalized(),
                              disturbed ? random.uniform(0.2, 1.0) : 0.5});
    }
  }
  return stack;
}

/// Points anywhere on a few bodies: up to 40 of them on one body are as redundant as can be.
Bodies random_points(int points, int bodies, double friction, Random& random) {
  Bodies scene;
  for (int i = 0; i < bodies; ++i) {
    const double m = random.log_uniform(0.1, 10.0);
    const Vector3 moments(random.uniform(0.1, 0.3), random.uniform(0.1, 0.3), random.uniform(0.1, 0.3));
    scene.add(m, m * moments, random.normal3(), random.normal3(), random.normal3());
  }
  for (int k = 0; k < points; ++k) {
    const int b = random.index(bodies);
    const int a = random.index(bodies + 1) - 1;
    scene.points.push_back({a == b ? -1 : a, b, scene.centre[b] + 0.5 * random.normal3(), random.unit_vector(),
                            friction < 0.0 ? random.uniform() : friction});
  }
  return scene;
}

/// The conditions, one by one.
void expect_solution(const Lcp& lcp, const BoxedLcpSolution& solution, const BoxedLcpOptions& options = {}) {
  ASSERT_EQ(solution.status, BoxedLcpStatus::solved);
  ASSERT_LE(solution.residual, options.tolerance);
  const VectorX f = solution.f.view();
  ASSERT_TRUE(f.allFinite());
  EXPECT_NEAR_RELATIVE(solution.w.view(), lcp.A * f + lcp.b, 1e-12);
  const VectorX d = lcp.A.diagonal();
  const double f_scale = std::max(f.lpNorm<Eigen::Infinity>(), lcp.b.cwiseQuotient(d).lpNorm<Eigen::Infinity>());
  for (int i = 0; i < f.size(); ++i) {
    const BoxedLcpRow& row = lcp.rows[i];
    const double lower = row.normal < 0 ? row.lower : -row.friction * f[row.normal];
    const double upper = row.normal < 0 ? row.upper : row.friction * f[row.normal];
    ASSERT_GE(f[i], lower) << "row " << i;
    ASSERT_LE(f[i], upper) << "row " << i;
    const double w = lcp.A.row(i).dot(f) + lcp.b[i] + options.compliance * d[i] * f[i];
    const double slack = 2.0 * options.tolerance * f_scale;
    const RowSet set = solution.sets[i];
    if (f[i] > lower + slack) {
      EXPECT_LE(w, slack * d[i]) << "row " << i;
    }
    if (f[i] < upper - slack) {
      EXPECT_GE(w, -slack * d[i]) << "row " << i;
    }
    // the sets say where the force is
    if (set == RowSet::clamped) {
      EXPECT_NEAR(w, 0.0, slack * d[i]) << "row " << i;
      EXPECT_TRUE(f[i] > lower && f[i] < upper) << "row " << i;
    } else {
      EXPECT_EQ(f[i], set == RowSet::lower ? lower : upper) << "row " << i;
    }
  }
}

/// Solves, checks, and solves again from the sets.
BoxedLcpSolution checked(BoxedLcpSolver& solver, const Lcp& lcp, const BoxedLcpOptions& options = {}) {
  const BoxedLcpSolution solution = solver.solve(lcp.A, lcp.b, lcp.rows, options);
  expect_solution(lcp, solution, options);
  const BoxedLcpSolution again = solver.solve(lcp.A, lcp.b, lcp.rows, options, solution.sets);
  expect_solution(lcp, again, options);
  EXPECT_TRUE(again.stage == BoxedLcpStage::previous_sets || again.stage == BoxedLcpStage::none);
  EXPECT_EQ(again.sets, solution.sets);
  EXPECT_LE(again.factorisations, 1);
  return solution;
}

Lcp scalar(double a, double b, const BoxedLcpRow& row) {
  return {MatrixX::Constant(1, 1, a), VectorX::Constant(1, b), {row}};
}

TEST(BoxedLcp, ScalarClosedForms) {
  BoxedLcpSolver solver;
  const double eps = BoxedLcpOptions{}.compliance;
  EXPECT_NEAR_RELATIVE(checked(solver, scalar(2.0, -3.0, {})).f.view(), 1.5 / (1.0 + eps), 1e-15);
  EXPECT_EQ(checked(solver, scalar(2.0, 3.0, {})).f[0], 0.0);
  EXPECT_NEAR_RELATIVE(checked(solver, scalar(2.0, 3.0, equality())).f.view(), -1.5 / (1.0 + eps), 1e-15);
  EXPECT_NEAR_RELATIVE(checked(solver, scalar(2.0, 3.0, dry_friction(2.0))).f.view(), -1.5 / (1.0 + eps), 1e-15);
  EXPECT_EQ(checked(solver, scalar(2.0, 3.0, dry_friction(1.0))).f[0], -1.0);
  EXPECT_EQ(checked(solver, scalar(2.0, -3.0, dry_friction(1.0))).f[0], 1.0);
  // the compliance takes its part
  const double soft = 1e-2;
  EXPECT_NEAR_RELATIVE(checked(solver, scalar(2.0, -3.0, {}), {.compliance = soft}).f.view(), 1.5 / (1.0 + soft),
                       1e-15);
}

TEST(BoxedLcp, NothingToDoIsZero) {
  BoxedLcpSolver solver;
  EXPECT_EQ(solver.solve(MatrixX(0, 0), VectorX(0), {}).f.size(), 0);
  Random random(1);
  Lcp lcp = box_stack(1, false, random).problem();
  lcp.b.setZero();
  const BoxedLcpSolution solution = checked(solver, lcp);
  EXPECT_EQ(solution.f.view(), VectorX::Zero(12));
  EXPECT_EQ(solution.stage, BoxedLcpStage::none);
  EXPECT_EQ(std::count(solution.sets.begin(), solution.sets.end(), RowSet::clamped), 0);
}

/// One particle of mass m at rest above a plane: rows n, t1, t2.
Lcp particle(double m, const Vector3& velocity, double friction) {
  return {MatrixX::Identity(3, 3) / m, velocity, {{}, tangential(0, friction), tangential(0, friction)}};
}

TEST(BoxedLcp, ParticleSticksSlidesAndSeparates) {
  BoxedLcpSolver solver;
  const BoxedLcpSolution stick = checked(solver, particle(2.0, {-1.0, 0.3, -0.2}, 0.5));
  EXPECT_NEAR_RELATIVE(stick.f.view(), Vector3(2.0, -0.6, 0.4), 1e-7);
  EXPECT_EQ(stick.sets, std::vector<RowSet>(3, RowSet::clamped));
  const BoxedLcpSolution slide = checked(solver, particle(2.0, {-1.0, 0.7, -0.2}, 0.5));
  EXPECT_NEAR_RELATIVE(slide.f.view(), Vector3(2.0, -1.0, 0.4), 1e-7);
  EXPECT_NEAR_RELATIVE(slide.w.view(), Vector3(0.0, 0.2, 0.0), 1e-7);
  EXPECT_EQ(slide.sets, (std::vector<RowSet>{RowSet::clamped, RowSet::lower, RowSet::clamped}));
  const BoxedLcpSolution separate = checked(solver, particle(2.0, {0.1, 0.7, -0.2}, 0.5));
  EXPECT_EQ(separate.f.view(), Vector3::Zero());
  EXPECT_EQ(std::count(separate.sets.begin(), separate.sets.end(), RowSet::clamped), 0);
}

TEST(BoxedLcp, TiesAreResolvedAsDocumented) {
  BoxedLcpSolver solver;
  const std::vector<RowSet> all_clamped(3, RowSet::clamped);
  // friction without force, normal that presses: clamped
  EXPECT_EQ(checked(solver, particle(2.0, {-1.0, 0.0, 0.0}, 0.5)).sets, all_clamped);
  // neither force nor velocity: separates, whatever was tried first
  const Lcp grazing = particle(2.0, {0.0, 0.7, 0.0}, 0.5);
  EXPECT_EQ(checked(solver, grazing).sets[0], RowSet::lower);
  const BoxedLcpSolution warm = solver.solve(grazing.A, grazing.b, grazing.rows, {}, all_clamped);
  expect_solution(grazing, warm);
  EXPECT_EQ(warm.sets[0], RowSet::lower);
  // no friction: at a bound
  const BoxedLcpSolution smooth = checked(solver, particle(2.0, {-1.0, 0.0, 0.3}, 0.0));
  EXPECT_NE(smooth.sets[1], RowSet::clamped);
  EXPECT_NE(smooth.sets[2], RowSet::clamped);
}

TEST(BoxedLcp, BlockOnAPlane) {
  BoxedLcpSolver solver;
  Random random(2);
  for (const double speed : {0.0, 0.02, 1.0}) {
    Bodies block = box_stack(1, false, random);
    block.v[0].x() = speed;
    const Lcp lcp = block.problem();
    const BoxedLcpSolution solution = checked(solver, lcp);
    // weight and friction, whatever the four corners carry each
    Vector3 total = Vector3::Zero();
    for (int k = 0; k < 4; ++k) {
      const Vector3 t = Vector3::UnitZ().unitOrthogonal();
      total += solution.f[3 * k] * Vector3::UnitZ() + solution.f[3 * k + 1] * t +
               solution.f[3 * k + 2] * Vector3::UnitZ().cross(t);
    }
    const double weight = kGravity * kTimeStep;
    EXPECT_NEAR(total.z(), weight, 1e-7);
    EXPECT_NEAR(total.x(), -std::min(speed, 0.5 * weight), 1e-7);
    EXPECT_NEAR(total.y(), 0.0, 1e-7);
  }
  Bodies block = box_stack(1, false, random);
  block.v[0].z() = 0.1;
  EXPECT_EQ(checked(solver, block.problem()).f.view(), VectorX::Zero(12));
}

TEST(BoxedLcp, EqualitiesAndDryFrictionBesideContacts) {
  BoxedLcpSolver solver;
  Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    Lcp lcp = random_points(1 + random.index(6), 3, -1.0, random).problem();
    const auto n = lcp.b.size();
    // new rows among the old: a weld's and two joints'
    const int extra = 1 + random.index(4);
    const MatrixX J = MatrixX::NullaryExpr(n + extra, n + extra, [&] { return 0.3 * random.normal(); });
    MatrixX A = J * J.transpose();
    A.topLeftCorner(n, n) += lcp.A;
    VectorX b(n + extra);
    b << lcp.b, VectorX::NullaryExpr(extra, [&] { return random.normal(); });
    lcp.A = A;
    lcp.b = b;
    for (int k = 0; k < extra; ++k) {
      const int kind = random.index(3);
      lcp.rows.push_back(kind == 0 ? equality() : kind == 1 ? dry_friction(random.uniform(0.0, 2.0)) : BoxedLcpRow{});
    }
    checked(solver, lcp);
  }
}

TEST(BoxedLcp, RandomPointsOfAnyNumber) {
  BoxedLcpSolver solver;
  Random random(4);
  for (int points = 1; points <= 40; ++points)
    for (int trial = 0; trial < (points <= 12 ? 40 : 6); ++trial)
      checked(solver, random_points(points, 1 + random.index(6), trial % 2 == 0 ? -1.0 : 1.0, random).problem());
}

TEST(BoxedLcp, EveryCompliance) {
  BoxedLcpSolver solver;
  Random random(5);
  for (const double compliance : {1e-12, 1e-10, 1e-6, 1e-4, 1e-2})
    for (int trial = 0; trial < 60; ++trial)
      checked(solver, random_points(1 + random.index(12), 1 + random.index(3), -1.0, random).problem(),
              {.compliance = compliance, .tolerance = 1e-9});
}

TEST(BoxedLcp, AlignedStackNeverFails) {
  BoxedLcpSolver solver;
  Random random(6);
  checked(solver, box_stack(10, false, random).problem());
  for (int trial = 0; trial < 50; ++trial) {
    Bodies stack = box_stack(10, false, random);
    for (Vector3& v : stack.v) v += Vector3(random.normal(), random.normal(), 0.0) * random.log_uniform(1e-6, 1e-1);
    checked(solver, stack.problem());
  }
}

TEST(BoxedLcp, DisturbedStackOfUnequalMassesNeverFails) {
  BoxedLcpSolver solver;
  Random random(7);
  for (int trial = 0; trial < 50; ++trial) checked(solver, box_stack(10, true, random).problem());
}

TEST(BoxedLcp, EqualsTheOnlySetsThatWork) {
  // without friction f is unique: all sets are tried
  BoxedLcpSolver solver;
  Random random(8);
  for (int trial = 0; trial < 300; ++trial) {
    const Lcp all = random_points(3, 1 + random.index(2), 0.0, random).problem();
    MatrixX A(3, 3);
    VectorX b(3);
    for (int i = 0; i < 3; ++i) {
      b[i] = all.b[3 * i];
      for (int j = 0; j < 3; ++j) A(i, j) = all.A(3 * i, 3 * j);
    }
    const double eps = 1e-4;
    const MatrixX K = A + MatrixX(eps * A.diagonal().asDiagonal());
    VectorX expected = VectorX::Constant(3, -1.0);
    for (int sets = 0; sets < 8; ++sets) {
      MatrixX S = MatrixX::Identity(3, 3);
      VectorX r = VectorX::Zero(3);
      for (int i = 0; i < 3; ++i) {
        if ((sets >> i & 1) == 0) continue;
        S.row(i) = K.row(i);
        r[i] = -b[i];
      }
      const VectorX f = S.fullPivLu().solve(r);
      if (f.minCoeff() >= -1e-12 && (K * f + b).minCoeff() >= -1e-12) expected = f;
    }
    ASSERT_GE(expected.minCoeff(), -1e-12);
    const Lcp lcp{A, b, std::vector<BoxedLcpRow>(3)};
    EXPECT_NEAR_RELATIVE(checked(solver, lcp, {.compliance = eps}).f.view(), expected, 1e-8);
  }
}

TEST(BoxedLcp, WarmStartSurvivesSmallChanges) {
  BoxedLcpSolver solver;
  Random random(9);
  int first = 0;
  for (int trial = 0; trial < 100; ++trial) {
    // velocities of the bodies, not of the rows: those could contradict each other
    Bodies bodies = random_points(6, 2, -1.0, random);
    const BoxedLcpSolution before = checked(solver, bodies.problem());
    for (Vector3& v : bodies.v) v += 1e-4 * random.normal3();
    for (Vector3& omega : bodies.omega) omega += 1e-4 * random.normal3();
    const Lcp lcp = bodies.problem();
    const BoxedLcpSolution& after = solver.solve(lcp.A, lcp.b, lcp.rows, {}, before.sets);
    expect_solution(lcp, after);
    first += after.stage == BoxedLcpStage::previous_sets ? 1 : 0;
  }
  EXPECT_GE(first, 90);
}

TEST(BoxedLcp, StepAfterStepOfAShakenStack) {
  BoxedLcpSolver solver;
  Random random(15);
  Bodies stack = box_stack(10, true, random);
  std::vector<RowSet> sets;
  for (int step = 0; step < 40; ++step) {
    const Lcp lcp = stack.problem();
    const BoxedLcpSolution& solution = solver.solve(lcp.A, lcp.b, lcp.rows, {}, sets);
    expect_solution(lcp, solution);
    sets = solution.sets;
    for (Vector3& v : stack.v) v += 0.03 * random.normal3();
    for (Vector3& omega : stack.omega) omega += 0.03 * random.normal3();
  }
}

TEST(BoxedLcp, NormalsWithBoundsOfTheirOwn) {
  // springs press, brakes give way, some are held
  BoxedLcpSolver solver;
  Random random(16);
  for (int trial = 0; trial < 200; ++trial) {
    Lcp lcp = random_points(1 + random.index(8), 2, 1.0, random).problem();
    for (BoxedLcpRow& row : lcp.rows) {
      if (row.normal >= 0) continue;
      row.lower = random.index(2) == 0 ? 0.0 : random.uniform(0.0, 0.2);
      row.upper = random.index(3) == 0 ? kInfinity : row.lower + (random.index(3) == 0 ? 0.0 : random.uniform());
    }
    checked(solver, lcp);
  }
}

TEST(BoxedLcp, ATightToleranceGivesTheBestFound) {
  BoxedLcpSolver solver;
  Random random(17);
  const Lcp lcp = random_points(6, 1, 1.0, random).problem();
  const BoxedLcpSolution& solution = solver.solve(lcp.A, lcp.b, lcp.rows, {.tolerance = 1e-300});
  EXPECT_EQ(solution.status, BoxedLcpStatus::approximate);
  EXPECT_GT(solution.residual, 0.0);
  EXPECT_LE(solution.residual, 1e-12);
  EXPECT_TRUE(solution.f.view().allFinite());
  EXPECT_TRUE(solution.w.view().allFinite());
}

TEST(BoxedLcp, NumbersThatOverflowGiveFiniteForces) {
  BoxedLcpSolver solver;
  Lcp lcp = particle(1e300, {-1e300, 1e300, 0.0}, 0.5);
  const BoxedLcpSolution& solution = solver.solve(lcp.A, lcp.b, lcp.rows);
  EXPECT_EQ(solution.status, BoxedLcpStatus::approximate);
  EXPECT_TRUE(solution.f.view().allFinite());
}

TEST(BoxedLcp, WrongSetsDoNotMatter) {
  BoxedLcpSolver solver;
  Random random(10);
  for (int trial = 0; trial < 200; ++trial) {
    const Lcp lcp = random_points(1 + random.index(10), 2, -1.0, random).problem();
    std::vector<RowSet> wrong(lcp.rows.size());
    for (RowSet& set : wrong) set = static_cast<RowSet>(random.index(3));
    expect_solution(lcp, solver.solve(lcp.A, lcp.b, lcp.rows, {}, wrong));
  }
}

TEST(BoxedLcp, UnitsDoNotMatter) {
  // rows scaled by powers of two: f scales back, the sets stay
  BoxedLcpSolver solver;
  Random random(11);
  for (int trial = 0; trial < 50; ++trial) {
    const Lcp lcp = random_points(4, 2, -1.0, random).problem();
    const BoxedLcpSolution one = checked(solver, lcp);
    const Lcp scaled{std::ldexp(1.0, 40) * lcp.A, std::ldexp(1.0, -20) * lcp.b, lcp.rows};
    const BoxedLcpSolution other = checked(solver, scaled);
    EXPECT_EQ(other.sets, one.sets);
    EXPECT_EQ(other.f.view(), std::ldexp(1.0, -60) * one.f.view());
  }
}

TEST(BoxedLcp, SameBitsTwice) {
  Random random(12);
  const Lcp stack = box_stack(10, true, random).problem();
  BoxedLcpSolver used;
  for (int trial = 0; trial < 20; ++trial) {
    const Lcp lcp = random_points(1 + random.index(20), 3, 1.0, random).problem();
    BoxedLcpSolver fresh;
    const BoxedLcpSolution a = fresh.solve(lcp.A, lcp.b, lcp.rows);
    const BoxedLcpSolution b = used.solve(lcp.A, lcp.b, lcp.rows);
    EXPECT_EQ(a.f.view(), b.f.view());
    EXPECT_EQ(a.w.view(), b.w.view());
    EXPECT_EQ(a.sets, b.sets);
    EXPECT_EQ(a.stage, b.stage);
    EXPECT_EQ(used.solve(stack.A, stack.b, stack.rows).status, BoxedLcpStatus::solved);
  }
}

TEST(BoxedLcp, PartsOfLargerMatricesAreTaken) {
  BoxedLcpSolver solver;
  Random random(13);
  const Lcp lcp = random_points(6, 2, -1.0, random).problem();
  MatrixX large = MatrixX::Constant(30, 30, std::nan(""));
  large.block(5, 7, 18, 18) = lcp.A;
  const VectorX f = solver.solve(lcp.A, lcp.b, lcp.rows).f.view();
  EXPECT_EQ(solver.solve(large.block(5, 7, 18, 18), lcp.b, lcp.rows).f.view(), f);
}

TEST(BoxedLcp, AllocatesNothingForASizeItHasSeen) {
  Random random(14);
  std::vector<Lcp> problems;
  for (int trial = 0; trial < 60; ++trial)
    problems.push_back(random_points(1 + trial % 20, 3, trial % 2 == 0 ? -1.0 : 1.0, random).problem());
  problems.push_back(box_stack(10, true, random).problem());
  BoxedLcpSolver solver;
  for (int points = 20; points >= 1; --points) {
    const Lcp lcp = random_points(points, 1, 0.5, random).problem();
    static_cast<void>(solver.solve(lcp.A, lcp.b, lcp.rows));
  }
  static_cast<void>(solver.solve(problems.back().A, problems.back().b, problems.back().rows));
  std::vector<RowSet> sets(1000);
  const AllocationCount count;
  for (const Lcp& lcp : problems) {
    const BoxedLcpSolution& solution = solver.solve(lcp.A, lcp.b, lcp.rows);
    std::copy(solution.sets.begin(), solution.sets.end(), sets.begin());
    static_cast<void>(solver.solve(lcp.A, lcp.b, lcp.rows, {}, std::span(sets.data(), lcp.rows.size())));
  }
  EXPECT_EQ(count.so_far(), 0);
}

/// Each method of the chain by itself: what it calls solved is, and it solves nearly all.
TEST(BoxedLcp, MethodsAlone) {
  for (const BoxedLcpStage only : {BoxedLcpStage::dantzig, BoxedLcpStage::primal_newton, BoxedLcpStage::lemke}) {
    const BoxedLcpOptions options{.only = only};
    BoxedLcpSolver solver;
    Random random(31);
    int failures = 0;
    const int trials = 400;
    for (int trial = 0; trial < trials; ++trial) {
      const bool stack = trial % 4 == 0;
      const Lcp lcp = stack ? box_stack(1 + random.index(3), trial % 8 == 0, random).problem()
                            : random_points(1 + random.index(12), 1 + random.index(3), -1.0, random).problem();
      const BoxedLcpSolution& solution = solver.solve(lcp.A, lcp.b, lcp.rows, options);
      if (solution.status == BoxedLcpStatus::solved) {
        EXPECT_TRUE(solution.stage == only || solution.stage == BoxedLcpStage::none);
        expect_solution(lcp, solution);
      } else {
        ++failures;
      }
    }
    // bounds that lag need not settle
    EXPECT_LE(failures, only == BoxedLcpStage::lemke ? 0 : trials / 50) << to_string(only);
  }
}

/// With bounds that do not follow anything the problem is convex, and pivoting cannot fail.
TEST(BoxedLcp, DantzigSolvesEveryBox) {
  // the compliance that it pivots with
  const BoxedLcpOptions options{.compliance = 1e-6, .only = BoxedLcpStage::dantzig};
  BoxedLcpSolver solver;
  Random random(32);
  for (int trial = 0; trial < 300; ++trial) {
    Lcp lcp = random_points(1 + random.index(10), 1 + random.index(3), 0.5, random).problem();
    for (BoxedLcpRow& row : lcp.rows) {
      const bool follows = row.normal >= 0;
      if (follows) row = trial % 3 == 0 ? equality() : dry_friction(random.uniform(0.0, 2.0));
      if (!follows && trial % 5 == 0) row = {.lower = random.uniform(0.0, 0.1), .upper = random.uniform(0.2, 1.0)};
    }
    expect_solution(lcp, solver.solve(lcp.A, lcp.b, lcp.rows, options), options);
  }
}

TEST(BoxedLcp, StagesHaveNames) {
  std::vector<std::string> names;
  for (int i = 0; i < kNumBoxedLcpStages; ++i) names.emplace_back(to_string(static_cast<BoxedLcpStage>(i)));
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
  EXPECT_EQ(std::count(names.begin(), names.end(), "unknown"), 0);
}

TEST(BoxedLcp, BadInputIsNamed) {
  BoxedLcpSolver solver;
  const Lcp good = particle(2.0, {-1.0, 0.7, -0.2}, 0.5);
  const auto field =
      [&](const std::function<void(Lcp&, BoxedLcpOptions&, std::vector<RowSet>&)>& spoil) -> std::string {
    Lcp lcp = good;
    BoxedLcpOptions options;
    std::vector<RowSet> previous;
    spoil(lcp, options, previous);
    try {
      static_cast<void>(solver.solve(lcp.A, lcp.b, lcp.rows, options, previous));
    } catch (const InputError& error) {
      return error.field();
    }
    return "none";
  };
  using Sets = std::vector<RowSet>;
  EXPECT_EQ(field([](Lcp&, BoxedLcpOptions&, Sets&) {}), "none");
  EXPECT_EQ(field([](Lcp& p, BoxedLcpOptions&, Sets&) { p.A = MatrixX::Identity(2, 2); }), "A");
  EXPECT_EQ(field([](Lcp& p, BoxedLcpOptions&, Sets&) { p.b = VectorX::Zero(4); }), "b");
  EXPECT_EQ(field([](Lcp&, BoxedLcpOptions&, Sets& s) { s.resize(2); }), "previous");
  EXPECT_EQ(field([](Lcp&, BoxedLcpOptions&, Sets& s) { s.assign(3, static_cast<RowSet>(7)); }), "previous[0]");
  EXPECT_EQ(field([](Lcp& p, BoxedLcpOptions&, Sets&) { p.b[2] = kInfinity; }), "b[2]");
  EXPECT_EQ(field([](Lcp& p, BoxedLcpOptions&, Sets&) { p.A(1, 2) = std::nan(""); }), "A(1, 2)");
  EXPECT_EQ(field([](Lcp& p, BoxedLcpOptions&, Sets&) { p.A(1, 1) = 0.0; }), "A(1, 1)");
  EXPECT_EQ(field([](Lcp& p, BoxedLcpOptions&, Sets&) { p.rows[0] = dry_friction(-1.0); }), "rows[0]");
  EXPECT_EQ(field([](Lcp& p, BoxedLcpOptions&, Sets&) { p.rows[0].lower = std::nan(""); }), "rows[0]");
  EXPECT_EQ(field([](Lcp& p, BoxedLcpOptions&, Sets&) { p.rows[0].lower = kInfinity; }), "rows[0]");
  EXPECT_EQ(field([](Lcp& p, BoxedLcpOptions&, Sets&) { p.rows[0].lower = -1.0; }), "rows[1]");
  EXPECT_EQ(field([](Lcp& p, BoxedLcpOptions&, Sets&) { p.rows[1].normal = 3; }), "rows[1]");
  EXPECT_EQ(field([](Lcp& p, BoxedLcpOptions&, Sets&) { p.rows[1].normal = -2; }), "rows[1]");
  EXPECT_EQ(field([](Lcp& p, BoxedLcpOptions&, Sets&) { p.rows[2].normal = 1; }), "rows[2]");
  EXPECT_EQ(field([](Lcp& p, BoxedLcpOptions&, Sets&) { p.rows[2].friction = -0.1; }), "rows[2]");
  EXPECT_EQ(field([](Lcp& p, BoxedLcpOptions&, Sets&) { p.rows[2].friction = kInfinity; }), "rows[2]");
  EXPECT_EQ(field([](Lcp&, BoxedLcpOptions& o, Sets&) { o.compliance = 0.0; }), "compliance");
  EXPECT_EQ(field([](Lcp&, BoxedLcpOptions& o, Sets&) { o.tolerance = -1.0; }), "tolerance");
  EXPECT_EQ(field([](Lcp&, BoxedLcpOptions& o, Sets&) { o.only = BoxedLcpStage::restarts; }), "only");
  // and the solver is as good as before
  expect_solution(good, solver.solve(good.A, good.b, good.rows));
}

}  // namespace
}  // namespace tangere::test
