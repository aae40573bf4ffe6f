#pragma once

/// Broad phase: which of many boxes overlap, step after step.
///
///   BroadPhase broad_phase;
///   const int a = broad_phase.add(bounds(A, X_WA));
///   const int b = broad_phase.add(bounds(B, X_WB));
///   broad_phase.update(a, bounds(A, X_WA_next));
///   for (const BodyPair& pair : broad_phase.pairs()) …
///
/// How. Every body has a fat box, its own with a margin. The overlapping pairs of fat boxes are kept as a sorted list
/// of candidates, which stays complete while bodies stay inside their fat boxes: such a step is one pass over the list.
/// Bodies that left theirs are looked up again in a flat tree of the fat boxes (box_tree.hpp); where many have, the
/// tree is refitted, or sorted anew once its nodes have grown, and the whole list is made again.
///
/// The answer is exact, in the boxes as given, and its order is by ids: it depends on the bodies present and on nothing
/// of the past.

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "tangere/geometry/bounds.hpp"
#include "tangere/math/owned.hpp"

namespace tangere {

struct BroadPhaseOptions {
  /// Margin of the fat boxes on every side, as a fraction of the longest finite edge. Larger: longer lists, made less
  /// often. From 0 to 10.
  double margin = 0.1;

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

/// Two bodies may be a pair if the mask of each has a bit of the other's group.
struct CollisionBits {
  std::uint32_t group = 1;
  std::uint32_t mask = ~std::uint32_t{0};
};

/// a < b.
struct BodyPair {
  int a;
  int b;

  friend bool operator==(const BodyPair&, const BodyPair&) = default;
  friend bool operator<(const BodyPair& x, const BodyPair& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; }
};

/// Not for concurrent use. Update and pairs allocate nothing once they have seen as many bodies and pairs.
class BroadPhase {
 public:
  /// False to leave a pair out; asked with a < b, and only for pairs that overlap and whose bits agree.
  using PairFilter = std::function<bool(int a, int b)>;

  explicit BroadPhase(const BroadPhaseOptions& options = {});
  ~BroadPhase();
  BroadPhase(BroadPhase&&) noexcept;
  BroadPhase& operator=(BroadPhase&&) noexcept;

  /// A new body; its id is the smallest one free. Boxes may be flat or points, and infinite on any side. Throws
  /// InputError for NaN, lower > upper, and boxes wholly at infinity; so does update.
  int add(const Aabb& box, CollisionBits bits = {});
  /// Throws InputError for an id that is not in use; so do all below.
  void remove(int id);
  void update(int id, const Aabb& box);
  void set_bits(int id, CollisionBits bits);

  /// Empty for none.
  void set_filter(PairFilter filter);

  /// The number of bodies.
  [[nodiscard]] int size() const;
  /// All ids are below this.
  [[nodiscard]] int id_limit() const;
  [[nodiscard]] bool is_used(int id) const;
  [[nodiscard]] const Aabb& box(int id) const;
  [[nodiscard]] CollisionBits bits(int id) const;

  /// All pairs of overlapping boxes (touching is overlapping) that bits and filter let pass, ordered by a, then b.
  /// Valid until the next call.
  [[nodiscard]] std::span<const BodyPair> pairs();

  /// The ids of all boxes that overlap the given one, ascending, without regard to bits and filter. Valid until the
  /// next call.
  [[nodiscard]] std::span<const int> overlaps(const Aabb& box);

  /// Empty, or which inner invariant is broken; for tests.
  [[nodiscard]] std::string validate() const;

 private:
  struct Data;
  Owned<Data> data_;
};

}  // namespace tangere
