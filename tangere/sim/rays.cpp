#include "tangere/sim/rays.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/sim/internal/clearance_workspace.hpp"

namespace tangere {
namespace {

using internal::Piece;
using internal::WorldPieces;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Nearer than this, relative to sizes and places, is a hit.
constexpr double kHit = 1e-12;
constexpr int kMostSteps = 200;
/// Rays flatter than this (sine of the angle to the surface) graze.
constexpr double kGrazing = 1e-9;

/// A point is the centre of a ball, whose radius the distance query takes off exactly.
constexpr double kBall = 1e-3;
const Shape& small_ball() {
  static const Shape ball = Sphere{kBall};
  return ball;
}

/// Distance of a piece from a point; the normal is from the point to the piece.
Distance from_point(ClearanceWorkspace::Data& d, int piece, const Vector3& point, double at_most) {
  Distance out = distance(small_ball(), Pose::translation(point), *d.pieces->pieces[piece].geometry,
                          d.placed.X_W[piece], {.at_most = at_most - kBall}, d.distances);
  out.distance += kBall;
  return out;
}

/// The times at which a ray enters and leaves a box; false if it does not.
bool enters(const Aabb& box, const Vector3& origin, const Vector3& direction, double length, double& from) {
  double enter = 0.0;
  double leave = length;
  for (int k = 0; k < 3; ++k) {
    if (direction[k] == 0.0) {
      if (origin[k] < box.lower[k] || origin[k] > box.upper[k]) return false;
      continue;
    }
    const double inverse = 1.0 / direction[k];
    double first = (box.lower[k] - origin[k]) * inverse;
    double last = (box.upper[k] - origin[k]) * inverse;
    if (first > last) std::swap(first, last);
    enter = std::max(enter, first);
    leave = std::min(leave, last);
  }
  // rounding must not lose a flat box
  const double slack = 1e-12 * (std::abs(enter) + std::abs(leave));
  from = std::max(0.0, enter - slack);
  return enter <= leave + slack;
}

/// Whether the pattern takes the piece.
bool is_asked(const WorldPieces& pieces, const Piece& piece, std::string_view pattern) {
  if (pattern == "*") return true;
  return internal::matches(pattern, (*pieces.names)[piece.shape]) ||
         internal::matches(pattern, pieces.world.model().body(piece.body).spec.name);
}

void require_pattern(const WorldPieces& pieces, std::string_view pattern) {
  const auto taken = [&](const Piece& piece) { return is_asked(pieces, piece, pattern); };
  if (pattern != "*" && std::none_of(pieces.pieces.begin(), pieces.pieces.end(), taken))
    throw InputError("pattern", "'" + std::string(pattern) + "' matches no shape");
}

/// Point at which the ray meets a piece, and the plane that proves it.
struct Crossing {
  bool hit = false;
  double t = 0.0;
  Vector3 normal = Vector3::Zero();
};
Crossing cross(ClearanceWorkspace::Data& d, int piece, const Vector3& origin, const Vector3& direction, double from,
               double to) {
  Crossing out;
  out.t = from;
  const Piece& of = d.pieces->pieces[piece];
  const double scale = std::max({of.radius, origin.norm(), d.placed.X_W[piece].p.norm(), 1e-3});
  for (int step = 0; step < kMostSteps && out.t <= to; ++step) {
    const Distance now = from_point(d, piece, origin + out.t * direction, kInfinity);
    out.normal = now.normal;
    if (now.distance <= kHit * scale) {
      out.hit = true;
      return out;
    }
    const double approach = now.normal.dot(direction);
    // the piece is behind a plane that the ray does not reach
    if (!(approach > 0.0)) return out;
    const double stride = now.distance / approach;
    if (!(out.t + stride > out.t)) {
      out.hit = now.distance <= 1e3 * kHit * scale;
      return out;
    }
    out.t += stride;
  }
  return out;
}

void place(const World& world, VectorArgument q, ClearanceWorkspace::Data& d) {
  require_world(*d.pieces, world);
  d.placed.scale_boxes(*d.pieces, 1.0);
  d.placed.place(*d.pieces, q);
}

/// All pieces whose boxes overlap the given one and that the pattern takes, in `candidates`.
void find_candidates(const Aabb& box, std::string_view pattern, ClearanceWorkspace::Data& d) {
  const WorldPieces& pieces = *d.pieces;
  d.candidates.clear();
  for (const int id : d.placed.fixed.overlaps(box)) {
    const int piece = pieces.fixed[id];
    if (is_asked(pieces, pieces.pieces[piece], pattern)) d.candidates.emplace_back(0.0, piece);
  }
  for (const int piece : pieces.moving)
    if (internal::boxes_overlap(d.placed.boxes[piece], box, 0.0) && is_asked(pieces, pieces.pieces[piece], pattern))
      d.candidates.emplace_back(0.0, piece);
}

/// How a plane of the piece with this normal (from the point to the piece) at a point moves as the piece does.
Vector6 plane_gradient(const Pose& X_W, const Vector3& normal, const Vector3& point) {
  Vector6 g;
  g << normal, X_W.R.transpose() * (point - X_W.p).cross(normal);
  return g;
}

}  // namespace

const RayAnswer& cast_ray(const World& world, VectorArgument q, const Ray& ray, ClearanceWorkspace& workspace,
                          std::string_view pattern) {
  ClearanceWorkspace::Data& d = workspace.data();
  if (!ray.origin.allFinite()) throw InputError("ray.origin", "must be finite");
  const double norm = ray.direction.norm();
  if (!(norm > 0.0 && std::isfinite(norm))) throw InputError("ray.direction", "must be finite and not zero");
  if (!(ray.length > 0.0 && std::isfinite(ray.length)))
    throw InputError("ray.length", "must be above 0, got " + internal::to_text(ray.length));
  place(world, q, d);
  require_pattern(*d.pieces, pattern);
  const Vector3 direction = ray.direction / norm;
  const Vector3 end = ray.origin + ray.length * direction;
  find_candidates({ray.origin.cwiseMin(end), ray.origin.cwiseMax(end)}, pattern, d);
  // in the order in which their boxes are entered
  std::size_t count = 0;
  for (const auto& candidate : d.candidates) {
    double from = 0.0;
    if (!enters(d.placed.boxes[candidate.second], ray.origin, direction, ray.length, from)) continue;
    d.candidates[count++] = {from, candidate.second};
  }
  d.candidates.resize(count);
  std::sort(d.candidates.begin(), d.candidates.end());

  RayAnswer& answer = d.ray;
  answer.hit = false;
  answer.distance = ray.length;
  answer.point = end;
  answer.normal.setZero();
  answer.name = {};
  answer.shape = -1;
  answer.part = 0;
  answer.d_origin.setZero();
  answer.d_direction.setZero();
  answer.d_q.setZero(world.nv());
  int nearest = -1;
  for (const auto& [from, piece] : d.candidates) {
    if (from >= answer.distance) break;
    const Crossing crossing = cross(d, piece, ray.origin, direction, from, answer.distance);
    if (!crossing.hit || !(crossing.t < answer.distance)) continue;
    nearest = piece;
    answer.hit = true;
    answer.distance = crossing.t;
    answer.normal = -crossing.normal;
  }
  if (!answer.hit) return answer;
  const Piece& of = d.pieces->pieces[nearest];
  answer.point = ray.origin + answer.distance * direction;
  answer.name = (*d.pieces->names)[of.shape];
  answer.shape = of.shape;
  answer.part = of.part;
  // from inside, the ray hits where it begins whatever moves
  if (answer.distance == 0.0) return answer;
  const double approach = -answer.normal.dot(direction);
  if (!(approach > kGrazing)) {
    answer.d_origin.setConstant(std::numeric_limits<double>::quiet_NaN());
    answer.d_direction = answer.d_origin;
    answer.d_q.setConstant(std::numeric_limits<double>::quiet_NaN());
    return answer;
  }
  // the plane n·x = n·p: t = n·(p - origin) / (n·direction), along turns of the direction only
  answer.d_origin = answer.normal / approach;
  const Vector3 across = answer.d_origin - answer.d_origin.dot(direction) * direction;
  answer.d_direction = answer.distance * across;
  const Vector6 g = plane_gradient(d.placed.X_W[nearest], -answer.normal / approach, answer.point);
  add_gradient(*d.pieces, d.placed, nearest, g, answer.d_q.data());
  return answer;
}

const PointAnswer& nearest_to(const World& world, VectorArgument q, const Vector3& point, double margin,
                              ClearanceWorkspace& workspace, std::string_view pattern) {
  ClearanceWorkspace::Data& d = workspace.data();
  if (!point.allFinite()) throw InputError("point", "must be finite");
  if (!(margin >= 0.0 && std::isfinite(margin)))
    throw InputError("margin", "must not be negative, got " + internal::to_text(margin));
  place(world, q, d);
  require_pattern(*d.pieces, pattern);
  find_candidates({point.array() - margin, point.array() + margin}, pattern, d);
  PointAnswer& answer = d.point;
  answer.near = false;
  answer.distance = margin;
  answer.point = point;
  answer.normal.setZero();
  answer.name = {};
  answer.shape = -1;
  answer.part = 0;
  answer.d_q.setZero(world.nv());
  // the boxes' distances first, so that the first answers leave little to ask
  for (auto& [apart, piece] : d.candidates) {
    const Aabb& box = d.placed.boxes[piece];
    apart = (box.lower - point).cwiseMax(point - box.upper).cwiseMax(0.0).norm();
  }
  std::sort(d.candidates.begin(), d.candidates.end());
  int nearest = -1;
  for (const auto& [apart, piece] : d.candidates) {
    if (apart > answer.distance && apart > 0.0) break;
    const Distance now = from_point(d, piece, point, answer.distance);
    if (now.status == DistanceStatus::beyond || !(now.distance <= answer.distance)) continue;
    if (nearest >= 0 && !(now.distance < answer.distance)) continue;
    nearest = piece;
    answer.distance = now.distance;
    answer.normal = -now.normal;
    answer.point = now.p_B;
  }
  answer.near = nearest >= 0;
  if (!answer.near) return answer;
  const Piece& of = d.pieces->pieces[nearest];
  answer.name = (*d.pieces->names)[of.shape];
  answer.shape = of.shape;
  answer.part = of.part;
  const Vector6 g = plane_gradient(d.placed.X_W[nearest], -answer.normal, answer.point);
  add_gradient(*d.pieces, d.placed, nearest, g, answer.d_q.data());
  return answer;
}

}  // namespace tangere
