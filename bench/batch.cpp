/// bench_batch: the 45-combination set as batches over threads; the conic route in lanes against a loop over the single
/// query, on one core; and polytopes followed from step to step with a PairCache.
///
/// A batch's time is the best of some runs over all 4500 pairs; lanes and loop take turns, medians of processor time
/// are compared, over the whole set (whose shapes come from memory, which lanes do not make faster) and over a part of
/// it that stays in the cache. A warm query follows a pair over twenty steps of 0.02 rad and 0.02 m in random
/// directions; each step is asked warm and cold, the first two are not counted. FCL's distance at the start of each
/// walk is beside them; it keeps nothing from query to query.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "bench/support/fcl_peer.hpp"
#include "bench/support/pair_set.hpp"
#include "bench/support/statistics.hpp"
#include "bench/support/timer.hpp"
#include "tangere/math/random.hpp"
#include "tangere/proximity/batch.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"

namespace tangere::bench {
namespace {

constexpr int kRuns = 60;
constexpr std::size_t kPairsInCache = 450;
constexpr int kSteps = 20;
constexpr double kStep = 0.02;

template <class F>
double best_ms(F&& run) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    best = std::min(best, elapsed.count());
  }
  return best;
}

void print_batches(const PairSet& set) {
  std::vector<PosedPair> pairs;
  for (const Pair& pair : set.pairs) pairs.push_back({&pair.A, pair.X_WA, &pair.B, pair.X_WB});
  std::vector<Scaling> scalings(pairs.size());
  std::vector<Distance> distances(pairs.size());
  std::printf("%zu pairs, best of %d runs\n%-18s %8s %10s %10s\n", pairs.size(), kRuns, "batch", "threads", "ms",
              "speed-up");
  const int most = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const auto print = [&](const char* name, auto&& run) {
    double single = 0.0;
    for (int threads = 1; threads <= most; threads *= 2) {
      BatchWorkspace workspace(threads);
      const double ms = best_ms([&] { run(workspace); });
      if (threads == 1) single = ms;
      std::printf("%-18s %8d %10.2f %10.2f\n", name, threads, ms, single / ms);
    }
  };
  print("scaling, support", [&](BatchWorkspace& workspace) {
    scaling_batch(pairs, {.method = ScalingMethod::support}, scalings, workspace);
  });
  print("scaling, conic", [&](BatchWorkspace& workspace) {
    scaling_batch(pairs, {.method = ScalingMethod::conic}, scalings, workspace);
  });
  print("distance", [&](BatchWorkspace& workspace) { distance_batch(pairs, {}, distances, workspace); });
}

/// One core: a loop over the single query, and the batch.
void print_lanes(const PairSet& set) {
  std::vector<PosedPair> all;
  for (const Pair& pair : set.pairs) all.push_back({&pair.A, pair.X_WA, &pair.B, pair.X_WB});
  std::vector<Scaling> results(all.size());
  std::vector<Vector12> gradients(all.size());
  std::printf("\n%-30s %12s %12s %8s %8s %10s\n", "conic, one core, us a pair", "single", "lanes", "ratio", "in lanes",
              "fallbacks");
  const auto print = [&](const char* name, std::span<const PosedPair> pairs, double smoothing, bool with_gradients) {
    const ScalingOptions options{.smoothing = smoothing, .method = ScalingMethod::conic};
    ScalingWorkspace single;
    BatchWorkspace workspace(1);
    std::vector<double> loop_us;
    std::vector<double> batch_us;
    // processor time, which other programs on the machine disturb less
    const auto time_us = [&](auto&& run) {
      const std::clock_t start = std::clock();
      run();
      return 1e6 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / static_cast<double>(pairs.size());
    };
    for (int i = 0; i < 2 * kRuns; ++i) {
      loop_us.push_back(time_us([&] {
        for (std::size_t k = 0; k < pairs.size(); ++k) {
          const PosedPair& p = pairs[k];
          results[k] = scaling(*p.A, p.X_WA, *p.B, p.X_WB, options, single);
          if (with_gradients) gradients[k] = scaling_gradient(single);
        }
      }));
      batch_us.push_back(time_us([&] {
        scaling_batch(pairs, options, std::span(results).first(pairs.size()), workspace,
                      with_gradients ? std::span(gradients).first(pairs.size()) : std::span<Vector12>());
      }));
    }
    const double loop = statistics(std::move(loop_us)).median;
    const double batch = statistics(std::move(batch_us)).median;
    std::printf("%-30s %12.3f %12.3f %8.2f %8ld %10ld\n", name, loop, batch, loop / batch,
                workspace.num_in_lanes() / (2 * kRuns), workspace.num_lane_fallbacks() / (2 * kRuns));
  };
  print("exact", all, 0.0, false);
  print("exact, gradients", all, 0.0, true);
  print("smoothing 1e-3", all, 1e-3, false);
  print("smoothing 1e-3, gradients", all, 1e-3, true);
  print("exact, in the cache", std::span(all).first(kPairsInCache), 0.0, false);
}

bool is_polytope(const Shape& shape) { return shape.get_if<Box>() != nullptr || shape.get_if<Polytope>() != nullptr; }

void print_warm_starts(const PairSet& set) {
  const CallTimer timer;
  Random random(3);
  ScalingWorkspace workspace;
  std::vector<double> warm;
  std::vector<double> cold;
  std::vector<double> peer;
  FclPeer fcl;
  for (const Pair& pair : set.pairs) {
    if (!is_polytope(pair.A) || !is_polytope(pair.B)) continue;
    const std::size_t in_fcl = fcl.add(pair.A, pair.X_WA, pair.B, pair.X_WB).value();
    // the first call fetches the shapes
    keep(fcl.distance(in_fcl));
    peer.push_back(timer([&] { keep(fcl.distance(in_fcl)); }));
    PairCache cache;
    Pose X_WB = pair.X_WB;
    for (int step = 0; step < kSteps; ++step) {
      Vector6 tangent;
      tangent << kStep * random.unit_vector(), kStep * random.unit_vector();
      X_WB = X_WB.perturbed(tangent);
      const double ns = timer([&] { keep(scaling(pair.A, pair.X_WA, pair.B, X_WB, {}, workspace, &cache)); });
      const double cold_ns = timer([&] { keep(scaling(pair.A, pair.X_WA, pair.B, X_WB, {}, workspace)); });
      if (step < 2) continue;
      warm.push_back(ns);
      cold.push_back(cold_ns);
    }
  }
  const Statistics w = statistics(std::move(warm));
  const Statistics c = statistics(std::move(cold));
  const Statistics f = statistics(std::move(peer));
  std::printf("\npolytopes over %d steps of %g rad and %g m, memory hot; nanoseconds\n%-30s %8s %8s %8s %10s\n", kSteps,
              kStep, kStep, "", "median", "mean", "p99", "of FCL's");
  const auto print = [&](const char* name, const Statistics& sample) {
    std::printf("%-30s %8.0f %8.0f %8.0f %10.3f\n", name, sample.median, sample.mean, sample.p99,
                sample.median / f.median);
  };
  print("alpha, warm", w);
  print("alpha, cold", c);
  print("FCL distance", f);
}

}  // namespace
}  // namespace tangere::bench

int main() {
  const tangere::bench::PairSet set = tangere::bench::make_pair_set();
  tangere::bench::print_batches(set);
  tangere::bench::print_lanes(set);
  tangere::bench::print_warm_starts(set);
  return 0;
}
