#pragma once

/// Counting allocations of the program, to prove that a hot path has none.

namespace tangere::test {

/// Allocations since its construction, on all threads. Always zero under the sanitizers, which bring their own
/// allocator. In the debug preset, Eigen moreover fails on the spot while one lives.
class AllocationCount {
 public:
  AllocationCount();
  ~AllocationCount();
  AllocationCount(const AllocationCount&) = delete;
  AllocationCount& operator=(const AllocationCount&) = delete;

  [[nodiscard]] long so_far() const;

 private:
  static void allow_eigen(bool allowed);

  long start_;
};

}  // namespace tangere::test
