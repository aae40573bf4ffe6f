#pragma once

/// Memory taken in blocks of many sizes: what is allocated while this exists lies elsewhere than before, and is aligned
/// otherwise. Answers must not depend on that.

#include <cstddef>
#include <memory>
#include <vector>

namespace tangere::test {

class TakenMemory {
 public:
  explicit TakenMemory(std::size_t variant) {
    for (std::size_t k = 0; k < 200; ++k) taken_.push_back(std::make_unique<char[]>(16 + 37 * (k * variant % 97)));
  }

 private:
  std::vector<std::unique_ptr<char[]>> taken_;
};

}  // namespace tangere::test
