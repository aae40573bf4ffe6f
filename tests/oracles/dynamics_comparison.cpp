#include "tests/oracles/dynamics_comparison.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tangere/math/error.hpp"
#include "tangere/multibody/energy.hpp"
#include "tangere/multibody/forward_dynamics.hpp"
#include "tangere/multibody/inverse_dynamics.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/multibody/mass_matrix.hpp"

namespace tangere::oracle {
namespace {

enum Quantity { kPosition, kRotation, kMass, kBias, kInverse, kForward, kKinetic, kPotential, kQuantities };
constexpr std::array<const char*, kQuantities> kNames{"position", "rotation", "M",       "bias",
                                                      "inverse",  "forward",  "kinetic", "potential"};
using Errors = std::array<double, kQuantities>;

/// Every how many states M w, energies and poses are in the fixture.
constexpr int kThinStates = 10;

Errors errors_at(const Model& model, Data& data, const test::DynamicsState& state, const PeerAnswer& peer) {
  Errors out{};
  forward_kinematics(model, data, state.q, state.v);
  for (int b = 0; b < model.num_bodies(); ++b) {
    const std::optional<Pose>& expected = peer.poses[b];
    if (!expected) continue;
    const Pose X_WB = body_pose(model, data, b);
    out[kPosition] = std::max(out[kPosition], test::position_error(X_WB.p, expected->p));
    out[kRotation] = std::max(out[kRotation], test::rotation_error(X_WB.R, expected->R));
  }
  out[kKinetic] = test::kinetic_error(kinetic_energy(model, data, state.v), peer.kinetic);
  out[kPotential] = test::potential_error(model, potential_energy(model, data, state.q), peer.potential);
  // dynamics
  const VectorX scale = test::inertia_scale(peer.M);
  out[kMass] = test::mass_matrix_error(mass_matrix(model, data, state.q), peer.M);
  out[kBias] = test::force_error(bias_forces(model, data, state.q, state.v), peer.bias, scale);
  out[kInverse] = test::force_error(inverse_dynamics(model, data, state.q, state.v, state.a), peer.tau, scale);
  const VectorX& qdd = forward_dynamics(model, data, state.q, state.v, state.tau);
  out[kForward] = test::acceleration_error(qdd, peer.qdd, scale);
  return out;
}

/// Eleven digits: two more than the tightest tolerance needs.
std::string number(double x) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.11g", x);
  return {text.data(), static_cast<std::size_t>(length)};
}

template <class Vector>
std::string numbers(const Vector& v) {
  std::string out = "[";
  for (Eigen::Index i = 0; i < v.size(); ++i) out += (i == 0 ? "" : ",") + number(v[i]);
  return out + "]";
}

/// By body: position and quaternion (x y z w).
std::string poses(const PeerAnswer& answer) {
  std::string out = "{";
  for (std::size_t b = 0; b < answer.poses.size(); ++b) {
    if (!answer.poses[b]) continue;
    Eigen::Matrix<double, 7, 1> pose;
    pose << answer.poses[b]->p, answer.poses[b]->quaternion();
    out += (out.size() == 1 ? "\"" : ",\"") + std::to_string(b) + "\":" + numbers(pose);
  }
  return out + "}";
}

std::string fixture_state(int index, const test::DynamicsState& state, const PeerAnswer& answer) {
  std::string out = "{\"tau\":" + numbers(answer.tau) + ",\"qdd\":" + numbers(answer.qdd);
  if (index % kThinStates == 0)
    out += ",\"Mw\":" + numbers((answer.M * state.w).eval()) + ",\"kinetic\":" + number(answer.kinetic) +
           ",\"potential\":" + number(answer.potential) + ",\"poses\":" + poses(answer);
  return out + "}";
}

struct Run {
  Errors worst{};
  int bodies = 0;
  /// The line of the fixture.
  std::string line;
};

Run run_case(const test::DynamicsCase& which, const Model& model, const Peer& peer, std::uint64_t seed) {
  Run run;
  Data data(model);
  Random random(seed);
  std::string states;
  std::string first_q;
  for (int i = 0; i < test::kDynamicsStates; ++i) {
    const test::DynamicsState state = test::random_dynamics_state(model, random);
    const PeerAnswer answer = peer(state);
    const Errors errors = errors_at(model, data, state, answer);
    for (std::size_t k = 0; k < kQuantities; ++k)
      if (!(errors[k] <= run.worst[k])) run.worst[k] = errors[k];  // keeps NaN
    if (i == 0) first_q = numbers(state.q);
    states += (i == 0 ? "" : ",") + fixture_state(i, state, answer);
    run.bodies = static_cast<int>(std::ranges::count_if(answer.poses, [](const auto& X) { return X.has_value(); }));
  }
  const nlohmann::json name = which.name;
  run.line = "{\"model\":" + name.dump() + ",\"base\":" + (which.base == Base::free ? "\"free\"" : "\"fixed\"") +
             ",\"armature\":" + (which.armature ? "true" : "false") + ",\"seed\":" + std::to_string(seed) +
             ",\"q\":" + first_q + ",\"states\":[" + states + "]}";
  return run;
}

std::string label(const test::DynamicsCase& which) {
  return which.name + (which.base == Base::free ? " (free base)" : "") + (which.armature ? "" : " (no armature)");
}

}  // namespace

int run_comparison(int argc, char** argv, const std::vector<CaseToRun>& cases, const MakePeer& make_peer,
                   double tolerance) {
  std::ofstream fixture;
  if (argc == 3 && std::string(argv[1]) == "--write") {
    fixture.open(argv[2]);
  } else if (argc != 1) {
    std::fprintf(stderr, "usage: %s [--write FILE]\n", argv[0]);
    return 2;
  }

  std::printf("%-82s %3s %6s", "worst relative error of 100 states", "nv", "bodies");
  for (const char* name : kNames) std::printf(" %9s", name);
  std::printf("\n");
  int failed = 0;
  std::uint64_t seed = 0;
  for (const CaseToRun& entry : cases) {
    ++seed;
    const std::string name = label(entry.which);
    try {
      const std::optional<Model> model = test::dynamics_model(entry.which);
      if (!model) {
        std::printf("%-82s not here\n", name.c_str());
        continue;
      }
      const Run run = run_case(entry.which, *model, make_peer(entry.which, *model), seed);
      std::printf("%-82s %3d %3d/%2d", name.c_str(), model->nv(), run.bodies, model->num_bodies());
      bool good = true;
      for (const double error : run.worst) {
        std::printf(" %9.1e", error);
        good = good && error <= tolerance;
      }
      std::printf("%s\n", good ? "" : "  TOO LARGE");
      failed += good ? 0 : 1;
      if (fixture.is_open() && entry.fixture) fixture << run.line << "\n";
    } catch (const std::exception& error) {
      std::printf("%-82s FAILED: %s\n", name.c_str(), error.what());
      ++failed;
    }
  }
  std::printf("%d of %zu failed (tolerance %g)\n", failed, cases.size(), tolerance);
  return failed == 0 && (!fixture.is_open() || fixture.flush()) ? 0 : 1;
}

}  // namespace tangere::oracle
