#include "tangere/solvers/ncp/ncp.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/solvers/ncp/cone_product.hpp"
#include "tangere/solvers/ncp/dense_ncp.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere {
namespace {

/// min ½ (y − target)² with y ≥ 1:   y − target − z = 0,   s − (y − 1) = 0.
class Bound final : public DenseNcpFunction {
 public:
  double target = 0.0;
  [[nodiscard]] int num_y() const override { return 1; }
  [[nodiscard]] std::vector<NcpCone> cones() const override { return {{NcpCone::Kind::orthant, 0, 1}}; }
  void value(const VectorX& y, const VectorX& z, const VectorX& s, VectorX& f) const override {
    f[0] = y[0] - target - z[0];
    f[1] = s[0] - (y[0] - 1.0);
  }
  void jacobian(const VectorX&, const VectorX&, const VectorX&, MatrixX& J) const override {
    J << 1.0, -1.0, 0.0, -1.0, 0.0, 1.0;
  }
  /// The larger root of (y − target) (y − 1) = κ.
  [[nodiscard]] double exact(double kappa) const {
    return 0.5 * (1.0 + target + std::sqrt((1.0 - target) * (1.0 - target) + 4.0 * kappa));
  }
};

/// A point projected onto a second-order cone and, beside it, onto an orthant: A y = b is built in by y itself.
///   y − point − z = 0,   s − y = 0,   cones of 3, 2 orthant entries, and 4.
class Projection final : public DenseNcpFunction {
 public:
  VectorX point = VectorX::Zero(9);
  [[nodiscard]] int num_y() const override { return 9; }
  [[nodiscard]] std::vector<NcpCone> cones() const override {
    return {{NcpCone::Kind::second_order, 0, 3}, {NcpCone::Kind::orthant, 3, 2}, {NcpCone::Kind::second_order, 5, 4}};
  }
  void value(const VectorX& y, const VectorX& z, const VectorX& s, VectorX& f) const override {
    f.head(9) = y - point - z;
    f.tail(9) = s - y;
  }
  void jacobian(const VectorX&, const VectorX&, const VectorX&, MatrixX& J) const override {
    const MatrixX one = MatrixX::Identity(9, 9);
    J.setZero();
    J.block(0, 0, 9, 9) = one;
    J.block(0, 9, 9, 9) = -one;
    J.block(9, 0, 9, 9) = -one;
    J.block(9, 18, 9, 9) = one;
  }
};

VectorX solved_projection(const Projection& projection, double kappa, NcpResult* result = nullptr) {
  DenseNcp problem(projection);
  NcpSolver solver;
  const NcpResult answer = solver.solve(problem, {.kappa = kappa, .num_refinements = 2});
  EXPECT_EQ(answer.status, NcpStatus::solved);
  if (result != nullptr) *result = answer;
  return problem.y();
}

TEST(Ncp, EndsAtTheRelaxedSolutionFromBothSides) {
  for (const double target : {-3.0, 0.5, 1.0, 4.0})
    for (const double kappa : {1e-1, 1e-3, 1e-6, 1e-9}) {
      Bound bound;
      bound.target = target;
      DenseNcp problem(bound);
      NcpSolver solver;
      const NcpResult result = solver.solve(problem, {.kappa = kappa, .num_refinements = 3});
      ASSERT_EQ(result.status, NcpStatus::solved) << target << " " << kappa;
      EXPECT_LE(result.complementarity, 0.1 * kappa);
      EXPECT_NEAR(problem.y()[0], bound.exact(kappa), 1e-9 * (1.0 + std::abs(target))) << kappa;
      // a product below kappa would be as wrong as one above
      EXPECT_NEAR(problem.z()[0] * problem.s()[0], kappa, 1e-6 * kappa);
    }
}

/// The number of factorisations, beside the problem itself.
class Counted final : public NcpProblem {
 public:
  explicit Counted(DenseNcp& problem) : problem_(problem) {}
  [[nodiscard]] std::span<const NcpCone> cones() const override { return problem_.cones(); }
  [[nodiscard]] std::span<double> z() override { return problem_.z(); }
  [[nodiscard]] std::span<double> s() override { return problem_.s(); }
  double evaluate() override { return problem_.evaluate(); }
  bool factor() override {
    ++factors;
    return problem_.factor();
  }
  void solve(std::span<const double> r, std::span<double> dz, std::span<double> ds) override {
    problem_.solve(r, dz, ds);
  }
  void save() override { problem_.save(); }
  void advance(double a) override { problem_.advance(a); }
  void write(std::vector<double>& y) const override { problem_.write(y); }
  void read(const std::vector<double>& y) override { problem_.read(y); }
  int factors = 0;

 private:
  DenseNcp& problem_;
};

TEST(Ncp, RefinementsCubeTheErrorAndShareFactors) {
  Bound bound;
  bound.target = 0.5;
  constexpr double kKappa = 1e-2;
  const auto run = [&](int refinements, double refined) {
    DenseNcp dense(bound);
    Counted problem(dense);
    NcpSolver solver;
    const NcpResult result =
        solver.solve(problem, {.kappa = kKappa, .num_refinements = refinements, .refined = refined});
    EXPECT_EQ(result.status, NcpStatus::solved);
    return std::pair{result.complementarity / kKappa, problem.factors};
  };
  const auto [rough, factors] = run(0, 0.0);
  ASSERT_GT(rough, 1e-4);
  const auto [once, factors_once] = run(1, 0.0);
  EXPECT_LE(once, rough * rough * rough);
  EXPECT_EQ(factors_once, factors + 1);
  const auto [twice, factors_twice] = run(2, 0.0);
  EXPECT_LE(twice, std::max(once * once * once, 1e-14));
  EXPECT_EQ(factors_twice, factors + 2);
  // no more of them than are needed, but one at least, a plain one if that is enough; more corrections on its factors
  EXPECT_EQ(run(8, once), run(1, 0.0));
  const auto [plain, factors_plain] = run(8, 1.0);
  EXPECT_LE(plain, rough * rough);
  EXPECT_EQ(factors_plain, factors + 1);
  const auto [corrected, factors_corrected] = run(8, 0.9 * once);
  EXPECT_LE(corrected, rough * once);
  EXPECT_EQ(factors_corrected, factors + 1);
}

TEST(Ncp, SensitivitiesAreThoseOfTheRelaxedSolution) {
  Random random(3);
  for (const double kappa : {1e-1, 1e-3, 1e-5}) {
    Projection projection;
    for (Eigen::Index i = 0; i < 9; ++i) projection.point[i] = random.normal();
    DenseNcp problem(projection);
    NcpSolver solver;
    ASSERT_EQ(solver.solve(problem, {.kappa = kappa, .num_refinements = 3}).status, NcpStatus::solved);
    MatrixX analytic(9, 9);
    VectorX dy;
    VectorX dz;
    VectorX ds;
    for (Eigen::Index k = 0; k < 9; ++k) {
      VectorX df = VectorX::Zero(18);
      df[k] = -1.0;
      ASSERT_TRUE(problem.sensitivity(df, dy, dz, ds));
      analytic.col(k) = dy;
    }
    const VectorX point = projection.point;
    const MatrixX numeric = test::finite_difference(
        [&](const VectorX& d) -> VectorX {
          Projection moved;
          moved.point = point + d;
          DenseNcp other(moved);
          NcpSolver again;
          (void)again.solve(other, {.kappa = kappa, .num_refinements = 4});
          return other.y();
        },
        9, 9, 10.0 * kappa);
    EXPECT_NEAR_RELATIVE(analytic, numeric, 1e-6);
  }
}

TEST(Ncp, ProjectsOntoTheCone) {
  // far outside, inside, and inside the polar cone
  Projection projection;
  projection.point << -1.0, 3.0, 4.0, -2.0, 5.0, 3.0, 1.0, 1.0, 1.0;
  const VectorX y = solved_projection(projection, 1e-10);
  // the projection of (t, v) with |v| > |t| is ½ (1 + t/|v|) (|v|, v)
  EXPECT_NEAR(y[0], 2.0, 1e-6);
  EXPECT_NEAR(y[1], 1.2, 1e-6);
  EXPECT_NEAR(y[2], 1.6, 1e-6);
  EXPECT_NEAR(y[3], 0.0, 1e-6);
  EXPECT_NEAR(y[4], 5.0, 1e-6);
  EXPECT_NEAR_ABSOLUTE(VectorX(y.tail(4)), VectorX(projection.point.tail(4)), 1e-6);
}

TEST(Ncp, ContinuesToAnotherKappaInFewIterations) {
  Random random(5);
  for (int trial = 0; trial < 20; ++trial) {
    Projection projection;
    for (Eigen::Index i = 0; i < 9; ++i) projection.point[i] = random.normal();
    DenseNcp problem(projection);
    NcpSolver solver;
    ASSERT_EQ(solver.solve(problem, {.kappa = 1e-6}).status, NcpStatus::solved);
    const NcpResult result = solver.continue_to(3e-3, problem, {.num_refinements = 2});
    ASSERT_EQ(result.status, NcpStatus::solved);
    EXPECT_LE(result.iterations, 12);
    EXPECT_NEAR_ABSOLUTE(problem.y(), solved_projection(projection, 3e-3), 1e-7);
  }
}

/// s = z² − 3 z + 2.3 for a number, and for a cone with the product of its algebra: the path μ = z³ − 3 z² + 2.3 z
/// turns at (1.483, 0.0747) and again at (0.517, 0.525).
class Turning final : public DenseNcpFunction {
 public:
  explicit Turning(NcpCone::Kind kind) : kind_(kind) {}
  [[nodiscard]] int num_y() const override { return 3; }
  [[nodiscard]] std::vector<NcpCone> cones() const override { return {{.kind = kind_, .first = 0, .size = 3}}; }
  /// Beside it y = z, so that steps have something to bring back.
  void value(const VectorX& y, const VectorX& z, const VectorX& s, VectorX& f) const override {
    f.head(3) = s - square(z) + 3.0 * z - 2.3 * identity();
    f.tail(3) = y - z;
  }
  void jacobian(const VectorX& /*y*/, const VectorX& z, const VectorX& /*s*/, MatrixX& J) const override {
    J.setZero(6, 9);
    MatrixX twice = 2.0 * z.asDiagonal().toDenseMatrix();
    if (kind_ == NcpCone::Kind::second_order) {
      twice = 2.0 * z[0] * MatrixX::Identity(3, 3);
      twice.row(0).tail(2) = 2.0 * z.tail(2).transpose();
      twice.col(0).tail(2) = 2.0 * z.tail(2);
    }
    J.block(0, 3, 3, 3) = 3.0 * MatrixX::Identity(3, 3) - twice;
    J.block(0, 6, 3, 3).setIdentity();
    J.block(3, 0, 3, 3).setIdentity();
    J.block(3, 3, 3, 3) = -MatrixX::Identity(3, 3);
  }

 private:
  [[nodiscard]] VectorX identity() const {
    return kind_ == NcpCone::Kind::orthant ? VectorX(VectorX::Ones(3)) : VectorX(VectorX::Unit(3, 0));
  }
  [[nodiscard]] VectorX square(const VectorX& z) const {
    if (kind_ == NcpCone::Kind::orthant) return z.cwiseProduct(z);
    VectorX out = 2.0 * z[0] * z;
    out[0] = z.squaredNorm();
    return out;
  }
  NcpCone::Kind kind_;
};

TEST(Ncp, FollowsThePathAroundItsTurns) {
  for (const NcpCone::Kind kind : {NcpCone::Kind::orthant, NcpCone::Kind::second_order}) {
    const Turning turning(kind);
    for (const double kappa : {1e-2, 1e-4, 1e-8}) {
      DenseNcp problem(turning);
      // at e the matrix is singular
      for (double& z : problem.z()) z *= 3.0;
      NcpSolver solver;
      const NcpResult result =
          solver.follow(10.0, problem, {.kappa = kappa, .max_iterations = 300, .num_refinements = 2});
      ASSERT_EQ(result.status, NcpStatus::solved) << kappa;
      EXPECT_LE(result.iterations, 150);
      const double z = problem.z()[0];
      EXPECT_NEAR(z * z * z - 3.0 * z * z + 2.3 * z, kappa, 1e-9 * kappa);
      EXPECT_LT(z, 0.5);
      EXPECT_EQ(problem.y()[0], z);
    }
    // above the first turn there is nothing to go around
    DenseNcp problem(turning);
    for (double& z : problem.z()) z *= 3.0;
    NcpSolver solver;
    const NcpResult above = solver.follow(10.0, problem, {.kappa = 0.1, .num_refinements = 2});
    ASSERT_EQ(above.status, NcpStatus::solved);
    EXPECT_GT(problem.z()[0], 1.483);
  }
}

TEST(Ncp, FollowingEndsWhereThereIsNoSolution) {
  // s = 1 + 1/z: the product is never below 1
  class Without final : public DenseNcpFunction {
   public:
    [[nodiscard]] int num_y() const override { return 0; }
    [[nodiscard]] std::vector<NcpCone> cones() const override { return {{}}; }
    void value(const VectorX& /*y*/, const VectorX& z, const VectorX& s, VectorX& f) const override {
      f[0] = s[0] - 1.0 - 1.0 / z[0];
    }
    void jacobian(const VectorX& /*y*/, const VectorX& z, const VectorX& /*s*/, MatrixX& J) const override {
      J.resize(1, 2);
      J << 1.0 / (z[0] * z[0]), 1.0;
    }
  };
  const Without without;
  DenseNcp problem(without);
  NcpSolver solver;
  const NcpResult result = solver.follow(10.0, problem, {.kappa = 1e-2, .max_iterations = 300});
  EXPECT_NE(result.status, NcpStatus::solved);
  EXPECT_LE(result.iterations, 320);
  EXPECT_TRUE(std::isfinite(problem.z()[0]));
}

/// y = `place`, s = z + 1, until after some factorisations the matrix is too small to divide by.
class Vanishing final : public DenseNcpFunction {
 public:
  double place = 0.0;
  int factorisations = 1000;
  [[nodiscard]] int num_y() const override { return 1; }
  [[nodiscard]] std::vector<NcpCone> cones() const override { return {{}}; }
  void value(const VectorX& y, const VectorX& z, const VectorX& s, VectorX& f) const override {
    f[0] = y[0] - place;
    f[1] = s[0] - z[0] - 1.0;
  }
  void jacobian(const VectorX& /*y*/, const VectorX& /*z*/, const VectorX& /*s*/, MatrixX& J) const override {
    const double size = made_++ < factorisations ? 1.0 : 1e-310;
    J.setZero(2, 3);
    J(0, 0) = 1.0;
    J(1, 1) = -size;
    J(1, 2) = size;
  }

 private:
  mutable int made_ = 0;
};

/// What was followed before is no point of this path.
TEST(Ncp, FollowingComesBackToItsOwnPoints) {
  for (int factorisations = 0; factorisations < 12; ++factorisations) {
    NcpSolver solver;
    Vanishing before;
    before.place = 7.0;
    DenseNcp other(before);
    ASSERT_EQ(solver.follow(0.3, other, {.kappa = 1e-6, .max_iterations = 300}).status, NcpStatus::solved);
    Vanishing vanishing;
    vanishing.place = -3.0;
    vanishing.factorisations = factorisations;
    DenseNcp problem(vanishing);
    (void)solver.follow(0.3, problem, {.kappa = 1e-6, .max_iterations = 300});
    EXPECT_LE(problem.y()[0], 1e-9) << factorisations;
  }
}

/// As `Projection`, with an error that no step makes smaller, as rounding is.
class Rounded final : public DenseNcpFunction {
 public:
  Projection exact;
  [[nodiscard]] int num_y() const override { return exact.num_y(); }
  [[nodiscard]] std::vector<NcpCone> cones() const override { return exact.cones(); }
  void value(const VectorX& y, const VectorX& z, const VectorX& s, VectorX& f) const override {
    exact.value(y, z, s, f);
    f[0] += 1e-13 * ++evaluations_;
  }
  void jacobian(const VectorX& y, const VectorX& z, const VectorX& s, MatrixX& J) const override {
    exact.jacobian(y, z, s, J);
  }

 private:
  mutable int evaluations_ = 0;
};

/// Where both norms grow at rounding that is no jam: the solution stays.
TEST(Ncp, RefinementsKeepWhatIsSolved) {
  const double kappa = 1e-4;
  Random random(6);
  for (int trial = 0; trial < 50; ++trial) {
    Rounded projection;
    for (Eigen::Index i = 0; i < 9; ++i) projection.exact.point[i] = random.normal();
    const VectorX expected = solved_projection(projection.exact, kappa);
    DenseNcp problem(projection);
    NcpSolver solver;
    for (int again = 0; again < 10; ++again) {
      ASSERT_EQ(solver.solve(problem, {.kappa = kappa, .num_refinements = 2}).status, NcpStatus::solved);
      EXPECT_NEAR_ABSOLUTE(problem.y(), expected, 1e-8) << trial << " " << again;
    }
  }
}

TEST(Ncp, SaysWhatWentWrong) {
  Bound bound;
  bound.target = -5.0;
  DenseNcp problem(bound);
  NcpSolver solver;
  EXPECT_EQ(solver.solve(problem, {.kappa = 1e-9, .max_iterations = 2}).status, NcpStatus::iteration_limit);
  bound.target = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(solver.solve(problem, {.kappa = 1e-9}).status, NcpStatus::broken_down);
  EXPECT_EQ(to_string(NcpStatus::broken_down), "broken down");
}

/// Two numbers, and a direction whose first one is not a number: what comes after it must not hide it.
class Broken final : public NcpProblem {
 public:
  [[nodiscard]] std::span<const NcpCone> cones() const override { return cones_; }
  [[nodiscard]] std::span<double> z() override { return z_; }
  [[nodiscard]] std::span<double> s() override { return s_; }
  double evaluate() override { return 0.0; }
  bool factor() override { return true; }
  void solve(std::span<const double> r, std::span<double> dz, std::span<double> ds) override {
    dz[0] = std::numeric_limits<double>::quiet_NaN();
    dz[1] = r[1];
    ds[0] = ds[1] = 0.0;
  }
  void save() override {}
  void advance(double) override {}
  void write(std::vector<double>&) const override {}
  void read(const std::vector<double>&) override {}

 private:
  std::vector<NcpCone> cones_ = {{NcpCone::Kind::orthant, 0, 2}};
  std::vector<double> z_ = {2e-3, 1e-3};
  std::vector<double> s_ = {1.0, 1.0};
};

TEST(Ncp, ANumberThatIsNoneIsNoSolution) {
  Broken problem;
  NcpSolver solver;
  EXPECT_EQ(solver.solve(problem, {.kappa = 1e-3}).status, NcpStatus::broken_down);
}

TEST(Ncp, RefusesWrongOptionsAndCones) {
  EXPECT_THROW(NcpOptions{.kappa = 0.0}.verify(), InputError);
  EXPECT_THROW(NcpOptions{.max_iterations = 0}.verify(), InputError);
  EXPECT_THROW(NcpOptions{.fraction = 1.0}.verify(), InputError);
  class Holes final : public DenseNcpFunction {
   public:
    [[nodiscard]] int num_y() const override { return 0; }
    [[nodiscard]] std::vector<NcpCone> cones() const override { return {{NcpCone::Kind::orthant, 1, 1}}; }
    void value(const VectorX&, const VectorX&, const VectorX&, VectorX&) const override {}
    void jacobian(const VectorX&, const VectorX&, const VectorX&, MatrixX&) const override {}
  };
  const Holes holes;
  EXPECT_THROW(DenseNcp{holes}, InputError);
}

TEST(ConeProduct, DivisionUndoesTheProductAndStepsEndOnTheWall) {
  Random random(9);
  for (int trial = 0; trial < 200; ++trial) {
    const int n = 2 + trial % 3;
    double a[4];
    double b[4];
    double product[4];
    double back[4];
    for (int i = 0; i < n; ++i) {
      a[i] = random.normal();
      b[i] = random.normal();
    }
    a[0] = tail_norm(a, n) + 0.1 + random.uniform();
    cone_product(a, b, n, product);
    cone_divide(a, cone_determinant(a, n), product, n, back);
    for (int i = 0; i < n; ++i) EXPECT_NEAR(back[i], b[i], 1e-11);
    const double t = cone_step(a, b, n);
    if (!std::isfinite(t)) {
      EXPECT_GE(cone_margin(b, n), -1e-12);
      continue;
    }
    double end[4];
    for (int i = 0; i < n; ++i) end[i] = a[i] + t * b[i];
    EXPECT_NEAR(cone_margin(end, n), 0.0, 1e-9 * (1.0 + t));
  }
}

}  // namespace
}  // namespace tangere
