#include "tangere/proximity/manifold/internal/manifold_stationary.hpp"

#include <cmath>
#include <limits>

#include <Eigen/LU>

namespace tangere::internal {
namespace {

/// n, φ / size, t_A, t_B; a t that is not free has a row and column of the identity.
using System = Eigen::Matrix<double, 6, 6>;
using Unknowns = Eigen::Matrix<double, 6, 1>;

constexpr int kMaxIterations = 12;
constexpr double kConverged = 1e-13;
/// In units of the coordinates.
constexpr double kRounding = 1e-15;

double reach(const StationarySide& side) { return side.body->X.p.norm() + side.body->terms->outer_radius; }
constexpr double kLongestStep = 0.3;
/// Below this reciprocal condition the derivatives do not exist.
constexpr double kSingular = 1e-11;

/// One side along its own outward direction.
struct SideState {
  Vector3 p;
  Vector3 d = Vector3::Zero();
  Matrix3 H;

  SideState(const StationarySide& side, const Vector3& direction, double t) {
    p = side.body->point(side.corners[0], direction);
    H = side.body->hessian(side.corners[0], direction);
    if (side.count == 1) return;
    d = side.body->point(side.corners[1], direction) - p;
    p += t * d;
    H = (1.0 - t) * H + t * side.body->hessian(side.corners[1], direction);
  }
};

System system_matrix(const SideState& A, const SideState& B, bool free_A, bool free_B, const Vector3& n,
                     double distance, double size) {
  System K = System::Zero();
  K.topLeftCorner<3, 3>() = -(A.H + B.H) / size;
  K.diagonal().head<3>().array() -= distance / size;
  K.block<3, 1>(0, 3) = K.block<1, 3>(3, 0).transpose() = -n;
  K(4, 4) = free_A ? 0.0 : 1.0;
  K(5, 5) = free_B ? 0.0 : 1.0;
  if (free_A) K.block<3, 1>(0, 4) = K.block<1, 3>(4, 0).transpose() = -A.d / size;
  if (free_B) K.block<3, 1>(0, 5) = K.block<1, 3>(5, 0).transpose() = B.d / size;
  return K;
}

}  // namespace

Stationary solve_stationary(const StationarySide& A, const StationarySide& B, const Vector3& n, double size) {
  Stationary r;
  r.n = n;
  r.t_A = A.t;
  r.t_B = B.t;
  {
    const SideState a(A, n, r.t_A);
    const SideState b(B, -n, r.t_B);
    r.distance = n.dot(b.p - a.p);
  }
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    const SideState a(A, r.n, r.t_A);
    const SideState b(B, -r.n, r.t_B);
    Unknowns residual;
    residual.head<3>() = (b.p - a.p - r.distance * r.n) / size;
    residual[3] = 0.5 * (1.0 - r.n.squaredNorm());
    residual[4] = A.free ? -r.n.dot(a.d) / size : 0.0;
    residual[5] = B.free ? r.n.dot(b.d) / size : 0.0;
    r.p_A = a.p;
    r.p_B = b.p;
    // flat features turn the rounding of n into much of p
    const double rounding = kRounding * (reach(A) + reach(B) + a.H.norm() + b.H.norm()) / size;
    if (residual.cwiseAbs().maxCoeff() <= kConverged + rounding) {
      r.converged = true;
      break;
    }
    const System K = system_matrix(a, b, A.free, B.free, r.n, r.distance, size);
    Unknowns step = -K.partialPivLu().solve(residual);
    if (!step.allFinite()) break;
    const double turn = step.head<3>().norm();
    if (turn > kLongestStep) step *= kLongestStep / turn;
    r.n = (r.n + step.head<3>()).normalized();
    r.distance += size * step[3];
    r.t_A += A.free ? step[4] : 0.0;
    r.t_B += B.free ? step[5] : 0.0;
  }
  return r;
}

StationaryJacobian stationary_jacobian(const StationarySide& A, const StationarySide& B, const Stationary& solution,
                                       double size) {
  const Vector3& n = solution.n;
  const SideState a(A, n, solution.t_A);
  const SideState b(B, -n, solution.t_B);
  const System K = system_matrix(a, b, A.free, B.free, n, solution.distance, size);
  const Eigen::FullPivLU<System> lu(K);
  StationaryJacobian J;
  J.exists = std::abs(lu.matrixLU()(5, 5)) > kSingular * lu.maxPivot();
  if (!J.exists) return J;

  // how the equations change with the poses, the unknowns held
  const Matrix3x12 held = Matrix3x12::Zero();
  const Matrix3x12 p_A = A.body->smooth_rate(a.p, a.H, n, held);
  const Matrix3x12 p_B = B.body->smooth_rate(b.p, b.H, -n, held);
  Eigen::Matrix<double, 6, 12> rhs = Eigen::Matrix<double, 6, 12>::Zero();
  rhs.topRows<3>() = (p_A - p_B) / size;
  if (A.free) rhs.row(4) = n.transpose() * A.body->direction_rate(a.d) / size;
  if (B.free) rhs.row(5) = -n.transpose() * B.body->direction_rate(b.d) / size;
  const Eigen::Matrix<double, 6, 12> rates = lu.solve(rhs);

  J.n = rates.topRows<3>();
  J.distance = size * rates.row(3).transpose();
  J.p_A = p_A + a.H * J.n;
  J.p_B = p_B - b.H * J.n;
  if (A.free) J.p_A += a.d * rates.row(4);
  if (B.free) J.p_B += b.d * rates.row(5);
  return J;
}

}  // namespace tangere::internal
