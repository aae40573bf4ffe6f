/// The distance of separated pairs against CVXOPT's conelp (tests/oracles/cvxopt_distance.py).

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "tangere/proximity/distance.hpp"
#include "tests/support/query_fixture.hpp"

namespace tangere::test {
namespace {

TEST(DistanceOracle, AgreesWithCvxopt) {
  const std::vector<FixturePair> pairs = read_fixture("cvxopt_scaling.jsonl");
  std::ifstream file(std::string(TANGERE_TEST_DATA) + "/cvxopt_distance.jsonl");
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

}  // namespace
}  // namespace tangere::test
