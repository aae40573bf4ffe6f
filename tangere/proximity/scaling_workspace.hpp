#pragma once

/// What a scaling query leaves behind for its derivatives (private to proximity).

#include <memory>

#include "tangere/proximity/pair_program.hpp"
#include "tangere/proximity/scaling.hpp"

namespace tangere {

/// The solved program of two convex parts.
struct SolvedPair {
  PairProgram program;
  /// Copies, which keep the sets alive as long as the query's derivatives may be asked for.
  ConvexPart part_A;
  ConvexPart part_B;
  int index_A = 0;
  int index_B = 0;
  /// Poses of the parts.
  Pose X_WA;
  Pose X_WB;
  ScalingStatus status = ScalingStatus::solved;
};

/// Memory of `freedom`, used only for sums of many parts.
using RankStorage = AlignedVector;

/// How unique the solution is: dimensions of the sets of optimal x and of optimal normals.
struct Freedom {
  int point = 0;
  int normal = 0;
};
[[nodiscard]] Freedom freedom(const SolvedPair& pair, RankStorage& storage);

/// Solves one pair of convex parts whose poses are set; the solution stays in `pair`.
void solve_pair(const ScalingOptions& options, SolvedPair& pair);

struct ScalingWorkspace::Data {
  /// The pair of parts that decided, and a second one to try other parts of a bundle.
  std::unique_ptr<SolvedPair> solved = std::make_unique<SolvedPair>();
  std::unique_ptr<SolvedPair> trial = std::make_unique<SolvedPair>();
  /// Poses of the whole shapes, and the kappa of the last query.
  Pose X_WA;
  Pose X_WB;
  double smoothing = 0.0;
  double alpha = 0.0;
  Freedom free;
  int num_parameters_A = 0;
  int num_parameters_B = 0;
  const SolvedPair* linearised_pair = nullptr;
  bool has_bundle = false;
  bool has_query = false;
  /// Rows for the rank decisions of uniqueness.cpp.
  RankStorage rank_storage;
  Matrix4X parameter_columns_A;
  Matrix4X parameter_columns_B;

  /// The solution at which the optimality conditions are linearised (and factored, once a query): the query's own, or,
  /// where that is solved so tightly that rounding would spoil the derivatives, the same pair solved again less
  /// tightly.
  const SolvedPair& linearised();
};

}  // namespace tangere
