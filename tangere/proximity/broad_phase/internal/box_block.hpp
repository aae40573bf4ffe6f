#pragma once

/// Eight boxes side by side, compared with one box at a time. Private to proximity: how the comparison compiles depends
/// on the flags, so no public header includes this.

#include <limits>

#include "tangere/geometry/bounds.hpp"

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace tangere {

/// Closed boxes: touching is overlapping. False wherever a NaN is. Without branches, as what comes is unpredictable.
[[nodiscard]] inline bool overlap(const Aabb& a, const Aabb& b) {
  bool result = true;
  for (int k = 0; k < 3; ++k) {
    result &= a.lower[k] <= b.upper[k];
    result &= b.lower[k] <= a.upper[k];
  }
  return result;
}

[[nodiscard]] inline bool contains(const Aabb& outer, const Aabb& inner) {
  bool result = true;
  for (int k = 0; k < 3; ++k) {
    result &= outer.lower[k] <= inner.lower[k];
    result &= inner.upper[k] <= outer.upper[k];
  }
  return result;
}

/// An empty place is NaN, which overlaps nothing, not even the whole space.
struct alignas(64) BoxBlock {
  static constexpr int kWidth = 8;

  double lower[3][kWidth];
  double upper[3][kWidth];

  [[nodiscard]] Aabb box(int i) const {
    return {{lower[0][i], lower[1][i], lower[2][i]}, {upper[0][i], upper[1][i], upper[2][i]}};
  }

  void set(int i, const Aabb& box) {
    for (int k = 0; k < 3; ++k) {
      lower[k][i] = box.lower[k];
      upper[k][i] = box.upper[k];
    }
  }

  void clear(int i) {
    for (int k = 0; k < 3; ++k) lower[k][i] = upper[k][i] = std::numeric_limits<double>::quiet_NaN();
  }

  /// The box around all eight; NaN if all places are empty.
  [[nodiscard]] Aabb hull() const {
    constexpr double inf = std::numeric_limits<double>::infinity();
    Aabb result{Vector3::Constant(inf), Vector3::Constant(-inf)};
    for (int k = 0; k < 3; ++k) {
      // written so that a NaN is passed over
      for (int i = 0; i < kWidth; ++i) {
        result.lower[k] = lower[k][i] < result.lower[k] ? lower[k][i] : result.lower[k];
        result.upper[k] = upper[k][i] > result.upper[k] ? upper[k][i] : result.upper[k];
      }
    }
    if (result.lower[0] > result.upper[0]) {
      result.lower = result.upper = Vector3::Constant(std::numeric_limits<double>::quiet_NaN());
    }
    return result;
  }

  /// Bit i is set where box i overlaps the given one.
  [[nodiscard]] unsigned overlaps(const Aabb& box) const {
#if defined(__AVX512F__)
    __mmask8 mask = 0xff;
    for (int k = 0; k < 3; ++k) {
      mask = _mm512_mask_cmp_pd_mask(mask, _mm512_load_pd(lower[k]), _mm512_set1_pd(box.upper[k]), _CMP_LE_OQ);
      mask = _mm512_mask_cmp_pd_mask(mask, _mm512_load_pd(upper[k]), _mm512_set1_pd(box.lower[k]), _CMP_GE_OQ);
    }
    return mask;
#elif defined(__AVX__)
    unsigned mask = 0;
    for (int half = 0; half < 2; ++half) {
      __m256d all = _mm256_castsi256_pd(_mm256_set1_epi64x(-1));
      for (int k = 0; k < 3; ++k) {
        const __m256d below = _mm256_load_pd(lower[k] + 4 * half);
        const __m256d above = _mm256_load_pd(upper[k] + 4 * half);
        all = _mm256_and_pd(all, _mm256_cmp_pd(below, _mm256_set1_pd(box.upper[k]), _CMP_LE_OQ));
        all = _mm256_and_pd(all, _mm256_cmp_pd(above, _mm256_set1_pd(box.lower[k]), _CMP_GE_OQ));
      }
      mask |= static_cast<unsigned>(_mm256_movemask_pd(all)) << (4 * half);
    }
    return mask;
#else
    unsigned mask = 0;
    for (int i = 0; i < kWidth; ++i) {
      bool all = true;
      for (int k = 0; k < 3; ++k) {
        all &= lower[k][i] <= box.upper[k];
        all &= upper[k][i] >= box.lower[k];
      }
      mask |= static_cast<unsigned>(all) << i;
    }
    return mask;
#endif
  }
};

}  // namespace tangere
