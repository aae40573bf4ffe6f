#pragma once

/// Many pairs at once, over the threads of a workspace. A pair's answer depends, bit for bit, on that pair and the
/// options alone: not on the number of threads, not on the other pairs, not on their order.
///
/// Distances and scalings by supports are those of the single query to the bit. By the conic route (`method` conic, or
/// smoothing) pairs of equal structure are solved side by side, one in each lane of a vector register: the same
/// interior point with the same rule when to stop, but not the same last bits. alpha agrees with the single query's to
/// the tolerance. Bundles, large sums and whatever lanes do not solve to the tolerance are left to the single query.
///
///   BatchWorkspace workspace(8);
///   std::vector<Scaling> results(pairs.size());
///   scaling_batch(pairs, {}, results, workspace);

#include <span>

#include "tangere/math/owned.hpp"
#include "tangere/proximity/distance.hpp"
#include "tangere/proximity/scaling.hpp"

namespace tangere {

/// Two posed shapes, which must outlive the call.
struct PosedPair {
  const Shape* A;
  Pose X_WA;
  const Shape* B;
  Pose X_WB;
};

/// Threads that wait for work, each with its own memory. One call at a time.
class BatchWorkspace {
 public:
  /// 0: as many threads as the machine has. The calling thread is one of them.
  explicit BatchWorkspace(int num_threads = 0);
  ~BatchWorkspace();
  BatchWorkspace(BatchWorkspace&&) noexcept;
  BatchWorkspace& operator=(BatchWorkspace&&) noexcept;

  [[nodiscard]] int num_threads() const;
  /// Pairs answered in lanes so far, and pairs that lanes did not solve and the single query was asked instead.
  [[nodiscard]] long num_in_lanes() const;
  [[nodiscard]] long num_lane_fallbacks() const;

  struct Data;
  [[nodiscard]] Data& data() { return *data_; }

 private:
  Owned<Data> data_;
};

/// One result a pair, and, if asked for, one gradient. Throws InputError for spans of different length; if pairs are
/// refused, all others are answered first, then the error of the first refused one is thrown as `pairs[i].…`.
void scaling_batch(std::span<const PosedPair> pairs, const ScalingOptions& options, std::span<Scaling> results,
                   BatchWorkspace& workspace, std::span<Vector12> gradients = {});

void distance_batch(std::span<const PosedPair> pairs, const DistanceOptions& options, std::span<Distance> results,
                    BatchWorkspace& workspace, std::span<Vector12> gradients = {});

}  // namespace tangere
