/// The conic route of a batch: lanes answer as the single query does, to the tolerance, and the same bits whatever is
/// beside them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/proximity/batch.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"
#include "tests/support/allocation.hpp"
#include "tests/support/random_shapes.hpp"
#include "tests/support/shape_pairs.hpp"

namespace tangere::test {
namespace {

constexpr ScalingOptions kConic{.method = ScalingMethod::conic};

std::vector<PosedPair> listed_pairs() {
  std::vector<PosedPair> pairs;
  for (const ShapePair& pair : all_shape_pairs()) pairs.push_back({&pair.A, pair.X_WA, &pair.B, pair.X_WB});
  return pairs;
}

/// Every two types (half-spaces against all others), `count` pairs each.
const std::vector<ShapePair>& random_pairs() {
  static const std::vector<ShapePair> pairs = [] {
    constexpr int kCount = 12;
    Random random(31);
    std::vector<ShapePair> list;
    std::vector<std::string_view> types = bounded_types();
    types.emplace_back("halfspace");
    for (std::size_t i = 0; i < types.size(); ++i) {
      for (std::size_t j = i; j < types.size(); ++j) {
        if (types[i] == "halfspace") continue;
        for (int k = 0; k < kCount; ++k) {
          Shape A = random_shape(types[i], random);
          Shape B = random_shape(types[j], random);
          Pose X_WA(random.rotation(), random.normal3());
          Pose X_WB(random.rotation(), X_WA.p + random.uniform(0.2, 3.0) * random.unit_vector());
          // a half-space on either side
          if (types[j] == "halfspace" && k % 2 == 1) {
            std::swap(A, B);
            std::swap(X_WA, X_WB);
          }
          list.push_back({std::string(types[i]) + "_" + std::string(types[j]), A, X_WA, B, X_WB});
        }
      }
    }
    return list;
  }();
  return pairs;
}

std::vector<PosedPair> posed(const std::vector<ShapePair>& list) {
  std::vector<PosedPair> pairs;
  for (const ShapePair& pair : list) pairs.push_back({&pair.A, pair.X_WA, &pair.B, pair.X_WB});
  return pairs;
}

/// Results and gradients of a batch.
struct Answers {
  std::vector<Scaling> results;
  std::vector<Vector12> gradients;
};

Answers ask(const std::vector<PosedPair>& pairs, const ScalingOptions& options, BatchWorkspace& workspace) {
  Answers answers{std::vector<Scaling>(pairs.size()), std::vector<Vector12>(pairs.size())};
  scaling_batch(pairs, options, answers.results, workspace, answers.gradients);
  return answers;
}

bool same_bits(const Vector3& a, const Vector3& b) { return std::memcmp(a.data(), b.data(), 3 * sizeof(double)) == 0; }

void expect_same_bits(const Answers& a, std::size_t i, const Answers& b, std::size_t j) {
  const Scaling& x = a.results[i];
  const Scaling& y = b.results[j];
  EXPECT_EQ(x.status, y.status);
  EXPECT_EQ(x.alpha, y.alpha);
  EXPECT_EQ(x.center_line_gap, y.center_line_gap);
  EXPECT_EQ(x.gap, y.gap);
  EXPECT_EQ(x.residual, y.residual);
  EXPECT_EQ(x.iterations, y.iterations);
  EXPECT_EQ(x.point_freedom, y.point_freedom);
  EXPECT_EQ(x.normal_freedom, y.normal_freedom);
  EXPECT_TRUE(same_bits(x.x, y.x) && same_bits(x.p_A, y.p_A) && same_bits(x.p_B, y.p_B) &&
              same_bits(x.normal, y.normal));
  EXPECT_EQ(std::memcmp(a.gradients[i].data(), b.gradients[j].data(), 12 * sizeof(double)), 0);
}

void expect_as_single(const std::vector<ShapePair>& list, const ScalingOptions& options, double alpha_tolerance) {
  const std::vector<PosedPair> pairs = posed(list);
  BatchWorkspace workspace(1);
  const Answers answers = ask(pairs, options, workspace);
  ScalingWorkspace single;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    SCOPED_TRACE(list[i].name + ", " + std::to_string(i));
    const PosedPair& p = pairs[i];
    const Scaling expected = scaling(*p.A, p.X_WA, *p.B, p.X_WB, options, single);
    const Scaling& r = answers.results[i];
    ASSERT_EQ(r.status, expected.status);
    EXPECT_NEAR(r.alpha, expected.alpha, alpha_tolerance * expected.alpha);
    EXPECT_LE(r.residual, options.tolerance);
    EXPECT_EQ(r.method, ScalingMethod::conic);
    EXPECT_NEAR(r.normal.norm(), 1.0, 1e-12);
    EXPECT_EQ(r.part_A, expected.part_A);
    EXPECT_EQ(r.part_B, expected.part_B);
    EXPECT_EQ(r.point_freedom, expected.point_freedom);
    EXPECT_EQ(r.normal_freedom, expected.normal_freedom);
    if (options.smoothing == 0.0) {
      EXPECT_LE(r.gap, options.tolerance);
    }
    const double size = (p.X_WA.p - p.X_WB.p).norm();
    if (expected.point_freedom == 0 && expected.normal_freedom == 0) {
      EXPECT_LE((r.normal - expected.normal).norm(), 1e-3);
      EXPECT_LE((r.x - expected.x).norm(), 1e-3 * size);
      EXPECT_LE((r.p_A - expected.p_A).norm(), 1e-3 * size / expected.alpha);
      EXPECT_LE((r.p_B - expected.p_B).norm(), 1e-3 * size / expected.alpha);
    }
    const Vector12 gradient = scaling_gradient(single);
    if (expected.normal_freedom == 0) {
      EXPECT_LE((answers.gradients[i] - gradient).norm(), 1e-6 * (1.0 + gradient.norm()));
    }
  }
}

TEST(ConicBatch, AnswersListedPairsAsTheSingleQuery) { expect_as_single(all_shape_pairs(), kConic, 1e-8); }

TEST(ConicBatch, AnswersRandomPairsAsTheSingleQuery) { expect_as_single(random_pairs(), kConic, 1e-8); }

TEST(ConicBatch, SmoothedPairsAsTheSingleQuery) {
  for (const double smoothing : {1e-2, 1e-4, 1e-6}) {
    SCOPED_TRACE(smoothing);
    std::vector<ShapePair> list;
    for (const ShapePair& pair : random_pairs()) {
      // kappa times the degree is at most 0.5
      const int degree = pair.A.parts().front().set->rows.degree() + pair.B.parts().front().set->rows.degree();
      if (smoothing * degree <= 0.5) list.push_back(pair);
    }
    expect_as_single(list, {.smoothing = smoothing, .method = ScalingMethod::conic}, 1e-7);
  }
}

/// Sums with more own variables than this are not for lanes.
constexpr int kMostOwnVariables = 12;

TEST(ConicBatch, AlmostAllPairsAreAnsweredInLanes) {
  const std::vector<PosedPair> pairs = posed(random_pairs());
  const auto fits = [](const Shape& shape) { return shape.parts().front().set->rows.num_aux() <= kMostOwnVariables; };
  for (const double smoothing : {0.0, 1e-4}) {
    BatchWorkspace workspace(1);
    const Answers answers = ask(pairs, {.smoothing = smoothing, .method = ScalingMethod::conic}, workspace);
    long eligible = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (answers.results[i].status == ScalingStatus::zero_scaling) continue;
      eligible += fits(*pairs[i].A) && fits(*pairs[i].B) ? 1 : 0;
    }
    EXPECT_EQ(workspace.num_in_lanes() + workspace.num_lane_fallbacks(), eligible);
    EXPECT_GE(static_cast<double>(workspace.num_in_lanes()), 0.99 * static_cast<double>(eligible));
    EXPECT_GE(static_cast<double>(eligible), 0.9 * static_cast<double>(pairs.size()));
  }
}

TEST(ConicBatch, SameBitsWhateverTheThreadsTheOrderAndTheNeighbours) {
  std::vector<PosedPair> pairs = listed_pairs();
  for (const PosedPair& pair : posed(random_pairs())) pairs.push_back(pair);
  for (const double smoothing : {0.0, 1e-5}) {
    const ScalingOptions options{.smoothing = smoothing, .method = ScalingMethod::conic};
    BatchWorkspace one(1);
    const Answers reference = ask(pairs, options, one);
    for (const int num_threads : {2, 3}) {
      BatchWorkspace several(num_threads);
      const Answers again = ask(pairs, options, several);
      for (std::size_t i = 0; i < pairs.size(); ++i) expect_same_bits(reference, i, again, i);
    }
    // in another order
    std::vector<std::size_t> order(pairs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    Random random(5);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.index(static_cast<int>(i))]);
    std::vector<PosedPair> shuffled;
    for (const std::size_t i : order) shuffled.push_back(pairs[i]);
    const Answers other = ask(shuffled, options, one);
    for (std::size_t i = 0; i < order.size(); ++i) expect_same_bits(reference, order[i], other, i);
    // alone
    for (std::size_t i = 0; i < pairs.size(); i += 7) {
      const Answers alone = ask({pairs[i]}, options, one);
      expect_same_bits(reference, i, alone, 0);
    }
  }
}

TEST(ConicBatch, SmoothingAloneMeansTheConicRoute) {
  const std::vector<PosedPair> pairs = posed(random_pairs());
  BatchWorkspace workspace(1);
  (void)ask(pairs, {.smoothing = 1e-4}, workspace);
  EXPECT_GT(workspace.num_in_lanes(), 0);
}

TEST(ConicBatch, RefusesTheFirstBadPairButAnswersTheOthers) {
  std::vector<PosedPair> pairs = listed_pairs();
  const Shape floor = HalfSpace{.normal = {0, 0, 1}};
  pairs[70] = {&floor, {}, &floor, {}};
  pairs[300].B = nullptr;
  pairs[200].X_WA.p.x() = std::nan("");
  std::vector<Scaling> results(pairs.size());
  BatchWorkspace workspace(3);
  const auto field = [&] {
    try {
      scaling_batch(pairs, kConic, results, workspace);
    } catch (const InputError& error) {
      return error.field();
    }
    return std::string();
  };
  EXPECT_EQ(field(), "pairs[70].shapes");
  EXPECT_GT(results[69].alpha, 0.0);
  EXPECT_GT(results[pairs.size() - 1].alpha, 0.0);
  pairs[70] = pairs[71];
  EXPECT_EQ(field(), "pairs[200].X_WA.p");
  pairs[200] = pairs[71];
  EXPECT_EQ(field(), "pairs[300].B");
}

TEST(ConicBatch, CoincidentCentresBesideOthers) {
  std::vector<PosedPair> pairs = posed(random_pairs());
  for (std::size_t i = 0; i < pairs.size(); i += 3) pairs[i].X_WB.p = pairs[i].X_WA.p;
  BatchWorkspace workspace(1);
  const Answers answers = ask(pairs, kConic, workspace);
  ScalingWorkspace single;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const PosedPair& p = pairs[i];
    const Scaling expected = scaling(*p.A, p.X_WA, *p.B, p.X_WB, kConic, single);
    EXPECT_EQ(answers.results[i].status, expected.status);
    EXPECT_NEAR(answers.results[i].alpha, expected.alpha, 1e-8 * expected.alpha);
  }
  EXPECT_LE(static_cast<double>(workspace.num_lane_fallbacks()), 0.01 * static_cast<double>(pairs.size()));
}

TEST(ConicBatch, IterationLimitIsTheSingleQuerys) {
  const std::vector<PosedPair> pairs = posed(random_pairs());
  BatchWorkspace workspace(1);
  const ScalingOptions options{.max_iterations = 2, .method = ScalingMethod::conic};
  const Answers answers = ask(pairs, options, workspace);
  ScalingWorkspace single;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const PosedPair& p = pairs[i];
    EXPECT_EQ(answers.results[i].status, scaling(*p.A, p.X_WA, *p.B, p.X_WB, options, single).status);
  }
}

TEST(ConicBatch, AllocatesNothingAfterWarmUp) {
  const std::vector<PosedPair> pairs = posed(random_pairs());
  std::vector<Scaling> results(pairs.size());
  std::vector<Vector12> gradients(pairs.size());
  BatchWorkspace workspace(1);
  for (const double smoothing : {0.0, 1e-4}) {
    const ScalingOptions options{.smoothing = smoothing, .method = ScalingMethod::conic};
    scaling_batch(pairs, options, results, workspace, gradients);
    const AllocationCount count;
    scaling_batch(pairs, options, results, workspace, gradients);
    EXPECT_EQ(count.so_far(), 0);
  }
}

}  // namespace
}  // namespace tangere::test
