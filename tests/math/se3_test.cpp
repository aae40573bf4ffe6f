#include "tangere/math/se3.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/math/so3.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere {
namespace {

using std::numbers::pi;

Vector6 twist(const Vector3& linear, const Vector3& angular) {
  Vector6 xi;
  xi << linear, angular;
  return xi;
}

Pose random_pose(Random& random) {
  const Matrix3 R = random.rotation();
  return {R, random.normal3()};
}

// the homogeneous 4 x 4 matrix of a pose
Matrix4 matrix(const Pose& X) {
  Matrix4 M = Matrix4::Identity();
  M.topLeftCorner<3, 3>() = X.R;
  M.topRightCorner<3, 1>() = X.p;
  return M;
}

// twists with rotations of every size up to a half turn and translations of unit order
std::vector<Vector6> twists() {
  Random random(21);
  std::vector<Vector6> xis{Vector6::Zero(), twist(random.normal3(), Vector3::Zero())};
  for (double angle : {1e-300, 1e-100, 1e-16, 1e-12, 1e-8, 1e-5, 1e-3, 0.1, 0.999, 1.001, 1.999, 2.001, 3.0, pi - 1e-3,
                       pi - 1e-7, pi - 1e-9}) {
    for (int i = 0; i < 4; ++i) {
      const Vector3 axis = i < 3 ? Vector3(Vector3::Unit(i)) : random.unit_vector();
      xis.push_back(twist(random.normal3(), angle * axis));
    }
  }
  return xis;
}

TEST(Pose, ComposesAndInvertsAsMatrices) {
  Random random(1);
  for (int i = 0; i < 50; ++i) {
    const Pose X = random_pose(random);
    const Pose Y = random_pose(random);
    const Vector3 point = random.normal3();
    EXPECT_NEAR_ABSOLUTE(matrix(X * Y), matrix(X) * matrix(Y), 1e-14);
    EXPECT_NEAR_ABSOLUTE(matrix(X * X.inverse()), Matrix4::Identity(), 1e-14);
    EXPECT_NEAR_ABSOLUTE(X * (Y * point), (X * Y) * point, 1e-14);
    EXPECT_NEAR_ABSOLUTE(matrix(Pose::translation(X.p) * Pose::rotation(X.R)), matrix(X), 0.0);
  }
}

TEST(Pose, QuaternionRoundTrip) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    const Pose X = random_pose(random);
    const Vector4 q = X.quaternion();
    EXPECT_GE(q[3], 0.0);
    EXPECT_NEAR(q.norm(), 1.0, 1e-15);
    EXPECT_NEAR_ABSOLUTE(matrix(Pose::from_quaternion(X.p, q[0], q[1], q[2], q[3])), matrix(X), 1e-14);
    EXPECT_NEAR_ABSOLUTE(matrix(Pose::from_quaternion(X.p, -q[0], -q[1], -q[2], -q[3])), matrix(X), 1e-14);
  }
}

TEST(Pose, QuaternionOrderIsXyzw) {
  const double c = std::cos(pi / 6);
  const double s = std::sin(pi / 6);
  const Pose X = Pose::from_quaternion(Vector3::Zero(), s, 0, 0, c);
  EXPECT_NEAR_ABSOLUTE(X.R, so3::exp(Vector3(pi / 3, 0, 0)), 1e-15);
  EXPECT_NEAR_ABSOLUTE(X.quaternion(), Vector4(s, 0, 0, c), 1e-15);
}

TEST(Pose, AlmostUnitQuaternionIsNormalised) {
  const double scale = 1.0 + 5e-7;
  const Pose X = Pose::from_quaternion(Vector3::Zero(), 0, 0.6 * scale, 0, 0.8 * scale);
  EXPECT_NEAR_ABSOLUTE(X.R * X.R.transpose(), Matrix3::Identity(), 1e-15);
}

TEST(Pose, WrongInputNamesTheField) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const Vector3 origin = Vector3::Zero();
  const auto field = [](const Vector3& p, const Vector4& q) -> std::string {
    try {
      (void)Pose::from_quaternion(p, q[0], q[1], q[2], q[3]);
    } catch (const InputError& error) {
      return error.field();
    }
    return "accepted";
  };
  EXPECT_EQ(field(origin, Vector4(0, 0, 0, 1)), "accepted");
  EXPECT_EQ(field(origin, Vector4(0, 0, 0, 0)), "quaternion");
  EXPECT_EQ(field(origin, Vector4(0, 0, 0, 1.001)), "quaternion");
  EXPECT_EQ(field(origin, Vector4(0, 0, nan, 1)), "quaternion");
  EXPECT_EQ(field(origin, Vector4(infinity, 0, 0, 1)), "quaternion");
  EXPECT_EQ(field(Vector3(0, nan, 0), Vector4(0, 0, 0, 1)), "position");
  EXPECT_EQ(field(Vector3(0, 0, infinity), Vector4(0, 0, 0, 1)), "position");
}

TEST(Pose, PerturbedMovesInWorldAxesAndTurnsInTheBody) {
  Random random(3);
  const Pose X = random_pose(random);
  const Vector6 tangent = twist(random.normal3(), random.normal3());
  const Pose moved = X.perturbed(tangent);
  EXPECT_NEAR_ABSOLUTE(moved.p, X.p + tangent.head<3>(), 1e-15);
  EXPECT_NEAR_ABSOLUTE(moved.R, X.R * so3::exp(tangent.tail<3>()), 1e-15);
}

TEST(Se3, ExpIsTheMatrixExponential) {
  // by repeated squaring of a short Taylor series
  for (const Vector6& xi : twists()) {
    Eigen::Matrix4d A = Eigen::Matrix4d::Zero();
    A.topLeftCorner<3, 3>() = so3::hat(xi.tail<3>());
    A.topRightCorner<3, 1>() = xi.head<3>();
    A *= 0x1p-6;
    Eigen::Matrix4d power = Eigen::Matrix4d::Identity();
    Eigen::Matrix4d sum = power;
    for (int k = 1; k < 16; ++k) {
      power = power * A / k;
      sum += power;
    }
    for (int k = 0; k < 6; ++k) sum = sum * sum;
    EXPECT_NEAR_ABSOLUTE(matrix(se3::exp(xi)), sum, 1e-13);
  }
}

TEST(Se3, LogInvertsExp) {
  for (const Vector6& xi : twists()) {
    EXPECT_NEAR_ABSOLUTE(se3::log(se3::exp(xi)), xi, 5e-14);
    EXPECT_NEAR_ABSOLUTE(matrix(se3::exp(-xi)), matrix(se3::exp(xi).inverse()), 5e-15);
  }
}

TEST(Se3, LogIsRelativelyExactForSmallMotions) {
  Random random(4);
  for (double size : {1e-200, 1e-16, 1e-12, 1e-8, 1e-4}) {
    const Vector6 xi = size * twist(random.normal3(), random.normal3());
    EXPECT_NEAR_RELATIVE(se3::log(se3::exp(xi)), xi, 1e-14);
  }
}

TEST(Se3, ExpInvertsLog) {
  Random random(5);
  for (int i = 0; i < 500; ++i) {
    const Pose X = random_pose(random);
    EXPECT_NEAR_ABSOLUTE(matrix(se3::exp(se3::log(X))), matrix(X), 1e-13);
  }
}

TEST(Se3, AdjointIdentities) {
  Random random(6);
  for (int i = 0; i < 50; ++i) {
    const Pose X = random_pose(random);
    const Pose Y = random_pose(random);
    const Vector6 xi = twist(random.normal3(), random.normal3());
    EXPECT_NEAR_ABSOLUTE(se3::adjoint(X * Y), se3::adjoint(X) * se3::adjoint(Y), 1e-13);
    EXPECT_NEAR_ABSOLUTE(se3::adjoint(X.inverse()) * se3::adjoint(X), Matrix6::Identity(), 1e-13);
    // X exp(ξ) X⁻¹ = exp(Ad_X ξ)
    EXPECT_NEAR_ABSOLUTE(matrix(X * se3::exp(xi) * X.inverse()), matrix(se3::exp(se3::adjoint(X) * xi)), 1e-12);
  }
}

TEST(Se3, SmallAdjointIsTheDerivativeOfAdjoint) {
  Random random(7);
  const Vector6 xi = twist(random.normal3(), random.normal3());
  const Vector6 eta = twist(random.normal3(), random.normal3());
  const auto f = [&](const VectorX& t) -> VectorX { return se3::adjoint(se3::exp(t[0] * xi)) * eta; };
  EXPECT_NEAR_RELATIVE(se3::small_adjoint(xi) * eta, test::finite_difference(f, 1, 6), 1e-11);
}

TEST(Se3, SmallAdjointIsALieBracket) {
  Random random(8);
  const Vector6 a = twist(random.normal3(), random.normal3());
  const Vector6 b = twist(random.normal3(), random.normal3());
  const Matrix6 A = se3::small_adjoint(a);
  const Matrix6 B = se3::small_adjoint(b);
  EXPECT_NEAR_ABSOLUTE(A * b, -B * a, 1e-14);
  EXPECT_NEAR_ABSOLUTE(se3::small_adjoint(A * b), A * B - B * A, 1e-13);
}

TEST(Se3, RightJacobianAgainstFiniteDifferences) {
  for (const Vector6& xi : twists()) {
    const Pose inverse = se3::exp(xi).inverse();
    const auto f = [&](const VectorX& d) -> VectorX { return se3::log(inverse * se3::exp(xi + d)); };
    EXPECT_NEAR_ABSOLUTE(se3::right_jacobian(xi), test::finite_difference(f, 6, 6, 0.5), 1e-10);
  }
}

TEST(Se3, RightJacobianInverseAgainstFiniteDifferences) {
  for (const Vector6& xi : twists()) {
    // log jumps at a half turn
    if (xi.tail<3>().norm() > 3.0) continue;
    const Pose X = se3::exp(xi);
    const auto f = [&](const VectorX& d) -> VectorX { return se3::log(X * se3::exp(d)); };
    EXPECT_NEAR_ABSOLUTE(se3::right_jacobian_inverse(xi), test::finite_difference(f, 6, 6, 0.1), 1e-10);
  }
}

TEST(Se3, RightJacobianTimesItsInverse) {
  for (const Vector6& xi : twists()) {
    EXPECT_NEAR_ABSOLUTE(se3::right_jacobian(xi) * se3::right_jacobian_inverse(xi), Matrix6::Identity(), 5e-14);
  }
}

TEST(Se3, LeftJacobianIsTheRightOneMoved) {
  for (const Vector6& xi : twists()) {
    EXPECT_NEAR_ABSOLUTE(se3::right_jacobian(-xi), se3::adjoint(se3::exp(xi)) * se3::right_jacobian(xi), 2e-14);
  }
}

}  // namespace
}  // namespace tangere
