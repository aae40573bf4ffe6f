#pragma once

/// TANGERE_ASSERT(condition): a broken invariant, a bug of ours, never a matter of input. Alive where the build defines
/// TANGERE_ENABLE_ASSERTS (Debug, RelWithDebInfo): it then says what failed and where, and aborts. Elsewhere it costs
/// nothing.

#include <cstdio>
#include <cstdlib>

namespace tangere::internal {

[[noreturn]] inline void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, expression);
  std::abort();
}

}  // namespace tangere::internal

#ifdef TANGERE_ENABLE_ASSERTS
#define TANGERE_ASSERT(condition) \
  (static_cast<bool>(condition) ? void(0) : ::tangere::internal::assertion_failed(#condition, __FILE__, __LINE__))
#else
#define TANGERE_ASSERT(condition) (void(sizeof(static_cast<bool>(condition))))
#endif
