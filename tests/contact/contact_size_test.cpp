/// How contacts change as shapes do: the same for shapes of any size.

#include "tangere/contact/scene/contact_size.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <functional>

#include "tangere/contact/scene/contact_frame.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere::test {
namespace {

/// What a shape of this scale does above a floor as each of its lengths grows: points and distances, whose derivatives
/// do not depend on the scale.
std::vector<FrameChange> changes(const Shape& shape, double scale) {
  const Shape floor = HalfSpace{Vector3::UnitZ(), 0.0};
  const Matrix3 R = Eigen::AngleAxisd(0.4, Vector3(0.6, 0.8, 0.0)).toRotationMatrix();
  const Pose X_WB(R, Vector3(0.0, 0.0, 1.5 * scale));
  ManifoldOptions options;
  options.margin = 10.0 * scale;
  ManifoldWorkspace workspace;
  std::vector<FrameChange> out;
  for (const Manifold& patch : manifolds(floor, Pose(), shape, X_WB, options, workspace))
    for (const ContactPoint& point : patch.contacts()) {
      Contact contact;
      contact.feature_A = point.feature_A;
      contact.feature_B = point.feature_B;
      contact.point = point.point;
      contact.distance = point.distance;
      contact.frame = Matrix3::Identity();
      contact.frame << Vector3::UnitZ(), Vector3::UnitX(), Vector3::UnitY();
      for (int i = 0; i < static_cast<int>(shape.parameters().size()); ++i)
        out.push_back(contact_size_derivative(contact, floor, Pose(), shape, X_WB, 1, i));
    }
  return out;
}

void expect_scale_free(const std::function<Shape(double)>& shape_of) {
  const std::vector<FrameChange> expected = changes(shape_of(1.0), 1.0);
  ASSERT_FALSE(expected.empty());
  for (const double scale : {0.1, 1e-2, 1e-3}) {
    const std::vector<FrameChange> actual = changes(shape_of(scale), scale);
    ASSERT_EQ(actual.size(), expected.size()) << "scale " << scale;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      ASSERT_TRUE(actual[i].exists) << "scale " << scale << ", parameter " << i;
      EXPECT_NEAR_ABSOLUTE(actual[i].point, expected[i].point, 1e-7) << "scale " << scale << ", parameter " << i;
      EXPECT_NEAR(actual[i].distance, expected[i].distance, 1e-7) << "scale " << scale << ", parameter " << i;
    }
  }
}

TEST(ContactSize, IsTheSameAtAnyScale) {
  expect_scale_free([](double s) -> Shape { return Sphere{s}; });
  expect_scale_free([](double s) -> Shape { return Box{.size = s * Vector3(1.0, 0.7, 1.4)}; });
  expect_scale_free([](double s) -> Shape { return Capsule{.radius = 0.4 * s, .length = s}; });
  expect_scale_free([](double s) -> Shape { return Ellipsoid{.semi_axes = s * Vector3(1.0, 0.7, 0.5)}; });
}

/// A ball grows towards the floor and away from it.
TEST(ContactSize, OfABall) {
  for (const double scale : {1.0, 1e-3}) {
    const std::vector<FrameChange> found = changes(Sphere{scale}, scale);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NEAR(found[0].distance, -1.0, 1e-9);
    EXPECT_NEAR(found[0].rotation.norm(), 0.0, 1e-9);
  }
}

}  // namespace
}  // namespace tangere::test
