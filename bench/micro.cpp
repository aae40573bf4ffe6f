/// bench_micro: Google Benchmark over single operations, for work on one of them (`--benchmark_filter=capsule`). Every
/// combination of the 45-combination set: alpha, alpha and gradient, alpha and Jacobian; every kind: support map.
///
/// The pairs of a combination are visited in turn, so these figures flatter branch prediction; bench_pairs has the ones
/// to quote.

#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/support/pair_set.hpp"
#include "bench/support/queries.hpp"
#include "tangere/geometry/support.hpp"

namespace tangere::bench {
namespace {

constexpr double kTolerance = 1e-8;

/// Runs f over the pairs of a combination in turn.
template <class F>
void over_pairs(benchmark::State& state, const std::vector<Pair>& pairs, F&& f) {
  std::size_t i = 0;
  for (auto _ : state) {
    f(pairs[i]);
    if (++i == pairs.size()) i = 0;
  }
}

void register_pairs() {
  const PairSet set = make_pair_set();
  for (std::size_t c = 0; c < set.combinations.size(); ++c) {
    std::vector<Pair> pairs;
    for (const Pair& pair : set.pairs) {
      if (pair.combination == static_cast<int>(c)) pairs.push_back(pair);
    }
    const std::string& name = set.combinations[c];
    benchmark::RegisterBenchmark(("alpha/" + name).c_str(), [pairs](benchmark::State& state) {
      ScalingQueries queries(kTolerance, ScalingMethod::conic);
      over_pairs(state, pairs, [&](const Pair& pair) { benchmark::DoNotOptimize(queries.alpha(pair)); });
    });
    benchmark::RegisterBenchmark(("gradient/" + name).c_str(), [pairs](benchmark::State& state) {
      ScalingQueries queries(kTolerance, ScalingMethod::conic);
      over_pairs(state, pairs, [&](const Pair& pair) {
        benchmark::DoNotOptimize(queries.alpha(pair));
        benchmark::DoNotOptimize(queries.gradient());
      });
    });
    benchmark::RegisterBenchmark(("jacobian/" + name).c_str(), [pairs](benchmark::State& state) {
      ScalingQueries queries(kTolerance, ScalingMethod::conic);
      over_pairs(state, pairs, [&](const Pair& pair) {
        benchmark::DoNotOptimize(queries.alpha(pair));
        benchmark::DoNotOptimize(queries.jacobian());
      });
    });
  }
}

void register_supports() {
  for (const std::string_view kind : pair_set_kinds()) {
    benchmark::RegisterBenchmark(("support/" + std::string(kind)).c_str(), [kind](benchmark::State& state) {
      Random random(3);
      const Shape shape = random_shape(kind, random);
      std::vector<Vector3> directions(256);
      for (Vector3& n : directions) n = random.unit_vector();
      std::size_t i = 0;
      for (auto _ : state) {
        benchmark::DoNotOptimize(support(shape, directions[i]));
        i = (i + 1) % directions.size();
      }
    });
  }
}

}  // namespace
}  // namespace tangere::bench

int main(int argc, char** argv) {
  tangere::bench::register_supports();
  tangere::bench::register_pairs();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
