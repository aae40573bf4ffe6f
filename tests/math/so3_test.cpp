#include "tangere/math/so3.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <numbers>
#include <vector>

#include "tangere/math/random.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere {
namespace {

using std::numbers::pi;

// rotation vectors of every size up to a half turn, along the axes and in general directions
std::vector<Vector3> rotation_vectors() {
  Random random(11);
  std::vector<Vector3> axes{Vector3::UnitX(), Vector3::UnitY(), Vector3::UnitZ(), -Vector3::UnitX(), -Vector3::UnitY()};
  for (int i = 0; i < 20; ++i) axes.push_back(random.unit_vector());
  std::vector<Vector3> phis{Vector3::Zero()};
  for (const Vector3& axis : axes) {
    for (double angle : {1e-300, 1e-100, 1e-16, 1e-12, 1e-9,  1e-8, 1e-7,      1e-5,      1e-3,      0.1,
                         0.999,  1.001,  1.5,   1.999, 2.001, 3.0,  pi - 1e-3, pi - 1e-7, pi - 1e-9, pi - 1e-12}) {
      phis.emplace_back(angle * axis);
    }
  }
  return phis;
}

TEST(So3, HatIsTheCrossProductAndVeeItsInverse) {
  Random random(1);
  for (int i = 0; i < 20; ++i) {
    const Vector3 a = random.normal3();
    const Vector3 b = random.normal3();
    EXPECT_NEAR_ABSOLUTE(so3::hat(a) * b, a.cross(b), 1e-15);
    EXPECT_EQ(so3::vee(so3::hat(a)), a);
    EXPECT_EQ(so3::hat(a).transpose(), -so3::hat(a));
  }
}

TEST(So3, ExpIsARotation) {
  for (const Vector3& phi : rotation_vectors()) {
    const Matrix3 R = so3::exp(phi);
    EXPECT_NEAR_ABSOLUTE(R * R.transpose(), Matrix3::Identity(), 4e-15);
    EXPECT_NEAR(R.determinant(), 1.0, 4e-15);
    EXPECT_NEAR_ABSOLUTE(R * phi, phi, 4e-15);
    EXPECT_NEAR_ABSOLUTE(so3::exp(-phi), R.transpose(), 1e-15);
  }
}

TEST(So3, ExpOfAQuarterTurn) {
  Matrix3 expected;
  expected << 0, -1, 0, 1, 0, 0, 0, 0, 1;
  EXPECT_NEAR_ABSOLUTE(so3::exp(Vector3(0, 0, pi / 2)), expected, 1e-15);
}

TEST(So3, ExpOfParallelVectorsAdds) {
  Random random(2);
  for (int i = 0; i < 50; ++i) {
    const Vector3 axis = random.unit_vector();
    const double s = random.uniform(-6.0, 6.0);
    const double t = random.uniform(-6.0, 6.0);
    EXPECT_NEAR_ABSOLUTE(so3::exp(s * axis) * so3::exp(t * axis), so3::exp((s + t) * axis), 1e-14);
  }
}

TEST(So3, LogInvertsExp) {
  for (const Vector3& phi : rotation_vectors()) {
    EXPECT_NEAR_ABSOLUTE(so3::log(so3::exp(phi)), phi, 1e-14 * (1.0 + phi.norm())) << phi.transpose();
  }
}

TEST(So3, LogIsRelativelyExactForSmallAngles) {
  for (const Vector3& phi : rotation_vectors()) {
    if (phi.norm() < 1e-2) {
      EXPECT_NEAR_RELATIVE(so3::log(so3::exp(phi)), phi, 1e-14);
    }
  }
}

TEST(So3, ExpInvertsLog) {
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    const Matrix3 R = random.rotation();
    const Vector3 phi = so3::log(R);
    EXPECT_LE(phi.norm(), pi + 1e-15);
    EXPECT_NEAR_ABSOLUTE(so3::exp(phi), R, 5e-15);
  }
}

TEST(So3, LogOfAHalfTurn) {
  Random random(4);
  for (int i = 0; i < 200; ++i) {
    const Vector3 axis = i < 3 ? Vector3(Vector3::Unit(i)) : random.unit_vector();
    const Matrix3 R = 2.0 * axis * axis.transpose() - Matrix3::Identity();
    const Vector3 phi = so3::log(R);
    EXPECT_NEAR(phi.norm(), pi, 1e-14);
    EXPECT_NEAR_ABSOLUTE(so3::exp(phi), R, 1e-14);
  }
}

TEST(So3, LogBeyondAHalfTurnTakesTheShortWay) {
  const Vector3 axis = Vector3(1, -2, 2) / 3.0;
  for (double excess : {1e-9, 1e-6, 0.1, 1.0}) {
    EXPECT_NEAR_ABSOLUTE(so3::log(so3::exp((pi + excess) * axis)), -(pi - excess) * axis, 1e-14);
  }
}

TEST(So3, RightJacobianAgainstFiniteDifferences) {
  for (const Vector3& phi : rotation_vectors()) {
    const Matrix3 R = so3::exp(phi);
    const auto f = [&](const VectorX& d) -> VectorX { return so3::log(R.transpose() * so3::exp(phi + d)); };
    EXPECT_NEAR_ABSOLUTE(so3::right_jacobian(phi), test::finite_difference(f, 3, 3, 0.5), 1e-11);
  }
}

TEST(So3, RightJacobianInverseAgainstFiniteDifferences) {
  for (const Vector3& phi : rotation_vectors()) {
    // log jumps at a half turn
    if (phi.norm() > 3.0) continue;
    const Matrix3 R = so3::exp(phi);
    const auto f = [&](const VectorX& d) -> VectorX { return so3::log(R * so3::exp(d)); };
    EXPECT_NEAR_ABSOLUTE(so3::right_jacobian_inverse(phi), test::finite_difference(f, 3, 3, 0.1), 1e-10);
  }
}

TEST(So3, RightJacobianTimesItsInverse) {
  std::vector<Vector3> phis = rotation_vectors();
  for (double angle : {4.0, 5.0, 6.0}) phis.emplace_back(angle * Vector3(2, -1, 2) / 3.0);
  for (const Vector3& phi : phis) {
    EXPECT_NEAR_ABSOLUTE(so3::right_jacobian(phi) * so3::right_jacobian_inverse(phi), Matrix3::Identity(), 2e-14);
  }
}

TEST(So3, LeftJacobianIsTheRightOneTurned) {
  for (const Vector3& phi : rotation_vectors()) {
    EXPECT_NEAR_ABSOLUTE(so3::right_jacobian(-phi), so3::exp(phi) * so3::right_jacobian(phi), 4e-15);
  }
}

}  // namespace
}  // namespace tangere
