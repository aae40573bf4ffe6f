#include "tangere/proximity/scaling.hpp"

#include <cmath>
#include <string>

#include "tangere/geometry/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/proximity/scaling_workspace.hpp"

namespace tangere {
namespace {

constexpr double kLargestSmoothing = 0.01;
constexpr double kSmallestSmoothing = 1e-12;
constexpr double kLargestRelativeGap = 0.5;
constexpr double kFarthest = 1e30;
constexpr double kRotationTolerance = 1e-6;
/// Relative gaps from which to try the final steps, when the usual one has failed.
constexpr double kOtherWays[] = {1e-3, 1e-7};

Vector3 head3(Vec4 v) { return {v[0], v[1], v[2]}; }

/// The pose of a part of a shape at X_WS.
Pose part_pose(const Pose& X_WS, const Shape& shape, const ConvexPart& part) {
  return shape.is_convex() ? X_WS : X_WS * part.X_SP;
}

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

/// The answer for the pair of parts that decided.
Scaling answer(const SolvedPair& pair) {
  const ConicEngine<1>& engine = pair.program.engine;
  const ConvexSet& A = *pair.part_A.set;
  const ConvexSet& B = *pair.part_B.set;
  const bool zero = pair.status == ScalingStatus::zero_scaling;
  const double solved_alpha = engine.u[3];
  // witness points relative to the centres, in world axes: on the surface of each scaled shape
  const Vector3 x = head3(engine.u);
  const Vector3 from_A = pair.X_WA.R * x;
  const Vector3 from_B = pair.X_WA.R * (x - pair.program.X_AB.p);

  Scaling r;
  r.status = pair.status;
  r.alpha = zero ? 0.0 : solved_alpha;
  r.normal = (pair.X_WA.R * head3(engine.force[1] - engine.force[0])).normalized();
  r.x = zero ? (A.scaled ? pair.X_WA.p : pair.X_WB.p) : pair.X_WA.p + from_A;
  r.p_A = pair.X_WA.p + from_A / solved_alpha;
  r.p_B = pair.X_WB.p + from_B / solved_alpha;
  if (!B.scaled || !A.scaled) {
    // a half-space is touched at x itself; with the centre inside it, at the centre's foot on the plane
    Vector3& touched = A.scaled ? r.p_B : r.p_A;
    const Pose& X = A.scaled ? pair.X_WB : pair.X_WA;
    const MatrixX& row = (A.scaled ? B : A).rows.matrix();
    const Vector3 inward = X.R * row.row(0).head<3>().transpose();
    const double slack = inward.dot(r.x - X.p) + row(0, kShared);
    touched = zero ? Vector3(r.x - slack * inward) : r.x;
  }
  const double separation = (r.p_A - r.p_B).norm();
  r.center_line_gap = r.alpha < 1.0 ? -separation : separation;
  r.iterations = engine.iterations;
  r.gap = engine.gap / solved_alpha;
  r.residual = engine.dual_residual / solved_alpha;
  r.part_A = pair.index_A;
  r.part_B = pair.index_B;
  return r;
}

void require_pose(const Pose& X, const char* name) {
  if (!(X.p.cwiseAbs().maxCoeff<Eigen::PropagateNaN>() <= kFarthest)) {
    throw InputError(std::string(name) + ".p", "must be finite and within 1e30 of the origin");
  }
  // singular values whose squares add up to 3 and whose product is 1 are all 1
  if (!(std::abs(X.R.squaredNorm() - 3.0) <= kRotationTolerance) ||
      !(std::abs(X.R.determinant() - 1.0) <= kRotationTolerance)) {
    throw InputError(std::string(name) + ".R", "must be a rotation matrix");
  }
}

/// s ∘ z = kappa alpha e has a solution only while kappa times the degree (the relative gap) is below 1.
void require_smoothing(double smoothing, int degree) {
  if (smoothing * degree <= kLargestRelativeGap) return;
  throw InputError("options.smoothing", "times the pair's barrier degree (" + std::to_string(degree) +
                                            ": one per face, two per cone) must be at most 0.5, got " +
                                            detail::to_text(smoothing));
}

}  // namespace

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

std::string_view to_string(ScalingStatus status) {
  switch (status) {
    case ScalingStatus::solved:
      return "solved";
    case ScalingStatus::zero_scaling:
      return "zero_scaling";
    case ScalingStatus::iteration_limit:
      return "iteration_limit";
    case ScalingStatus::numerical_limit:
      return "numerical_limit";
  }
  return "unknown";
}

void ScalingOptions::verify() const {
  if (!(tolerance >= 1e-13 && tolerance <= 1e-2)) {
    throw InputError("options.tolerance", "must be between 1e-13 and 1e-2, got " + detail::to_text(tolerance));
  }
  if (max_iterations < 1)
    throw InputError("options.max_iterations", "must be at least 1, got " + std::to_string(max_iterations));
  if (!(smoothing == 0.0 || (smoothing >= kSmallestSmoothing && smoothing <= kLargestSmoothing))) {
    throw InputError("options.smoothing", "must be 0 or between 1e-12 and 0.01, got " + detail::to_text(smoothing));
  }
}

ScalingWorkspace::ScalingWorkspace() : data_(std::make_unique<Data>()) {}
ScalingWorkspace::~ScalingWorkspace() = default;
ScalingWorkspace::ScalingWorkspace(ScalingWorkspace&&) noexcept = default;
ScalingWorkspace& ScalingWorkspace::operator=(ScalingWorkspace&&) noexcept = default;

Scaling scaling(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB, const ScalingOptions& options,
                ScalingWorkspace& workspace) {
  options.verify();
  require_pose(X_WA, "X_WA");
  require_pose(X_WB, "X_WB");
  ScalingWorkspace::Data& data = workspace.data();
  data.has_query = false;
  data.linearised_pair = nullptr;
  data.X_WA = X_WA;
  data.X_WB = X_WB;
  data.smoothing = options.smoothing;
  data.has_bundle = !A.is_convex() || !B.is_convex();

  // memory for every pair, in both programs because they change places
  for (const ConvexPart& part_A : A.parts()) {
    for (const ConvexPart& part_B : B.parts()) {
      data.solved->program.reserve(*part_A.set, *part_B.set);
      data.trial->program.reserve(*part_A.set, *part_B.set);
    }
  }

  // the smallest over all pairs of parts; a pair whose bounding balls are too far apart cannot be it
  bool any = false;
  const std::span<const ConvexPart> parts_A = A.parts();
  const std::span<const ConvexPart> parts_B = B.parts();
  for (std::size_t i = 0; i < parts_A.size(); ++i) {
    for (std::size_t j = 0; j < parts_B.size(); ++j) {
      const ConvexSet& set_A = *parts_A[i].set;
      const ConvexSet& set_B = *parts_B[j].set;
      if (!set_A.scaled && !set_B.scaled) {
        throw InputError("shapes", "two half-spaces have no scaling: at least one shape must be bounded");
      }
      SolvedPair& trial = *data.trial;
      trial.X_WA = part_pose(X_WA, A, parts_A[i]);
      trial.X_WB = part_pose(X_WB, B, parts_B[j]);
      const double reach = set_A.outer_radius + set_B.outer_radius;
      if (any && (trial.X_WA.p - trial.X_WB.p).norm() >= data.alpha * reach) continue;
      trial.part_A = parts_A[i];
      trial.part_B = parts_B[j];
      trial.index_A = static_cast<int>(i);
      trial.index_B = static_cast<int>(j);
      require_smoothing(options.smoothing, set_A.rows.degree() + set_B.rows.degree());
      solve_pair(options, trial);
      const double alpha = trial.status == ScalingStatus::zero_scaling ? 0.0 : trial.program.engine.u[3];
      if (any && !(alpha < data.alpha)) continue;
      any = true;
      data.alpha = alpha;
      std::swap(data.solved, data.trial);
    }
  }
  data.num_parameters_A = static_cast<int>(A.parameters().size());
  data.num_parameters_B = static_cast<int>(B.parameters().size());
  data.has_query = true;
  data.free = options.smoothing > 0.0 ? Freedom{} : freedom(*data.solved, data.rank_storage);
  Scaling result = answer(*data.solved);
  result.point_freedom = data.free.point;
  result.normal_freedom = data.free.normal;
  return result;
}

}  // namespace tangere
