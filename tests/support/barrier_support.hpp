#pragma once

/// A plain log-barrier method over conic rows, slow and independent of the library's solvers: the reference for what
/// the rows say.

#include "tangere/geometry/convex_set.hpp"

namespace tangere::test {

struct RowSupport {
  /// n · p, at most `gap` below the maximum over the set (at alpha = 1).
  double value;
  double gap;
  Vector3 p;
  VectorX y;
  /// Multipliers z in the cone with S_pᵀ z = -n and S_yᵀ z = 0 up to the barrier.
  VectorX z;
};

/// max n · p over the set's rows at alpha = 1, to about `accuracy` relative to the outer radius.
[[nodiscard]] RowSupport support_by_rows(const ConvexSet& set, const Vector3& n, double accuracy = 1e-9);

/// The rows at (p, alpha, y).
[[nodiscard]] VectorX slacks(const ConvexSet& set, const Vector3& p, double alpha, const VectorX& y);
/// The smallest orthant slack or cone margin s₀ - |s₁|: negative outside.
[[nodiscard]] double smallest_margin(const ConvexSet& set, const VectorX& s);

}  // namespace tangere::test
