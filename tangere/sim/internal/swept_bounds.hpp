#pragma once

/// How the pieces of a world move at one time of a straight motion, and what follows for their distances before and
/// after it (swept_clearance.hpp has the formula; private to sim).

#include <vector>

#include "tangere/multibody/kinematics.hpp"
#include "tangere/proximity/distance.hpp"
#include "tangere/sim/internal/clearance_pieces.hpp"

namespace tangere::internal {

/// The path q(t) = q0 ⊕ t δ.
struct StraightMotion {
  void set(const Model& model, VectorArgument from, VectorArgument to);
  /// q(t) and its velocity.
  void evaluate(const Model& model, double t, Eigen::Ref<VectorX> q, Eigen::Ref<VectorX> v) const;
  /// From the gradient in q(t) to those in both ends.
  void to_ends(const Model& model, double t, const VectorX& g, VectorX& g0, VectorX& g1) const;

  VectorX q0;
  VectorX q1;
  VectorX delta;
};

/// Motion of a piece relative to a link on its way to the root: the joints from there on count.
struct RelativeMotion {
  /// Velocity of the box's centre, and angular velocity, world axes.
  Vector3 v = Vector3::Zero();
  Vector3 w = Vector3::Zero();
  /// Bounds of all its points over the interval: speed, and acceleration.
  double speed = 0.0;
  double acceleration = 0.0;
};

/// All motions at one time, for times up to h before and after it.
class PieceMotions {
 public:
  explicit PieceMotions(const WorldPieces& pieces);

  /// At the poses and the velocity `v` of the motion.
  void set(const WorldPieces& pieces, const PlacedPieces& at, const VectorX& v, double h);
  /// Relative to the link that both pieces hang from.
  [[nodiscard]] const RelativeMotion& of(int piece, int other) const;
  /// Relative to the world.
  [[nodiscard]] const RelativeMotion& of(int piece) const { return motions_[first_[piece]]; }

 private:
  /// Links between a piece and the root, by coordinate: columns [begin, end) are one link.
  struct Step {
    int begin = 0;
    int end = 0;
    bool is_free = false;
  };
  void set_piece(const WorldPieces& pieces, const PlacedPieces& at, const VectorX& v, double h, int piece);

  /// By piece: the first of its steps and motions. A piece of n steps has n + 1 motions, the last one none.
  std::vector<int> first_;
  std::vector<Step> steps_;
  std::vector<RelativeMotion> motions_;
  /// By piece: the velocity coordinate that each step begins with, to compare ways.
  std::vector<int> dofs_;
  Matrix6X columns_;
};

/// Lower bounds of the distance over [t - h, t] and [t, t + h], from the answer at t.
struct SweptBounds {
  double before;
  double after;
};
[[nodiscard]] SweptBounds swept_bounds(const WorldPieces& pieces, const PlacedPieces& at, const PieceMotions& motions,
                                       PieceOrder pair, const Distance& now, double h);

/// A lower bound of the distance of two pieces over [t - h, t + h] from their balls and speeds alone.
[[nodiscard]] double coarse_bound(const WorldPieces& pieces, const PlacedPieces& at, const PieceMotions& motions,
                                  PieceOrder pair, double h);

}  // namespace tangere::internal
