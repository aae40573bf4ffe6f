#pragma once

/// Our dynamics beside another engine's at random states: what the programs <engine>_dynamics have in common.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/dynamics_states.hpp"

namespace tangere::oracle {

/// What the other engine says about a state, in our coordinates.
struct PeerAnswer {
  /// X_WB of every body that it has.
  std::vector<std::optional<Pose>> poses;
  MatrixX M;
  /// Inverse dynamics at a = 0.
  VectorX bias;
  VectorX tau;
  VectorX qdd;
  double kinetic = 0.0;
  double potential = 0.0;
};

/// One engine with one model.
using Peer = std::function<PeerAnswer(const test::DynamicsState&)>;
/// The peer for a case; throws std::runtime_error if the engine refuses it.
using MakePeer = std::function<Peer(const test::DynamicsCase&, const Model&)>;

struct CaseToRun {
  test::DynamicsCase which;
  /// Whether its answers go into the fixture, too.
  bool fixture = true;
};

/// Runs all cases, prints the worst error of each quantity, and with `--write FILE` writes the fixture. Answers with
/// the exit code of the program: 1 if a tolerance was missed, 2 for wrong arguments.
int run_comparison(int argc, char** argv, const std::vector<CaseToRun>& cases, const MakePeer& make_peer,
                   double tolerance);

}  // namespace tangere::oracle
