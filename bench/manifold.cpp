/// bench_manifold: contact manifolds of the 45-combination set in contact, with and without derivatives, beside the
/// distance query that each begins with.
///
/// Every pair is moved along its normal until it overlaps by 1 mm, as a resting contact does; two flat faces of random
/// attitude never lie on each other, so that the last row, a box on a box turned about their common normal, has the
/// patches. Times as in bench_pairs: pairs in shuffled order, the median over the passes of each pair, then median,
/// mean and 99th percentile over the pairs.

#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "bench/support/pair_set.hpp"
#include "bench/support/queries.hpp"
#include "bench/support/statistics.hpp"
#include "bench/support/timer.hpp"
#include "tangere/math/random.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/proximity/manifold.hpp"

namespace tangere::bench {
namespace {

constexpr int kPasses = 9;
constexpr int kStacks = 100;
constexpr double kOverlap = 1e-3;

PairSet pairs_in_contact() {
  PairSet set = make_pair_set();
  DistanceQueries distances;
  for (Pair& pair : set.pairs) {
    // the nearest features may change on the way
    for (int i = 0; i < 3; ++i) {
      const Distance apart = distances.signed_distance(pair);
      pair.X_WB.p -= (apart.distance + kOverlap) * apart.normal;
    }
  }
  const int stacked = static_cast<int>(set.combinations.size());
  set.combinations.emplace_back("box on box");
  Random random(4);
  for (int i = 0; i < kStacks; ++i) {
    const Matrix3 R = random.rotation();
    const Matrix3 turned = R * so3::exp(random.uniform(-3.0, 3.0) * Vector3::UnitZ());
    set.pairs.push_back(
        {stacked, random_shape("box", random), Box{.size = {1.0, 1.0, 1.0}}, Pose(R, Vector3::Zero()), Pose()});
    Pair& pair = set.pairs.back();
    const double height = 0.5 * (pair.A.get_if<Box>()->size[2] + 1.0) - kOverlap;
    pair.X_WB = Pose(turned, R * Vector3(random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2), height));
  }
  return set;
}

enum Query { nearest, patch, patch_with_derivatives, kNumQueries };

/// Nanoseconds, [query][pair]: the median over the passes.
std::vector<std::vector<double>> measure(const PairSet& set) {
  const CallTimer timer;
  DistanceQueries distances;
  ManifoldWorkspace workspace;
  const ManifoldOptions values;
  ManifoldOptions with_derivatives;
  with_derivatives.derivatives = true;
  const auto time = [&](int query, const Pair& p) {
    if (query == nearest) return timer([&] { keep(distances.signed_distance(p)); });
    const ManifoldOptions& options = query == patch ? values : with_derivatives;
    return timer([&] { keep(manifold(p.A, p.X_WA, p.B, p.X_WB, options, workspace)); });
  };

  std::vector<std::size_t> order(set.pairs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::vector<std::vector<double>>> samples(kNumQueries,
                                                        std::vector<std::vector<double>>(set.pairs.size()));
  Random random(2);
  for (int pass = 0; pass < kPasses; ++pass) {
    for (int query = 0; query < kNumQueries; ++query) {
      for (std::size_t i = order.size() - 1; i > 0; --i)
        std::swap(order[i], order[random.index(static_cast<int>(i) + 1)]);
      for (const std::size_t i : order) samples[query][i].push_back(time(query, set.pairs[i]));
    }
  }
  std::vector<std::vector<double>> times(kNumQueries);
  for (std::size_t query = 0; query < kNumQueries; ++query) {
    for (const std::vector<double>& sample : samples[query]) times[query].push_back(median(sample));
  }
  return times;
}

void run() {
  const PairSet set = pairs_in_contact();
  const std::vector<std::vector<double>> times = measure(set);
  std::printf("pairs that overlap by %g m, %d passes in shuffled order; nanoseconds\n\n", kOverlap, kPasses);
  std::printf("%-30s %10s %10s %12s %8s\n", "median per combination", "distance", "manifold", "derivatives", "points");
  ManifoldWorkspace workspace;
  for (std::size_t c = 0; c < set.combinations.size(); ++c) {
    std::vector<double> sample[kNumQueries];
    double points = 0.0;
    for (std::size_t i = 0; i < set.pairs.size(); ++i) {
      const Pair& p = set.pairs[i];
      if (p.combination != static_cast<int>(c)) continue;
      for (int query = 0; query < kNumQueries; ++query) sample[query].push_back(times[query][i]);
      points += manifold(p.A, p.X_WA, p.B, p.X_WB, {}, workspace).num_points;
    }
    std::printf("%-30s %10.0f %10.0f %12.0f %8.1f\n", set.combinations[c].c_str(), median(sample[nearest]),
                median(sample[patch]), median(sample[patch_with_derivatives]),
                points / static_cast<double>(sample[nearest].size()));
  }
  std::printf("\n%-30s %10s %10s %12s\n", "all pairs", "median", "mean", "p99");
  constexpr const char* kLabels[] = {"distance", "manifold", "manifold with derivatives"};
  for (std::size_t query = 0; query < kNumQueries; ++query) {
    const Statistics s = statistics(times[query]);
    std::printf("%-30s %10.0f %10.0f %12.0f\n", kLabels[query], s.median, s.mean, s.p99);
  }
}

}  // namespace
}  // namespace tangere::bench

int main() {
  tangere::bench::run();
  return 0;
}
