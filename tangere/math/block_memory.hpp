#pragma once

/// Memory for the constant numbers of shapes, which queries read and nothing else: blocks that lie together, not among
/// whatever else the program allocates. With thousands of shapes the pages would otherwise be too many for the
/// processor's address tables, and every first look at a shape a table walk.

#include <cstddef>

namespace tangere {

/// Whole cache lines, 64-byte aligned. Any thread may ask for a block or give it back, with the bytes it asked for.
[[nodiscard]] void* allocate_block(std::size_t bytes);
void free_block(const void* block, std::size_t bytes);

/// An allocator of such blocks.
template <class T>
struct BlockAllocator {
  static_assert(alignof(T) <= 64);
  using value_type = T;
  BlockAllocator() = default;
  template <class U>
  BlockAllocator(const BlockAllocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor): allocators convert
  T* allocate(std::size_t n) { return static_cast<T*>(allocate_block(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) { free_block(p, n * sizeof(T)); }
  friend bool operator==(const BlockAllocator&, const BlockAllocator&) { return true; }
};

}  // namespace tangere
