/// Rays and points against worlds: closed forms, all shapes beside samples, derivatives beside differences.

#include "tangere/sim/rays.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tangere/geometry/obstacles.hpp"
#include "tangere/math/error.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tests/support/all_shapes.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/planner_worlds.hpp"

namespace tangere::test {
namespace {

/// One fixed shape.
World world_of(const Shape& shape, const Pose& X = {}) {
  ModelBuilder builder("one");
  builder.add_body({.name = "shape", .shapes = {{.name = "shape", .shape = shape}}}, {.name = "shape", .X_PJ = X});
  return World(builder.build());
}

const VectorX kNone = VectorX::Zero(0);

TEST(Rays, HitABoxInItsFace) {
  const World world = world_of(Box{{2.0, 2.0, 2.0}});
  ClearanceWorkspace workspace(world);
  const RayAnswer& hit = cast_ray(world, kNone, {.origin = {5.0, 0.2, 0.3}, .direction = {-2.0, 0.0, 0.0}}, workspace);
  EXPECT_TRUE(hit.hit);
  EXPECT_NEAR(hit.distance, 4.0, 1e-12);
  EXPECT_NEAR((hit.normal - Vector3::UnitX()).norm(), 0.0, 1e-9);
  EXPECT_EQ(hit.name, "shape");
  EXPECT_FALSE(cast_ray(world, kNone, {.origin = {5.0, 1.2, 0.3}, .direction = {-1.0, 0.0, 0.0}}, workspace).hit);
  EXPECT_FALSE(
      cast_ray(world, kNone, {.origin = {5.0, 0.0, 0.0}, .direction = {-1.0, 0.0, 0.0}, .length = 3.9}, workspace).hit);
  EXPECT_EQ(cast_ray(world, kNone, {.origin = {0.5, 0.0, 0.0}}, workspace).distance, 0.0);
}

TEST(Rays, HitASphereWhereTheEquationSays) {
  const World world = world_of(Sphere{0.5});
  ClearanceWorkspace workspace(world);
  Random random(1);
  int hits = 0;
  for (int k = 0; k < 1000; ++k) {
    const Vector3 origin = random.uniform(1.0, 3.0) * random.unit_vector();
    const Vector3 direction = (0.7 * random.normal3() - origin).normalized();
    const double b = origin.dot(direction);
    const double c = origin.squaredNorm() - 0.25;
    const RayAnswer& ray = cast_ray(world, kNone, {.origin = origin, .direction = direction}, workspace);
    // what all but grazes may be told either way
    if (std::abs(b * b - c) < 1e-9) continue;
    ASSERT_EQ(ray.hit, b * b > c && b < 0.0);
    if (!ray.hit) continue;
    ++hits;
    EXPECT_NEAR(ray.distance, -b - std::sqrt(b * b - c), 1e-8);
  }
  EXPECT_GT(hits, 200);
}

TEST(Rays, EndOnTheSurfaceOfEveryShape) {
  Random random(2);
  for (const NamedShape& shape : all_shapes()) {
    SCOPED_TRACE(shape.name);
    const World world = world_of(shape.shape, Pose(random.rotation(), {0.1, 0.2, 0.3}));
    ClearanceWorkspace workspace(world);
    const double size = shape.shape.is_convex() && !shape.shape.is_half_space() ? shape.shape.set().inner_radius : 0.3;
    int hits = 0;
    for (int k = 0; k < 100; ++k) {
      const Vector3 origin = Vector3(0.1, 0.2, 0.3) + 8.0 * random.unit_vector();
      const Vector3 direction = (Vector3(0.1, 0.2, 0.3) + size * random.normal3() - origin).normalized();
      const RayAnswer ray = cast_ray(world, kNone, {.origin = origin, .direction = direction}, workspace);
      if (!ray.hit || ray.distance == 0.0) continue;
      ++hits;
      EXPECT_NEAR(nearest_to(world, kNone, ray.point, 1.0, workspace).distance, 0.0, 1e-8);
      // free before
      for (const double part : {0.2, 0.5, 0.9, 0.999}) {
        const Vector3 before = origin + part * ray.distance * direction;
        EXPECT_GT(nearest_to(world, kNone, before, 100.0, workspace).distance, -1e-9) << part;
      }
      EXPECT_LT(ray.normal.dot(direction), 0.0);
    }
    EXPECT_GT(hits, 20);
  }
}

TEST(Rays, DerivativesAreDifferences) {
  Random random(3);
  int compared = 0;
  const World world = planner_worlds(8, 4)[0].world;
  ClearanceWorkspace workspace(world);
  const int nv = world.nv();
  for (int k = 0; k < 200; ++k) {
    const VectorX q = planner_configuration(world, random);
    const Vector3 origin(random.uniform(-1.5, 1.5), random.uniform(-1.5, 1.5), 1.5);
    const Vector3 direction = (Vector3(0.0, 0.0, 0.4) + 0.3 * random.normal3() - origin).normalized();
    const RayAnswer ray = cast_ray(world, q, {.origin = origin, .direction = direction}, workspace);
    if (!ray.hit || ray.distance == 0.0 || ray.normal.dot(direction) > -0.05) continue;
    const auto moved = [&](const VectorX& delta) -> VectorX {
      VectorX at(world.nq());
      integrate(world.model(), q, delta.tail(nv), at);
      const Ray other{origin + delta.head<3>(), direction + delta.segment<3>(3)};
      return VectorX::Constant(1, cast_ray(world, at, other, workspace).distance);
    };
    const Difference numeric = difference(moved, 6 + nv, 1, {.scale = 1e-4, .floor = 1e-11, .num_steps = 4});
    if (numeric.error.maxCoeff() > 1e-5) continue;
    ++compared;
    VectorX ours(6 + nv);
    ours << ray.d_origin, ray.d_direction, ray.d_q;
    EXPECT_LE((ours.transpose() - numeric.jacobian.row(0)).cwiseAbs().maxCoeff(), 1e-4) << ray.name;
  }
  EXPECT_GT(compared, 60);
}

TEST(Points, AreAsFarAsTheirNearestShape) {
  Random random(5);
  for (const NamedShape& shape : all_shapes()) {
    SCOPED_TRACE(shape.name);
    const World world = world_of(shape.shape, Pose(random.rotation(), {0.1, 0.2, 0.3}));
    ClearanceWorkspace workspace(world);
    for (int k = 0; k < 100; ++k) {
      const Vector3 point = 1.5 * random.normal3();
      const PointAnswer at = nearest_to(world, kNone, point, 10.0, workspace);
      if (!at.near) continue;
      EXPECT_NEAR((point - at.point).dot(at.normal), at.distance, 1e-8);
      EXPECT_NEAR((point - at.point).norm(), std::abs(at.distance), 1e-7);
      // along the gradient it grows by as much as the point moves
      if (at.distance < 0.05) continue;
      const PointAnswer& farther = nearest_to(world, kNone, point + 0.01 * at.normal, 10.0, workspace);
      EXPECT_NEAR(farther.distance, at.distance + 0.01, 1e-7);
    }
  }
}

TEST(Points, GradientsAreDifferences) {
  Random random(6);
  int compared = 0;
  const World world = planner_worlds(4, 7)[0].world;
  ClearanceWorkspace workspace(world);
  for (int k = 0; k < 200; ++k) {
    const VectorX q = planner_configuration(world, random);
    const Vector3 point(random.uniform(-0.8, 0.8), random.uniform(-0.8, 0.8), random.uniform(0.0, 1.2));
    const PointAnswer at = nearest_to(world, q, point, 1.0, workspace);
    if (!at.near) continue;
    const auto moved = [&](const VectorX& delta) -> VectorX {
      VectorX other(world.nq());
      integrate(world.model(), q, delta.tail(world.nv()), other);
      return VectorX::Constant(1, nearest_to(world, other, point + delta.head<3>(), 1.0, workspace).distance);
    };
    const Difference numeric = difference(moved, 3 + world.nv(), 1, {.scale = 1e-3, .floor = 1e-11, .num_steps = 5});
    if (numeric.error.maxCoeff() > 1e-6) continue;
    ++compared;
    VectorX ours(3 + world.nv());
    ours << at.normal, at.d_q;
    EXPECT_LE((ours.transpose() - numeric.jacobian.row(0)).cwiseAbs().maxCoeff(), 1e-5) << at.name;
  }
  EXPECT_GT(compared, 100);
}

TEST(Rays, WrongInputIsAnError) {
  const World world = world_of(Sphere{0.5});
  ClearanceWorkspace workspace(world);
  EXPECT_THROW((void)cast_ray(world, kNone, {.direction = Vector3::Zero()}, workspace), InputError);
  EXPECT_THROW((void)cast_ray(world, kNone, {.length = 0.0}, workspace), InputError);
  EXPECT_THROW((void)cast_ray(world, kNone, {}, workspace, "nobody"), InputError);
  EXPECT_THROW((void)nearest_to(world, kNone, Vector3::Constant(std::nan("")), 1.0, workspace), InputError);
}

}  // namespace
}  // namespace tangere::test
