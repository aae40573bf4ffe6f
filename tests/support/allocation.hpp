#pragma once

/// Counting allocations of the program, to prove that a hot path has none.

namespace tangere::test {

/// Allocations since its construction, on all threads. Always zero under the sanitizers, which bring their own
/// allocator.
class AllocationCount {
 public:
  AllocationCount();
  [[nodiscard]] long so_far() const;

 private:
  long start_;
};

}  // namespace tangere::test
