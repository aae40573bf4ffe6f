#pragma once

/// Short vectors of doubles for the inner loops: the compilers' own vector types (g++ and clang), which become AVX-512,
/// AVX or SSE registers according to the flags. Elementwise + - * / come with the type. Not installed:
/// how such a type is passed depends on the flags, so no public header names it.

#include <bit>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

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

[[nodiscard]] inline Vec4 root(Vec4 a) {
#if defined(__AVX__)
  return _mm256_sqrt_pd(a);
#else
  return Vec4{std::sqrt(a[0]), std::sqrt(a[1]), std::sqrt(a[2]), std::sqrt(a[3])};
#endif
}

/// Result of comparisons: all bits are set in true lanes.
using Mask4 = decltype(Vec4{} > Vec4{});
/// The first lane that is true; one must be.
[[nodiscard]] inline int first_lane(Mask4 mask) {
#if defined(__AVX__)
  return std::countr_zero(static_cast<unsigned>(_mm256_movemask_pd(reinterpret_cast<__m256d>(mask))));
#else
  return mask[0] != 0 ? 0 : mask[1] != 0 ? 1 : mask[2] != 0 ? 2 : 3;
#endif
}

/// Four doubles in memory, 32-byte aligned.
using Vec4InMemory = double __attribute__((vector_size(32), may_alias));
[[nodiscard]] inline Vec4 load4(const double* p) { return *reinterpret_cast<const Vec4InMemory*>(p); }
inline void store4(double* p, Vec4 v) { *reinterpret_cast<Vec4InMemory*>(p) = v; }

/// Eight doubles. Where the target has no register for them they are two of four: g++ takes an 8-wide vector of its own
/// to pieces in memory there (selections and broadcasts to single numbers).
#if defined(__AVX512F__)
using Vec8 = double __attribute__((vector_size(64)));
[[nodiscard]] inline Vec8 splat8(double a) { return Vec8{a, a, a, a, a, a, a, a}; }
[[nodiscard]] inline Vec4 low_half(Vec8 a) { return __builtin_shufflevector(a, a, 0, 1, 2, 3); }
[[nodiscard]] inline Vec4 high_half(Vec8 a) { return __builtin_shufflevector(a, a, 4, 5, 6, 7); }
/// In memory, 64-byte aligned.
using Vec8InMemory = double __attribute__((vector_size(64), may_alias));
[[nodiscard]] inline Vec8 load8(const double* p) { return *reinterpret_cast<const Vec8InMemory*>(p); }
inline void store8(double* p, Vec8 v) { *reinterpret_cast<Vec8InMemory*>(p) = v; }
#else
struct Vec8 {
  Vec4 low;
  Vec4 high;
  [[nodiscard]] double operator[](int i) const { return i < 4 ? low[i] : high[i - 4]; }
};
[[nodiscard]] inline Vec8 splat8(double a) { return {splat4(a), splat4(a)}; }
[[nodiscard]] inline Vec4 low_half(const Vec8& a) { return a.low; }
[[nodiscard]] inline Vec4 high_half(const Vec8& a) { return a.high; }
[[nodiscard]] inline Vec8 operator+(const Vec8& a, const Vec8& b) { return {a.low + b.low, a.high + b.high}; }
[[nodiscard]] inline Vec8 operator-(const Vec8& a, const Vec8& b) { return {a.low - b.low, a.high - b.high}; }
[[nodiscard]] inline Vec8 operator*(const Vec8& a, const Vec8& b) { return {a.low * b.low, a.high * b.high}; }
inline void operator+=(Vec8& a, const Vec8& b) { a = a + b; }
inline void operator-=(Vec8& a, const Vec8& b) { a = a - b; }
inline void operator*=(Vec8& a, const Vec8& b) { a = a * b; }
/// In memory, 32-byte aligned.
[[nodiscard]] inline Vec8 load8(const double* p) { return {load4(p), load4(p + 4)}; }
inline void store8(double* p, const Vec8& v) {
  store4(p, v.low);
  store4(p + 4, v.high);
}
#endif
[[nodiscard]] inline double sum(const Vec8& a) { return sum(low_half(a) + high_half(a)); }

}  // namespace tangere
