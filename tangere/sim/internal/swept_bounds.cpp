#include "tangere/sim/internal/swept_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/geometry/support.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/links.hpp"
#include "tangere/multibody/way_columns.hpp"

namespace tangere::internal {
namespace {

/// Rounding of a distance, relative to the sizes and places that it is the difference of.
constexpr double kRounding = 1e-13;

Vector3 center_of(const Piece& piece, const Pose& X_W) { return X_W * piece.center; }

/// max over points x of the piece of m · (x - c), c its box's centre.
double height(const Piece& piece, const Pose& X_W, const Vector3& m) {
  const Vector3 along = X_W.R.transpose() * m;
  return along.dot(support(*piece.geometry, along) - piece.center);
}

/// How far a distance may be from the true one.
double slack(const WorldPieces& pieces, const PlacedPieces& at, PieceOrder pair, const Distance& now) {
  const double size = pieces.pieces[pair.A].radius + pieces.pieces[pair.B].radius;
  const double far = at.X_W[pair.A].p.norm() + at.X_W[pair.B].p.norm();
  return 1e-9 * std::max(size, std::abs(now.distance)) + kRounding * far;
}

}  // namespace

void StraightMotion::set(const Model& model, VectorArgument from, VectorArgument to) {
  q0 = from;
  q1 = to;
  delta.resize(model.nv());
  difference(model, q0, q1, delta);
}

void StraightMotion::evaluate(const Model& model, double t, Eigen::Ref<VectorX> q, Eigen::Ref<VectorX> v) const {
  // v holds t δ for a moment
  v = t * delta;
  integrate(model, q0, v, q);
  v = delta;
  for (const Joint& joint : model.joints()) {
    // a free joint's position moves along the axes of the start
    if (joint.spec.type != JointType::free) continue;
    const Vector3 turn = t * delta.segment<3>(joint.first_v + 3);
    v.segment<3>(joint.first_v) = so3::exp(turn).transpose() * delta.segment<3>(joint.first_v);
  }
}

void StraightMotion::to_ends(const Model& model, double t, const VectorX& g, VectorX& g0, VectorX& g1) const {
  MatrixX by_q;
  MatrixX by_delta;
  MatrixX delta_by_0;
  MatrixX delta_by_1;
  integrate_jacobians(model, q0, t * delta, by_q, by_delta);
  difference_jacobians(model, q0, q1, delta_by_0, delta_by_1);
  const VectorX by = t * (by_delta.transpose() * g);
  g0 = by_q.transpose() * g + delta_by_0.transpose() * by;
  g1 = delta_by_1.transpose() * by;
}

PieceMotions::PieceMotions(const WorldPieces& pieces) {
  const Model& model = pieces.world.model();
  const Links& links = model.links();
  std::size_t longest = 0;
  for (const Piece& piece : pieces.pieces) {
    first_.push_back(static_cast<int>(steps_.size()));
    const std::span<const int> way = way_of(model, piece.body);
    longest = std::max(longest, way.size());
    for (std::size_t k = 0; k < way.size();) {
      const Link& link = links[links.link_of_dof[way[k]]];
      steps_.push_back({static_cast<int>(k), static_cast<int>(k) + link.nv, link.kind == Link::Kind::free});
      dofs_.push_back(way[k]);
      k += static_cast<std::size_t>(link.nv);
    }
    // the motion relative to itself: none
    steps_.push_back({});
    dofs_.push_back(-1);
  }
  motions_.resize(steps_.size());
  columns_.resize(6, static_cast<Eigen::Index>(longest));
}

const RelativeMotion& PieceMotions::of(int piece, int other) const {
  int i = first_[piece];
  int j = first_[other];
  while (dofs_[i] >= 0 && dofs_[i] == dofs_[j]) {
    ++i;
    ++j;
  }
  return motions_[i];
}

void PieceMotions::set(const WorldPieces& pieces, const PlacedPieces& at, const VectorX& v, double h) {
  for (const int piece : pieces.moving) set_piece(pieces, at, v, h, piece);
}

/// From the piece to the root. A joint at rate w, through whose axis the piece's points are at most ρ away, and what is
/// beyond it moving by at most S and accelerating by at most a, gives
///   speed S + w ρ + (sliding),   acceleration a + 2 w S + w² ρ,   and within h, ρ grows by at most h S.
void PieceMotions::set_piece(const WorldPieces& pieces, const PlacedPieces& at, const VectorX& v, double h, int piece) {
  const Model& model = pieces.world.model();
  const Piece& of = pieces.pieces[piece];
  const std::span<const int> way = way_of(model, of.body);
  const auto count = static_cast<Eigen::Index>(way.size());
  way_columns(model, at.kinematics, of.body, center_of(of, at.X_W[piece]), columns_.leftCols(count));
  int last = first_[piece];
  while (dofs_[last] >= 0) ++last;
  motions_[last] = {};
  for (int i = last - 1; i >= first_[piece]; --i) {
    const Step& step = steps_[i];
    const RelativeMotion& beyond = motions_[i + 1];
    // the first three of a free joint slide, before the others turn
    const int turning = step.is_free ? step.begin + 3 : step.begin;
    Vector3 sliding = Vector3::Zero();
    Vector3 velocity = Vector3::Zero();
    Vector3 turn = Vector3::Zero();
    for (int k = step.begin; k < turning; ++k) sliding += v[way[k]] * columns_.col(k).head<3>();
    for (int k = turning; k < step.end; ++k) {
      velocity += v[way[k]] * columns_.col(k).head<3>();
      turn += v[way[k]] * columns_.col(k).tail<3>();
    }
    const double rate = turn.norm();
    const double around = velocity.norm() + rate * (of.radius + h * beyond.speed);
    RelativeMotion& motion = motions_[i];
    motion.v = beyond.v + velocity + sliding;
    motion.w = beyond.w + turn;
    motion.speed = beyond.speed + around + sliding.norm();
    motion.acceleration = beyond.acceleration + 2.0 * rate * beyond.speed + rate * around;
  }
}

SweptBounds swept_bounds(const WorldPieces& pieces, const PlacedPieces& at, const PieceMotions& motions,
                         PieceOrder pair, const Distance& now, double h) {
  const Piece& A = pieces.pieces[pair.A];
  const Piece& B = pieces.pieces[pair.B];
  const RelativeMotion& m_A = motions.of(pair.A, pair.B);
  const RelativeMotion& m_B = motions.of(pair.B, pair.A);
  const Pose& X_A = at.X_W[pair.A];
  const Pose& X_B = at.X_W[pair.B];
  const double d = now.distance - slack(pieces, at, pair, now);
  const double by_speed = d - h * (m_A.speed + m_B.speed);
  const Vector3& n = now.normal;
  const double between = n.dot(center_of(B, X_B) - center_of(A, X_A));
  const double rate = n.dot(m_B.v - m_A.v);
  const Vector3 turn_A = n.cross(m_A.w);
  const Vector3 turn_B = n.cross(m_B.w);
  const double bend = 0.5 * h * h * (m_A.acceleration + m_B.acceleration) + slack(pieces, at, pair, now);
  const auto by_plane = [&](double s) {
    const double bound = between + s * rate - height(A, X_A, n + s * turn_A) - height(B, X_B, -n - s * turn_B) - bend;
    // a half-space that the plane turns away from says nothing
    return std::isnan(bound) ? -std::numeric_limits<double>::infinity() : bound;
  };
  return {std::max(by_speed, std::min(d, by_plane(-h))), std::max(by_speed, std::min(d, by_plane(h)))};
}

double coarse_bound(const WorldPieces& pieces, const PlacedPieces& at, const PieceMotions& motions, PieceOrder pair,
                    double h) {
  const Piece& A = pieces.pieces[pair.A];
  const Piece& B = pieces.pieces[pair.B];
  if (!A.bounded || !B.bounded) return -std::numeric_limits<double>::infinity();
  const Vector3 between = center_of(B, at.X_W[pair.B]) - center_of(A, at.X_W[pair.A]);
  const double speed = motions.of(pair.A, pair.B).speed + motions.of(pair.B, pair.A).speed;
  return between.norm() - A.radius - B.radius - h * speed;
}

}  // namespace tangere::internal
