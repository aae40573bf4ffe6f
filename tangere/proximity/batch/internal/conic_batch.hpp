#pragma once

/// Many pairs by the conic route, kLanes of them at once (private to proximity).
///
/// Pairs of equal structure (numbers of rows, cones and own variables of A and of B, half-space or not) go side by side
/// through solvers/conic/conic_lanes.hpp, in groups of kLanes in the order of their index; a last group is filled up.
/// Rows are padded to one of a few numbers, so that polytopes of different numbers of faces meet. Not for lanes, and
/// left to the single query: bundles, pairs it would refuse, sets of many rows or own variables (large sums), alpha =
/// 0. Lanes that the solver gives up are for the single query too.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tangere/proximity/batch.hpp"
#include "tangere/proximity/scaling/internal/scaling_workspace.hpp"
#include "tangere/solvers/conic/conic_lanes.hpp"

namespace tangere {

/// The sizes of one block.
struct LaneShape {
  int num_orthant = 0;
  int num_cones = 0;
  int num_aux = 0;
  bool half_space = false;
};

/// Which pairs go together.
class LanePlan {
 public:
  /// Pairs side by side, of one structure.
  struct Group {
    std::size_t first;
    int count;
    LaneShape A;
    LaneShape B;
  };

  /// A plan is made in three parts, of which the second waits for the memory of all pairs: threads share it.
  void begin(std::size_t num_pairs);
  /// Adds pair `i`. Pairs of other plans may be added at the same time.
  void look_at(std::span<const PosedPair> pairs, std::size_t i, double smoothing);
  void finish();

  [[nodiscard]] std::span<const Group> groups() const { return groups_; }
  /// A set, and where its numbers are: each look at the set itself would wait for other memory.
  struct Side {
    Side() = default;
    explicit Side(const ConvexSet& set);

    const ConvexSet* set = nullptr;
    const double* orthant_u = nullptr;
    const double* orthant_y = nullptr;
    const double* cone_u = nullptr;
    const double* cone_y = nullptr;
    const double* aux_start = nullptr;
    int num_orthant = 0;
  };
  struct Entry {
    /// Key of the structure; kSingle if the pair is not for lanes.
    std::uint64_t key = 0;
    std::size_t index = 0;
    Side sides[2];
  };
  static constexpr std::uint64_t kSingle = ~std::uint64_t{0};
  /// The pair in a lane of a group; lanes that are left have the last pair again.
  [[nodiscard]] const Entry& entry(const Group& group, int lane) const {
    return entries_[order_[group.first + static_cast<std::size_t>(std::min(lane, group.count - 1))]];
  }
  /// Asks for the memory of the groups after this one.
  void prefetch(std::size_t group, std::span<const PosedPair> pairs, std::span<Scaling> results) const;
  /// The indices of pairs that are not for lanes.
  [[nodiscard]] std::span<const std::size_t> singles() const { return singles_; }

 private:
  void sort_by_key();

  /// A key, and where its next entry goes.
  struct Key {
    std::uint64_t key;
    std::size_t next;
  };
  /// One a pair.
  std::vector<Entry> entries_;
  /// The entries by key.
  std::vector<std::size_t> order_;
  std::vector<Key> keys_;
  std::vector<Group> groups_;
  std::vector<std::size_t> singles_;
};

/// The sets of A and of B in every lane.
using LaneSets = const ConvexSet* [2][kLanes];

/// The memory of one thread.
class LaneSolver {
 public:
  /// Grows the memory for all groups of a plan.
  void reserve(const LanePlan& plan);

  /// Solves a group and writes results and, if there is room for them, gradients. Returns one bit for each lane that
  /// was answered, and in `attempted` for each that was tried (alpha is not 0).
  unsigned solve(const LanePlan& plan, const LanePlan::Group& group, std::span<const PosedPair> pairs,
                 const ScalingOptions& options, std::span<Scaling> results, std::span<Vector12> gradients,
                 unsigned& attempted);

 private:
  void gather(int side, const LaneShape& shape);
  void turn();
  [[nodiscard]] LaneMask start(const LanePlan::Group& group);
  void set_up_block(int side, const LaneShape& shape, const LaneVector& from_center, Lane& weight);
  [[nodiscard]] Lane gauge(int side, const Lane (&p)[3], const Lane (&p_own)[3]) const;

  ConicLanes engine_;
  LaneStorage storage_[2];
  RankStorage rank_storage_;
  LaneSets sets_ = {};
  const LanePlan::Side* sides_[2][kLanes] = {};
  Pose X_AB_[kLanes];
  Lane R_[3][3];
  Lane d_[3];
  /// aux_start of A and of B: own variables by (p, alpha).
  LaneVector aux_start_[2][kMaxLaneAux];
};

/// How unique the solutions of the wanted lanes (one bit each) are.
void freedoms(const ConicLanes& lanes, const LaneSets& sets, unsigned wanted, Freedom (&out)[kLanes],
              RankStorage& storage);
/// The same for one lane, by the way of the single query.
[[nodiscard]] Freedom freedom(const ConicLanes& lanes, int lane, const ConvexSet& A, const ConvexSet& B,
                              RankStorage& storage);

}  // namespace tangere
