/// In A's frame, with lengths in units of the cores:  v(x) = c_A - c_B = F x + f,  F = [E_A, -R_AB E_B],  f = -p_AB,
/// and
///
///   minimise  ½ |F x + f|²   subject to   C_A x_A ≤ d_A,  C_B x_B ≤ d_B                 (DiffPills eq. 25, 31, 36)
///
/// F has unit columns, so Q = FᵀF is dimensionless and its near-singularity is the angle between the cores. The origin
/// is inside both cores: the interior point has a feasible start.

#include "tangere/proximity/proximity.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "tangere/geometry/support.hpp"
#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/proximity/internal/pose_check.hpp"
#include "tangere/proximity/phi/internal/proximity_workspace.hpp"
#include "tangere/solvers/qp/qp_active_set.hpp"

namespace tangere {
namespace {

/// Cores nearer than this, in units of their sizes, cross.
constexpr double kTouch = 1e-12;
constexpr double kResidual = 1e-11;
/// Gaps at which to stop where the cores (nearly) cross, in units of their sizes squared: the last step mostly makes
/// the first one do.
constexpr double kFirstFloor = 1e-14;
constexpr double kLastFloor = 0.005 * kTouch * kTouch;
/// Rounding error of the gradient of ½|v|², in units of the cores' sizes and distance.
constexpr double kNoise = 1e-14;
constexpr double kLargestSmoothing = 0.1;
constexpr double kSmallestSmoothing = 1e-12;
constexpr int kAlphaColumn = 3;
constexpr int kAuxColumn = 4;

// reading
// ---------------------------------------------------------------------------------------------------------------------

double farthest_vertex(const ConvexSet& set) {
  double largest = 0.0;
  for (Eigen::Index i = 0; i < set.core.vertices.rows(); ++i)
    largest = std::max(largest, set.core.vertices.row(i).squaredNorm());
  return std::sqrt(largest);
}

Core core_of(const Shape& shape, const char* name) {
  if (!has_core(shape))
    throw InputError(name,
                     "proximity is for cores padded by a ball (sphere, capsule, padded_polygon, box, polytope, "
                     "rounded_polytope), got " +
                         std::string(shape.type_name()));
  Core core;
  core.set = shape.parts().front().set;
  const ConvexSet& set = *core.set;
  core.first_column = kAuxColumn;
  if (const auto* sphere = shape.get_if<Sphere>()) {
    core.radius = sphere->radius;
  } else if (const auto* capsule = shape.get_if<Capsule>()) {
    core.dimension = 1;
    core.radius = capsule->radius;
    core.size = 0.5 * capsule->length;
  } else if (const auto* polygon = shape.get_if<PaddedPolygon>()) {
    core.dimension = 2;
    core.radius = polygon->radius;
    core.size = farthest_vertex(set);
  } else {
    core.dimension = 3;
    if (const auto* rounded = shape.get_if<RoundedPolytope>()) {
      core.radius = rounded->radius;
      core.size = farthest_vertex(set);
    } else {
      core.first_column = 0;
      core.size = set.outer_radius;
    }
  }
  return core;
}

/// Whether the active set answers; throws if it was asked for and cannot.
bool use_active_set(const ProximityOptions& options, const Core& A, const Core& B) {
  const bool possible = A.dimension <= 1 && B.dimension <= 1 && options.smoothing == 0.0;
  if (options.method == ProximityMethod::active_set && !possible)
    throw InputError("options.method", options.smoothing > 0.0
                                           ? "the active set has no smoothing: use the interior point"
                                           : "the active set is for spheres and capsules only: use the interior point");
  return possible && options.method != ProximityMethod::interior_point;
}

// the quadratic program
// ---------------------------------------------------------------------------------------------------------------------

void write_rows(const Core& core, double unit, int first_row, int first_variable, QpProblem& problem) {
  const MatrixX& S = core.set->rows.matrix();
  const int n = problem.num_variables();
  double* G = problem.G().data() + n * first_row;
  double* h = problem.h().data() + first_row;
  for (int i = 0; i < core.num_rows(); ++i, G += n) {
    std::fill(G, G + n, 0.0);
    for (int k = 0; k < core.dimension; ++k) G[first_variable + k] = -S(i, core.first_column + k);
    h[i] = S(i, kAlphaColumn) / unit;
  }
}

void write_problem(ProximityWorkspace::Data& data, const Vector3& f) {
  const Core& A = data.core_A;
  const Core& B = data.core_B;
  QpProblem& problem = data.problem;
  problem.resize(A.dimension + B.dimension, A.num_rows() + B.num_rows());
  auto Q = problem.Q();
  auto q = problem.q();
  const Vector3 f_B = data.R_AB.transpose() * f;
  Q.setIdentity();
  for (int i = 0; i < A.dimension; ++i) {
    q[i] = f[i];
    for (int j = 0; j < B.dimension; ++j) Q(i, A.dimension + j) = Q(A.dimension + j, i) = -data.R_AB(i, j);
  }
  for (int j = 0; j < B.dimension; ++j) q[A.dimension + j] = -f_B[j];
  problem.constant = 0.5 * f.squaredNorm();
  write_rows(A, data.unit, 0, 0, problem);
  write_rows(B, data.unit, A.num_rows(), A.dimension, problem);
}

void solve(const ProximityOptions& options, double smoothing_length, const Vector3& f, ProximityWorkspace::Data& data) {
  QpSolution& solution = data.solver.solution();
  const double far = std::max(1.0, f.norm());
  if (use_active_set(options, data.core_A, data.core_B)) {
    solve_active_set_2d(data.problem, solution, kNoise * far);
    data.sensitivity.linearise(data.problem, solution, false);
    return;
  }
  const double kappa = options.smoothing * std::pow(smoothing_length / data.unit, 2);
  QpOptions qp{.gap_tolerance = 0.5 * options.tolerance,
               .gap_floor = kFirstFloor,
               .gap_ceiling = 0.5 * options.tolerance * far,
               .residual_tolerance = kResidual,
               .max_iterations = options.max_iterations,
               .kappa = kappa};
  for (const double floor : {kFirstFloor, kLastFloor}) {
    qp.gap_floor = floor;
    (void)data.solver.solve(data.problem, qp);
    data.sensitivity.linearise(data.problem, solution, data.smoothed);
    if (data.smoothed) return;
    if (data.sensitivity.refine(solution)) {
      solution.status = QpStatus::solved;
      return;
    }
    // cores that nearly cross: to the end
    if (qp.gap_tolerance * solution.objective > floor) return;
  }
}

// the answer
// ---------------------------------------------------------------------------------------------------------------------

ProximityStatus to_proximity_status(QpStatus status) {
  switch (status) {
    case QpStatus::solved:
      return ProximityStatus::solved;
    case QpStatus::iteration_limit:
      return ProximityStatus::iteration_limit;
    default:
      return ProximityStatus::numerical_limit;
  }
}

/// Closest points, v and the normal from the solution.
void place(ProximityWorkspace::Data& data, const Vector3& p_AB, int n) {
  data.w_A.setZero();
  data.w_B.setZero();
  if (n > 0) {
    const auto x = data.solver.solution().x();
    for (int k = 0; k < data.core_A.dimension; ++k) data.w_A[k] = data.unit * x[k];
    for (int k = 0; k < data.core_B.dimension; ++k) data.w_B[k] = data.unit * x[data.core_A.dimension + k];
  }
  data.v = data.w_A - p_AB - data.R_AB * data.w_B;
  data.distance = data.v.norm();
  data.crossing = data.distance <= kTouch * (n > 0 ? data.unit : data.padding());
  if (!data.crossing) {
    data.normal = data.X_WA.R * (-data.v / data.distance);
    return;
  }
  data.v.setZero();
  data.distance = 0.0;
  const double apart = p_AB.norm();
  data.normal = apart > kTouch * data.unit ? Vector3(data.X_WA.R * (p_AB / apart)) : Vector3(Vector3::UnitX());
}

/// How far the points are apart beyond what the normal proves that the shapes are.
double unproved(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB, const Proximity& r) {
  const Vector3 n_A = X_WA.R.transpose() * r.normal;
  const Vector3 n_B = X_WB.R.transpose() * -r.normal;
  const double proved = r.normal.dot(X_WB.p - X_WA.p) - n_A.dot(support(A, n_A)) - n_B.dot(support(B, n_B));
  return std::max(r.normal.dot(r.p_B - r.p_A) - proved, 0.0);
}

}  // namespace

std::string_view to_string(ProximityStatus status) {
  switch (status) {
    case ProximityStatus::solved:
      return "solved";
    case ProximityStatus::iteration_limit:
      return "iteration_limit";
    case ProximityStatus::numerical_limit:
      return "numerical_limit";
  }
  return "unknown";
}

void ProximityOptions::verify() const {
  if (!(tolerance >= 1e-14 && tolerance <= 1e-2))
    throw InputError("options.tolerance", "must be between 1e-14 and 1e-2, got " + internal::to_text(tolerance));
  if (max_iterations < 1)
    throw InputError("options.max_iterations", "must be at least 1, got " + std::to_string(max_iterations));
  if (!(smoothing == 0.0 || (smoothing >= kSmallestSmoothing && smoothing <= kLargestSmoothing)))
    throw InputError("options.smoothing", "must be 0 or between 1e-12 and 0.1, got " + internal::to_text(smoothing));
  if (!(smoothing_length == 0.0 || (smoothing_length >= 1e-30 && smoothing_length <= 1e30)))
    throw InputError("options.smoothing_length",
                     "must be 0 or between 1e-30 and 1e30, got " + internal::to_text(smoothing_length));
}

ProximityWorkspace::ProximityWorkspace() : data_("ProximityWorkspace", std::make_unique<Data>()) {}
ProximityWorkspace::~ProximityWorkspace() = default;
ProximityWorkspace::ProximityWorkspace(ProximityWorkspace&&) noexcept = default;
ProximityWorkspace& ProximityWorkspace::operator=(ProximityWorkspace&&) noexcept = default;

ProximityWorkspace::Data& queried(ProximityWorkspace& workspace) {
  if (!workspace.data().has_query) throw InputError("workspace", "holds no query whose derivatives could be given");
  return workspace.data();
}

bool has_core(const Shape& shape) {
  return shape.get_if<Sphere>() != nullptr || shape.get_if<Capsule>() != nullptr ||
         shape.get_if<PaddedPolygon>() != nullptr || shape.get_if<Box>() != nullptr ||
         shape.get_if<Polytope>() != nullptr || shape.get_if<RoundedPolytope>() != nullptr;
}

Proximity proximity(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB, const ProximityOptions& options,
                    ProximityWorkspace& workspace) {
  options.verify();
  require_pose(X_WA, "X_WA");
  require_pose(X_WB, "X_WB");
  ProximityWorkspace::Data& data = workspace.data();
  data.has_query = false;
  data.core_A = core_of(A, "A");
  data.core_B = core_of(B, "B");
  (void)use_active_set(options, data.core_A, data.core_B);
  data.X_WA = X_WA;
  data.X_WB = X_WB;
  data.R_AB = X_WA.R.transpose() * X_WB.R;
  const Vector3 p_AB = X_WA.R.transpose() * (X_WB.p - X_WA.p);

  // two points leave nothing to solve, and nothing to smooth
  const int n = data.num_variables();
  data.smoothed = options.smoothing > 0.0 && n > 0;
  data.unit = n > 0 ? data.core_A.size + data.core_B.size : data.padding();
  if (n > 0) {
    const double reach = data.core_A.set->outer_radius + data.core_B.set->outer_radius;
    write_problem(data, -p_AB / data.unit);
    solve(options, options.smoothing_length > 0.0 ? options.smoothing_length : reach, -p_AB / data.unit, data);
  }
  place(data, p_AB, n);
  data.has_query = true;

  const QpSolution& solution = data.solver.solution();
  const double distance = data.distance;
  const double padding = data.padding();
  Proximity r;
  r.status = n > 0 ? to_proximity_status(solution.status) : ProximityStatus::solved;
  r.phi = (distance - padding) * (distance + padding);
  r.core_distance = distance;
  r.normal = data.normal;
  r.c_A = X_WA * data.w_A;
  r.c_B = X_WB * data.w_B;
  r.p_A = r.c_A + data.core_A.radius * r.normal;
  r.p_B = r.c_B - data.core_B.radius * r.normal;
  r.crossing = data.crossing;
  r.point_freedom = n > 0 ? data.sensitivity.freedom() : 0;
  r.iterations = n > 0 ? solution.iterations : 0;
  r.gap = n > 0 && !data.crossing ? 2.0 * solution.gap * std::pow(data.unit / distance, 2) : 0.0;
  if (r.status == ProximityStatus::numerical_limit && !data.smoothed && !data.crossing) {
    // parallel cores, whose multipliers rounding keeps from settling: the answer may be proved without them
    const double gap = 2.0 * unproved(A, X_WA, B, X_WB, r) / distance;
    if (gap <= options.tolerance) {
      r.status = ProximityStatus::solved;
      r.gap = gap;
    }
  }
  return r;
}

}  // namespace tangere
