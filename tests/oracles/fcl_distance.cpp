/// Writes tests/data/fcl_distance.jsonl: FCL 0.7's signed distances of random pairs (bench/support/pair_set.hpp), for
/// those shapes it has, at its default tolerance of 1e-6.
///
///   fcl_distance > tests/data/fcl_distance.jsonl

#include <cmath>
#include <cstdio>

#include "bench/support/fcl_peer.hpp"
#include "bench/support/pair_set.hpp"

int main() {
  using namespace tangere;
  constexpr int kSeed = 2;
  constexpr int kPairs = 20;
  const bench::PairSet set = bench::make_pair_set(kSeed, kPairs);
  bench::FclPeer fcl;
  for (std::size_t i = 0; i < set.pairs.size(); ++i) {
    const bench::Pair& pair = set.pairs[i];
    const auto index = fcl.add(pair.A, pair.X_WA, pair.B, pair.X_WB);
    if (!index) continue;
    const double distance = fcl.signed_distance(*index);
    if (!std::isfinite(distance)) continue;  // FCL threw
    std::printf("{\"seed\": %d, \"pairs\": %d, \"index\": %zu, \"distance\": %.17g}\n", kSeed, kPairs, i, distance);
  }
}
