#pragma once

/// Contents of a ClearanceWorkspace (private to sim).

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tangere/proximity/distance.hpp"
#include "tangere/proximity/scaling.hpp"
#include "tangere/sim/internal/clearance_pieces.hpp"
#include "tangere/sim/rays.hpp"

namespace tangere {
namespace internal {

/// Two shapes within the margin, by their nearest pieces.
struct NearPair {
  PieceOrder pieces;
  double value;
  Vector3 p_A;
  Vector3 p_B;
  Vector3 normal;
  bool solved;
  /// In the poses of both pieces.
  Vector12 gradient;
};

}  // namespace internal

struct ClearanceWorkspace::Data {
  explicit Data(std::shared_ptr<const internal::WorldPieces> of) : pieces(std::move(of)), placed(*pieces) {
    place_of.resize(pieces->names->size());
    stamps.resize(pieces->names->size());
  }

  std::shared_ptr<const internal::WorldPieces> pieces;
  internal::PlacedPieces placed;
  DistanceWorkspace distances;
  ScalingWorkspace scalings;
  std::vector<internal::NearPair> found;
  /// By the other shape of the mover at hand: its place in `found`, if the stamp is that of the mover.
  std::vector<int> place_of;
  std::vector<std::uint64_t> stamps;
  std::uint64_t stamp = 0;
  /// The pair that touched last; -1 for none.
  BodyPair touching{-1, -1};
  Clearance answer;
  /// Pieces that a ray or a point may meet, with what is known of their distance.
  std::vector<std::pair<double, int>> candidates;
  RayAnswer ray;
  PointAnswer point;
};

}  // namespace tangere
