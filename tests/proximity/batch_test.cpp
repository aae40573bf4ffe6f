/// Batches answer as the single queries do, whatever the number of threads.

#include "tangere/proximity/batch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tangere/math/error.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"
#include "tests/support/shape_pairs.hpp"

namespace tangere::test {
namespace {

std::vector<PosedPair> posed_pairs() {
  std::vector<PosedPair> pairs;
  for (const ShapePair& pair : all_shape_pairs()) pairs.push_back({&pair.A, pair.X_WA, &pair.B, pair.X_WB});
  return pairs;
}

TEST(Batch, SameBitsWhateverTheNumberOfThreads) {
  const std::vector<PosedPair> pairs = posed_pairs();
  std::vector<Scaling> scalings(pairs.size());
  std::vector<Distance> distances(pairs.size());
  std::vector<Vector12> gradients(pairs.size());
  for (const int num_threads : {1, 2, 5}) {
    BatchWorkspace workspace(num_threads);
    EXPECT_EQ(workspace.num_threads(), num_threads);
    // twice: what a thread has done before makes no difference
    for (int round = 0; round < 2; ++round) {
      scaling_batch(pairs, {}, scalings, workspace, gradients);
      ScalingWorkspace single;
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        const PosedPair& p = pairs[i];
        EXPECT_EQ(scalings[i].alpha, scaling(*p.A, p.X_WA, *p.B, p.X_WB, {}, single).alpha);
        EXPECT_EQ(gradients[i], scaling_gradient(single));
      }
      distance_batch(pairs, {}, distances, workspace, gradients);
      DistanceWorkspace alone;
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        const PosedPair& p = pairs[i];
        EXPECT_EQ(distances[i].distance, distance(*p.A, p.X_WA, *p.B, p.X_WB, {}, alone).distance);
        EXPECT_EQ(gradients[i], distance_gradient(alone));
      }
    }
  }
}

TEST(Batch, RefusesTheFirstBadPairButAnswersTheOthers) {
  std::vector<PosedPair> pairs = posed_pairs();
  const Shape floor = HalfSpace{.normal = {0, 0, 1}};
  pairs[70] = {&floor, {}, &floor, {}};
  pairs[300].B = nullptr;
  std::vector<Scaling> results(pairs.size());
  BatchWorkspace workspace(3);
  try {
    scaling_batch(pairs, {}, results, workspace);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_EQ(error.field(), "pairs[70].shapes");
  }
  EXPECT_GT(results[69].alpha, 0.0);
  EXPECT_GT(results[pairs.size() - 1].alpha, 0.0);
  // and goes on working
  pairs.resize(70);
  results.resize(70);
  scaling_batch(pairs, {}, results, workspace);
}

TEST(Batch, BadInput) {
  const std::vector<PosedPair> pairs = posed_pairs();
  std::vector<Scaling> few(3);
  std::vector<Scaling> results(pairs.size());
  std::vector<Vector12> gradients(3);
  BatchWorkspace workspace(2);
  EXPECT_THROW(scaling_batch(pairs, {}, few, workspace), InputError);
  EXPECT_THROW(scaling_batch(pairs, {}, results, workspace, gradients), InputError);
  EXPECT_THROW(scaling_batch(pairs, {.tolerance = -1.0}, results, workspace), InputError);
  EXPECT_THROW(BatchWorkspace(-1), InputError);
  scaling_batch({}, {}, {}, workspace);
}

}  // namespace
}  // namespace tangere::test
