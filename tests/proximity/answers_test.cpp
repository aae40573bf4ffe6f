/// Answers without a workspace own what their derivatives need, and workspaces keep the shapes of their last query.

#include "tangere/proximity/answers.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "tangere/math/error.hpp"
#include "tests/support/shape_pairs.hpp"

namespace tangere::test {
namespace {

const Pose kThere = Pose::from_quaternion({0.9, 0.6, 0.1}, 0.1, 0.3, 0.2, std::sqrt(0.86));

/// Memory that was freed and is used again by other shapes.
void overwrite_memory() {
  for (int i = 0; i < 50; ++i) {
    const Shape other = Box{.size = {3.0 + i, 2.0, 1.0}};
    const Shape sum = MinkowskiSum{{{Shape(Capsule{0.1, 0.1 * (i + 1)}), {}}, {Shape(Sphere{0.2}), {}}}};
  }
}

Shape two_boxes(double size) {
  return Bundle{{{Shape(Box{.size = {size, size, size}}), Pose::translation({-1, 0, 0})},
                 {Shape(Capsule{.radius = size, .length = size}), Pose::translation({0.2, 0, 0})}}};
}

TEST(Answers, AreThoseOfTheWorkspaceForm) {
  const Shape shapes[] = {Capsule{.radius = 0.2, .length = 1.0}, Box{.size = {0.5, 0.4, 0.3}},
                          Cone{.height = 0.6, .half_angle = 0.4}, two_boxes(0.3)};
  for (const Shape& A : shapes)
    for (const Shape& B : shapes) {
      ScalingWorkspace workspace;
      const Scaling expected = scaling(A, {}, B, kThere, {}, workspace);
      const ScalingAnswer answer = scaling(A, {}, B, kThere);
      EXPECT_EQ(answer.alpha, expected.alpha);
      EXPECT_EQ(gradient(answer), scaling_gradient(workspace));
      EXPECT_EQ(jacobian(answer).p_A, scaling_jacobian(workspace).p_A);
      VectorX d_A, d_B;
      scaling_parameter_gradient(workspace, d_A, d_B);
      EXPECT_EQ(parameter_gradient(answer).A, d_A);
      EXPECT_EQ(parameter_gradient(answer).B, d_B);

      DistanceWorkspace distances;
      const Distance nearest = distance(A, {}, B, kThere, {}, distances);
      const DistanceAnswer apart = distance(A, {}, B, kThere);
      EXPECT_EQ(apart.distance, nearest.distance);
      EXPECT_EQ(gradient(apart), distance_gradient(distances));
      EXPECT_EQ(jacobian(apart).exists, distance_jacobian(distances).exists);
      distance_parameter_gradient(distances, d_A, d_B);
      EXPECT_EQ(parameter_gradient(apart).A, d_A);
      EXPECT_EQ(parameter_gradient(apart).B, d_B);
    }
  const Shape& capsule = shapes[0];
  const Shape& box = shapes[1];
  ProximityWorkspace workspace;
  const Proximity expected = proximity(capsule, {}, box, kThere, {}, workspace);
  const ProximityAnswer answer = proximity(capsule, {}, box, kThere);
  EXPECT_EQ(answer.phi, expected.phi);
  EXPECT_EQ(gradient(answer), proximity_gradient(workspace));
  ManifoldWorkspace manifolds;
  const Manifold contacts = manifold(capsule, {}, box, kThere, {.margin = 1.0, .derivatives = true});
  const Manifold& expected_contacts =
      manifold(capsule, {}, box, kThere, {.margin = 1.0, .derivatives = true}, manifolds);
  ASSERT_EQ(contacts.num_points, expected_contacts.num_points);
  ASSERT_GT(contacts.num_points, 0);
  EXPECT_EQ(contacts.jacobians[0].distance, expected_contacts.jacobians[0].distance);
}

/// Everything that was asked is a temporary, and the answer travels to another thread.
TEST(Answers, OutliveTheirShapes) {
  const auto ask = [] { return scaling(Capsule{.radius = 0.2, .length = 1.0}, Pose(), two_boxes(0.3), Pose(kThere)); };
  const ScalingAnswer answer = ask();
  const auto ask_distance = [] { return distance(Box{.size = {0.5, 0.4, 0.3}}, Pose(), two_boxes(0.3), Pose(kThere)); };
  const DistanceAnswer nearest = ask_distance();
  const ScalingJacobian expected = jacobian(answer);
  const PairParameterGradient by_sizes = parameter_gradient(nearest);
  overwrite_memory();
  ScalingJacobian again{};
  PairParameterGradient sizes_again;
  std::thread([&] {
    again = jacobian(answer);
    sizes_again = parameter_gradient(nearest);
  }).join();
  EXPECT_EQ(again.x_alpha, expected.x_alpha);
  EXPECT_EQ(sizes_again.A, by_sizes.A);
  EXPECT_EQ(sizes_again.B, by_sizes.B);
}

/// A workspace answers for shapes that were temporaries (a wrong number or a crash before).
TEST(Answers, WorkspacesKeepTemporaries) {
  for (const bool bundle : {false, true}) {
    const Shape A = Capsule{.radius = 0.2, .length = 1.0};
    const Shape B = bundle ? two_boxes(0.3) : Shape(Cone{.height = 0.6, .half_angle = 0.4});
    ScalingWorkspace alive;
    ScalingWorkspace gone;
    DistanceWorkspace distances_alive;
    DistanceWorkspace distances_gone;
    (void)scaling(A, {}, B, kThere, {}, alive);
    (void)distance(A, {}, B, kThere, {}, distances_alive);
    if (bundle) {
      (void)scaling(Capsule{.radius = 0.2, .length = 1.0}, {}, two_boxes(0.3), kThere, {}, gone);
      (void)distance(Capsule{.radius = 0.2, .length = 1.0}, {}, two_boxes(0.3), kThere, {}, distances_gone);
    } else {
      const auto cone = [] { return Cone{.height = 0.6, .half_angle = 0.4}; };
      (void)scaling(Capsule{.radius = 0.2, .length = 1.0}, {}, cone(), kThere, {}, gone);
      (void)distance(Capsule{.radius = 0.2, .length = 1.0}, {}, cone(), kThere, {}, distances_gone);
    }
    overwrite_memory();
    VectorX d_A, d_B, e_A, e_B;
    scaling_parameter_gradient(alive, d_A, d_B);
    scaling_parameter_gradient(gone, e_A, e_B);
    EXPECT_EQ(d_A, e_A);
    EXPECT_EQ(d_B, e_B);
    EXPECT_EQ(scaling_gradient(alive), scaling_gradient(gone));
    EXPECT_EQ(scaling_jacobian(alive).x_alpha, scaling_jacobian(gone).x_alpha);
    distance_parameter_gradient(distances_alive, d_A, d_B);
    distance_parameter_gradient(distances_gone, e_A, e_B);
    EXPECT_EQ(d_A, e_A);
    EXPECT_EQ(d_B, e_B);
    EXPECT_EQ(distance_gradient(distances_alive), distance_gradient(distances_gone));
  }
}

TEST(Answers, OfNoQueryAreRefused) {
  EXPECT_THROW((void)gradient(ScalingAnswer{}), InputError);
  EXPECT_THROW((void)jacobian(DistanceAnswer{}), InputError);
  EXPECT_THROW((void)parameter_gradient(ProximityAnswer{}), InputError);
}

}  // namespace
}  // namespace tangere::test
