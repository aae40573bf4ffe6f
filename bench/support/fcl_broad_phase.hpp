#pragma once

/// FCL's dynamic AABB tree as a peer of the broad phase. Its headers stay in the source file.

#include <cstddef>
#include <memory>
#include <span>

#include "tangere/geometry/bounds.hpp"

namespace tangere::bench {

class FclBroadPhase {
 public:
  explicit FclBroadPhase(std::span<const Aabb> boxes);
  ~FclBroadPhase();
  FclBroadPhase(const FclBroadPhase&) = delete;
  FclBroadPhase& operator=(const FclBroadPhase&) = delete;

  /// Hands over the boxes that moved, without touching the tree. Sizes must stay.
  void set(std::span<const Aabb> boxes, std::span<const int> moved);

  /// The manager's update (of the moved bodies where they are few, as a whole otherwise) and its self-collision, which
  /// here only counts and stores the pairs of overlapping boxes.
  [[nodiscard]] std::size_t update_and_count_pairs();

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace tangere::bench
