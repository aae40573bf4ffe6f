#pragma once

/// A posed convex part in a manifold query, and how what is fixed to it moves. Private to the manifold.

#include "tangere/geometry/support_terms.hpp"
#include "tangere/math/se3.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/proximity/manifold/manifold_features.hpp"

namespace tangere::internal {

struct ManifoldBody {
  const SupportTerms* terms;
  /// The part's pose.
  Pose X;
  /// The pose of the whole shape: the tangent is that of this one.
  Pose X_body;
  /// First column of the tangent: 0 for A, 6 for B.
  int column;

  /// d(point fixed to the body) / d(poses).
  [[nodiscard]] Matrix3x12 point_rate(const Vector3& p) const {
    Matrix3x12 rate = direction_rate(p - X_body.p);
    rate.block<3, 3>(0, column).setIdentity();
    return rate;
  }
  /// d(vector fixed to the body) / d(poses).
  [[nodiscard]] Matrix3x12 direction_rate(const Vector3& v) const {
    Matrix3x12 rate = Matrix3x12::Zero();
    rate.block<3, 3>(0, column + 3) = -so3::hat(v) * X_body.R;
    return rate;
  }
  /// d(p) / d(poses) of a point p that depends on a world direction by dp/d(direction) = H; `turn` is the direction's
  /// own derivative.
  [[nodiscard]] Matrix3x12 smooth_rate(const Vector3& p, const Matrix3& H, const Vector3& direction,
                                       const Matrix3x12& turn) const {
    return point_rate(p) + H * (turn - direction_rate(direction));
  }

  /// A corner for the world direction n, in world axes, and its derivative in n.
  [[nodiscard]] Vector3 point(const Corner& corner, const Vector3& n) const {
    return X * corner_point(*terms, corner, X.R.transpose() * n);
  }
  [[nodiscard]] Matrix3 hessian(const Corner& corner, const Vector3& n) const {
    return X.R * corner_hessian(*terms, corner, X.R.transpose() * n) * X.R.transpose();
  }
  /// The same for a corner of a feature: along the feature's own normal.
  [[nodiscard]] Vector3 point(const Feature& feature, int i) const {
    return X * corner_point(*terms, feature.corners[i], feature.m);
  }
  [[nodiscard]] Matrix3 hessian(const Feature& feature, int i) const {
    const Matrix3 H = corner_hessian(*terms, feature.corners[i], feature.m);
    return X.R * (H * feature.dm_dn) * X.R.transpose();
  }
  [[nodiscard]] double support(const Vector3& n) const {
    return support_value(*terms, X.R.transpose() * n) + (terms->half_space ? 0.0 : 1.0) * n.dot(X.p);
  }
};

}  // namespace tangere::internal
