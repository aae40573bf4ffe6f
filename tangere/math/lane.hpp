#pragma once

/// A number for each of several problems that are solved side by side: the widest vector register of the target, one
/// problem a lane. Arithmetic is the compilers' own (elementwise + - * /), so that a lane's bits depend on nothing in
/// the lanes beside it. Not installed, as math/vec.hpp is and for the same reason.

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cmath>

#include "tangere/math/vec.hpp"

namespace tangere {

#if defined(__AVX512F__)
inline constexpr int kLanes = 8;
#elif defined(__AVX__)
inline constexpr int kLanes = 4;
#else
inline constexpr int kLanes = 2;
#endif

using Lane = double __attribute__((vector_size(8 * kLanes)));
/// All bits set where true; what comparisons of lanes give.
using LaneMask = decltype(Lane{} > Lane{});

[[nodiscard, gnu::always_inline]] inline Lane splat(double a) { return a - Lane{}; }

/// `a` in lanes with `mask` set, else `b`.
[[nodiscard, gnu::always_inline]] inline Lane select(LaneMask mask, Lane a, Lane b) { return mask ? a : b; }

/// `a` in lanes with `mask` set, else 0; and `a` and `b` exchanged there. Bitwise, as a select costs three operations
/// on AVX2.
[[nodiscard, gnu::always_inline]] inline Lane keep(LaneMask mask, Lane a) {
  return reinterpret_cast<Lane>(mask & reinterpret_cast<LaneMask>(a));
}
[[gnu::always_inline]] inline void exchange(LaneMask mask, Lane& a, Lane& b) {
  const LaneMask change = (reinterpret_cast<LaneMask>(a) ^ reinterpret_cast<LaneMask>(b)) & mask;
  a = reinterpret_cast<Lane>(reinterpret_cast<LaneMask>(a) ^ change);
  b = reinterpret_cast<Lane>(reinterpret_cast<LaneMask>(b) ^ change);
}

/// One bit a lane.
[[nodiscard, gnu::always_inline]] inline unsigned bits(LaneMask mask) {
#if defined(__AVX512F__)
  const auto m = reinterpret_cast<__m512i>(mask);
  return static_cast<unsigned>(_mm512_test_epi64_mask(m, m));
#elif defined(__AVX__)
  return static_cast<unsigned>(_mm256_movemask_pd(reinterpret_cast<__m256d>(mask)));
#elif defined(__x86_64__)
  return static_cast<unsigned>(_mm_movemask_pd(reinterpret_cast<__m128d>(mask)));
#else
  unsigned out = 0;
  for (int l = 0; l < kLanes; ++l) out |= mask[l] != 0 ? 1U << l : 0U;
  return out;
#endif
}
[[nodiscard, gnu::always_inline]] inline bool any(LaneMask mask) { return bits(mask) != 0; }

[[nodiscard, gnu::always_inline]] inline Lane sqrt(Lane a) {
#if defined(__AVX512F__)
  return _mm512_sqrt_pd(a);
#elif defined(__AVX__)
  return _mm256_sqrt_pd(a);
#elif defined(__x86_64__)
  return _mm_sqrt_pd(a);
#else
  for (int l = 0; l < kLanes; ++l) a[l] = std::sqrt(a[l]);
  return a;
#endif
}

#if !defined(__AVX__) || defined(__AVX512F__)
// of four lanes it is that of math/vec.hpp
[[nodiscard, gnu::always_inline]] inline Lane max(Lane a, Lane b) { return a > b ? a : b; }
#endif
[[nodiscard, gnu::always_inline]] inline Lane min(Lane a, Lane b) { return a < b ? a : b; }
[[nodiscard, gnu::always_inline]] inline Lane abs(Lane a) {
  return reinterpret_cast<Lane>(reinterpret_cast<LaneMask>(a) & 0x7fff'ffff'ffff'ffff);
}
// NOLINTNEXTLINE(misc-redundant-expression): not for infinities and NaN
[[nodiscard, gnu::always_inline]] inline LaneMask is_finite(Lane a) { return a - a == Lane{}; }

}  // namespace tangere
