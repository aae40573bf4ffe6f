#pragma once

/// Exit of the ray along +z from the convex body M about the origin, by supports only (private to proximity):
///
///   t = max { t : (0, 0, t) in M } = min over (nx, ny) of h_M(nx, ny, 1)
///
/// Any direction bounds t from above by h_M(n), any simplex of points of M that the ray crosses bounds it from below;
/// the answer is certified when the two meet. All begin with the farthest point along the ray, and most with two more
/// on its other side, asked for at once. Three ways, chosen by what M is made of:
///
///   polytope (and one ball)   the exit from a simplex of at most three core points, rounded by the ball, in closed
///                             form; the farthest core point along its normal joins the simplex until there is none
///                             farther. Finite.
///   two ellipsoids            the contact function of Perram and Wertheim, one unknown.
///   all else                  a portal of three points, refined, and Newton's method on the few smooth pieces of h_M
///                             that meet at the minimum.

#include <cstdint>
#include <vector>

#include "tangere/proximity/scaling.hpp"
#include "tangere/proximity/scaling/internal/ray_body.hpp"

namespace tangere {

struct RayHit {
  /// The two bounds meet to the tolerance.
  bool certified = false;
  /// The ray leaves before `stop_below`: `upper` and n prove it, and nothing more was asked.
  bool beyond = false;
  /// h_M(n) ≥ t ≥ lower, which `point` proves.
  double upper = 0.0;
  double lower = 0.0;
  Direction n{0.0, 0.0, 1.0};
  /// The point (0, 0, t) = a - b, and its part in A.
  BodyPoint point;
  int supports = 0;

  /// Takes h_M(at / at.z) as the bound from above if it is a better one; `inverse` is 1 / at.z.
  void tighten_upper(double bound, const Direction& at, double inverse) {
    if (!(bound < upper)) return;
    upper = bound;
    n = {at.x * inverse, at.y * inverse, 1.0};
  }
};

class RayCast {
 public:
  RayBody body;
  /// Radius of a ball about the origin inside M.
  double inner_radius = 0.0;
  /// The part of A in it.
  double inner_share = 0.0;
  /// Exits that are proved to be below this are of no interest.
  double stop_below = 0.0;

  /// Starts the next casts from what `cache` knows of this pair, and notes there how they end. Null: neither.
  void remember(PairCache* cache, const void* A, const void* B);

  [[nodiscard]] RayHit polytope(double tolerance);
  [[nodiscard]] RayHit curved(double tolerance);

 private:
  // Inline, though all are of ray_cast.cpp: the loops are to be one function each, and in position-independent code g++
  // inlines nothing else that another library could replace.

  /// Three points whose projections along the ray surround it, counter-clockwise: the top and two of the inner ball, or
  /// `forked` others of M. False if rounding forbids.
  [[nodiscard]] inline bool surround(RayHit& hit, bool forked);
  /// Puts w, whose pieces are in slot i, in the place of corner i of the inner ball, unless the portal collapses.
  inline void replace_inner(int i, const BodyPoint& w);
  /// Replaces a corner of the portal by w, the last support, so that the ray still passes. False if the portal
  /// collapses.
  [[nodiscard]] inline bool narrow(const BodyPoint& w);
  [[nodiscard]] inline bool has_collapsed() const;
  /// Whether the bound from above ends the cast.
  [[nodiscard]] inline bool is_enough(RayHit& hit) const;
  /// Not of any length: z is twice the area of the portal's projection.
  [[nodiscard]] inline Direction portal_normal() const;
  [[nodiscard]] inline BodyPoint next_support(const Direction& n, RayHit& hit, bool core);
  [[nodiscard]] int* pieces(int slot) { return pieces_.data() + slot * body.num_terms; }
  /// Newton's method on the pieces of the portal's corners, from n. True if that certifies the hit.
  void polish(double tolerance, RayHit& hit);
  [[nodiscard]] inline bool newton(Direction n, double tolerance, RayHit& hit);
  /// A height at which the ray certainly is in M: in the hull of a point of M near the ray and the inner ball.
  [[nodiscard]] inline double lower_bound(const BodyPoint& y) const;
  [[nodiscard]] inline bool same_pieces(int slot, int other);
  /// Tries the flat side of a disc, where h_M has a kink: n along the axis of term k. True if the ray leaves there.
  [[nodiscard]] inline bool flat_disc(int k, const Direction& n, RayHit& hit);
  /// Takes y, a point of M near the ray, if it raises the bound from below; certified if that meets the other.
  inline void prove(const BodyPoint& y, double tolerance, RayHit& hit) const;
  [[nodiscard]] inline RayHit rounded(double tolerance);
  [[nodiscard]] inline RayHit flat(double tolerance);

  /// The corners of the cache in the frame of this cast; their number.
  [[nodiscard]] inline int recall(BodyPoint* corners);
  /// Notes corners by their slots.
  inline void note(const int* slots, int count);

  PairCache* cache_ = nullptr;
  BodyPoint portal_[3];
  /// Slots of the pieces of its corners; -1 for points of the inner ball.
  int portal_slots_[3] = {};
  /// Slot in which the next support notes its pieces, and the number of slots given out.
  int free_slot_ = 0;
  int num_slots_ = 0;
  bool collapsed_ = false;
  /// Flat sides that the ray does not leave through, a bit a term.
  std::uint64_t tried_sides_ = 0;
  std::vector<int> pieces_;
};

}  // namespace tangere
