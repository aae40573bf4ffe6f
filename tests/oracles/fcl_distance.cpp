/// Writes tests/data/fcl_distance.jsonl: FCL 0.7's signed distances of random pairs (bench/support/pair_set.hpp), for
/// those shapes it has, at its default tolerance of 1e-6; or says whether a file has them.
///
///   fcl_distance > tests/data/fcl_distance.jsonl
///   fcl_distance tests/data/fcl_distance.jsonl

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/support/fcl_peer.hpp"
#include "bench/support/pair_set.hpp"

namespace {

using namespace tangere;

constexpr int kSeed = 2;
constexpr int kPairs = 20;
/// FCL's own; where its search ends too early, another machine's rounding ends it elsewhere.
constexpr double kTolerance = 1e-6;
constexpr double kMayDiffer = 0.01;

struct Answer {
  std::size_t index;
  double distance;
};

/// Where FCL has both shapes and does not throw.
std::vector<Answer> answers() {
  const bench::PairSet set = bench::make_pair_set(kSeed, kPairs);
  bench::FclPeer fcl;
  std::vector<Answer> out;
  for (std::size_t i = 0; i < set.pairs.size(); ++i) {
    const bench::Pair& pair = set.pairs[i];
    const auto index = fcl.add(pair.A, pair.X_WA, pair.B, pair.X_WB);
    if (!index) continue;
    const double distance = fcl.signed_distance(*index);
    if (std::isfinite(distance)) out.push_back({i, distance});
  }
  return out;
}

void write(const std::vector<Answer>& all) {
  for (const Answer& answer : all)
    std::printf("{\"seed\": %d, \"pairs\": %d, \"index\": %zu, \"distance\": %.17g}\n", kSeed, kPairs, answer.index,
                answer.distance);
}

/// The exit code: 1 where the file has other pairs or distances.
int compare(const std::vector<Answer>& all, const char* file) {
  std::ifstream stream(file);
  std::vector<Answer> expected;
  for (std::string line; std::getline(stream, line);) {
    const nlohmann::json record = nlohmann::json::parse(line);
    expected.push_back({record.at("index"), record.at("distance")});
  }
  if (!std::ranges::equal(all, expected, {}, &Answer::index, &Answer::index)) {
    std::printf("%s has other pairs\n", file);
    return 1;
  }
  int far = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double unit = std::max(1.0, std::abs(expected[i].distance));
    if (!(std::abs(all[i].distance - expected[i].distance) <= kTolerance * unit)) ++far;
  }
  std::printf("%d of %zu distances of FCL are not those of %s\n", far, all.size(), file);
  return far <= kMayDiffer * static_cast<double>(all.size()) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Answer> all = answers();
  if (argc > 1) return compare(all, argv[1]);
  write(all);
}
