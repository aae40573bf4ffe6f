#include "tangere/math/block_memory.hpp"

#include <algorithm>
#include <memory_resource>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace tangere {
namespace {

/// Large chunks, in large pages where the system has them.
class Chunks final : public std::pmr::memory_resource {
  static constexpr std::size_t kLargePage = std::size_t{2} << 20U;
  static std::align_val_t aligned(std::size_t bytes, std::size_t alignment) {
    return std::align_val_t{bytes >= kLargePage / 2 ? std::max(alignment, kLargePage) : alignment};
  }

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* p = ::operator new(bytes, aligned(bytes, alignment));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    // a wish: without large pages it is memory all the same
    if (bytes >= kLargePage / 2) (void)madvise(p, bytes, MADV_HUGEPAGE);
#endif
    return p;
  }
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
    ::operator delete(p, aligned(bytes, alignment));
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
};

/// Shared by all threads; never destroyed, as shapes may be static.
std::pmr::memory_resource& pool() {
  static auto* const chunks = new Chunks;
  static auto* const pool = new std::pmr::synchronized_pool_resource(
      std::pmr::pool_options{.max_blocks_per_chunk = 4096, .largest_required_pool_block = 8192}, chunks);
  return *pool;
}

constexpr std::size_t kLine = 64;

/// The pool aligns only sizes that are multiples of the alignment.
std::size_t whole_lines(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

}  // namespace

void* allocate_block(std::size_t bytes) { return pool().allocate(whole_lines(bytes), kLine); }

void free_block(const void* block, std::size_t bytes) {
  pool().deallocate(const_cast<void*>(block), whole_lines(bytes), kLine);
}

}  // namespace tangere
