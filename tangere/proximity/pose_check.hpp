#pragma once

/// What every pair query does first (private to proximity): look at the poses, ask for the shapes' memory.

#include <cmath>
#include <string>

#include "tangere/geometry/support_terms.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/se3.hpp"

namespace tangere {

/// Throws InputError unless X is a rigid motion within 1e30 of the origin.
inline void require_pose(const Pose& X, const char* name) {
  constexpr double kFarthest = 1e30;
  constexpr double kTolerance = 1e-6;
  const double* p = X.p.data();
  if (!(std::abs(p[0]) <= kFarthest && std::abs(p[1]) <= kFarthest && std::abs(p[2]) <= kFarthest)) {
    throw InputError(std::string(name) + ".p", "must be finite and within 1e30 of the origin");
  }
  // singular values whose squares add up to 3 and whose product is 1 are all 1
  if (!(std::abs(X.R.squaredNorm() - 3.0) <= kTolerance) || !(std::abs(X.R.determinant() - 1.0) <= kTolerance)) {
    throw InputError(std::string(name) + ".R", "must be a rotation matrix");
  }
}

/// A first query of a pair waits for memory longer than it computes: ask for all of it at once.
inline void prefetch(const SupportTerms* terms) {
  constexpr int kLine = 64;
  constexpr int kLines = 8;
  const char* at = reinterpret_cast<const char*>(terms);
  for (int i = 0; i < kLines; ++i) __builtin_prefetch(at + i * kLine);
}

}  // namespace tangere
