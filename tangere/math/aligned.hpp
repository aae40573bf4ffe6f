#pragma once

/// Numbers for the inner loops.

#include <cstddef>
#include <new>
#include <vector>

namespace tangere {

/// Storage aligned for the widest vector registers.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}  // NOLINT(google-explicit-constructor): allocators convert
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64})); }
  void deallocate(T* p, std::size_t) { ::operator delete (p, std::align_val_t{64}); }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};
using AlignedVector = std::vector<double, AlignedAllocator<double>>;

}  // namespace tangere
