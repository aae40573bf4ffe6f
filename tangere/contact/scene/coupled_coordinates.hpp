#pragma once

/// Which coordinates of a step depend on each other: those of one island.

#include <cstddef>
#include <span>
#include <vector>

namespace tangere {

class CoupledCoordinates {
 public:
  void clear(int num_coordinates) {
    all_.clear();
    islands_.assign(static_cast<std::size_t>(num_coordinates), {});
  }
  void add_island(std::span<const int> coordinates) {
    const Island island{all_.size(), coordinates.size()};
    all_.insert(all_.end(), coordinates.begin(), coordinates.end());
    for (const int k : coordinates) islands_[k] = island;
  }
  /// The coordinates of the island of `coordinate`, itself among them; empty if it is in none.
  [[nodiscard]] std::span<const int> of(int coordinate) const {
    const Island& island = islands_[coordinate];
    return {all_.data() + island.first, island.size};
  }

 private:
  struct Island {
    std::size_t first = 0;
    std::size_t size = 0;
  };
  std::vector<int> all_;
  std::vector<Island> islands_;
};

}  // namespace tangere
