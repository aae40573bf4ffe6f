/// Two segments, the cores of two capsules, in closed form: M is the parallelogram center + σ p + τ q, |σ|, |τ| ≤ 1,
/// and e = d - center.
///
///   inside its outline   σ p + τ q is the foot of e on its plane, whose normal is square to p and to q
///   else                 on one of the four edges, where one of σ and τ is ±1 and the other the nearest to e
///
/// The plane's normal is made square to both segments one after the other, so that it is exact to rounding however
/// near to parallel they are.

#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/proximity/distance/internal/distance_math.hpp"
#include "tangere/proximity/distance/internal/distance_search.hpp"

namespace tangere {
namespace {

/// Segments that are not farther apart than rounding, as a part of the size, touch: any normal square to both will do.
constexpr double kTouching = 1e-15;
/// Segments nearer to parallel than this are parallel.
constexpr double kParallel = 1e-15;
/// Nearer than this part of the size, rounding in the offset shows in its direction.
constexpr double kNear = 1e-3;

constexpr double kLeastLength = 1e-150;

Vec4 across_from(Vec4 v, Vec4 axis, double length2) { return v - (dot3(v, axis) / length2) * axis; }

Vec4 any_across(Vec4 v) { return Across(unit(v, std::sqrt(dot3(v, v)))).x; }

/// A point of the parallelogram.
struct Foot {
  double sigma = 0.0;
  double tau = 0.0;
  /// From it to d.
  Vec4 off{};
};

struct Parallelogram {
  Vec4 p;
  Vec4 q;
  Vec4 e;
  double pp;
  double qq;
  /// What of q is square to p, and of p to q; nothing if they are parallel.
  Vec4 q_across{};
  Vec4 p_across{};

  Parallelogram(Vec4 first, Vec4 second, Vec4 from_center)
      : p(first), q(second), e(from_center), pp(dot3(p, p)), qq(dot3(q, q)) {
    const Vec4 rest = across_from(q, p, pp);
    if (!(dot3(rest, rest) > kParallel * kParallel * qq)) return;
    // twice is enough
    q_across = across_from(rest, p, pp);
    p_across = across_from(across_from(p, q, qq), q, qq);
  }

  [[nodiscard]] bool has_area() const { return dot3(q_across, q_across) > 0.0; }
  /// The plane's normal; zero without area.
  [[nodiscard]] Vec4 up() const { return cross3(p, q_across); }
  [[nodiscard]] Foot foot(double sigma, double tau) const { return {sigma, tau, e - sigma * p - tau * q}; }

  /// The nearest point of the outline: on the edge that d is beyond, if d is not on it. (Which one is nearest tells
  /// less: edges of a thin parallelogram are equally near to half the digits.)
  [[nodiscard]] Foot on_outline() const {
    const double ep = dot3(e, p);
    const double eq = dot3(e, q);
    const double pq = dot3(p, q);
    Foot best;
    double least = std::numeric_limits<double>::infinity();
    const auto offer = [&](const Foot& found, double beyond) {
      const double length = std::sqrt(dot3(found.off, found.off));
      const double error = std::min(length, std::max(0.0, -beyond) / std::max(length, kLeastLength));
      if (!(error < least)) return;
      least = error;
      best = found;
    };
    for (const double end : {-1.0, 1.0}) {
      // how far beyond: between the ends of the edge, by its product with what is square to it
      const double tau = (eq - end * pq) / qq;
      const Foot of_p = foot(end, std::clamp(tau, -1.0, 1.0));
      offer(of_p, end * dot3(std::abs(tau) < 1.0 ? e - end * p : of_p.off, std::abs(tau) < 1.0 ? p_across : p));
      const double sigma = (ep - end * pq) / pp;
      const Foot of_q = foot(std::clamp(sigma, -1.0, 1.0), end);
      offer(of_q, end * dot3(std::abs(sigma) < 1.0 ? e - end * q : of_q.off, std::abs(sigma) < 1.0 ? q_across : q));
    }
    return best;
  }

  /// Of the directions from the foot to d, as it is and without its rounding, the one that proves the largest distance:
  /// it may be square to p, to q, or, along the plane's normal, to both.
  [[nodiscard]] Vec4 best_normal(const Foot& foot) const {
    Vec4 best = foot.off;
    double largest = -std::numeric_limits<double>::infinity();
    const auto offer = [&](Vec4 n) {
      const double length = std::sqrt(dot3(n, n));
      if (!(length > kLeastLength)) return;
      const double proved = (dot3(n, e) - std::abs(dot3(n, p)) - std::abs(dot3(n, q))) / length;
      if (!(proved > largest)) return;
      largest = proved;
      best = n;
    };
    offer(foot.off);
    offer(across_from(foot.off, p, pp));
    offer(across_from(foot.off, q, qq));
    offer(up());
    offer(-up());
    return best;
  }

  /// A normal of M at a point of its outline where d is, too.
  [[nodiscard]] Vec4 normal_at(const Foot& touching) const {
    const bool end_of_p = std::abs(touching.sigma) == 1.0;
    const bool end_of_q = std::abs(touching.tau) == 1.0;
    const Vec4 out_p = touching.sigma / std::sqrt(pp) * p;
    const Vec4 out_q = touching.tau / std::sqrt(qq) * q;
    Vec4 n = out_p + out_q;
    if (!end_of_q) n = across_from(out_p, q, qq);
    if (!end_of_p) n = across_from(out_q, p, pp);
    return dot3(n, n) > kTouching ? n : any_across(end_of_p ? q : p);
  }
};

}  // namespace

void DistanceSearch::segments(DistanceHit& hit) {
  const Parallelogram M(body.terms[0].columns.c[0], body.terms[1].columns.c[0], d - body.center.v);
  hit = DistanceHit{};
  hit.certified = true;
  hit.supports = 1;

  Foot found;
  bool within = false;
  if (M.has_area()) {
    const double tau = dot3(M.e, M.q_across) / dot3(M.q, M.q_across);
    const double sigma = dot3(M.e - tau * M.q, M.p) / M.pp;
    within = std::abs(tau) <= 1.0 && std::abs(sigma) <= 1.0;
    if (within) found = M.foot(sigma, tau);
  }
  if (!within) found = M.on_outline();

  const double length = std::sqrt(dot3(found.off, found.off));
  Vec4 n = found.off;
  if (within) {
    n = dot3(M.up(), found.off) < 0.0 ? -M.up() : M.up();
  } else if (length <= kTouching * size) {
    n = M.normal_at(found);
  } else if (length <= kNear * size) {
    n = M.best_normal(found);
  }
  hit.n = unit(n, std::sqrt(dot3(n, n)));
  hit.distance = length;

  hit.point = body.center;
  hit.point.v += found.sigma * M.p + found.tau * M.q;
  hit.point.a += found.sigma * M.p;
  name_corners(found.sigma, found.tau, hit);
}

/// The corners of the parallelogram that hold the point: of a triangle, an edge, or one.
void DistanceSearch::name_corners(double sigma, double tau, DistanceHit& hit) {
  if (pieces_.size() < static_cast<std::size_t>(2 * kMostPieces)) pieces_.resize(2 * kMostPieces);
  hit.num_pieces = 0;
  const auto add = [&](bool high_p, bool high_q, double weight) {
    if (!(weight > 0.0)) return;
    const int slot = hit.num_pieces++;
    pieces_[2 * slot] = high_p ? 1 : 0;
    pieces_[static_cast<std::size_t>(2 * slot) + 1] = high_q ? 1 : 0;
    hit.slots[slot] = slot;
    hit.weights[slot] = weight;
  };
  const double s = 0.5 * (1.0 + sigma);
  const double t = 0.5 * (1.0 + tau);
  const bool upper = s + t > 1.0;
  add(upper, upper, upper ? s + t - 1.0 : 1.0 - s - t);
  add(true, false, upper ? 1.0 - t : s);
  add(false, true, upper ? 1.0 - s : t);
}

}  // namespace tangere
