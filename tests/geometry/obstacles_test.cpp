/// Meshes, height fields, point clouds and depth images as bundles; many parts beside each alone; hulls of many
/// vertices beside looking at each.

#include "tangere/geometry/obstacles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/geometry/part_tree.hpp"
#include "tangere/geometry/vertex_graph.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/proximity/distance.hpp"
#include "tangere/proximity/manifold.hpp"
#include "tangere/proximity/scaling.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/random_shapes.hpp"

namespace tangere::test {
namespace {

/// Boxes here and there.
Shape box_bundle(int count, double size, Random& random) {
  Bundle bundle;
  for (int i = 0; i < count; ++i)
    bundle.parts.push_back(
        {Box{{random.uniform(0.02, 0.1), random.uniform(0.02, 0.1), random.uniform(0.02, 0.1)}},
         Pose(random.rotation(), size * Vector3(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)))});
  return bundle;
}

/// The answer over all pairs of parts, one by one.
double plain_distance(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB) {
  DistanceWorkspace workspace;
  double least = std::numeric_limits<double>::infinity();
  const auto parts = [](const Shape& shape) {
    const auto* bundle = shape.get_if<Bundle>();
    return bundle != nullptr ? bundle->parts : std::vector<ShapePart>{{shape, Pose()}};
  };
  for (const ShapePart& a : parts(A))
    for (const ShapePart& b : parts(B))
      least = std::min(least, distance(a.shape, X_WA * a.X, b.shape, X_WB * b.X, {}, workspace).distance);
  return least;
}

double plain_scaling(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB) {
  ScalingWorkspace workspace;
  double least = std::numeric_limits<double>::infinity();
  const auto parts = [](const Shape& shape) {
    const auto* bundle = shape.get_if<Bundle>();
    return bundle != nullptr ? bundle->parts : std::vector<ShapePart>{{shape, Pose()}};
  };
  for (const ShapePart& a : parts(A))
    for (const ShapePart& b : parts(B))
      least = std::min(least, scaling(a.shape, X_WA * a.X, b.shape, X_WB * b.X, {}, workspace).alpha);
  return least;
}

TEST(ManyParts, AnswerAsAllParts) {
  Random random(1);
  DistanceWorkspace distances;
  ScalingWorkspace scalings;
  for (int k = 0; k < 60; ++k) {
    const Shape A = box_bundle(5 + random.index(40), 0.5, random);
    const Shape B =
        k % 3 == 0 ? random_shape(bounded_types()[k % 10], random, 0.3) : box_bundle(5 + random.index(40), 0.5, random);
    const Pose X_WA(random.rotation(), random.normal3());
    const Pose X_WB(random.rotation(), X_WA.p + random.uniform(0.0, 2.0) * random.unit_vector());
    const Distance d = distance(A, X_WA, B, X_WB, {}, distances);
    EXPECT_NEAR(d.distance, plain_distance(A, X_WA, B, X_WB), 1e-9);
    EXPECT_EQ(overlaps(A, X_WA, B, X_WB, distances), d.distance <= 0.0);
    EXPECT_NEAR(scaling(A, X_WA, B, X_WB, {}, scalings).alpha / plain_scaling(A, X_WA, B, X_WB), 1.0, 1e-7);
    const double bound = 0.5 * std::abs(d.distance);
    const Distance near = distance(A, X_WA, B, X_WB, {.at_most = bound}, distances);
    if (near.status == DistanceStatus::beyond) {
      EXPECT_GT(near.distance, bound);
      EXPECT_LE(near.distance, d.distance + 1e-12);
    } else {
      EXPECT_NEAR(near.distance, d.distance, 1e-12);
    }
  }
}

TEST(ManyParts, ManifoldsAreThoseOfAllPairsOfParts) {
  Random random(2);
  ManifoldWorkspace workspace;
  ManifoldWorkspace plain;
  int found = 0;
  for (int k = 0; k < 40; ++k) {
    const Shape A = box_bundle(30, 0.3, random);
    const Shape B = box_bundle(30, 0.3, random);
    const Pose X_WB(random.rotation(), 0.4 * random.unit_vector());
    const ManifoldOptions options{.margin = 0.01};
    const std::span<const Manifold> patches = manifolds(A, {}, B, X_WB, options, workspace);
    std::size_t next = 0;
    for (int i = 0; i < 30; ++i) {
      for (int j = 0; j < 30; ++j) {
        const ShapePart& a = A.get_if<Bundle>()->parts[i];
        const ShapePart& b = B.get_if<Bundle>()->parts[j];
        const std::span<const Manifold> one = manifolds(a.shape, a.X, b.shape, X_WB * b.X, options, plain);
        if (one.empty()) continue;
        ASSERT_LT(next, patches.size());
        EXPECT_EQ(patches[next].part_A, i);
        EXPECT_EQ(patches[next].part_B, j);
        EXPECT_EQ(patches[next].num_points, one.front().num_points);
        ++next;
        ++found;
      }
    }
    EXPECT_EQ(next, patches.size());
  }
  EXPECT_GT(found, 100);
}

TEST(ManyParts, GradientsAreDifferences) {
  Random random(3);
  DistanceWorkspace workspace;
  const Shape A = box_bundle(40, 0.5, random);
  const Shape B = Capsule{0.1, 0.4};
  for (int k = 0; k < 20; ++k) {
    const Pose X_WA(random.rotation(), random.normal3());
    const Pose X_WB(random.rotation(), X_WA.p + 1.2 * random.unit_vector());
    (void)distance(A, X_WA, B, X_WB, {}, workspace);
    const Vector12 ours = distance_gradient(workspace);
    const auto moved = [&](const VectorX& d) {
      return distance(A, X_WA.perturbed(d.head<6>()), B, X_WB.perturbed(d.tail<6>()), {}, workspace).distance;
    };
    EXPECT_LE((ours - finite_difference_gradient(moved, 12, 1e-3)).norm(), 1e-6);
  }
}

TEST(VertexGraphs, FindTheHighestVertex) {
  Random random(4);
  for (const int count : {130, 400, 3000}) {
    MatrixX3 points(count, 3);
    for (int i = 0; i < count; ++i)
      points.row(i) = random.unit_vector().cwiseProduct(Vector3(1.0, 0.5, 2.0)).transpose();
    const Shape shape = Polytope::from_vertices(points);
    const SupportTerm& term = *shape.support_terms()->terms();
    const VertexGraph* graph = graph_of(term);
    ASSERT_NE(graph, nullptr);
    EXPECT_EQ(graph->num_vertices, term.num_vertices);
    const MatrixX3& vertices = shape.set().core.vertices;
    // a sphere against it: distances and alphas that walks find are those of planes over all vertices
    DistanceWorkspace workspace;
    for (int k = 0; k < 200; ++k) {
      const Pose X_WB = Pose::translation(3.0 * random.unit_vector());
      const Distance d = distance(shape, {}, Sphere{0.1}, X_WB, {}, workspace);
      const double highest = (vertices * d.normal).maxCoeff();
      EXPECT_NEAR(d.normal.dot(X_WB.p) - highest - 0.1, d.distance, 1e-9);
    }
  }
}

TEST(VertexGraphs, CellsCoverAllDirections) {
  Random random(5);
  std::vector<int> hits(6 * 8 * 8);
  for (int k = 0; k < 20000; ++k) {
    const Vector3 n = random.unit_vector();
    const int cell = direction_cell(8, n[0], n[1], n[2]);
    ASSERT_GE(cell, 0);
    ASSERT_LT(cell, static_cast<int>(hits.size()));
    ++hits[cell];
    EXPECT_EQ(direction_cell(8, 7.0 * n[0], 7.0 * n[1], 7.0 * n[2]), cell);
  }
  EXPECT_GT(*std::min_element(hits.begin(), hits.end()), 0);
  for (const Vector3& n : {Vector3(1, 1, 1), Vector3(-1, 1, 0), Vector3(0, -1, 1), Vector3(0, 0, 0)}) {
    const int cell = direction_cell(8, n[0], n[1], n[2]);
    EXPECT_TRUE(cell >= 0 && cell < static_cast<int>(hits.size()));
  }
}

TEST(MeshBundles, AreTheSurface) {
  const TriangleMesh torus = [] {
    TriangleMesh out;
    constexpr int kAround = 24;
    constexpr int kThick = 12;
    for (int i = 0; i < kAround; ++i) {
      for (int j = 0; j < kThick; ++j) {
        const double u = 2.0 * M_PI * i / kAround;
        const double v = 2.0 * M_PI * j / kThick;
        const double r = 1.0 + 0.3 * std::cos(v);
        out.vertices.emplace_back(r * std::cos(u), r * std::sin(u), 0.3 * std::sin(v));
        const int a = i * kThick + j;
        const int b = (i + 1) % kAround * kThick + j;
        const int c = (i + 1) % kAround * kThick + (j + 1) % kThick;
        const int d = i * kThick + (j + 1) % kThick;
        out.triangles.push_back({a, b, c});
        out.triangles.push_back({a, c, d});
      }
    }
    return out;
  }();
  const MeshBundle bundle = bundle_of_mesh(torus, {.thickness = 1e-3, .closed = true});
  EXPECT_EQ(bundle.open_edges, 0);
  EXPECT_EQ(bundle.degenerate, 0);
  EXPECT_NE(part_tree_of(bundle.shape), nullptr);
  EXPECT_EQ(part_tree_of(Sphere{1.0}), nullptr);
  DistanceWorkspace workspace;
  // a ball in the hole is free, where the hull would hold it
  const Distance hole = distance(bundle.shape, {}, Sphere{0.2}, {}, {}, workspace);
  EXPECT_GT(hole.distance, 0.45);
  EXPECT_LT(hole.distance, 0.55);
  EXPECT_TRUE(overlaps(bundle.shape, {}, Sphere{0.75}, {}, workspace));

  TriangleMesh open = torus;
  open.triangles.pop_back();
  EXPECT_EQ(bundle_of_mesh(open).open_edges, 3);
  try {
    (void)bundle_of_mesh(open, {.closed = true});
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(error.reason().find("has holes: 3 edges"), std::string::npos) << error.reason();
  }
  EXPECT_THROW((void)bundle_of_mesh({}), InputError);
  open.triangles.push_back({0, 1, 100000});
  EXPECT_THROW((void)bundle_of_mesh(open), InputError);
}

TEST(HeightFields, HoldWhatStandsOnThem) {
  MatrixX heights(6, 5);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 5; ++j) heights(i, j) = 0.2 * std::sin(i) * std::cos(j);
  const Shape ground = height_field(heights, 0.5, 0.4, -1.0);
  DistanceWorkspace workspace;
  Random random(6);
  for (int k = 0; k < 200; ++k) {
    const double x = random.uniform(0.01, 2.49);
    const double y = random.uniform(0.01, 1.59);
    // the height of the triangles at (x, y)
    const int i = static_cast<int>(x / 0.5);
    const int j = static_cast<int>(y / 0.4);
    const double u = x / 0.5 - i;
    const double v = y / 0.4 - j;
    const double h =
        u > v
            ? heights(i, j) + u * (heights(i + 1, j) - heights(i, j)) + v * (heights(i + 1, j + 1) - heights(i + 1, j))
            : heights(i, j) + v * (heights(i, j + 1) - heights(i, j)) + u * (heights(i + 1, j + 1) - heights(i, j + 1));
    const Shape ball = Sphere{1e-3};
    EXPECT_FALSE(overlaps(ground, {}, ball, Pose::translation({x, y, h + 0.01}), workspace));
    EXPECT_TRUE(overlaps(ground, {}, ball, Pose::translation({x, y, h - 0.01}), workspace));
    EXPECT_TRUE(overlaps(ground, {}, ball, Pose::translation({x, y, -0.9}), workspace));
  }
  EXPECT_THROW((void)height_field(heights, 0.5, 0.4, 0.0), InputError);
  EXPECT_THROW((void)height_field(MatrixX::Zero(1, 5), 0.5, 0.4, -1.0), InputError);
}

TEST(PointClouds, AreBallsAboutPoints) {
  Random random(7);
  MatrixX3 points(500, 3);
  for (int i = 0; i < points.rows(); ++i) points.row(i) = random.normal3().transpose();
  const Shape cloud = point_cloud(points, {.radius = 0.02});
  DistanceWorkspace workspace;
  for (int k = 0; k < 100; ++k) {
    const Vector3 at = 1.5 * random.normal3();
    const double nearest = (points.rowwise() - at.transpose()).rowwise().norm().minCoeff();
    EXPECT_NEAR(distance(cloud, {}, Sphere{0.1}, Pose::translation(at), {}, workspace).distance, nearest - 0.12, 1e-9);
  }
  const Shape thinned = point_cloud(points, {.radius = 0.02, .spacing = 0.5});
  EXPECT_LT(thinned.parts().size(), points.rows());
  EXPECT_THROW((void)point_cloud(MatrixX3(0, 3)), InputError);
  EXPECT_THROW((void)point_cloud(points, {.radius = 0.0}), InputError);
  EXPECT_THROW((void)point_cloud(points, {.max_points = 10}), InputError);
  points(3, 1) = std::nan("");
  EXPECT_THROW((void)point_cloud(points), InputError);
}

TEST(DepthImages, ArePointsBeforeTheCamera) {
  MatrixX depth(4, 6);
  depth.setConstant(2.0);
  depth(0, 0) = 0.0;
  depth(1, 1) = std::nan("");
  const DepthCamera camera{.fx = 100.0, .fy = 50.0, .cx = 2.5, .cy = 1.5};
  const MatrixX3 points = depth_points(depth, camera);
  ASSERT_EQ(points.rows(), 22);
  // the last pixel: column 5, row 3
  EXPECT_NEAR(points(21, 0), 2.5 / 100.0 * 2.0, 1e-15);
  EXPECT_NEAR(points(21, 1), 1.5 / 50.0 * 2.0, 1e-15);
  EXPECT_EQ(points(21, 2), 2.0);
  EXPECT_EQ(depth_points(depth, {.fx = 1, .fy = 1, .farthest = 1.0}).rows(), 0);
  EXPECT_THROW((void)depth_points(depth, {}), InputError);
}

}  // namespace
}  // namespace tangere::test
