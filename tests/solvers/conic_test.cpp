#include "tangere/solvers/conic/conic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tests/support/allocation.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere::test {
namespace {

/// A program with a known, strictly complementary solution: x, s and z are drawn, c and h follow.
struct KnownProgram {
  ConicProgram program;
  VectorX x, s, z;
};

KnownProgram known_program(Random& random, int n, int num_orthant, const std::vector<int>& cones) {
  Eigen::Index rows = num_orthant;
  for (const int q : cones) rows += q;
  KnownProgram k;
  k.x = VectorX::NullaryExpr(n, [&] { return random.normal(); });
  k.s = VectorX::Zero(rows);
  k.z = VectorX::Zero(rows);
  // about half of the constraints are active
  for (int i = 0; i < num_orthant; ++i) (i % 2 == 0 ? k.s[i] : k.z[i]) = random.uniform(0.5, 2.0);
  Eigen::Index at = num_orthant;
  for (std::size_t c = 0; c < cones.size(); ++c) {
    const int q = cones[c];
    const VectorX direction = VectorX::NullaryExpr(q - 1, [&] { return random.normal(); }).normalized();
    const double s0 = random.uniform(0.5, 2.0);
    const double z0 = random.uniform(0.5, 2.0);
    switch (c % 3) {
      case 0:  // on the boundary
        k.s[at] = s0;
        k.s.segment(at + 1, q - 1) = s0 * direction;
        k.z[at] = z0;
        k.z.segment(at + 1, q - 1) = -z0 * direction;
        break;
      case 1:  // idle
        k.s[at] = s0;
        k.s.segment(at + 1, q - 1) = 0.3 * s0 * direction;
        break;
      default:  // at the apex
        k.z[at] = z0;
        k.z.segment(at + 1, q - 1) = 0.3 * z0 * direction;
        break;
    }
    at += q;
  }
  k.program.G = MatrixX::NullaryExpr(rows, n, [&] { return random.normal(); });
  k.program.h = k.program.G * k.x + k.s;
  k.program.c = -(k.program.G.transpose() * k.z);
  k.program.num_orthant = num_orthant;
  k.program.cones = cones;
  return k;
}

/// A program with strictly feasible points on both sides, so that the central path exists.
ConicProgram strictly_feasible_program(Random& random, int n, int num_orthant, const std::vector<int>& cones) {
  KnownProgram k = known_program(random, n, num_orthant, cones);
  const auto interior = [&](VectorX& v) {
    for (int i = 0; i < num_orthant; ++i) v[i] = random.uniform(0.5, 2.0);
    Eigen::Index at = num_orthant;
    for (const int q : cones) {
      v.segment(at + 1, q - 1) = VectorX::NullaryExpr(q - 1, [&] { return random.normal(); });
      v[at] = v.segment(at + 1, q - 1).norm() + random.uniform(0.5, 2.0);
      at += q;
    }
  };
  interior(k.s);
  interior(k.z);
  k.program.h = k.program.G * k.x + k.s;
  k.program.c = -(k.program.G.transpose() * k.z);
  return k.program;
}

VectorX jordan_product(const ConicProgram& program, const VectorX& s, const VectorX& z) {
  VectorX out = s.cwiseProduct(z);
  Eigen::Index at = program.num_orthant;
  for (const int q : program.cones) {
    out[at] = s.segment(at, q).dot(z.segment(at, q));
    out.segment(at + 1, q - 1) = s[at] * z.segment(at + 1, q - 1) + z[at] * s.segment(at + 1, q - 1);
    at += q;
  }
  return out;
}

VectorX identity(const ConicProgram& program) {
  VectorX e = VectorX::Zero(program.h.size());
  e.head(program.num_orthant).setOnes();
  Eigen::Index at = program.num_orthant;
  for (const int q : program.cones) {
    e[at] = 1.0;
    at += q;
  }
  return e;
}

void expect_in_cone(const ConicProgram& program, const VectorX& v) {
  for (int i = 0; i < program.num_orthant; ++i) EXPECT_GE(v[i], 0.0);
  Eigen::Index at = program.num_orthant;
  for (const int q : program.cones) {
    EXPECT_GE(v[at], v.segment(at + 1, q - 1).norm() * (1.0 - 1e-12));
    at += q;
  }
}

struct Case {
  int n;
  int num_orthant;
  std::vector<int> cones;
};

const Case kCases[] = {{1, 2, {}},         {2, 5, {}},          {3, 8, {3}},           {4, 6, {4, 4}},
                       {5, 3, {4, 3, 2}},  {6, 20, {5, 6, 7}},  {10, 0, {8, 8, 8, 4}}, {20, 30, {4, 4, 4, 4, 4}},
                       {40, 60, {32, 17}}, {68, 120, {3, 3, 3}}};

TEST(Conic, FindsKnownSolutions) {
  Random random(1);
  for (const Case& c : kCases) {
    for (int trial = 0; trial < 20; ++trial) {
      SCOPED_TRACE(testing::Message() << "n " << c.n << ", orthant " << c.num_orthant << ", cones " << c.cones.size()
                                      << ", trial " << trial);
      const KnownProgram known = known_program(random, c.n, c.num_orthant, c.cones);
      ConicSolver solver(known.program);
      const ConicSolution& r = solver.solve({.relative_tolerance = 1e-10, .absolute_tolerance = 1e-10});
      ASSERT_EQ(r.status, ConicStatus::solved)
          << r.iterations << " gap " << r.gap << " primal " << r.primal_residual << " dual " << r.dual_residual;
      const double value = known.program.c.dot(known.x);
      EXPECT_NEAR(r.objective, value, 1e-9 * (1.0 + std::abs(value)));
      EXPECT_LE(r.primal_residual, 1e-9);
      EXPECT_LE(r.dual_residual, 1e-8 * (1.0 + known.program.c.norm()));
      expect_in_cone(known.program, r.s);
      expect_in_cone(known.program, r.z);
    }
  }
}

TEST(Conic, StopsOnTheCentralPath) {
  Random random(2);
  for (const double kappa : {1e-1, 1e-3, 1e-6}) {
    for (const Case& c : kCases) {
      SCOPED_TRACE(testing::Message() << "kappa " << kappa << ", n " << c.n << ", cones " << c.cones.size());
      const ConicProgram program = strictly_feasible_program(random, c.n, c.num_orthant, c.cones);
      ConicSolver solver(program);
      const ConicSolution& r = solver.solve({.kappa = kappa});
      ASSERT_EQ(r.status, ConicStatus::solved);
      EXPECT_NEAR_ABSOLUTE(jordan_product(program, r.s, r.z), VectorX(kappa * identity(program)), 1e-6 * kappa + 1e-14);
      EXPECT_LE(r.primal_residual, 1e-9 * (1.0 + program.h.norm()));
      EXPECT_LE(r.dual_residual, 1e-8 * (1.0 + program.c.norm()));
    }
  }
}

TEST(Conic, WarmStartSavesIterations) {
  Random random(3);
  int cold = 0;
  int warm = 0;
  for (int trial = 0; trial < 20; ++trial) {
    ConicSolver solver(known_program(random, 6, 12, {4, 4}).program);
    cold += solver.solve().iterations;
    const double objective = solver.solve().objective;
    const ConicSolution& again = solver.solve({.warm_start = true});
    EXPECT_EQ(again.status, ConicStatus::solved);
    EXPECT_NEAR(again.objective, objective, 1e-8 * (1.0 + std::abs(objective)));
    warm += again.iterations;
  }
  EXPECT_LT(warm, cold);
}

TEST(Conic, DumpAndReloadAreExact) {
  Random random(4);
  const ConicProgram program = known_program(random, 7, 9, {4, 3, 6}).program;
  std::stringstream text;
  write_conic_program(text, program);
  const ConicProgram again = read_conic_program(text);
  EXPECT_EQ(again.c, program.c);
  EXPECT_EQ(again.G, program.G);
  EXPECT_EQ(again.h, program.h);
  EXPECT_EQ(again.num_orthant, program.num_orthant);
  EXPECT_EQ(again.cones, program.cones);
}

TEST(Conic, RefusesBadText) {
  Random random(5);
  std::stringstream good;
  write_conic_program(good, known_program(random, 2, 4, {3}).program);
  const std::string text = good.str();
  const auto message = [](const std::string& bad) -> std::string {
    std::istringstream in(bad);
    try {
      (void)read_conic_program(in);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message(text), "no error");
  EXPECT_NE(message("").find("line 0"), std::string::npos);
  EXPECT_NE(message("something else\n").find("line 1"), std::string::npos);
  EXPECT_NE(message(text.substr(0, text.size() / 2)).find("line"), std::string::npos);
  EXPECT_NE(message("tangere-conic-program 1\n-3\n").find("line 2: number of variables"), std::string::npos);
  EXPECT_NE(message("tangere-conic-program 1\n2\n1e9\n").find("line 3"), std::string::npos);
  std::string broken = text;
  broken.replace(broken.rfind('\n', broken.size() - 2) + 1, 1, "x");
  EXPECT_NE(message(broken).find("row of G"), std::string::npos);
}

TEST(Conic, RefusesBadPrograms) {
  Random random(6);
  const ConicProgram good = known_program(random, 3, 5, {3}).program;
  const auto field = [](ConicProgram program) -> std::string {
    try {
      const ConicSolver solver(std::move(program));
    } catch (const InputError& error) {
      return error.field();
    }
    return "no error";
  };
  EXPECT_EQ(field(good), "no error");
  ConicProgram bad = good;
  bad.c.resize(2);
  EXPECT_EQ(field(bad), "conic program.G");
  bad = good;
  bad.h[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(field(bad), "conic program.h");
  bad = good;
  bad.cones = {1};
  EXPECT_EQ(field(bad), "conic program.cones");
  bad = good;
  bad.G.col(2) = bad.G.col(1);
  EXPECT_EQ(field(bad), "conic program.G");
  bad = good;
  bad.num_orthant = -1;
  EXPECT_EQ(field(bad), "conic program.num_orthant");
}

TEST(Conic, InfeasibleAndUnboundedAreNotSolved) {
  // x ≤ -1 and x ≥ 1
  ConicProgram infeasible{
      .c = VectorX::Ones(1), .G = MatrixX(2, 1), .h = VectorX::Constant(2, -1.0), .num_orthant = 2, .cones = {}};
  infeasible.G << 1.0, -1.0;
  ConicSolver stuck(infeasible);
  EXPECT_NE(stuck.solve().status, ConicStatus::solved);
  // minimise -x with x ≥ 1
  ConicProgram unbounded{
      .c = -VectorX::Ones(1), .G = -MatrixX::Ones(1, 1), .h = -VectorX::Ones(1), .num_orthant = 1, .cones = {}};
  ConicSolver endless(unbounded);
  EXPECT_NE(endless.solve().status, ConicStatus::solved);
}

TEST(Conic, SolvingAllocatesNothing) {
  Random random(7);
  ConicSolver solver(known_program(random, 8, 12, {4, 6}).program);
  (void)solver.solve();
  const AllocationCount count;
  (void)solver.solve();
  (void)solver.solve({.kappa = 1e-3});
  (void)solver.solve({.warm_start = true});
  EXPECT_EQ(count.so_far(), 0);
}

}  // namespace
}  // namespace tangere::test
