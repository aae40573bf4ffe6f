/// All derivatives of the signed distance against finite differences of the query itself, over all pairs of shapes.

#include <cmath>
#include <functional>
#include <string>

#include "tangere/proximity/distance.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/shape_pairs.hpp"

namespace tangere::test {
namespace {

constexpr DistanceOptions kTight{.tolerance = 1e-12};

Pose moved(const Pose& X, const VectorX& tangent, int at) { return X.perturbed(Vector6(tangent.segment<6>(at))); }

class DistanceDerivatives : public testing::TestWithParam<ShapePair> {
 protected:
  DistanceWorkspace workspace_;
  DistanceWorkspace other_;

  Distance query(const VectorX& tangent) {
    const ShapePair& pair = GetParam();
    return distance(pair.A, moved(pair.X_WA, tangent, 0), pair.B, moved(pair.X_WB, tangent, 6), kTight, other_);
  }
};

TEST_P(DistanceDerivatives, Gradient) {
  const ShapePair& pair = GetParam();
  (void)distance(pair.A, pair.X_WA, pair.B, pair.X_WB, kTight, workspace_);
  const Difference reference =
      difference([&](const VectorX& t) -> VectorX { return VectorX::Constant(1, query(t).distance); }, 12, 1,
                 {.scale = 1e-4, .noise = 1e-13});
  const double blur = reference.error.maxCoeff();
  const VectorX expected = reference.jacobian.row(0);
  ASSERT_LE(blur, 1e-5 * expected.norm());
  EXPECT_NEAR_ABSOLUTE(distance_gradient(workspace_), expected, 1e-7 * expected.cwiseAbs().maxCoeff() + 2.0 * blur);
}

TEST_P(DistanceDerivatives, Jacobian) {
  const ShapePair& pair = GetParam();
  (void)distance(pair.A, pair.X_WA, pair.B, pair.X_WB, kTight, workspace_);
  const DistanceJacobian J = distance_jacobian(workspace_);
  if (!J.exists) {
    EXPECT_TRUE(std::isnan(J.p_A(0, 0)));
    return;
  }
  const Difference reference = difference(
      [&](const VectorX& t) -> VectorX {
        const Distance s = query(t);
        VectorX v(9);
        v << s.p_A, s.p_B, s.normal;
        return v;
      },
      12, 9, {.scale = 1e-4, .noise = 1e-12});
  // a difference across a nearby change of features knows its own error
  if (reference.error.maxCoeff() > 1e-3 * reference.jacobian.cwiseAbs().maxCoeff()) return;
  MatrixX actual(9, 12);
  actual << J.p_A, J.p_B, J.normal;
  const double size = reference.jacobian.cwiseAbs().maxCoeff();
  EXPECT_NEAR_ABSOLUTE(actual, reference.jacobian, 1e-6 * size + 2.0 * reference.error.maxCoeff());
}

TEST_P(DistanceDerivatives, Parameters) {
  const ShapePair& pair = GetParam();
  (void)distance(pair.A, pair.X_WA, pair.B, pair.X_WB, kTight, workspace_);
  VectorX d_A;
  VectorX d_B;
  distance_parameter_gradient(workspace_, d_A, d_B);
  const auto along = [&](const Shape& shape, bool first) {
    const VectorX theta = shape.parameters();
    const VectorX unit = theta.cwiseAbs().cwiseMax(0.1);
    VectorX g = difference(
                    [&](const VectorX& t) -> VectorX {
                      const Shape changed = shape.with_parameters(theta + unit.cwiseProduct(t));
                      return VectorX::Constant(
                          1, first ? distance(changed, pair.X_WA, pair.B, pair.X_WB, kTight, other_).distance
                                   : distance(pair.A, pair.X_WA, changed, pair.X_WB, kTight, other_).distance);
                    },
                    static_cast<int>(theta.size()), 1, {.scale = 1e-4, .noise = 1e-13})
                    .jacobian.row(0)
                    .transpose();
    return VectorX(g.cwiseQuotient(unit));
  };
  EXPECT_NEAR_RELATIVE(d_A, along(pair.A, true), 1e-6);
  EXPECT_NEAR_RELATIVE(d_B, along(pair.B, false), 1e-6);
}

// hard cases: at contact, overlapping, small and large, parallel
// ---------------------------------------------------------------------------------------------------------------------

Matrix3 turn(double angle, const Vector3& axis) { return Eigen::AngleAxisd(angle, axis.normalized()).matrix(); }

struct Case {
  const char* name;
  /// Of size k, and B above A: moved along the normal to the gap wanted.
  std::function<Shape(double)> A;
  std::function<Shape(double)> B;
  Matrix3 R_WA;
  Matrix3 R_WB;
};

Shape crate(double k) { return Box{k * Vector3(1.0, 0.8, 0.6)}; }
Shape ball(double k) { return Sphere{0.3 * k}; }
Shape pipe(double k) { return Capsule{0.2 * k, 0.9 * k}; }
Shape can(double k) { return Cylinder{0.3 * k, 0.7 * k}; }
Shape hat(double k) { return Cone{0.8 * k, 0.5}; }
Shape egg(double k) { return Ellipsoid{.semi_axes = k * Vector3(0.3, 0.5, 0.4)}; }
Shape ground(double) { return HalfSpace{.normal = {0.0, 0.0, 1.0}}; }

/// The shape at a pose above A, `gap` times the size from touching it.
Pose placed(const Case& c, double k, double gap, DistanceWorkspace& workspace) {
  const Pose start(c.R_WB, k * Vector3(0.07, -0.05, 2.0));
  const Distance apart = distance(c.A(k), Pose(c.R_WA, Vector3::Zero()), c.B(k), start, kTight, workspace);
  return {c.R_WB, start.p - (apart.distance - gap * k) * apart.normal};
}

TEST(DistanceJacobians, AtContactAndAtEveryScale) {
  const Matrix3 I = Matrix3::Identity();
  const Matrix3 skew = turn(0.9, {1.0, 2.0, -0.7});
  const Case cases[] = {
      {"corner on face", crate, crate, I, skew},
      {"crossed edges", crate, crate, turn(0.78, Vector3::UnitX()), turn(0.7, Vector3::UnitY())},
      {"ball on face", crate, ball, I, skew},
      {"ball on ball", ball, ball, I, I},
      {"end of a pipe on a face", crate, pipe, I, turn(0.5, Vector3::UnitY())},
      {"crossed pipes", pipe, pipe, I, turn(1.1, Vector3::UnitZ())},
      {"rim on face", crate, can, I, turn(0.4, Vector3::UnitY())},
      {"ball on a cap", can, ball, turn(-1.5707963267948966, Vector3::UnitY()), I},
      {"apex on face", crate, hat, I, turn(-1.3, Vector3::UnitY())},
      {"egg on face", crate, egg, I, skew},
      {"egg on egg", egg, egg, turn(0.3, Vector3::UnitX()), skew},
      {"egg on a can", can, egg, turn(0.2, Vector3::UnitY()), skew},
      {"corner on the ground", ground, crate, I, skew},
      {"rim on the ground", ground, can, I, turn(0.4, Vector3::UnitY())},
      {"egg on the ground", ground, egg, turn(0.2, Vector3::UnitX()), skew},
  };
  DistanceWorkspace workspace;
  for (const Case& c : cases) {
    for (const double k : {1e-4, 1.0, 1e4}) {
      for (const double gap : {0.3, 1e-6, -1e-6, -0.01}) {
        SCOPED_TRACE(std::string(c.name) + ", size " + std::to_string(k) + ", gap " + std::to_string(gap));
        const Shape A = c.A(k);
        const Shape B = c.B(k);
        const Pose X_WA(c.R_WA, Vector3::Zero());
        const Pose X_WB = placed(c, k, gap, workspace);
        // lengths in units of k
        const auto scaled = [&](const VectorX& t, int at) {
          Vector6 tangent = t.segment<6>(at);
          tangent.head<3>() *= k;
          return tangent;
        };
        const auto f = [&](const VectorX& t) -> VectorX {
          const Distance s =
              distance(A, X_WA.perturbed(scaled(t, 0)), B, X_WB.perturbed(scaled(t, 6)), kTight, workspace);
          VectorX v(10);
          v << s.p_A / k, s.p_B / k, s.normal, s.distance / k;
          return v;
        };
        const MatrixX expected = difference(f, 12, 10, {.scale = 1e-3, .noise = 1e-13}).jacobian;
        const Distance r = distance(A, X_WA, B, X_WB, kTight, workspace);
        ASSERT_EQ(r.status, DistanceStatus::solved);
        EXPECT_NEAR(r.distance, gap * k, 1e-9 * k);
        const DistanceJacobian J = distance_jacobian(workspace);
        ASSERT_TRUE(J.exists);
        MatrixX actual(10, 12);
        actual << J.p_A / k, J.p_B / k, J.normal, distance_gradient(workspace).transpose() / k;
        for (const int at : {0, 6}) actual.middleCols<3>(at) *= k;
        EXPECT_NEAR_ABSOLUTE(actual, expected, 1e-6 * expected.cwiseAbs().maxCoeff());
      }
    }
  }
}

TEST(DistanceJacobians, AreRefusedWherePointsMaySlide) {
  const Matrix3 I = Matrix3::Identity();
  const Matrix3 upright = turn(-1.5707963267948966, Vector3::UnitY());
  const Case cases[] = {
      {"face on face", crate, crate, I, I},
      {"turned face on face", crate, crate, I, turn(0.3, Vector3::UnitZ())},
      {"edge on face", crate, crate, I, turn(0.5, Vector3::UnitX())},
      {"parallel edges", crate, crate, turn(0.78, Vector3::UnitX()), turn(0.6, Vector3::UnitX())},
      {"pipe along a face", crate, pipe, I, turn(0.4, Vector3::UnitZ())},
      {"parallel pipes", pipe, pipe, I, I},
      {"standing can", crate, can, I, upright},
      {"lying can", crate, can, I, I},
      {"cap on cap", can, can, upright, upright},
      {"face on the ground", ground, crate, I, I},
      {"pipe on the ground", ground, pipe, I, I},
  };
  DistanceWorkspace workspace;
  for (const Case& c : cases) {
    for (const double k : {1e-4, 1.0, 1e4}) {
      for (const double gap : {0.3, -0.01}) {
        SCOPED_TRACE(std::string(c.name) + ", size " + std::to_string(k) + ", gap " + std::to_string(gap));
        const Shape A = c.A(k);
        const Shape B = c.B(k);
        const Pose X_WB = placed(c, k, gap, workspace);
        const Distance r = distance(A, Pose(c.R_WA, Vector3::Zero()), B, X_WB, kTight, workspace);
        // the way back up parts them, though there may be a shorter one (edges: sideways)
        EXPECT_GE(r.distance, gap * k - 1e-9 * k);
        const DistanceJacobian J = distance_jacobian(workspace);
        EXPECT_FALSE(J.exists);
        EXPECT_TRUE(std::isnan(J.p_A(0, 0)));
        // value and gradient are not in doubt
        EXPECT_NEAR_ABSOLUTE(distance_gradient(workspace).segment<3>(6), r.normal, 1e-12);
      }
    }
  }
}

TEST(DistanceJacobians, ExistForNearlyAllRandomPairs) {
  DistanceWorkspace workspace;
  int exist = 0;
  for (const ShapePair& pair : shape_pairs()) {
    (void)distance(pair.A, pair.X_WA, pair.B, pair.X_WB, kTight, workspace);
    exist += distance_jacobian(workspace).exists ? 1 : 0;
  }
  EXPECT_GE(exist, static_cast<int>(shape_pairs().size()) - 3);
}

INSTANTIATE_TEST_SUITE_P(AllPairs, DistanceDerivatives, testing::ValuesIn(shape_pairs()),
                         [](const auto& pair) { return pair.param.name; });

}  // namespace
}  // namespace tangere::test
