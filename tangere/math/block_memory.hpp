#pragma once

/// Memory for the constant numbers of shapes, which queries read and nothing else: blocks that lie together, not among
/// whatever else the program allocates. With thousands of shapes the pages would otherwise be too many for the
/// processor's address tables, and every first look at a shape a table walk.

#include <cstddef>
#include <memory_resource>

namespace tangere {

/// Shared by all threads; never destroyed, as shapes may be static.
[[nodiscard]] std::pmr::memory_resource& block_memory();

/// An allocator of it, by cache lines.
template <class T>
struct BlockAllocator {
  using value_type = T;
  static constexpr std::size_t kAlignment = alignof(T) > 64 ? alignof(T) : 64;
  BlockAllocator() = default;
  template <class U>
  BlockAllocator(const BlockAllocator<U>&) {}  // NOLINT(google-explicit-constructor): allocators convert
  T* allocate(std::size_t n) { return static_cast<T*>(block_memory().allocate(n * sizeof(T), kAlignment)); }
  void deallocate(T* p, std::size_t n) { block_memory().deallocate(p, n * sizeof(T), kAlignment); }
  friend bool operator==(const BlockAllocator&, const BlockAllocator&) { return true; }
};

}  // namespace tangere
