#pragma once

/// Pairs from the JSON-lines files of tests/data.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tangere/io/shape_json.hpp"
#include "tangere/math/se3.hpp"
#include "tests/support/folders.hpp"

namespace tangere::test {

struct FixturePair {
  Shape A;
  Shape B;
  Pose X_WA;
  Pose X_WB;
  nlohmann::json record;
};

inline Pose fixture_pose(const nlohmann::json& body) {
  const std::vector<double> p = body.at("position");
  const std::vector<double> q = body.at("quaternion");
  return Pose::from_quaternion({p[0], p[1], p[2]}, q[0], q[1], q[2], q[3]);
}

inline std::vector<FixturePair> read_fixture(const std::string& name) {
  std::ifstream file(data_folder() / name);
  EXPECT_TRUE(file) << name;
  std::vector<FixturePair> pairs;
  for (std::string line; std::getline(file, line);) {
    nlohmann::json record = nlohmann::json::parse(line);
    const nlohmann::json& a = record.at("a");
    const nlohmann::json& b = record.at("b");
    pairs.push_back({shape_from_json(a.at("shape").dump()), shape_from_json(b.at("shape").dump()), fixture_pose(a),
                     fixture_pose(b), record});
  }
  return pairs;
}

}  // namespace tangere::test
