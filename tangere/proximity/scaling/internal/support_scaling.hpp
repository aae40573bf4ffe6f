#pragma once

/// The support route to the minimum scaling (private to proximity). With d = r_B - r_A and support functions h,
///
///   alpha = gauge of M = S_A ⊕ (-S_B) at d = max over n of  n·d / (h_A(n) + h_B(-n))
///
/// one ray from the inside of a convex body. The bounds of the cast are bounds of alpha, and the best n is its
/// gradient.

#include <limits>

#include "tangere/geometry/support_terms.hpp"
#include "tangere/math/se3.hpp"
#include "tangere/proximity/scaling/internal/ray_cast.hpp"

namespace tangere {

struct ScalingQuestion {
  double tolerance = 1e-8;
  /// A larger alpha is not wanted: a bound that proves it ends the cast.
  double at_most = std::numeric_limits<double>::infinity();
};

struct SupportScaling {
  /// The bounds meet to the tolerance.
  bool certified = false;
  /// Larger than asked for: alpha is a lower bound, n proves it, and the points are NaN.
  bool beyond = false;
  double alpha = 0.0;
  /// Relative distance of the bounds.
  double gap = 0.0;
  /// ∂alpha/∂r_B, in world axes: the normal, scaled so that h_A(n) + h_B(-n) = 1.
  Vector3 n;
  /// The points of the unscaled shapes that touch once scaled, from each centre, in world axes. Of a half-space, which
  /// is not scaled: the point where it is touched, over alpha.
  Vector3 s_A;
  Vector3 s_B;
  int supports = 0;
};

/// At most one half-space. Not certified: the centres coincide (or one is inside the half-space), or rounding keeps the
/// bounds apart.
void support_scaling(const SupportTerms& A, const Pose& X_WA, const SupportTerms& B, const Pose& X_WB,
                     const ScalingQuestion& question, RayCast& cast, SupportScaling& out);

}  // namespace tangere
