#pragma once

/// The last values of a merit function: what a new one must fall below, and whether the best has not been bettered for
/// long (iterations may run in a circle where no value needs to be the least).

#include <algorithm>
#include <limits>
#include <vector>

namespace tangere::internal {

class MeritHistory {
 public:
  void clear() {
    values_.clear();
    best_ = std::numeric_limits<double>::infinity();
    since_best_ = 0;
  }

  /// The merit of the iterate; `memory` of them are kept.
  void add(double merit, int memory) {
    if (static_cast<int>(values_.size()) >= memory) values_.erase(values_.begin());
    values_.push_back(merit);
    since_best_ = merit < best_ ? 0 : since_best_ + 1;
    best_ = std::min(best_, merit);
  }

  /// The largest of those kept; the last one while the iteration is stuck, and where they differ by less than `small`:
  /// near the end a way up leads nowhere.
  [[nodiscard]] double reference(double small) const {
    const double largest = *std::max_element(values_.begin(), values_.end());
    return stuck() || largest - best_ < small ? values_.back() : largest;
  }

  [[nodiscard]] bool stuck() const { return since_best_ >= 6; }

 private:
  std::vector<double> values_;
  double best_ = std::numeric_limits<double>::infinity();
  int since_best_ = 0;
};

}  // namespace tangere::internal
