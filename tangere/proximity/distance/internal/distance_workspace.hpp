#pragma once

/// Record of a distance query that its derivatives read (private to proximity).

#include <memory>
#include <vector>

#include "tangere/proximity/distance.hpp"
#include "tangere/proximity/distance/internal/distance_search.hpp"
#include "tangere/proximity/internal/shape_owner.hpp"
#include "tangere/proximity/scaling/internal/scaling_workspace.hpp"

namespace tangere {

/// Two convex parts and their nearest points.
struct NearestPair {
  const SupportTerms* terms_A = nullptr;
  const SupportTerms* terms_B = nullptr;
  /// Poses of the parts.
  Pose X_WA;
  Pose X_WB;
  /// The part of a bundle; null for convex shapes.
  const ConvexPart* part_A = nullptr;
  const ConvexPart* part_B = nullptr;
  int index_A = 0;
  int index_B = 0;
  DistanceHit hit;
  /// With the balls: signed distance, unit normal, and the witness points from each centre, in world axes.
  double distance = 0.0;
  Vector3 n = Vector3::UnitX();
  Vector3 s_A = Vector3::Zero();
  Vector3 s_B = Vector3::Zero();
};

struct DistanceWorkspace::Data {
  /// Owner of the shapes of the last query.
  PairOwner owner;
  DistanceSearch search;
  NearestPair found;
  NearestPair trial;
  Pose X_WA;
  Pose X_WB;
  int num_parameters_A = 0;
  int num_parameters_B = 0;
  bool has_bundle = false;
  bool has_query = false;
  /// Pieces of a body along the normal.
  std::vector<int> pieces;
  /// For the parameter gradient, made when that is first asked for.
  std::unique_ptr<SolvedPair> conic_pair;
  [[nodiscard]] SolvedPair& conic();
};

}  // namespace tangere
