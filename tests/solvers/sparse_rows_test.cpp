/// Problems by their parts against the same by their matrix, and the sparse factorisation against a dense one.

#include "tangere/solvers/lcp/sparse_rows.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/solvers/lcp/boxed_lcp.hpp"
#include "tangere/solvers/lcp/internal/block_lu.hpp"

namespace tangere::test {
namespace {

constexpr int kStride = SparseRows::kStride;

/// A chain of bodies with random masses, several contacts between neighbours, that presses together.
struct Chain {
  SparseRows parts;
  MatrixX A;
  VectorX b;
  std::vector<BoxedLcpRow> rows;

  Chain(int bodies, int contacts_a_pair, std::uint64_t seed) {
    Random random(seed);
    parts.num_nodes = bodies;
    std::vector<MatrixX> inverse;
    for (int i = 0; i < bodies; ++i) {
      MatrixX M = MatrixX::Identity(6, 6);
      for (int k = 0; k < 6; ++k) M(k, k) = random.uniform(0.5, 2.0);
      M(0, 4) = M(4, 0) = 0.1;
      inverse.push_back(M.inverse());
      parts.mass_blocks.push_back({i, i});
      for (int c = 0; c < 6; ++c)
        for (int r = 0; r < kStride; ++r) parts.M.push_back(r < 6 ? M(r, c) : 0.0);
    }
    for (int i = 0; i < bodies; ++i)
      for (int contact = 0; contact < contacts_a_pair; ++contact) add_contact(i, random, inverse);
    const int n = parts.num_rows();
    A.resize(n, n);
    b.resize(n);
    for (int j = 0; j < n; ++j) {
      AlignedVector x(parts.vector_size(), 0.0);
      parts.add_velocity(j, 1.0, x.data());
      for (int i = 0; i < n; ++i) A(i, j) = parts.along(i, x.data());
      b[j] = rows[j].normal < 0 ? random.uniform(-1.0, 0.2) : random.uniform(-1.0, 1.0);
    }
  }

 private:
  /// Between body i and the one before it (the world for the first): a normal and two tangents at a random place.
  void add_contact(int i, Random& random, const std::vector<MatrixX>& inverse) {
    const Vector3 place(random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0), random.uniform(-0.1, 0.1));
    const int normal = parts.num_rows();
    for (int axis = 0; axis < 3; ++axis) {
      const Vector3 along = Vector3::Unit((axis + 2) % 3);
      for (const int side : {0, 1}) {
        if (i == 0 && side == 1) continue;
        Vector6 J;
        J << along, place.cross(along);
        if (side == 1) J = -J;
        const VectorX Z = inverse[i - side] * J;
        parts.node.push_back(i - side);
        for (int k = 0; k < kStride; ++k) {
          parts.J.push_back(k < 6 ? J[k] : 0.0);
          parts.Z.push_back(k < 6 ? Z[k] : 0.0);
        }
      }
      parts.first.push_back(static_cast<int>(parts.node.size()));
      rows.push_back(axis == 0 ? BoxedLcpRow{.compliance = 1e-6}
                               : BoxedLcpRow{.normal = normal, .friction = 0.4, .compliance = 1e-6});
    }
  }
};

TEST(SparseRows, SolveAsTheirMatrixDoes) {
  BoxedLcpSolver by_parts;
  BoxedLcpSolver by_matrix;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Chain chain(12, 4, seed);
    const BoxedLcpSolution& one = by_parts.solve(chain.parts, chain.b, chain.rows);
    const BoxedLcpSolution& other = by_matrix.solve(chain.A, chain.b, chain.rows);
    ASSERT_EQ(one.status, BoxedLcpStatus::solved) << "seed " << seed;
    ASSERT_EQ(other.status, BoxedLcpStatus::solved) << "seed " << seed;
    // several solutions may exist: what is answered must solve the problem of the matrix
    const VectorX w = chain.A * one.f.view() + chain.b;
    EXPECT_LT((w - one.w.view()).cwiseAbs().maxCoeff(), 1e-9 * (1.0 + one.f.view().cwiseAbs().maxCoeff()));
    if (one.sets == other.sets) {
      EXPECT_LT((one.f.view() - other.f.view()).cwiseAbs().maxCoeff(), 1e-7 * other.f.view().cwiseAbs().maxCoeff())
          << "seed " << seed;
    }
  }
}

/// |f − projection(f − w' / d)| with bounds of that f, relative to the largest force.
double residual(const Chain& chain, const std::vector<BoxedLcpRow>& rows, const BoxedLcpSolution& solution) {
  const VectorX w = chain.A * solution.f.view() + chain.b;
  double worst = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const double f = solution.f[k];
    const double most = rows[i].normal < 0 ? rows[i].upper : rows[i].friction * solution.f[rows[i].normal];
    const double least = rows[i].normal < 0 ? rows[i].lower : -most;
    const double to = f - (w[k] + rows[i].compliance * f) / chain.A(k, k);
    worst = std::max(worst, std::abs(f - std::min(std::max(to, least), most)));
  }
  return worst / solution.f.view().cwiseAbs().maxCoeff();
}

/// The interior point alone, from a cold start, with rows of every kind.
TEST(SparseRows, InteriorPoint) {
  BoxedLcpSolver solver;
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Chain chain(20, 4, seed);
    std::vector<BoxedLcpRow> rows = chain.rows;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    rows[1] = {.lower = -0.05, .upper = 0.05, .compliance = 1e-6};
    rows[2] = {.lower = -infinity, .upper = infinity, .compliance = 1e-6};
    rows[4].friction = 0.0;
    rows[5] = {.lower = -infinity, .upper = 0.1, .compliance = 1e-6};
    const BoxedLcpSolution& solution =
        solver.solve(chain.parts, chain.b, rows, {.only = BoxedLcpStage::interior_point});
    if (solution.status != BoxedLcpStatus::solved) {
      ++failures;
      continue;
    }
    EXPECT_EQ(solution.stage, BoxedLcpStage::interior_point) << "seed " << seed;
    EXPECT_LT(residual(chain, rows, solution), 1e-8) << "seed " << seed;
    EXPECT_LT(solution.factorisations, 150) << "seed " << seed;
  }
  // friction makes the problem one that is not monotone: nothing is promised
  EXPECT_LE(failures, 1);
}

/// Much friction jams bodies: the path of the interior point turns, and is followed nevertheless.
TEST(SparseRows, InteriorPointWhereItsPathTurns) {
  BoxedLcpSolver solver;
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Chain chain(60, 4, seed);
    std::vector<BoxedLcpRow> rows = chain.rows;
    for (BoxedLcpRow& row : rows)
      if (row.normal >= 0) row.friction = 3.0;
    const BoxedLcpSolution& solution =
        solver.solve(chain.parts, chain.b, rows, {.only = BoxedLcpStage::interior_point});
    if (solution.status != BoxedLcpStatus::solved) {
      ++failures;
      continue;
    }
    EXPECT_LT(residual(chain, rows, solution), 1e-8) << "seed " << seed;
  }
  // eight where it only goes down
  EXPECT_LE(failures, 1);
}

TEST(SparseRows, InteriorPointIsForParts) {
  const Chain chain(3, 4, 1);
  BoxedLcpSolver solver;
  EXPECT_THROW((void)solver.solve(chain.A, chain.b, chain.rows, {.only = BoxedLcpStage::interior_point}), InputError);
}

/// Started from the sets of the answer, the answer is found at once.
TEST(SparseRows, StartFromSets) {
  const Chain chain(30, 4, 7);
  BoxedLcpSolver solver;
  const BoxedLcpSolution first = solver.solve(chain.parts, chain.b, chain.rows);
  ASSERT_EQ(first.status, BoxedLcpStatus::solved);
  const BoxedLcpSolution& again = solver.solve(chain.parts, chain.b, chain.rows, {}, first.sets);
  EXPECT_EQ(again.stage, BoxedLcpStage::previous_sets);
  EXPECT_EQ(again.factorisations, 1);
  EXPECT_LT((again.f.view() - first.f.view()).cwiseAbs().maxCoeff(), 1e-8 * first.f.view().cwiseAbs().maxCoeff());
}

TEST(BlockLu, SolvesAsADenseOneDoes) {
  Random random(3);
  const int nodes = 25;
  BlockLu lu;
  lu.begin(nodes);
  MatrixX K = MatrixX::Zero(6 * nodes, 6 * nodes);
  std::vector<std::pair<int, int>> pattern;
  for (int i = 0; i < nodes; ++i) {
    pattern.emplace_back(i, i);
    for (int k = 0; k < 2; ++k)
      if (const int j = random.index(nodes); j != i) {
        pattern.emplace_back(i, j);
        pattern.emplace_back(j, i);
        lu.connect(i, j);
      }
  }
  lu.order();
  for (const auto& [i, j] : pattern) {
    MatrixX block(6, 6);
    for (int c = 0; c < 6; ++c)
      for (int r = 0; r < 6; ++r) {
        block(r, c) = random.uniform(-1.0, 1.0) + (i == j && r == c ? 40.0 : 0.0);
        lu.block(i, j)[kStride * c + r] = block(r, c);
      }
    K.block<6, 6>(6 * i, 6 * j) = block;
  }
  AlignedVector x(static_cast<std::size_t>(nodes * kStride), 0.0);
  VectorX right(6 * nodes);
  for (int i = 0; i < 6 * nodes; ++i) x[i / 6 * kStride + i % 6] = right[i] = random.uniform(-1.0, 1.0);
  ASSERT_TRUE(lu.factor());
  lu.solve(x.data());
  const VectorX expected = K.partialPivLu().solve(right);
  for (int i = 0; i < 6 * nodes; ++i) EXPECT_NEAR(x[i / 6 * kStride + i % 6], expected[i], 1e-13);
}

TEST(BlockLu, SignOfTheDeterminant) {
  Random random(5);
  int negative = 0;
  for (int trial = 0; trial < 40; ++trial) {
    BlockLu lu;
    lu.begin(3);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < i; ++j) lu.connect(i, j);
    lu.order();
    MatrixX K(18, 18);
    for (int r = 0; r < 18; ++r)
      for (int c = 0; c < 18; ++c)
        lu.block(r / 6, c / 6)[kStride * (c % 6) + r % 6] = K(r, c) = random.uniform(-1.0, 1.0);
    ASSERT_TRUE(lu.factor());
    const double determinant = K.partialPivLu().determinant();
    EXPECT_EQ(lu.determinant_sign(), determinant > 0.0 ? 1 : -1) << "trial " << trial;
    negative += determinant < 0.0 ? 1 : 0;
  }
  EXPECT_GT(negative, 5);
  EXPECT_LT(negative, 35);
}

TEST(BlockLu, SaysWhatIsSingular) {
  BlockLu lu;
  lu.begin(2);
  lu.connect(0, 1);
  lu.order();
  EXPECT_FALSE(lu.factor());
}

}  // namespace
}  // namespace tangere::test
