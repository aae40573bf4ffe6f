/// The conic route to the minimum scaling: set up, solve, read.

#include <cmath>

#include "tangere/proximity/scaling/internal/scaling_workspace.hpp"

namespace tangere {
namespace {

/// Relative gaps from which to try the final steps, when the usual one has failed.
constexpr double kOtherWays[] = {1e-3, 1e-7};

Vector3 head3(Vec4 v) { return {v[0], v[1], v[2]}; }

/// A pair with the same directions as one whose alpha is 0, but solvable: the centres one radius apart along the
/// world's x axis, or the centre one radius outside the half-space. alpha is homogeneous in that distance, so the
/// normal and the witness points are those of the limit.
Pose displaced(const ConvexSet& A, const ConvexSet& B, const Pose& X_WA, const Pose& X_AB) {
  if (A.scaled && B.scaled) return {X_AB.R, X_WA.R.transpose() * Vector3(A.outer_radius, 0.0, 0.0)};
  const ConvexSet& plane = A.scaled ? B : A;
  const Vector3 inward = plane.rows.matrix().row(0).head<3>().transpose();
  const double slack = plane.rows.matrix()(0, kShared);
  // the centre on the normal through the plane's origin, one radius outside
  const Vector3 center = -inward * (slack + (A.scaled ? A : B).outer_radius);
  return A.scaled ? Pose{X_AB.R, X_AB.R * -center} : Pose{X_AB.R, center};
}

ScalingStatus to_scaling_status(EngineStatus status) {
  switch (status) {
    case EngineStatus::solved:
      return ScalingStatus::solved;
    case EngineStatus::iteration_limit:
      return ScalingStatus::iteration_limit;
    default:
      return ScalingStatus::numerical_limit;
  }
}

}  // namespace

Scaling read_answer(const PlacedSets& sets, const ConicPoint& point, ScalingStatus status) {
  const ConvexSet& A = sets.A;
  const ConvexSet& B = sets.B;
  const bool zero = status == ScalingStatus::zero_scaling;
  const double solved_alpha = point.u[3];
  // witness points relative to the centres, in world axes: on the surface of each scaled shape
  const Vector3 x = head3(point.u);
  const Vector3 from_A = sets.X_WA.R * x;
  const Vector3 from_B = sets.X_WA.R * (x - sets.X_AB.p);

  Scaling r;
  r.status = status;
  r.alpha = zero ? 0.0 : solved_alpha;
  r.normal = (sets.X_WA.R * head3(point.force_B - point.force_A)).normalized();
  r.x = zero ? (A.scaled ? sets.X_WA.p : sets.X_WB.p) : sets.X_WA.p + from_A;
  r.p_A = sets.X_WA.p + from_A / solved_alpha;
  r.p_B = sets.X_WB.p + from_B / solved_alpha;
  if (!B.scaled || !A.scaled) {
    // a half-space is touched at x itself; with the centre inside it, at the centre's foot on the plane
    Vector3& touched = A.scaled ? r.p_B : r.p_A;
    const Pose& X = A.scaled ? sets.X_WB : sets.X_WA;
    const MatrixX& row = (A.scaled ? B : A).rows.matrix();
    const Vector3 inward = X.R * row.row(0).head<3>().transpose();
    const double slack = inward.dot(r.x - X.p) + row(0, kShared);
    touched = zero ? Vector3(r.x - slack * inward) : r.x;
  }
  const double separation = (r.p_A - r.p_B).norm();
  r.center_line_gap = r.alpha < 1.0 ? -separation : separation;
  r.method = ScalingMethod::conic;
  r.iterations = point.iterations;
  r.gap = point.gap / solved_alpha;
  r.residual = point.dual_residual / solved_alpha;
  return r;
}

Scaling read_answer(const SolvedPair& pair) {
  const ConicEngine<1>& engine = pair.program.engine;
  Scaling r = read_answer({*pair.part_A.set, *pair.part_B.set, pair.X_WA, pair.X_WB, pair.program.X_AB},
                          {.u = engine.u,
                           .force_A = engine.force[0],
                           .force_B = engine.force[1],
                           .gap = engine.gap,
                           .dual_residual = engine.dual_residual,
                           .iterations = engine.iterations},
                          pair.status);
  r.part_A = pair.index_A;
  r.part_B = pair.index_B;
  return r;
}

void solve_pair(const ScalingOptions& options, SolvedPair& pair) {
  const ConvexSet& A = *pair.part_A.set;
  const ConvexSet& B = *pair.part_B.set;
  const Matrix3 R_AW = pair.X_WA.R.transpose();
  const Pose X_AB{R_AW * pair.X_WB.R, R_AW * (pair.X_WB.p - pair.X_WA.p)};
  const bool zero = !pair.program.set_up(A, B, X_AB);
  if (zero) (void)pair.program.set_up(A, B, displaced(A, B, pair.X_WA, X_AB));
  EngineOptions engine{
      .relative_tolerance = options.tolerance, .absolute_tolerance = 0.0, .max_iterations = options.max_iterations};
  if (options.smoothing > 0.0 && !zero) {
    engine.kappa = options.smoothing;
    engine.relative_kappa = true;
    engine.centrality = 1e-11;
    engine.max_final_steps = options.max_iterations;
  }
  EngineStatus status = pair.program.engine.run(engine);
  if (!zero) {
    // where rounding stopped it, another way through the interior may get by
    for (const double finish_below : kOtherWays) {
      if (status != EngineStatus::numerical_limit) break;
      engine.finish_below = finish_below;
      (void)pair.program.set_up(A, B, X_AB);
      status = pair.program.engine.run(engine);
    }
  }
  if (status != EngineStatus::solved) pair.program.engine.measure_dual_residual();
  pair.status = zero ? ScalingStatus::zero_scaling : to_scaling_status(status);
}

}  // namespace tangere
