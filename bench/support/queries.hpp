#pragma once

/// The queries as the benchmarks call them: the one place that knows the interface of proximity/scaling.

#include "bench/support/pair_set.hpp"
#include "tangere/proximity/distance.hpp"
#include "tangere/proximity/scaling.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"

namespace tangere::bench {

/// One route, cold, with one workspace.
class ScalingQueries {
 public:
  ScalingQueries(double tolerance, ScalingMethod method) {
    options_.tolerance = tolerance;
    options_.method = method;
  }
  [[nodiscard]] long num_fallbacks() const { return workspace_.num_fallbacks(); }

  [[nodiscard]] Scaling alpha(const Pair& pair) {
    return scaling(pair.A, pair.X_WA, pair.B, pair.X_WB, options_, workspace_);
  }
  /// The gradient of alpha at the last answer.
  [[nodiscard]] Vector12 gradient() { return scaling_gradient(workspace_); }
  /// The derivative of (x, alpha) at the last answer, and with it that of the witness points.
  [[nodiscard]] ScalingJacobian jacobian() { return scaling_jacobian(workspace_); }

 private:
  ScalingOptions options_;
  ScalingWorkspace workspace_;
};

/// The signed distance, cold, with one workspace.
class DistanceQueries {
 public:
  [[nodiscard]] Distance signed_distance(const Pair& pair) {
    return distance(pair.A, pair.X_WA, pair.B, pair.X_WB, {}, workspace_);
  }
  [[nodiscard]] Vector12 gradient() { return distance_gradient(workspace_); }

 private:
  DistanceWorkspace workspace_;
};

}  // namespace tangere::bench
