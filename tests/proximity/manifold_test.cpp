/// The manifold: closed forms, every type of contact, laws over all pairs of shapes, stability, bundles, memory, bad
/// input.

#include "tangere/proximity/manifold.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/math/so3.hpp"
#include "tests/support/all_shapes.hpp"
#include "tests/support/allocation.hpp"
#include "tests/support/manifold_cases.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/touching_pairs.hpp"

namespace tangere::test {
namespace {

constexpr double kPi = std::numbers::pi;

Pose at(double x, double y, double z) { return Pose::translation({x, y, z}); }
Pose at(double x, double y, double z, const Vector3& turn) { return {so3::exp(turn), {x, y, z}}; }

const Shape& plane() {
  static const Shape shape = HalfSpace{{0, 0, 1}, 0.0};
  return shape;
}

/// The contact point whose p_A is the nearest to `p`.
const ContactPoint& nearest_to(const Manifold& manifold, const Vector3& p) {
  const auto contacts = manifold.contacts();
  return *std::min_element(contacts.begin(), contacts.end(), [&](const ContactPoint& a, const ContactPoint& b) {
    return (a.p_A - p).norm() < (b.p_A - p).norm();
  });
}

/// A at the origin, B above it: normal z, all points at these p_A with this distance.
void expect_points(const Shape& A, const Shape& B, const Pose& X_WB, double distance,
                   const std::vector<Vector3>& expected) {
  ManifoldWorkspace workspace;
  const Manifold& found = manifold(A, {}, B, X_WB, {}, workspace);
  ASSERT_EQ(found.num_points, static_cast<int>(expected.size()));
  for (const Vector3& p : expected) {
    const ContactPoint& point = nearest_to(found, p);
    EXPECT_NEAR_ABSOLUTE(point.p_A, p, 1e-9);
    EXPECT_NEAR_ABSOLUTE(point.p_B, Vector3(p + Vector3(0, 0, distance)), 1e-9);
    EXPECT_NEAR_ABSOLUTE(point.normal, Vector3(0, 0, 1), 1e-9);
    EXPECT_NEAR(point.distance, distance, 1e-9);
  }
}

std::vector<Vector3> ring(double radius, double z) {
  std::vector<Vector3> points;
  for (int i = 0; i < 8; ++i)
    points.emplace_back(radius * std::cos(0.25 * kPi * i), radius * std::sin(0.25 * kPi * i), z);
  return points;
}

MatrixX3 cube_corners() {
  MatrixX3 corners(8, 3);
  for (int i = 0; i < 8; ++i)
    corners.row(i) << ((i & 1) != 0 ? 1 : -1), ((i & 2) != 0 ? 1 : -1), ((i & 4) != 0 ? 1 : -1);
  return corners;
}

// closed forms
// ---------------------------------------------------------------------------------------------------------------------

TEST(Manifold, BoxOnFlat) {
  const Shape box = Box{{1, 1, 1}};
  const Shape slab = Box{{4, 4, 1}};
  expect_points(plane(), box, at(0, 0, 0.49), -0.01, {{-0.5, -0.5, 0}, {0.5, -0.5, 0}, {-0.5, 0.5, 0}, {0.5, 0.5, 0}});
  expect_points(slab, box, at(0.2, 0, 0.99), -0.01,
                {{-0.3, -0.5, 0.5}, {0.7, -0.5, 0.5}, {-0.3, 0.5, 0.5}, {0.7, 0.5, 0.5}});
  // exactly aligned, offset, and turned by an eighth
  expect_points(box, box, at(0, 0, 1), 0.0, {{-0.5, -0.5, 0.5}, {0.5, -0.5, 0.5}, {-0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}});
  expect_points(box, box, at(0.3, 0.2, 0.99), -0.01,
                {{-0.2, -0.3, 0.5}, {0.5, -0.3, 0.5}, {-0.2, 0.5, 0.5}, {0.5, 0.5, 0.5}});
  expect_points(box, box, at(0.3, 0, 0.99), -0.01,
                {{-0.2, -0.5, 0.5}, {0.5, -0.5, 0.5}, {-0.2, 0.5, 0.5}, {0.5, 0.5, 0.5}});
  const double a = 0.5 * std::numbers::sqrt2 - 0.5;
  expect_points(box, box, at(0, 0, 0.99, {0, 0, 0.25 * kPi}), -0.01,
                {{a, -0.5, 0.5},
                 {-a, -0.5, 0.5},
                 {a, 0.5, 0.5},
                 {-a, 0.5, 0.5},
                 {0.5, a, 0.5},
                 {0.5, -a, 0.5},
                 {-0.5, a, 0.5},
                 {-0.5, -a, 0.5}});
  // on an edge and on a corner
  const double edge = std::sqrt(0.5);
  expect_points(slab, box, at(0, 0, 0.49 + edge, {0.25 * kPi, 0, 0}), -0.01, {{-0.5, 0, 0.5}, {0.5, 0, 0.5}});
  const Matrix3 R = Eigen::Quaterniond::FromTwoVectors(Vector3(1, 1, 1), Vector3(0, 0, -1)).toRotationMatrix();
  expect_points(slab, box, Pose(R, {0, 0, 0.49 + std::sqrt(0.75)}), -0.01, {{0, 0, 0.5}});
}

/// Padded faces tilted within the angular tolerance, so little above a plane that the corners of the face are beyond
/// the margin and only the lowest point is within.
TEST(Manifold, PaddedFaceAtTheMarginOfAPlane) {
  Random random(3);
  ManifoldWorkspace workspace;
  DistanceWorkspace distances;
  const Shape rounded = RoundedPolytope{Polytope::from_vertices(0.4 * cube_corners()), 0.1};
  const Shape sum = MinkowskiSum{{{Box{{1, 0.7, 0.5}}, {}}, {Sphere{0.1}, {}}}};
  const Shape pad = PaddedPolygon{(MatrixX2(4, 2) << 1, 0, -1, 0, 0, 1, 0, -1).finished(),
                                  (VectorX(4) << 0.5, 0.5, 0.4, 0.4).finished(), 0.1};
  const Shape lying = Capsule{0.2, 1.0};
  for (const Shape& shape : {rounded, sum, pad, lying}) {
    for (int trial = 0; trial < 2000; ++trial) {
      SCOPED_TRACE(std::string(shape.type_name()) + ", trial " + std::to_string(trial));
      const double angle = random.uniform(0.0, 2.0 * kPi);
      const double tilt = random.uniform(0.0, 0.0099);
      Pose X(so3::exp(tilt * Vector3(std::cos(angle), std::sin(angle), 0.0)), {0, 0, 1});
      X.p[2] -= distance(plane(), {}, shape, X, {}, distances).distance - random.uniform(0.99e-3, 1e-3);
      const Distance nearest = distance(plane(), {}, shape, X, {}, distances);
      const Manifold& found = manifold(plane(), {}, shape, X, {}, workspace);
      ASSERT_GE(found.num_points, 1);
      double least = 1.0;
      for (const ContactPoint& point : found.contacts()) {
        least = std::min(least, point.distance);
        ASSERT_NEAR(point.p_A[2], 0.0, 1e-12);
        ASSERT_NEAR(point.p_B[2], point.distance, 1e-12);
      }
      ASSERT_NEAR(least, nearest.distance, 1e-5);
    }
  }
}

TEST(Manifold, CrossedEdges) {
  const Shape box = Box{{1, 1, 1}};
  const Matrix3 on_edge = so3::exp(Vector3(0.25 * kPi, 0, 0));
  ManifoldWorkspace workspace;
  const double edge = std::sqrt(0.5);
  const Manifold& found = manifold(box, Pose::rotation(on_edge), box,
                                   Pose(so3::exp(Vector3(0, 0, 1)) * on_edge, {0, 0, 2 * edge - 0.01}), {}, workspace);
  ASSERT_EQ(found.num_points, 1);
  EXPECT_EQ(found.points[0].type(), "edge-edge");
  EXPECT_NEAR_ABSOLUTE(found.points[0].p_A, Vector3(0, 0, edge), 1e-12);
  EXPECT_NEAR_ABSOLUTE(found.points[0].point, Vector3(0, 0, edge - 0.005), 1e-12);
  EXPECT_NEAR(found.points[0].distance, -0.01, 1e-12);
}

TEST(Manifold, SpheresAndCapsules) {
  const Shape box = Box{{1, 1, 1}};
  const Shape sphere = Sphere{0.3};
  const Shape capsule = Capsule{0.2, 1.0};
  expect_points(plane(), sphere, at(0.1, 0.2, 0.29), -0.01, {{0.1, 0.2, 0}});
  expect_points(box, sphere, at(0.1, 0.2, 0.79), -0.01, {{0.1, 0.2, 0.5}});
  expect_points(sphere, sphere, at(0, 0, 0.59), -0.01, {{0, 0, 0.3}});
  expect_points(capsule, sphere, at(0.2, 0, 0.49), -0.01, {{0.2, 0, 0.2}});
  expect_points(plane(), capsule, at(0, 0, 0.19), -0.01, {{-0.5, 0, 0}, {0.5, 0, 0}});
  expect_points(box, capsule, at(0.4, 0, 0.69), -0.01, {{-0.1, 0, 0.5}, {0.5, 0, 0.5}});
  expect_points(box, capsule, at(0, 0, 1.19, {0, 0.5 * kPi, 0}), -0.01, {{0, 0, 0.5}});
  expect_points(capsule, capsule, at(0.3, 0, 0.39), -0.01, {{-0.2, 0, 0.2}, {0.5, 0, 0.2}});
  expect_points(capsule, capsule, at(0, 0, 0.39, {0, 0, 1}), -0.01, {{0, 0, 0.2}});
  // end to end
  expect_points(capsule, capsule, at(0, 0, 0.39, {0, 0, 0}), -0.01, {{-0.5, 0, 0.2}, {0.5, 0, 0.2}});
}

TEST(Manifold, PointsDividedAsRadiiAre) {
  ManifoldWorkspace workspace;
  // Nimble, Appendix C: (r_B c_A + r_A c_B) / (r_A + r_B)
  const Manifold& spheres = manifold(Sphere{0.2}, {}, Sphere{0.6}, at(0, 0, 0.7), {}, workspace);
  EXPECT_NEAR_ABSOLUTE(spheres.points[0].point, Vector3(0, 0, 0.2 * 0.7 / 0.8), 1e-12);
  // at the vertex, at the edge, on the sphere
  const Shape box = Box{{1, 1, 1}};
  const Manifold& vertex = manifold(box, {}, Sphere{0.5}, at(0.6, 0.7, 0.8), {}, workspace);
  EXPECT_NEAR_ABSOLUTE(vertex.points[0].point, Vector3(0.5, 0.5, 0.5), 1e-12);
  const Manifold& edge = manifold(Sphere{0.5}, at(0.6, 0.1, 0.8), box, {}, {}, workspace);
  EXPECT_NEAR_ABSOLUTE(edge.points[0].point, Vector3(0.5, 0.1, 0.5), 1e-12);
  const Manifold& face = manifold(box, {}, Sphere{0.5}, at(0.1, 0.2, 0.9), {}, workspace);
  EXPECT_NEAR_ABSOLUTE(face.points[0].point, Vector3(0.1, 0.2, 0.4), 1e-12);
}

TEST(Manifold, CylindersConesAndOthers) {
  const Shape slab = Box{{4, 4, 1}};
  const Shape cylinder = Cylinder{0.3, 1.0};
  const Vector3 stand(0, 0.5 * kPi, 0);
  expect_points(plane(), cylinder, at(0, 0, 0.29), -0.01, {{-0.5, 0, 0}, {0.5, 0, 0}});
  expect_points(slab, cylinder, at(0, 0, 0.79), -0.01, {{-0.5, 0, 0.5}, {0.5, 0, 0.5}});
  expect_points(plane(), cylinder, at(0, 0, 0.49, stand), -0.01, ring(0.3, 0));
  expect_points(slab, cylinder, at(0, 0, 0.99, stand), -0.01, ring(0.3, 0.5));
  const double half_angle = 0.4;
  const Shape cone = Cone{1.0, half_angle};
  expect_points(plane(), cone, at(0, 0, 0.24, stand), -0.01, ring(std::tan(half_angle), 0));
  expect_points(plane(), cone, at(0, 0, 0.74, -stand), -0.01, {{0, 0, 0}});
  const double c = std::cos(half_angle);
  expect_points(plane(), cone, at(0, 0, 0.75 * std::sin(half_angle) - 0.01, {0, -half_angle, 0}), -0.01,
                {{-0.75 * c, 0, 0}, {1.0 / c - 0.75 * c, 0, 0}});
  const Shape ellipsoid = Ellipsoid{{0.3, 0.5, 0.2}};
  expect_points(plane(), ellipsoid, at(0, 0, 0.19), -0.01, {{0, 0, 0}});
  expect_points(ellipsoid, ellipsoid, at(0, 0, 0.39), -0.01, {{0, 0, 0.2}});
  const Shape rounded = RoundedPolytope{Polytope::from_vertices(cube_corners()), 0.1};
  expect_points(plane(), rounded, at(0, 0, 1.09), -0.01, {{-1, -1, 0}, {1, -1, 0}, {-1, 1, 0}, {1, 1, 0}});
  expect_points(rounded, rounded, at(0.5, 0, 2.19), -0.01,
                {{-0.5, -1, 1.1}, {1, -1, 1.1}, {-0.5, 1, 1.1}, {1, 1, 1.1}});
}

TEST(Manifold, EveryTypeOfContact) {
  ManifoldWorkspace workspace;
  for (const ManifoldCase& c : manifold_cases()) {
    const Manifold& found = manifold(c.pair.A, c.pair.X_WA, c.pair.B, c.pair.X_WB, {.margin = 0.05}, workspace);
    std::set<std::string> types;
    for (const ContactPoint& point : found.contacts()) types.insert(point.type());
    EXPECT_EQ(found.num_points, c.num_points) << c.pair.name;
    EXPECT_EQ(types, std::set<std::string>(c.types.begin(), c.types.end())) << c.pair.name;
  }
}

// laws
// ---------------------------------------------------------------------------------------------------------------------

double size_of(const ShapePair& pair) {
  const auto radius = [](const Shape& shape) { return shape.support_terms()->outer_radius; };
  return std::min(radius(pair.A), radius(pair.B));
}

std::vector<ShapePair> law_pairs() {
  std::vector<ShapePair> pairs = touching_pairs(-0.01);
  for (const ShapePair& pair : touching_pairs(0.01)) pairs.push_back(pair);
  for (const ManifoldCase& c : manifold_cases()) pairs.push_back(c.pair);
  return pairs;
}

/// Whether p is on the surface, by the distance of a small ball about it, as far as that query is certain.
void expect_on_surface(const Shape& shape, const Pose& X, const Vector3& p, double size, double tolerance,
                       const std::string& name, DistanceWorkspace& workspace) {
  const double radius = 1e-3 * size;
  const Distance r = distance(shape, X, Sphere{radius}, Pose::translation(p), {.tolerance = 1e-12}, workspace);
  EXPECT_NEAR(r.distance, -radius, tolerance + std::max(0.0, r.gap) * size) << name << ", gap " << r.gap;
}

TEST(Manifold, PointsLieOnBothSurfaces) {
  ManifoldWorkspace workspace;
  DistanceWorkspace distances;
  for (const ShapePair& pair : law_pairs()) {
    const double size = size_of(pair);
    const Distance nearest = distance(pair.A, pair.X_WA, pair.B, pair.X_WB, {}, distances);
    const Manifold& found =
        manifold(pair.A, pair.X_WA, pair.B, pair.X_WB, {.margin = 0.05 * size, .max_points = 8}, workspace);
    ASSERT_EQ(found.num_points > 0, nearest.distance <= 0.05 * size) << pair.name;
    for (const ContactPoint& point : found.contacts()) {
      const double scale = size + point.p_A.norm();
      const std::string name = pair.name + " " + point.type();
      expect_on_surface(pair.A, pair.X_WA, point.p_A, size, 1e-9 * scale, name, distances);
      expect_on_surface(pair.B, pair.X_WB, point.p_B, size, 1e-9 * scale, name, distances);
      EXPECT_NEAR(point.normal.norm(), 1.0, 1e-12);
      EXPECT_NEAR((point.p_B - point.p_A).dot(point.normal), point.distance, 1e-12 * scale);
      EXPECT_EQ(point.normal, found.points[0].normal);
      EXPECT_LE(point.distance, 0.05 * size);
      EXPECT_NEAR_ABSOLUTE(point.point, Vector3(point.p_A + point.weight * (point.p_B - point.p_A)), 1e-14 * scale);
    }
    // nothing is deeper than the distance says, by more than the angle between normals allows
    double deepest = nearest.distance + size;
    for (const ContactPoint& point : found.contacts()) deepest = std::min(deepest, point.distance);
    if (found.num_points == 0) continue;
    EXPECT_NEAR(deepest, nearest.distance, (found.num_points == 1 ? 1e-3 : 1e-2) * size) << pair.name;
  }
}

TEST(Manifold, Swap) {
  DistanceWorkspace distances;
  for (const ShapePair& pair : law_pairs()) {
    const double size = size_of(pair);
    const ManifoldOptions options{.margin = 0.05 * size};
    const Distance nearest = distance(pair.A, pair.X_WA, pair.B, pair.X_WB, {}, distances);
    Distance reversed = nearest;
    reversed.normal = -nearest.normal;
    std::swap(reversed.p_A, reversed.p_B);
    const Manifold ab = manifold_along(pair.A, pair.X_WA, pair.B, pair.X_WB, nearest, options);
    const Manifold ba = manifold_along(pair.B, pair.X_WB, pair.A, pair.X_WA, reversed, options);
    ASSERT_EQ(ab.num_points, ba.num_points) << pair.name;
    for (const ContactPoint& point : ab.contacts()) {
      const auto others = ba.contacts();
      const auto other = std::find_if(others.begin(), others.end(), [&](const ContactPoint& o) {
        return o.feature_A == point.feature_B && o.feature_B == point.feature_A;
      });
      ASSERT_NE(other, others.end()) << pair.name << " " << point.type();
      EXPECT_NEAR_ABSOLUTE(point.p_A, other->p_B, 1e-8 * (size + point.p_A.norm()));
      EXPECT_NEAR_ABSOLUTE(point.p_B, other->p_A, 1e-8 * (size + point.p_A.norm()));
      EXPECT_NEAR_ABSOLUTE(point.normal, Vector3(-other->normal), 1e-8) << pair.name;
      EXPECT_NEAR(point.weight, 1.0 - other->weight, 1e-12);
    }
  }
}

TEST(Manifold, RigidMotion) {
  ManifoldWorkspace workspace;
  Random random(5);
  for (const ShapePair& pair : law_pairs()) {
    const double size = size_of(pair);
    const ManifoldOptions options{.margin = 0.05 * size};
    const Pose X(random.rotation(), random.normal3());
    const Manifold here = manifold(pair.A, pair.X_WA, pair.B, pair.X_WB, options, workspace);
    const Manifold there = manifold(pair.A, X * pair.X_WA, pair.B, X * pair.X_WB, options, workspace);
    ASSERT_EQ(here.num_points, there.num_points) << pair.name;
    for (int k = 0; k < here.num_points; ++k) {
      const ContactPoint& a = here.points[k];
      const ContactPoint& b = there.points[k];
      EXPECT_EQ(a.feature_A, b.feature_A) << pair.name;
      EXPECT_EQ(a.feature_B, b.feature_B) << pair.name;
      EXPECT_NEAR_ABSOLUTE(X * a.p_A, b.p_A, 1e-8 * (size + b.p_A.norm()));
      EXPECT_NEAR_ABSOLUTE(X.R * a.normal, b.normal, 1e-8);
    }
  }
}

// stability
// ---------------------------------------------------------------------------------------------------------------------

/// 1000 perturbations of 1e-9 of both poses change neither number nor names of the points, and move them by as much.
void expect_stable(const Shape& A, const Pose& X_WA, const Shape& B, const Pose& X_WB, int num_points) {
  ManifoldWorkspace workspace;
  Random random(3);
  const Manifold rest = manifold(A, X_WA, B, X_WB, {}, workspace);
  ASSERT_EQ(rest.num_points, num_points);
  for (int trial = 0; trial < 1000; ++trial) {
    Vector6 d_A;
    Vector6 d_B;
    for (int i = 0; i < 6; ++i) {
      d_A[i] = 1e-9 * random.uniform(-1.0, 1.0);
      d_B[i] = 1e-9 * random.uniform(-1.0, 1.0);
    }
    const Manifold& moved = manifold(A, X_WA.perturbed(d_A), B, X_WB.perturbed(d_B), {}, workspace);
    ASSERT_EQ(moved.num_points, num_points) << trial;
    for (int k = 0; k < num_points; ++k) {
      const ContactPoint& a = rest.points[k];
      const ContactPoint& b = moved.points[k];
      ASSERT_EQ(a.feature_A, b.feature_A) << trial;
      ASSERT_EQ(a.feature_B, b.feature_B) << trial;
      ASSERT_LE((a.p_A - b.p_A).norm(), 1e-7) << trial;
      ASSERT_LE((a.normal - b.normal).norm(), 1e-8) << trial;
      ASSERT_LE(std::abs(a.distance - b.distance), 1e-8) << trial;
    }
  }
}

TEST(Manifold, StableUnderPerturbation) {
  const Shape box = Box{{1, 1, 1}};
  const Shape slab = Box{{4, 4, 1}};
  for (const double z : {-0.01, 0.0, 5e-4}) {
    expect_stable(plane(), {}, box, at(0, 0, 0.5 + z), 4);
    expect_stable(slab, {}, box, at(0.3, 0.2, 1.0 + z), 4);
    // every corner on a corner; every edge along an edge
    expect_stable(box, {}, box, at(0, 0, 1.0 + z), 4);
    expect_stable(box, {}, box, at(0.3, 0, 1.0 + z), 4);
    expect_stable(box, {}, box, at(0.3, 0.2, 1.0 + z), 4);
    expect_stable(box, {}, box, at(0, 0, 1.0 + z, {0, 0, 0.25 * kPi}), 8);
    expect_stable(plane(), {}, Capsule{0.2, 1.0}, at(0, 0, 0.2 + z), 2);
    expect_stable(Capsule{0.2, 1.0}, {}, Capsule{0.2, 1.0}, at(0.3, 0, 0.4 + z), 2);
    expect_stable(Capsule{0.2, 1.0}, {}, Capsule{0.2, 1.0}, at(0, 0, 0.4 + z), 2);
    expect_stable(slab, {}, Cylinder{0.3, 1.0}, at(0, 0, 1.0 + z, {0, 0.5 * kPi, 0}), 8);
    expect_stable(slab, {}, Cylinder{0.3, 1.0}, at(0, 0, 0.8 + z), 2);
    expect_stable(slab, {}, Cone{1.0, 0.4}, at(0, 0, 0.75 + z, {0, 0.5 * kPi, 0}), 8);
    expect_stable(slab, {}, RoundedPolytope{Polytope::from_vertices(cube_corners()), 0.1}, at(0, 0, 1.6 + z), 4);
  }
}

TEST(Manifold, AnImpreciseNormalDoes) {
  ManifoldWorkspace workspace;
  DistanceWorkspace distances;
  Random random(9);
  for (const ManifoldCase& c : manifold_cases()) {
    const ShapePair& pair = c.pair;
    Distance nearest = distance(pair.A, pair.X_WA, pair.B, pair.X_WB, {}, distances);
    const Manifold exact = manifold(pair.A, pair.X_WA, pair.B, pair.X_WB, {.margin = 0.05}, workspace);
    nearest.normal = (nearest.normal + 1e-5 * random.unit_vector()).normalized();
    const Manifold near = manifold_along(pair.A, pair.X_WA, pair.B, pair.X_WB, nearest, {.margin = 0.05});
    ASSERT_EQ(near.num_points, exact.num_points) << pair.name;
    for (int k = 0; k < exact.num_points; ++k) {
      EXPECT_NEAR_ABSOLUTE(near.points[k].p_A, exact.points[k].p_A, 1e-9);
      EXPECT_NEAR_ABSOLUTE(near.points[k].normal, exact.points[k].normal, 1e-9);
    }
  }
}

// reduction, margin, bundles, memory, bad input
// ---------------------------------------------------------------------------------------------------------------------

TEST(Manifold, ReductionKeepsTheDeepestAndTheHull) {
  ManifoldWorkspace workspace;
  const Shape box = Box{{1, 1, 1}};
  const Shape cylinder = Cylinder{0.3, 1.0};
  const Pose on_edge = at(0.4, 0, 0.99, {0.002, 0.5 * kPi, 0});
  double deepest = 1.0;
  for (const ContactPoint& point : manifold(box, {}, cylinder, on_edge, {.margin = 0.1}, workspace).contacts())
    deepest = std::min(deepest, point.distance);
  for (int max = 1; max <= 8; ++max) {
    const Manifold& few = manifold(box, {}, cylinder, on_edge, {.margin = 0.1, .max_points = max}, workspace);
    EXPECT_EQ(few.num_points, std::min(max, 7));
    double least = 1.0;
    for (const ContactPoint& point : few.contacts()) least = std::min(least, point.distance);
    EXPECT_NEAR(least, deepest, 1e-8) << max;
  }
  // four of the octagon's eight keep 1 / √2 of its area
  const Manifold& four = manifold(box, {}, box, at(0, 0, 0.99, {0, 0, 0.25 * kPi}), {.max_points = 4}, workspace);
  ASSERT_EQ(four.num_points, 4);
  std::vector<Vector3> p;
  for (const ContactPoint& point : four.contacts()) p.push_back(point.p_A);
  std::sort(p.begin(), p.end(),
            [](const Vector3& a, const Vector3& b) { return std::atan2(a[1], a[0]) < std::atan2(b[1], b[0]); });
  EXPECT_GE(0.5 * (p[2] - p[0]).cross(p[3] - p[1]).norm(), 0.7 * 2.0 * (std::numbers::sqrt2 - 1.0));
  // a mesh with a face of many corners
  MatrixX3 prism(60, 3);
  for (int i = 0; i < 30; ++i) {
    const double angle = 2.0 * kPi * i / 30;
    prism.row(2 * i) << std::cos(angle), std::sin(angle), -0.5;
    prism.row(2 * i + 1) << std::cos(angle), std::sin(angle), 0.5;
  }
  const Manifold& round = manifold(plane(), {}, Polytope::from_vertices(prism), at(0, 0, 0.499), {}, workspace);
  EXPECT_EQ(round.num_points, 8);
}

TEST(Manifold, Margin) {
  ManifoldWorkspace workspace;
  const Shape box = Box{{1, 1, 1}};
  EXPECT_EQ(manifold(plane(), {}, box, at(0, 0, 0.6), {.margin = 0.05}, workspace).num_points, 0);
  EXPECT_EQ(manifold(plane(), {}, box, at(0, 0, 0.6), {.margin = 0.15}, workspace).num_points, 4);
  // tilted by 0.004: the far side is 0.004 higher
  const Pose tilted = at(0, 0, 0.5, {0, 0.004, 0});
  EXPECT_EQ(manifold(plane(), {}, box, tilted, {.margin = 1e-3}, workspace).num_points, 2);
  EXPECT_EQ(manifold(plane(), {}, box, tilted, {.margin = 1e-2}, workspace).num_points, 4);
}

TEST(Manifold, Bundles) {
  ManifoldWorkspace workspace;
  const Shape box = Box{{1, 1, 1}};
  const Shape table = Bundle{{{box, at(-2, 0, 0)}, {Capsule{0.2, 1.0}, at(0, 0, -0.3)}, {box, at(2, 0, 0)}}};
  const auto found = manifolds(plane(), {}, table, at(0, 0, 0.495), {}, workspace);
  ASSERT_EQ(found.size(), 3U);
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(found[k].part_A, 0);
    EXPECT_EQ(found[k].part_B, k);
    EXPECT_EQ(found[k].num_points, k == 1 ? 2 : 4);
  }
  const auto pairs = manifolds(table, {}, table, at(4, 0, 0.995), {}, workspace);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].part_A, 2);
  EXPECT_EQ(pairs[0].part_B, 0);
  EXPECT_EQ(pairs[0].num_points, 4);
  EXPECT_TRUE(manifolds(table, {}, table, at(40, 0, 0), {}, workspace).empty());
}

TEST(Manifold, SameBitsAndNoAllocation) {
  ManifoldWorkspace workspace;
  ManifoldWorkspace fresh;
  const ManifoldOptions options{.margin = 0.05, .derivatives = true};
  for (int round = 0; round < 2; ++round) {
    for (const ManifoldCase& c : manifold_cases()) {
      const ShapePair& pair = c.pair;
      const Manifold first = manifold(pair.A, pair.X_WA, pair.B, pair.X_WB, options, fresh);
      const AllocationCount count;
      const Manifold& second = manifold(pair.A, pair.X_WA, pair.B, pair.X_WB, options, workspace);
      EXPECT_TRUE(round == 0 || count.so_far() == 0) << pair.name;
      ASSERT_EQ(first.num_points, second.num_points);
      for (std::size_t k = 0; k < static_cast<std::size_t>(first.num_points); ++k) {
        EXPECT_EQ(first.points[k].p_A, second.points[k].p_A);
        EXPECT_EQ(first.points[k].p_B, second.points[k].p_B);
        EXPECT_EQ(first.points[k].distance, second.points[k].distance);
        EXPECT_EQ(first.jacobians[k].point, second.jacobians[k].point);
        EXPECT_EQ(first.jacobians[k].normal, second.jacobians[k].normal);
      }
    }
  }
}

TEST(Manifold, WhereThereIsNoDerivative) {
  ManifoldWorkspace workspace;
  const Manifold& same = manifold(Sphere{0.5}, {}, Sphere{0.5}, {}, {.derivatives = true}, workspace);
  ASSERT_EQ(same.num_points, 1);
  EXPECT_FALSE(same.jacobians[0].exists);
  EXPECT_TRUE(same.jacobians[0].normal.array().isNaN().all());
  EXPECT_NEAR(same.points[0].distance, -1.0, 1e-12);
}

template <class F>
void expect_input_error(const std::string& field, const F& f) {
  try {
    f();
    FAIL() << "expected an error about " << field;
  } catch (const InputError& error) {
    EXPECT_EQ(error.field(), field) << error.what();
  }
}

TEST(Manifold, BadInput) {
  ManifoldWorkspace workspace;
  const Shape box = Box{{1, 1, 1}};
  const Shape bundle = Bundle{{{box, Pose()}}};
  const auto with = [&](const Shape& A, const Shape& B, const ManifoldOptions& options = {}, const Pose& X = {}) {
    (void)manifold(A, X, B, X, options, workspace);
  };
  expect_input_error("A", [&] { with(bundle, box); });
  expect_input_error("B", [&] { with(box, bundle); });
  expect_input_error("shapes", [&] { with(plane(), plane()); });
  expect_input_error("options.margin", [&] { with(box, box, {.margin = -1.0}); });
  expect_input_error("options.margin", [&] { with(box, box, {.margin = std::nan("")}); });
  expect_input_error("options.max_points", [&] { with(box, box, {.max_points = 0}); });
  expect_input_error("options.max_points", [&] { with(box, box, {.max_points = 9}); });
  expect_input_error("options.angular_tolerance", [&] { with(box, box, {.angular_tolerance = 1.0}); });
  expect_input_error("options.tolerance", [&] { with(box, box, {.distance = {.tolerance = -1.0}}); });
  expect_input_error("X_WA.R", [&] { with(box, box, {}, Pose(2.0 * Matrix3::Identity(), Vector3::Zero())); });
  expect_input_error("X_WA.p", [&] { with(box, box, {}, at(std::nan(""), 0, 0)); });
  Distance nearest{};
  nearest.normal.setZero();
  expect_input_error("nearest.normal", [&] { (void)manifold_along(box, {}, box, {}, nearest, {}); });
}

}  // namespace
}  // namespace tangere::test
