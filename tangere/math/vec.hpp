#pragma once

/// Short vectors of doubles for the inner loops: the compilers' own vector types (g++ and clang), which become AVX-512,
/// AVX or SSE registers according to the flags. Elementwise + - * / come with the type. Private to the library's
/// sources: how such a type is passed depends on the flags, so no public header names it.

#if defined(__GNUC__) && !defined(__clang__)
// everything here is inlined, so the calling convention that g++ warns of is never used
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace tangere {

using Vec4 = double __attribute__((vector_size(32)));

[[nodiscard]] inline Vec4 splat4(double a) { return Vec4{a, a, a, a}; }

[[nodiscard]] inline double sum(Vec4 a) {
  const Vec4 b = a + __builtin_shufflevector(a, a, 2, 3, 0, 1);
  return b[0] + b[1];
}
[[nodiscard]] inline double dot(Vec4 a, Vec4 b) { return sum(a * b); }

/// (sum(a), sum(b), sum(c), sum(d)).
[[nodiscard]] inline Vec4 sums(Vec4 a, Vec4 b, Vec4 c, Vec4 d) {
  const Vec4 ab = __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Vec4 cd = __builtin_shufflevector(c, d, 0, 4, 2, 6) + __builtin_shufflevector(c, d, 1, 5, 3, 7);
  return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

[[nodiscard]] inline Vec4 max(Vec4 a, Vec4 b) { return a > b ? a : b; }
[[nodiscard]] inline double largest(Vec4 a) {
  const Vec4 b = max(a, __builtin_shufflevector(a, a, 2, 3, 0, 1));
  return b[0] > b[1] ? b[0] : b[1];
}

/// Four doubles in memory, 32-byte aligned.
using Vec4InMemory = double __attribute__((vector_size(32), may_alias));
[[nodiscard]] inline Vec4 load4(const double* p) { return *reinterpret_cast<const Vec4InMemory*>(p); }
inline void store4(double* p, Vec4 v) { *reinterpret_cast<Vec4InMemory*>(p) = v; }

/// Eight doubles in memory, 64-byte aligned: one register, or two, or four.
using Vec8 = double __attribute__((vector_size(64)));
using Vec8InMemory = double __attribute__((vector_size(64), may_alias));
[[nodiscard]] inline Vec8 load8(const double* p) { return *reinterpret_cast<const Vec8InMemory*>(p); }
inline void store8(double* p, Vec8 v) { *reinterpret_cast<Vec8InMemory*>(p) = v; }

}  // namespace tangere
