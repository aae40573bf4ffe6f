#include "tangere/contact/scene/contact_frame.hpp"

#include <cmath>

#include <Eigen/Geometry>

#include "tangere/math/so3.hpp"

namespace tangere {
namespace {

bool is_flat(const ContactFeature& feature) {
  return feature.kind == FeatureKind::face || feature.kind == FeatureKind::plane;
}

/// The direction the tangents follow: x, or y where the normal comes near x.
Vector3 reference(const Vector3& normal, const Matrix3& R_WO) {
  return std::abs(normal.dot(R_WO.col(0))) <= 0.8 ? R_WO.col(0) : R_WO.col(1);
}

/// From the tangents of two shapes' poses to twists of their bodies about the point x: the shape's origin r moves by
/// v + w × (r − x) and turns by Rᵀ w.
template <class Rows>
Rows in_twists(const Rows& in_poses, const Pose& X_WA, const Pose& X_WB, const Vector3& x) {
  Rows out;
  for (int k = 0; k < 2; ++k) {
    const Pose& X = k == 0 ? X_WA : X_WB;
    const auto translation = in_poses.template middleCols<3>(6 * k);
    out.template middleCols<3>(6 * k) = translation;
    out.template middleCols<3>(6 * k + 3) =
        in_poses.template middleCols<3>(6 * k + 3) * X.R.transpose() - translation * so3::hat(X.p - x);
  }
  return out;
}

}  // namespace

NormalOwner normal_owner(const ContactFeature& feature_A, const ContactFeature& feature_B) {
  return !is_flat(feature_A) && is_flat(feature_B) ? NormalOwner::B : NormalOwner::A;
}

Vector3 frame_turn(const Matrix3& frame, const Matrix3& R_WO, const Vector3& dn) {
  const Vector3 n = frame.col(0);
  const double along = n.dot(reference(n, R_WO));
  return n.cross(dn) - (along / std::sqrt(1.0 - along * along)) * frame.col(2).dot(dn) * n;
}

Matrix3 contact_frame(const Vector3& normal, const Matrix3& R_WO) {
  const Vector3 a = reference(normal, R_WO);
  Matrix3 D;
  D.col(0) = normal;
  D.col(1) = (a - normal * normal.dot(a)).normalized();
  D.col(2) = normal.cross(D.col(1));
  return D;
}

FrameMotion frame_motion(const ContactPoint& point, const ContactJacobian& jacobian, const Pose& X_WA, const Pose& X_WB,
                         const Matrix3& frame, const Matrix3& R_WO, NormalOwner owner) {
  const int first = owner == NormalOwner::A ? 0 : 6;
  Matrix3x12 rho = Matrix3x12::Zero();
  rho.block<3, 3>(0, first + 3).setIdentity();
  if (!jacobian.exists) {
    FrameMotion rigid;
    rigid.point.setZero();
    rigid.point.block<3, 3>(0, first).setIdentity();
    rigid.rotation = rho;
    rigid.exists = false;
    rigid.distance << -frame.col(0), Vector3::Zero(), frame.col(0), Vector3::Zero();
    return rigid;
  }

  FrameMotion motion;
  motion.point = in_twists(jacobian.point, X_WA, X_WB, point.point);
  const Eigen::Matrix<double, 1, 12> distance = jacobian.distance.transpose();
  motion.distance = in_twists(distance, X_WA, X_WB, point.point).transpose();
  const Vector3 n = frame.col(0);
  const Vector3 a = reference(n, R_WO);
  const double along = n.dot(a);
  const double across = std::sqrt(1.0 - along * along);
  Matrix3x12 turned = in_twists(jacobian.normal, X_WA, X_WB, point.point);
  turned.block<3, 3>(0, first + 3) += so3::hat(n);  // − ρ × n
  motion.rotation = rho + so3::hat(n) * turned - (along / across) * n * (frame.col(2).transpose() * turned);
  return motion;
}

}  // namespace tangere
