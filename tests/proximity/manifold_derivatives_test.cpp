/// The manifold's derivatives against finite differences, for every type of contact and over all pairs of shapes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tangere/math/so3.hpp"
#include "tangere/proximity/manifold.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/manifold_cases.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/touching_pairs.hpp"

namespace tangere::test {
namespace {

constexpr int kRows = 13;

/// Point, p_A, p_B, normal and distance of the contact with these features; NaN if there is none.
VectorX contact_vector(const Manifold& manifold, const ContactPoint& like) {
  VectorX values = VectorX::Constant(kRows, std::numeric_limits<double>::quiet_NaN());
  for (const ContactPoint& point : manifold.contacts()) {
    if (!(point.feature_A == like.feature_A) || !(point.feature_B == like.feature_B)) continue;
    values << point.point, point.p_A, point.p_B, point.normal, point.distance;
  }
  return values;
}

MatrixX stacked(const ContactJacobian& J) {
  MatrixX rows(kRows, 12);
  rows << J.point, J.p_A, J.p_B, J.normal, J.distance.transpose();
  return rows;
}

/// The worst difference of all contacts of a pair, relative to each Jacobian's largest entry (at least 1).
double worst_error(const ShapePair& pair, const ManifoldOptions& options, double scale) {
  ManifoldWorkspace workspace;
  const Manifold at_rest = manifold(pair.A, pair.X_WA, pair.B, pair.X_WB, options, workspace);
  double worst = 0.0;
  for (int k = 0; k < at_rest.num_points; ++k) {
    const ContactJacobian& J = at_rest.jacobians[k];
    if (!J.exists) continue;
    const auto f = [&](const VectorX& d) -> VectorX {
      const Pose X_WA = pair.X_WA.perturbed(d.head<6>());
      const Pose X_WB = pair.X_WB.perturbed(d.tail<6>());
      return contact_vector(manifold(pair.A, X_WA, pair.B, X_WB, options, workspace), at_rest.points[k]);
    };
    const MatrixX expected = finite_difference(f, 12, kRows, scale);
    const MatrixX actual = stacked(J);
    const double size = std::max(1.0, expected.cwiseAbs().maxCoeff());
    const double error = (actual - expected).cwiseAbs().maxCoeff<Eigen::PropagateNaN>() / size;
    worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
  }
  return worst;
}

TEST(ManifoldDerivatives, EveryTypeOfContact) {
  ManifoldWorkspace workspace;
  const ManifoldOptions options{.margin = 0.05, .derivatives = true};
  for (const ManifoldCase& c : manifold_cases()) {
    const ShapePair& pair = c.pair;
    const Manifold& found = manifold(pair.A, pair.X_WA, pair.B, pair.X_WB, options, workspace);
    for (int k = 0; k < found.num_points; ++k) EXPECT_TRUE(found.jacobians[k].exists) << pair.name << ", point " << k;
    EXPECT_LE(worst_error(pair, options, 1e-3), 1e-7) << pair.name;
  }
}

TEST(ManifoldDerivatives, AllPairsOfShapes) {
  int compared = 0;
  for (const double gap : {-0.02, 0.02}) {
    for (const ShapePair& pair : touching_pairs(gap)) {
      const double size = std::min(pair.A.support_terms()->outer_radius, pair.B.support_terms()->outer_radius);
      const ManifoldOptions options{.margin = 0.1 * size, .derivatives = true, .distance = {.tolerance = 1e-12}};
      // small enough that no feature changes, large enough for the rounding of coordinates of about 1
      const double scale = size < 1e-2 ? 1e-2 * size : 1e-4 * std::min(size, 1.0);
      EXPECT_LE(worst_error(pair, options, scale), 1e-7) << pair.name << " " << gap;
      ++compared;
    }
  }
  EXPECT_GE(compared, 700);
}

bool round_or_plane(const Shape& shape) {
  return shape.get_if<Sphere>() != nullptr || shape.get_if<Ellipsoid>() != nullptr || shape.is_half_space();
}

/// A motion of the whole moves every point with it and turns the normal; the distance stays. And at any gap the
/// distance's gradient is the normal's Jacobian, that of a force along the normal at the contact: exactly where the
/// normal is the only one, and up to the angle between the faces where a patch shares one.
TEST(ManifoldDerivatives, MotionOfTheWhole) {
  ManifoldWorkspace workspace;
  int checked = 0;
  std::vector<ShapePair> pairs = touching_pairs(-0.03);
  for (const ShapePair& pair : touching_pairs(0.03)) pairs.push_back(pair);
  for (const ManifoldCase& c : manifold_cases()) pairs.push_back(c.pair);
  for (const ShapePair& pair : pairs) {
    const double size = std::min(pair.A.support_terms()->outer_radius, pair.B.support_terms()->outer_radius);
    const Manifold& found =
        manifold(pair.A, pair.X_WA, pair.B, pair.X_WB, {.margin = 0.1 * size, .derivatives = true}, workspace);
    for (int k = 0; k < found.num_points; ++k) {
      const ContactPoint& point = found.points[k];
      const ContactJacobian& J = found.jacobians[k];
      ASSERT_TRUE(J.exists) << pair.name << " " << point.type();
      MatrixX whole = MatrixX::Zero(12, 6);
      const Pose* poses[2] = {&pair.X_WA, &pair.X_WB};
      for (int body = 0; body < 2; ++body) {
        whole.block<3, 3>(6 * body, 0).setIdentity();
        whole.block<3, 3>(6 * body, 3) = -so3::hat(poses[body]->p);
        whole.block<3, 3>(6 * body + 3, 3) = poses[body]->R.transpose();
      }
      MatrixX expected(3, 6);
      expected << Matrix3::Identity(), -so3::hat(point.point);
      const double scale = 1.0 + J.point.cwiseAbs().maxCoeff() + J.normal.cwiseAbs().maxCoeff();
      EXPECT_NEAR_ABSOLUTE(J.point * whole, expected, 1e-9 * scale) << pair.name << " " << point.type();
      expected << Matrix3::Zero(), -so3::hat(point.normal);
      EXPECT_NEAR_ABSOLUTE(J.normal * whole, expected, 1e-9 * scale) << pair.name << " " << point.type();
      EXPECT_NEAR_ABSOLUTE(J.distance.transpose() * whole, MatrixX::Zero(1, 6), 1e-9 * scale) << pair.name;

      // parallel lines that pass each other sideways are the exception
      const Vector3 between = point.p_B - point.p_A;
      if ((between - point.distance * point.normal).norm() > 1e-12 * size) continue;
      Vector12 J_n;
      J_n << -point.normal, -(pair.X_WA.R.transpose() * (point.p_A - pair.X_WA.p).cross(point.normal)), point.normal,
          pair.X_WB.R.transpose() * (point.p_B - pair.X_WB.p).cross(point.normal);
      const bool exact = round_or_plane(pair.A) || round_or_plane(pair.B);
      EXPECT_NEAR_ABSOLUTE(J.distance, J_n, (exact ? 1e-9 : 0.02) * scale) << pair.name << " " << point.type();
      ++checked;
    }
  }
  EXPECT_GE(checked, 500);
}

TEST(ManifoldDerivatives, PartsOfABundle) {
  const Shape box = Box{{1, 1, 1}};
  const Shape plane = HalfSpace{{0, 0, 1}, 0.0};
  const Shape bundle =
      Bundle{{{box, Pose(so3::exp(Vector3(0, 0, 0.3)), {-2, 0, 0})}, {Sphere{0.5}, Pose::translation({2, 1, 0})}}};
  const ManifoldOptions options{.margin = 0.05, .derivatives = true};
  ManifoldWorkspace workspace;
  const Pose X_WB(so3::exp(Vector3(1e-3, 2e-3, 0.5)), {0.1, 0.2, 0.495});
  const auto rest = manifolds(plane, {}, bundle, X_WB, options, workspace);
  const std::vector<Manifold> found(rest.begin(), rest.end());
  ASSERT_EQ(found.size(), 2U);
  for (std::size_t part = 0; part < found.size(); ++part) {
    for (int k = 0; k < found[part].num_points; ++k) {
      const auto f = [&](const VectorX& d) -> VectorX {
        return contact_vector(manifolds(plane, Pose().perturbed(d.head<6>()), bundle, X_WB.perturbed(d.tail<6>()),
                                        options, workspace)[part],
                              found[part].points[k]);
      };
      EXPECT_NEAR_RELATIVE(stacked(found[part].jacobians[k]), finite_difference(f, 12, kRows, 1e-3), 1e-7);
    }
  }
}

}  // namespace
}  // namespace tangere::test
