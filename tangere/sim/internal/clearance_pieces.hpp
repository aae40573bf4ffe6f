#pragma once

/// Convex pieces of a world and where they are: what clearance and swept clearance share (private to sim).

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tangere/geometry/bounds.hpp"
#include "tangere/proximity/broad_phase.hpp"
#include "tangere/sim/clearance.hpp"

namespace tangere::internal {

/// A convex part of a shape.
struct Piece {
  int shape = 0;
  int part = 0;
  int body = 0;
  /// In the model of the world.
  const Shape* geometry = nullptr;
  Pose X_BP{};
  /// Its box in its own frame, and the radius of a ball about the box's centre; a half-space has none.
  Vector3 center = Vector3::Zero();
  Vector3 half = Vector3::Zero();
  double radius = 0.0;
  bool bounded = true;
  bool moves = false;
};

/// Constant once made.
struct WorldPieces {
  WorldPieces(const World& world, const PairSelection& selection);

  /// Whether two shapes are a pair that is asked about.
  [[nodiscard]] bool may_meet(int shape_i, int shape_j) const;

  World world;
  std::shared_ptr<const std::vector<std::string>> names;
  /// In the order of the scene's shapes.
  std::vector<Piece> pieces;
  /// Pieces that move, and pieces that do not.
  std::vector<int> moving;
  std::vector<int> fixed;
  /// Pieces that move and may meet, i < j; only where they are few.
  bool lists_moving_pairs = false;
  std::vector<BodyPair> moving_pairs;

 private:
  /// One side of a pattern by shape.
  struct Sides {
    std::vector<char> a;
    std::vector<char> b;
  };
  [[nodiscard]] static bool is_of(const std::vector<Sides>& patterns, int i, int j);
  void read(const std::vector<PairPattern>& patterns, const char* field, std::vector<Sides>& out) const;

  std::vector<Sides> include_;
  std::vector<Sides> exclude_;
};

/// Poses and boxes of all pieces at a configuration, and which of them are near each other.
struct PlacedPieces {
  explicit PlacedPieces(const WorldPieces& pieces);

  /// Moves what moves.
  void place(const WorldPieces& pieces, VectorArgument q);
  /// Boxes of pieces scaled about their origins (scaling >= 1).
  void scale_boxes(const WorldPieces& pieces, double scaling);

  /// Calls f(i, j), i a piece that moves, for all pairs that may meet and whose boxes are within `margin`, plus what
  /// each one's `reach` adds (empty: nothing). Ends when f answers false. With i < j where both move; all pairs of one
  /// shape i are in a row, in two rows if there are fixed and moving ones.
  template <class F>
  void for_each_near(const WorldPieces& pieces, double margin, std::span<const double> reach, F&& f);

  Data kinematics;
  std::vector<Pose> X_W;
  std::vector<Aabb> boxes;
  BroadPhase fixed;
  BroadPhase moving;
  double box_scale = 1.0;
};

/// The pair of two pieces, A that of the lower shape.
struct PieceOrder {
  int A;
  int B;
};
[[nodiscard]] inline PieceOrder ordered(const WorldPieces& pieces, int i, int j) {
  return pieces.pieces[i].shape <= pieces.pieces[j].shape ? PieceOrder{i, j} : PieceOrder{j, i};
}

/// From the derivative in the poses of both pieces to the one in q, added to `out` (nv numbers).
void add_gradient(const WorldPieces& pieces, const PlacedPieces& at, PieceOrder pair, const Vector12& g, double* out);

/// The same for one piece and the derivative in its pose.
void add_gradient(const WorldPieces& pieces, const PlacedPieces& at, int piece, const Vector6& g, double* out);

/// Whether a text matches a pattern (PairPattern).
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text);

/// The names and numbers of a pair.
[[nodiscard]] ClearancePair name_pair(const WorldPieces& pieces, PieceOrder pair);

/// InputError if the world is another one.
void require_world(const WorldPieces& pieces, const World& world);

[[nodiscard]] inline bool boxes_overlap(const Aabb& a, const Aabb& b, double margin) {
  return (a.lower.array() - margin <= b.upper.array()).all() && (b.lower.array() - margin <= a.upper.array()).all();
}

template <class F>
void PlacedPieces::for_each_near(const WorldPieces& pieces, double margin, std::span<const double> reach, F&& f) {
  const auto wider = [&](int i) { return reach.empty() ? margin : margin + reach[i]; };
  for (const int i : pieces.moving) {
    const Vector3 by = Vector3::Constant(wider(i));
    for (const int id : fixed.overlaps({boxes[i].lower - by, boxes[i].upper + by})) {
      const int j = pieces.fixed[id];
      if (!pieces.may_meet(pieces.pieces[i].shape, pieces.pieces[j].shape)) continue;
      if (!f(i, j)) return;
    }
  }
  if (pieces.lists_moving_pairs) {
    for (const BodyPair& pair : pieces.moving_pairs) {
      const double apart = reach.empty() ? margin : margin + reach[pair.a] + reach[pair.b];
      if (!boxes_overlap(boxes[pair.a], boxes[pair.b], apart)) continue;
      if (!f(pair.a, pair.b)) return;
    }
    return;
  }
  // half the margin to each side
  for (std::size_t k = 0; k < pieces.moving.size(); ++k) {
    const int i = pieces.moving[k];
    const Vector3 by = Vector3::Constant(wider(i) - 0.5 * margin);
    moving.update(static_cast<int>(k), {boxes[i].lower - by, boxes[i].upper + by});
  }
  for (const BodyPair& pair : moving.pairs()) {
    const int i = pieces.moving[pair.a];
    const int j = pieces.moving[pair.b];
    if (!pieces.may_meet(pieces.pieces[i].shape, pieces.pieces[j].shape)) continue;
    if (!f(i, j)) return;
  }
}

}  // namespace tangere::internal
