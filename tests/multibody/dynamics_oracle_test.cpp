/// Kinematics, M, inverse and forward dynamics against other engines: what tests/oracles/mujoco_dynamics.cpp and
/// dart_dynamics.cpp wrote. `make oracles` compares with the engines themselves.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "tangere/multibody/energy.hpp"
#include "tangere/multibody/forward_dynamics.hpp"
#include "tangere/multibody/inverse_dynamics.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/multibody/mass_matrix.hpp"
#include "tests/support/dynamics_states.hpp"
#include "tests/support/folders.hpp"

namespace tangere::test {
namespace {

using nlohmann::json;

VectorX vector_of(const json& numbers) {
  const std::vector<double> values = numbers;
  return Eigen::Map<const VectorX>(values.data(), static_cast<Eigen::Index>(values.size()));
}

void check_state(const Model& model, Data& data, const DynamicsState& state, const json& expected, double tolerance) {
  const MatrixX& M = mass_matrix(model, data, state.q);
  const VectorX scale = inertia_scale(M);
  if (expected.contains("Mw")) {
    EXPECT_LE(force_error(M * state.w, vector_of(expected.at("Mw")), scale), tolerance);
  }
  const VectorX& tau = inverse_dynamics(model, data, state.q, state.v, state.a);
  EXPECT_LE(force_error(tau, vector_of(expected.at("tau")), scale), tolerance);
  const VectorX& qdd = forward_dynamics(model, data, state.q, state.v, state.tau);
  EXPECT_LE(acceleration_error(qdd, vector_of(expected.at("qdd")), scale), tolerance);
  if (!expected.contains("poses")) return;
  forward_kinematics(model, data, state.q, state.v);
  EXPECT_LE(kinetic_error(kinetic_energy(model, data, state.v), expected.at("kinetic")), tolerance);
  EXPECT_LE(potential_error(model, potential_energy(model, data, state.q), expected.at("potential")), tolerance);
  for (const auto& [body, numbers] : expected.at("poses").items()) {
    const VectorX given = vector_of(numbers);
    const Pose X = Pose::from_quaternion(given.head<3>(), given[3], given[4], given[5], given[6]);
    const Pose X_WB = body_pose(model, data, std::stoi(body));
    EXPECT_LE(position_error(X_WB.p, X.p), tolerance) << "body " << body;
    EXPECT_LE(rotation_error(X_WB.R, X.R), tolerance) << "body " << body;
  }
}

struct Fixture {
  std::string name;
  double tolerance = 0.0;
  json record;
};

/// One for each line of a file, named after engine and model.
void append_fixtures(const std::string& engine, double tolerance, std::vector<Fixture>& out) {
  std::ifstream file(data_folder() / (engine + "_dynamics.jsonl"));
  for (std::string line; std::getline(file, line);) {
    json record = json::parse(line);
    std::string name = engine + "_" + record.at("model").get<std::string>();
    if (record.at("base") == "free") name += "_free";
    std::ranges::replace_if(
        name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    out.push_back({name, tolerance, std::move(record)});
  }
}

const std::vector<Fixture>& all_fixtures() {
  static const std::vector<Fixture> fixtures = [] {
    std::vector<Fixture> out;
    append_fixtures("mujoco", 1e-7, out);
    append_fixtures("dart", 1e-9, out);
    return out;
  }();
  return fixtures;
}

class DynamicsOracle : public testing::TestWithParam<std::size_t> {};

TEST_P(DynamicsOracle, Agrees) {
  const Fixture& fixture = all_fixtures()[GetParam()];
  const json& record = fixture.record;
  const DynamicsCase which{.name = record.at("model"),
                           .base = record.at("base") == "free" ? Base::free : Base::fixed,
                           .armature = record.at("armature")};
  const std::optional<Model> model = dynamics_model(which);
  if (!model) {
    ASSERT_TRUE(which.name.starts_with("robots/")) << which.name << " is missing";
    GTEST_SKIP() << which.name << " is not here (../shared/robots or TANGERE_ROBOTS)";
  }
  Data data(*model);
  Random random(record.at("seed").get<std::uint64_t>());
  const json& states = record.at("states");
  ASSERT_EQ(states.size(), static_cast<std::size_t>(kDynamicsStates));
  for (std::size_t i = 0; i < states.size(); ++i) {
    SCOPED_TRACE("state " + std::to_string(i));
    const DynamicsState state = random_dynamics_state(*model, random);
    // other states mean that the draws or the limits have changed: then the fixture must be written anew
    if (i == 0) {
      const VectorX q = vector_of(record.at("q"));
      ASSERT_EQ(q.size(), state.q.size());
      ASSERT_LE((q - state.q).lpNorm<Eigen::Infinity>(), 1e-9) << "the fixture has other states";
    }
    ASSERT_TRUE(i % 10 != 0 || states[i].contains("poses"));
    check_state(*model, data, state, states[i], fixture.tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, DynamicsOracle, testing::Range(std::size_t{0}, all_fixtures().size()),
                         [](const auto& test) { return all_fixtures()[test.param].name; });

TEST(DynamicsOracleFixtures, AreThere) { EXPECT_EQ(all_fixtures().size(), 24u + 34u); }

}  // namespace
}  // namespace tangere::test
