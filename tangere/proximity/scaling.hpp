#pragma once

/// Minimum scaling (DCOL): the smallest alpha such that A and B, both scaled by alpha about their own origins, touch.
///
///   alpha = min { alpha : x in r_A + R_A (alpha S_A),  x in r_B + R_B (alpha S_B) }            (DCOL eq. 9)
///
/// alpha > 1 apart, = 1 touching, < 1 overlapping. The value comes with the point x, the witness points and the normal;
/// scaling_derivatives.hpp has all derivatives. Two routes lead to the same alpha:
///
///   support   one ray cast on S_A ⊕ (-S_B) by supports, certified by two bounds that meet (ray_cast.hpp). Fast.
///   conic     one small cone program, solved by the interior point of solvers/conic. The reference, the only one with
///             smoothing kappa, and the one that says how unique point and normal are.
///
///   ScalingWorkspace workspace;
///   const Scaling result = scaling(A, X_WA, B, X_WB, {}, workspace);
///   if (result.alpha < 1) …

#include <limits>
#include <string_view>

#include "tangere/geometry/shape.hpp"
#include "tangere/math/owned.hpp"
#include "tangere/math/se3.hpp"

namespace tangere {

enum class ScalingStatus {
  /// Solved to the tolerance.
  solved,
  /// alpha = 0, found without solving: the centres coincide, or a centre lies in the half-space. x is the centre;
  /// normal and witness points are
  /// those of the limit along one direction (from A towards +x of the world; on a half-space, the foot of the centre on
  /// its plane): valid, but not
  /// the only ones. Nothing is NaN.
  zero_scaling,
  /// Tolerance not reached within the iteration limit; the last point is returned with its gap and residual.
  iteration_limit,
  /// Rounding stopped the iteration before the tolerance was reached; the last point is returned with its gap and
  /// residual.
  numerical_limit,
  /// Proved to be above `ScalingOptions::at_most`: alpha is a lower bound with its normal. The points are NaN, and
  /// there
  /// are no derivatives.
  beyond,
};

[[nodiscard]] std::string_view to_string(ScalingStatus status);

enum class ScalingMethod {
  /// Supports; the conic route with smoothing, for coincident centres, and where supports do not certify the answer.
  automatic,
  conic,
  /// As automatic, but refuses smoothing.
  support,
};

[[nodiscard]] std::string_view to_string(ScalingMethod method);

struct ScalingOptions {
  /// Stop when the duality gap and the residuals are below tolerance * alpha. Attainable down to about 1e-12
  /// for most pairs, 1e-10 for sums of unequal parts.
  double tolerance = 1e-8;
  /// Conic route only: most iterations.
  int max_iterations = 50;
  /// Smoothing kappa, relative: answer with the central-path point s ∘ z = kappa alpha e, a smooth function of the
  /// poses and parameters, whose relative duality gap is kappa times the pair's barrier degree. 0: the exact answer.
  /// From 1e-12 to 0.01, and at most 0.5 / degree (one per face, two per cone): beyond 1 / degree there is no such
  /// point.
  double smoothing = 0.0;
  ScalingMethod method = ScalingMethod::automatic;
  /// Support route only: pairs of a larger alpha need not be answered in full. The search stops as soon as a lower
  /// bound is above it.
  double at_most = std::numeric_limits<double>::infinity();

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

/// The answer. Points and directions are in world axes; the normal points from A to B.
struct Scaling {
  ScalingStatus status;
  double alpha;
  /// The point at which the scaled shapes touch.
  Vector3 x;
  /// x scaled back to each shape: r + (x - r) / alpha (DCOL eq. 29). On a half-space, which is not scaled, x itself.
  Vector3 p_A;
  Vector3 p_B;
  /// Unit normal of the touching scaled shapes at x.
  Vector3 normal;
  /// The gap between p_A and p_B, negative when the shapes overlap (DCOL eq. 30, signed). An upper bound of the
  /// distance, not the distance.
  double center_line_gap;
  /// 0 where x is the only touching point; 1 or 2 where it may slide along a line or a face (parallel edges, faces). x
  /// is then a central one. -1: not computed (support route, where x is any one of them).
  int point_freedom;
  /// 0 where the normal is unique; 1 or 2 where alpha has a kink and the normal is one of many (parallel edges, two
  /// corners). Both are 0 with smoothing, which makes point and normal unique. -1: not computed.
  int normal_freedom;
  /// The route that found the answer: `support` or `conic`.
  ScalingMethod method;
  /// Newton steps of the conic route, support points asked for by the other.
  int iterations;
  /// Relative duality gap: how far alpha may be from the true value.
  double gap;
  /// Relative dual residual (conic route; 0 by supports).
  double residual;
  /// For bundles: the first parts that decide (the freedoms are theirs: ties of parts do not count). 0 if convex.
  int part_A = 0;
  int part_B = 0;
};

/// A warm start for one pair of convex shapes, kept by the caller from query to query: the features that decided last
/// time. A good guess saves most of the support points, a bad one costs a few; the answer has the same bounds, if not
/// always the same last bits. Bundles, sums of more than eight terms and the conic route do not use it.
class PairCache {
 public:
  void clear() { count_ = 0; }
  [[nodiscard]] bool empty() const { return count_ == 0; }

 private:
  friend class RayCast;
  friend struct PairCacheAccess;
  static constexpr int kMostTerms = 8;
  static constexpr int kMostCorners = 3;
  const void* A_ = nullptr;
  const void* B_ = nullptr;
  int count_ = 0;
  int pieces_[kMostCorners * kMostTerms] = {};
};

/// Memory of the queries, to be reused: after the first query of the largest pair nothing is allocated. Holds the
/// solution of the last query for its derivatives. One per thread.
///
/// Keeps the shapes of the last query alive, so that derivatives may be asked for after temporaries too. Without a
/// workspace: answers.hpp, where answers own what their derivatives need.
class ScalingWorkspace {
 public:
  ScalingWorkspace();
  ~ScalingWorkspace();
  ScalingWorkspace(ScalingWorkspace&&) noexcept;
  ScalingWorkspace& operator=(ScalingWorkspace&&) noexcept;

  /// How often the support route did not certify its answer, and the conic route was asked instead.
  [[nodiscard]] long num_fallbacks() const;

  struct Data;
  [[nodiscard]] Data& data() { return *data_; }
  [[nodiscard]] const Data& data() const { return *data_; }

 private:
  Owned<Data> data_;
};

/// The minimum scaling of A at X_WA and B at X_WB, started from `cache` if there is one. Throws InputError for two
/// half-spaces, for poses that are not finite, and for wrong options.
[[nodiscard]] Scaling scaling(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB,
                              const ScalingOptions& options, ScalingWorkspace& workspace, PairCache* cache = nullptr);

}  // namespace tangere
