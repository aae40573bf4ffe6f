#pragma once

/// Clearance over a straight motion in configuration space,
///
///   q(t) = q0 ⊕ t δ,   q1 = q0 ⊕ δ,   t from 0 to 1                                  (configuration.hpp)
///
/// with a proof for all of it, not samples: a lower bound of the distance of all pairs at all times, time and pair of
/// the smallest distance with its exact gradient in q0 and q1, and the first contact.
///
///   SweptClearance swept = swept_clearance(world, q0, q1);
///   if (swept.lower_bound > 0.02) …                     // no pair comes nearer than 2 cm, ever
///
/// How. Of a pair at time t with normal n (from A to B), any plane across n bounds the distance from below later, too:
///
///   d(t + s) ≥ n·(c_B - c_A) + s n·(v_B - v_A) - h_A(n + s n × ω_A) - h_B(-n - s n × ω_B) - ½ s² (a_A + a_B)
///
/// c, v: a point of each shape and its velocity; ω: its angular velocity; h: its support function about c, so that
/// every point of every shape counts, curved ones too; a: a bound of the acceleration of all of its points, from the
/// joints between the shape and the link that both shapes hang from (rates are constant, so it is only of joints
/// turning each other). The right side is concave in s: over an interval it is smallest at an end. Together with the
/// bound by speeds, d(t + s) ≥ d(t) - |s| (largest speeds), intervals are cut in half, those that could hold the
/// smallest distance first.

#include "tangere/sim/clearance.hpp"

namespace tangere {

struct SweptOptions {
  /// Only pairs that come nearer than this are looked for. Metres, not negative.
  double margin = 0.1;
  /// How far the lower bound may be below the smallest distance. Metres.
  double accuracy = 1e-4;
  /// Intervals after which the search gives up: `certified` is then false, the bound holds.
  int max_intervals = 100000;
  bool gradients = true;

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

struct SweptClearance {
  /// No pair is nearer at any time: at most `margin`.
  double lower_bound = 0.0;
  /// Whether the bound is within the accuracy of the smallest distance (or of the margin, where nothing is nearer).
  bool certified = false;
  /// Whether a pair comes nearer than the margin; if not, what follows is the margin and zero.
  bool nearer = false;
  /// The smallest distance that was found, its time, and its pair at that time.
  double distance = 0.0;
  double time = 0.0;
  ClearancePair pair;
  /// d(distance) / dq0 and / dq1, nv numbers each. The time moves too, but at a minimum that changes nothing; where two
  /// normals hold the minimum between them (overlapping shapes), they are weighted so that it stays one.
  VectorX d_q0;
  VectorX d_q1;
  /// Intervals looked at.
  int intervals = 0;
  /// Owner of the names.
  std::shared_ptr<const std::vector<std::string>> names;
};

struct FirstContact {
  /// Whether a pair touches: comes nearer than the accuracy.
  bool touches = false;
  /// Nothing touches before; 1 if nothing does at all.
  double free_until = 1.0;
  /// When the distance is zero (or, in passing by within the accuracy, smallest), and whose.
  double time = 1.0;
  ClearancePair pair;
  /// Intervals looked at; whether the search ended by itself.
  int intervals = 0;
  bool certified = false;
  std::shared_ptr<const std::vector<std::string>> names;
};

/// Memory of the queries. One per thread.
class SweptWorkspace {
 public:
  explicit SweptWorkspace(const World& world, const PairSelection& selection = {});
  ~SweptWorkspace();
  SweptWorkspace(SweptWorkspace&&) noexcept;
  SweptWorkspace& operator=(SweptWorkspace&&) noexcept;

  struct Data;
  [[nodiscard]] Data& data() { return *data_; }

 private:
  Owned<Data> data_;
};

/// The answer is valid until the next query of the workspace.
const SweptClearance& swept_clearance(const World& world, VectorArgument q0, VectorArgument q1,
                                      const SweptOptions& options, SweptWorkspace& workspace);
const FirstContact& first_contact(const World& world, VectorArgument q0, VectorArgument q1, const SweptOptions& options,
                                  SweptWorkspace& workspace);

/// The same for a single question: these make a workspace.
[[nodiscard]] SweptClearance swept_clearance(const World& world, VectorArgument q0, VectorArgument q1,
                                             const SweptOptions& options = {}, const PairSelection& selection = {});
[[nodiscard]] FirstContact first_contact(const World& world, VectorArgument q0, VectorArgument q1,
                                         const SweptOptions& options = {}, const PairSelection& selection = {});

}  // namespace tangere
