#include "tests/support/allocation.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>

#include <Eigen/Core>

namespace {
std::atomic<long> allocations{0};
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TANGERE_OTHER_ALLOCATOR
#endif
#endif
#ifndef TANGERE_OTHER_ALLOCATOR
// glibc's own functions under their second names; everything (operator new, Eigen) ends in one of these
extern "C" {
void* __libc_malloc(std::size_t size);                           // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(std::size_t count, std::size_t size);        // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void* block, std::size_t size);             // NOLINT(bugprone-reserved-identifier)
void* __libc_memalign(std::size_t alignment, std::size_t size);  // NOLINT(bugprone-reserved-identifier)

void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) {
  ++allocations;
  return __libc_realloc(block, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
}
#endif
#endif

namespace tangere::test {

AllocationCount::AllocationCount() : start_(allocations.load()) { allow_eigen(false); }
AllocationCount::~AllocationCount() { allow_eigen(true); }
long AllocationCount::so_far() const { return allocations.load() - start_; }

void AllocationCount::allow_eigen([[maybe_unused]] bool allowed) {
#ifdef EIGEN_RUNTIME_NO_MALLOC
  Eigen::internal::set_is_malloc_allowed(allowed);
#endif
}

}  // namespace tangere::test
