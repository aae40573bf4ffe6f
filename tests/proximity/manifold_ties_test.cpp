/// Where the normal of a contact is no smooth function of the poses, or one for no motion worth the name, a manifold
/// has no Jacobian and says so; next to it, it has one.

#include <gtest/gtest.h>

#include <cmath>

#include <Eigen/Geometry>

#include "tangere/math/so3.hpp"
#include "tangere/proximity/manifold.hpp"

namespace tangere::test {
namespace {

bool has_jacobians(const Shape& A, const Pose& X_A, const Shape& B, const Pose& X_B) {
  ManifoldWorkspace workspace;
  const Manifold& found = manifold(A, X_A, B, X_B, {.margin = 0.01, .derivatives = true}, workspace);
  EXPECT_GT(found.num_points, 0);
  for (int k = 0; k < found.num_points; ++k)
    if (!found.jacobians[k].exists) return false;
  return true;
}

/// Two boxes edge above edge, so far apart and crossed by so much.
bool edges_have_jacobians(double gap, double angle) {
  const Shape box = Box{.size = {0.4, 0.3, 0.3}};
  const Matrix3 R = so3::exp(Vector3(0.25 * 3.14159265358979323846, 0, 0));
  const double height = 0.3 * std::sqrt(2.0) + gap;
  return has_jacobians(box, Pose(R, Vector3::Zero()), box,
                       Pose(so3::exp(Vector3(0, 0, angle)) * R, Vector3(0.03, 0, height)));
}

TEST(ManifoldTies, ParallelEdges) {
  // touching, as deep on either side, and all but touching
  for (const double gap : {0.0, -1e-5, -1e-3, 1e-7})
    for (const double angle : {0.0, 1e-9, 1e-7}) EXPECT_FALSE(edges_have_jacobians(gap, angle)) << gap << " " << angle;
  // crossing, or apart
  for (const double gap : {0.0, -1e-5, 1e-5}) EXPECT_TRUE(edges_have_jacobians(gap, 0.01)) << gap;
  EXPECT_TRUE(edges_have_jacobians(1e-3, 0.0));
}

TEST(ManifoldTies, ConcentricShapes) {
  MatrixX3 corners(8, 3);
  for (int i = 0; i < 8; ++i) corners.row(i) << (i & 1 ? 0.2 : -0.2), (i & 2 ? 0.15 : -0.15), (i & 4 ? 0.1 : -0.1);
  const Shape shapes[] = {Box{.size = {0.4, 0.3, 0.2}}, Cylinder{.radius = 0.2, .length = 0.3},
                          RoundedPolytope{.core = Polytope::from_vertices(corners), .radius = 0.05}};
  const Vector3 off(0.011, 0.007, 0.023);
  for (const Shape& shape : shapes) {
    EXPECT_FALSE(has_jacobians(shape, Pose(), shape, Pose())) << shape.type_name();
    EXPECT_FALSE(has_jacobians(shape, Pose(), shape, Pose(so3::exp(Vector3(0.1, 0.2, 0.3)), Vector3::Zero())));
    EXPECT_TRUE(has_jacobians(shape, Pose(), shape, Pose(so3::exp(Vector3(0.1, 0.2, 0.3)), off))) << shape.type_name();
  }
}

/// What rests has its Jacobians: flush, at the edge, and where faces are equal.
TEST(ManifoldTies, NotWhatRests) {
  const Shape box = Box{.size = {0.4, 0.3, 0.2}};
  for (const double depth : {0.0, 1e-9, 1e-5, 1e-3})
    for (const double x : {0.0, 0.1, 0.39}) {
      EXPECT_TRUE(has_jacobians(box, Pose(), box, Pose::translation({x, 0, 0.2 - depth}))) << depth << " " << x;
      EXPECT_TRUE(has_jacobians(HalfSpace{Vector3::UnitZ(), 0.0}, Pose(), box, Pose::translation({x, 0, 0.1 - depth})));
    }
}

}  // namespace
}  // namespace tangere::test
