/// Each kind of point differentiates what defines it; `d` before a name is its derivative, a 3 x 12 matrix or a row of
/// 12. Points on lines and edges that turn with the normal take its derivative along.

#include "tangere/proximity/manifold/internal/manifold_derivatives.hpp"

namespace tangere::internal {
namespace {

using Row12 = Eigen::Matrix<double, 1, 12>;

/// A corner of a feature seen along `direction`, and its derivative.
struct MovingPoint {
  Vector3 p;
  Matrix3x12 dp;

  MovingPoint(const ManifoldBody& body, const Feature& feature, int i, const Vector3& direction,
              const Matrix3x12& turn) {
    p = body.point(feature, i);
    dp = body.smooth_rate(p, body.hessian(feature, i), direction, turn);
  }
};

struct Rates {
  const Patch& patch;
  const Matrix3x12& dN;

  [[nodiscard]] MovingPoint incident(int i) const {
    return {*patch.incident, *patch.incident_feature, i % patch.incident_feature->count, -patch.N, -dN};
  }
  [[nodiscard]] MovingPoint reference(int j) const {
    return {*patch.reference, *patch.reference_feature, j % patch.reference_feature->count, patch.N, dN};
  }

  /// p_R = p_I - (N · (p_I - q_R)) N
  void set_foot(const PatchPoint& point, PatchJacobian& J) const {
    const Row12 d_distance = (point.p_I - patch.q_R).transpose() * dN +
                             patch.N.transpose() * (J.p_I - patch.reference->point_rate(patch.q_R));
    J.p_R = J.p_I - patch.N * d_distance - point.distance * dN;
  }

  void incident_corner(const PatchPoint& point, PatchJacobian& J) const {
    J.p_I = incident(point.i).dp;
    set_foot(point, J);
  }

  /// p_I = p_R + λ N with m · (q_I - p_I) = 0
  void reference_corner(const PatchPoint& point, PatchJacobian& J) const {
    const Vector3 m = patch.incident->X.R * patch.incident_feature->m;
    const Matrix3x12 dm = patch.incident->direction_rate(m);
    const Vector3 q = patch.incident->point(*patch.incident_feature, 0);
    const Matrix3x12 dq = patch.incident->point_rate(q);
    J.p_R = reference(point.j).dp;
    const Row12 d_lambda =
        ((q - point.p_I).transpose() * dm + m.transpose() * (dq - J.p_R - point.distance * dN)) / m.dot(patch.N);
    J.p_I = J.p_R + patch.N * d_lambda + point.distance * dN;
  }

  /// p_I = b₀ + t (b₁ - b₀) with k · (p_I - a) = 0, k = e × N across the reference edge
  void crossing(const PatchPoint& point, PatchJacobian& J) const {
    const MovingPoint b0 = incident(point.i);
    const MovingPoint b1 = incident(point.i + 1);
    const MovingPoint a0 = reference(point.j);
    const MovingPoint a1 = reference(point.j + 1);
    const Vector3 k = (a1.p - a0.p).cross(patch.N);
    const Matrix3x12 dk = patch.reference->direction_rate(k);
    const Vector3 b = b1.p - b0.p;
    const Matrix3x12 held = (1.0 - point.t) * b0.dp + point.t * b1.dp;
    const Row12 dt = -((point.p_I - a0.p).transpose() * dk + k.transpose() * (held - a0.dp)) / k.dot(b);
    J.p_I = held + b * dt;
    set_foot(point, J);
  }

  /// p_R = a₀ + t a with a · (p_I - p_R) = 0
  void incident_end(const PatchPoint& point, PatchJacobian& J) const {
    const MovingPoint a0 = reference(0);
    const MovingPoint a1 = reference(1);
    const Vector3 a = a1.p - a0.p;
    J.p_I = incident(point.i).dp;
    const Matrix3x12 held = (1.0 - point.t) * a0.dp + point.t * a1.dp;
    const Row12 dt =
        ((point.p_I - point.p_R).transpose() * (a1.dp - a0.dp) + a.transpose() * (J.p_I - held)) / a.squaredNorm();
    J.p_R = held + a * dt;
  }

  /// p_I = b₀ + t b with a · (p_I - p_R) = 0
  void reference_end(const PatchPoint& point, PatchJacobian& J) const {
    const MovingPoint a0 = reference(0);
    const MovingPoint a1 = reference(1);
    const MovingPoint b0 = incident(0);
    const MovingPoint b1 = incident(1);
    const Vector3 a = a1.p - a0.p;
    const Vector3 b = b1.p - b0.p;
    J.p_R = point.j == 0 ? a0.dp : a1.dp;
    const Matrix3x12 held = (1.0 - point.t) * b0.dp + point.t * b1.dp;
    const Row12 dt =
        -((point.p_I - point.p_R).transpose() * (a1.dp - a0.dp) + a.transpose() * (held - J.p_R)) / a.dot(b);
    J.p_I = held + b * dt;
  }
};

}  // namespace

bool patch_normal_rate(const Patch& patch, double size, Matrix3x12& rate) {
  if (patch.reference_feature->dimension == 2) {
    rate = patch.reference->direction_rate(patch.N);
    return true;
  }
  const StationaryJacobian middle = stationary_jacobian(patch.side_R, patch.side_I, patch.middle, size);
  rate = middle.n;
  return middle.exists;
}

PatchJacobian patch_jacobian(const Patch& patch, const PatchPoint& point, const Matrix3x12& N_rate) {
  PatchJacobian J;
  J.N = N_rate;
  const Rates rates{patch, J.N};
  switch (point.kind) {
    case PatchPoint::Kind::incident_corner:
      rates.incident_corner(point, J);
      break;
    case PatchPoint::Kind::reference_corner:
      rates.reference_corner(point, J);
      break;
    case PatchPoint::Kind::crossing:
      rates.crossing(point, J);
      break;
    case PatchPoint::Kind::incident_end:
      rates.incident_end(point, J);
      break;
    case PatchPoint::Kind::reference_end:
      rates.reference_end(point, J);
      break;
  }
  J.distance = ((point.p_I - point.p_R).transpose() * J.N + patch.N.transpose() * (J.p_I - J.p_R)).transpose();
  return J;
}

}  // namespace tangere::internal
