#pragma once

/// Many pairs at once, over the threads of a workspace. Every pair is answered as the single query would, bit for bit,
/// whatever the number of threads.
///
///   BatchWorkspace workspace(8);
///   std::vector<Scaling> results(pairs.size());
///   scaling_batch(pairs, {}, results, workspace);

#include <memory>
#include <span>

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

  struct Data;
  [[nodiscard]] Data& data() { return *data_; }

 private:
  std::unique_ptr<Data> data_;
};

/// One result a pair, and, if asked for, one gradient. Throws InputError for spans of different length; if pairs are
/// refused, all others are answered first, then the error of the first refused one is thrown as `pairs[i].…`.
void scaling_batch(std::span<const PosedPair> pairs, const ScalingOptions& options, std::span<Scaling> results,
                   BatchWorkspace& workspace, std::span<Vector12> gradients = {});

void distance_batch(std::span<const PosedPair> pairs, const DistanceOptions& options, std::span<Distance> results,
                    BatchWorkspace& workspace, std::span<Vector12> gradients = {});

}  // namespace tangere
