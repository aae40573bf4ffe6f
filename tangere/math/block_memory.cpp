#include "tangere/math/block_memory.hpp"

#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace tangere {
namespace {

/// Large chunks, in large pages where the system has them.
class Chunks final : public std::pmr::memory_resource {
  static constexpr std::size_t kLargePage = std::size_t{2} << 20U;

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    const bool large = bytes >= kLargePage / 2;
    void* p = ::operator new (bytes, std::align_val_t{large ? kLargePage : alignment});
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    // a wish: without large pages it is memory all the same
    if (large) (void)madvise(p, bytes, MADV_HUGEPAGE);
#endif
    return p;
  }
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
    ::operator delete (p, std::align_val_t{bytes >= kLargePage / 2 ? kLargePage : alignment});
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
};

}  // namespace

std::pmr::memory_resource& block_memory() {
  static auto* const chunks = new Chunks;
  static auto* const pool = new std::pmr::synchronized_pool_resource(
      std::pmr::pool_options{.max_blocks_per_chunk = 4096, .largest_required_pool_block = 8192}, chunks);
  return *pool;
}

}  // namespace tangere
