#pragma once

/// The queries as the benchmarks call them: the one place that knows the interface of proximity/scaling.

#include "bench/support/pair_set.hpp"
#include "tangere/proximity/scaling.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"

namespace tangere::bench {

/// The conic route, cold, with one workspace.
class ConicQueries {
 public:
  explicit ConicQueries(double tolerance) { options_.tolerance = tolerance; }

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

}  // namespace tangere::bench
