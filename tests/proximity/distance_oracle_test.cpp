/// The distance of separated pairs against CVXOPT's conelp (tests/oracles/cvxopt_distance.py), and the signed distance
/// of any pairs against FCL's (tests/oracles/fcl_distance.cpp).

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "bench/support/pair_set.hpp"
#include "tangere/proximity/distance.hpp"
#include "tests/support/folders.hpp"
#include "tests/support/query_fixture.hpp"

namespace tangere::test {
namespace {

TEST(DistanceOracle, AgreesWithCvxopt) {
  const std::vector<FixturePair> pairs = read_fixture("cvxopt_scaling.jsonl");
  std::ifstream file(data_folder() / "cvxopt_distance.jsonl");
  ASSERT_TRUE(file);
  DistanceWorkspace workspace;
  int count = 0;
  double worst = 0.0;
  for (std::string line; std::getline(file, line); ++count) {
    const nlohmann::json record = nlohmann::json::parse(line);
    const std::size_t number = record.at("line");
    const FixturePair& pair = pairs.at(number - 1);
    const double expected = record.at("distance");
    const Distance r = distance(pair.A, pair.X_WA, pair.B, pair.X_WB, {}, workspace);
    EXPECT_EQ(r.status, DistanceStatus::solved);
    // conelp's tolerance is relative to the distance of the centres, its unit
    const double error = std::abs(r.distance - expected) / (pair.X_WB.p - pair.X_WA.p).norm();
    worst = std::max(worst, error);
    EXPECT_LE(error, 1e-7) << "line " << number << ": " << r.distance << " against " << expected;
  }
  EXPECT_GE(count, 300);
  RecordProperty("worst", std::to_string(worst));
}

/// FCL's distance is that of two points it found, its depth that of a direction: the true ones are not larger. It ends
/// its search at 1e-6, mostly, and now and then beside the least depth.
TEST(DistanceOracle, AgreesWithFcl) {
  std::ifstream file(data_folder() / "fcl_distance.jsonl");
  ASSERT_TRUE(file);
  bench::PairSet set;
  DistanceWorkspace workspace;
  int apart = 0;
  int inside = 0;
  int early = 0;
  int beside = 0;
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json record = nlohmann::json::parse(line);
    if (set.pairs.empty()) set = bench::make_pair_set(record.at("seed"), record.at("pairs"));
    const bench::Pair& pair = set.pairs.at(record.at("index"));
    const double expected = record.at("distance");
    const Distance ours = distance(pair.A, pair.X_WA, pair.B, pair.X_WB, {}, workspace);
    EXPECT_EQ(ours.status, DistanceStatus::solved);
    const std::string& name = set.combinations[pair.combination];
    if (expected > 0.0) {
      ++apart;
      EXPECT_LE(ours.distance, expected + 1e-9) << name << " " << record.at("index");
      EXPECT_NEAR(ours.distance, expected, 1e-3) << name << " " << record.at("index");
      if (ours.distance < expected - 2e-6) ++early;
      continue;
    }
    ++inside;
    EXPECT_GE(ours.distance, expected - 2e-6) << name << " " << record.at("index");
    if (ours.distance > expected + 1e-4) ++beside;
  }
  EXPECT_GE(apart, 400);
  EXPECT_GE(inside, 150);
  EXPECT_LE(early, apart / 8);
  EXPECT_LE(beside, inside / 50);
  RecordProperty("early", early);
  RecordProperty("beside", beside);
}

}  // namespace
}  // namespace tangere::test
