/// Each wrong specification is refused with the field and what is wrong with it.

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <numbers>

#include <vector>

#include "tangere/geometry/mass_properties.hpp"
#include "tangere/geometry/mesh.hpp"
#include "tangere/geometry/shape.hpp"
#include "tangere/math/error.hpp"

namespace tangere::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Polytope cube() {
  MatrixX3 A(6, 3);
  A << Matrix3::Identity(), -Matrix3::Identity();
  return {A, VectorX::Ones(6)};
}

PaddedPolygon square() {
  MatrixX2 C(4, 2);
  C << 1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, -1.0;
  return {C, VectorX::Ones(4), 0.1};
}

template <class Spec, class Change>
ShapeSpec changed(Spec spec, Change&& change) {
  change(spec);
  return spec;
}

void expect_refused(const std::function<void()>& make, const std::string& field, const std::string& reason) {
  try {
    make();
    ADD_FAILURE() << "accepted, expected " << field << ": " << reason;
  } catch (const InputError& error) {
    EXPECT_EQ(error.field(), field);
    EXPECT_NE(error.reason().find(reason), std::string::npos) << error.what();
  }
}

TEST(BadInput, EachFieldOfEachShape) {
  struct Case {
    ShapeSpec spec;
    std::string field;
    std::string reason;
  };
  const Matrix3 skewed{{1.0, 0.1, 0.0}, {0.2, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  const Matrix3 indefinite = Vector3(1.0, -2.0, 1.0).asDiagonal();
  const Matrix3 broken = Matrix3::Constant(kNan);
  const Shape ball = Sphere{.radius = 1.0};
  const Shape plane = HalfSpace{.normal = {0.0, 0.0, 1.0}};
  const Shape pair = Bundle{{{ball, Pose()}}};
  const Pose mirrored(Vector3(1.0, 1.0, -1.0).asDiagonal(), Vector3::Zero());
  const Pose stretched(2.0 * Matrix3::Identity(), Vector3::Zero());
  const std::vector<Case> cases = {
      {Sphere{0.0}, "sphere.radius", "must be positive and finite, got 0"},
      {Sphere{kNan}, "sphere.radius", "got nan"},
      {Sphere{kInfinity}, "sphere.radius", "got inf"},
      {Ellipsoid{.semi_axes = {1.0, -2.0, 1.0}}, "ellipsoid.semi_axes.y", "must be positive and finite, got -2"},
      {Ellipsoid{}, "ellipsoid.semi_axes.x", "got 0"},
      {Ellipsoid{.P = skewed}, "ellipsoid.P", "must be symmetric"},
      {Ellipsoid{.P = indefinite}, "ellipsoid.P", "must be positive definite, but has the eigenvalue -2"},
      {Ellipsoid{.P = broken}, "ellipsoid.P", "must be finite"},
      {Box{{1.0, 1.0, 0.0}}, "box.size.z", "must be positive"},
      {Capsule{-1.0, 1.0}, "capsule.radius", "must be positive and finite, got -1"},
      {Capsule{1.0, 0.0}, "capsule.length", "use a sphere"},
      {Capsule{1.0, -1.0}, "capsule.length", "got -1"},
      {Cylinder{0.0, 1.0}, "cylinder.radius", "got 0"},
      {Cylinder{1.0, kNan}, "cylinder.length", "got nan"},
      {Cone{-1.0, 0.5}, "cone.height", "got -1"},
      {Cone{1.0, 0.0}, "cone.half_angle", "must be between 0 and pi/2, got 0"},
      {Cone{1.0, 0.5 * std::numbers::pi}, "cone.half_angle", "must be between"},
      {Cone{1.0, kNan}, "cone.half_angle", "must be finite"},
      {Polytope{}, "polytope.A", "at least four rows"},
      {changed(cube(), [](auto& p) { p.b.conservativeResize(5); }), "polytope.b", "got 5 for 6"},
      {changed(cube(), [](auto& p) { p.A.row(3).setZero(); }), "polytope.A[3]", "must not be zero"},
      {changed(cube(), [](auto& p) { p.A(2, 1) = kNan; }), "polytope.A[2]", "must be finite"},
      {changed(cube(), [](auto& p) { p.b[4] = kInfinity; }), "polytope.b[4]", "must be finite"},
      {changed(cube(), [](auto& p) { p.b[4] = -0.5; }), "polytope.b[4]",
       "the origin is outside face 4 (use recentred)"},
      {changed(cube(), [](auto& p) { p.b[4] = 0.0; }), "polytope.b[4]", "the origin is on face 4"},
      {Polytope{cube().A.topRows(5), cube().b.head(5)}, "polytope.A", "unbounded, no face towards (0, 0, -1)"},
      {Polytope{cube().A.topRows(3), cube().b.head(3)}, "polytope.A", "unbounded, no face towards (-"},
      {Polytope{cube().A.topRows(1), cube().b.head(1)}, "polytope.A", "unbounded, no face towards"},
      {RoundedPolytope{cube(), 0.0}, "rounded_polytope.radius", "got 0"},
      {RoundedPolytope{Polytope{cube().A.topRows(5), cube().b.head(5)}, 1.0}, "rounded_polytope.A", "unbounded"},
      {changed(square(), [](auto& p) { p.radius = -1.0; }), "padded_polygon.radius", "got -1"},
      {changed(square(), [](auto& p) { p.d[1] = -1.0; }), "padded_polygon.d[1]", "outside edge 1"},
      {changed(square(), [](auto& p) { p.d.conservativeResize(3); }), "padded_polygon.d", "got 3 for 4"},
      {changed(square(), [](auto& p) { p.C.row(2).setZero(); }), "padded_polygon.C[2]", "must not be zero"},
      {PaddedPolygon{square().C.topRows(3), square().d.head(3), 1.0}, "padded_polygon.C", "no edge towards (0, -1)"},
      {PaddedPolygon{MatrixX2(0, 2), VectorX(0), 1.0}, "padded_polygon.C", "at least three rows"},
      {HalfSpace{Vector3::Zero(), 0.0}, "halfspace.normal", "not zero"},
      {HalfSpace{Vector3(0.0, 0.0, kNan), 0.0}, "halfspace.normal", "finite"},
      {HalfSpace{Vector3::UnitZ(), kNan}, "halfspace.offset", "must be finite"},
      {MinkowskiSum{}, "minkowski_sum.parts", "must not be empty"},
      {MinkowskiSum{{{ball, Pose()}, {plane, Pose()}}}, "minkowski_sum.parts[1]", "a halfspace cannot be part"},
      {MinkowskiSum{{{pair, Pose()}}}, "minkowski_sum.parts[0]", "a bundle cannot be part"},
      {MinkowskiSum{std::vector<ShapePart>(30, {ball, Pose()})}, "minkowski_sum.parts", "needs 87 auxiliary variables"},
      {MinkowskiSum{{{ball, mirrored}}}, "minkowski_sum.parts[0].R", "must be a rotation"},
      {MinkowskiSum{{{ball, Pose::translation(Vector3(2.0, 0.0, 0.0))}}}, "minkowski_sum.parts", "add up to (2, 0, 0)"},
      {Bundle{}, "bundle.parts", "must not be empty"},
      {Bundle{{{ball, Pose()}, {ball, stretched}}}, "bundle.parts[1].R", "must be a rotation"},
      {Bundle{{{ball, Pose::translation(Vector3(0.0, kNan, 0.0))}}}, "bundle.parts[0].p", "must be finite"},
  };
  for (const Case& bad : cases) expect_refused([&] { (void)Shape(bad.spec); }, bad.field, bad.reason);
}

TEST(BadInput, Vertices) {
  MatrixX3 vertices = MatrixX3::Identity(3, 3);
  expect_refused([&] { (void)Polytope::from_vertices(vertices); }, "polytope.vertices", "at least four points, got 3");
  vertices = MatrixX3::Ones(5, 3);
  vertices.topLeftCorner<3, 2>().setZero();
  vertices(4, 1) = 7.0;
  expect_refused([&] { (void)Polytope::from_vertices(vertices); }, "polytope.vertices", "normal (0, 0, ");
  vertices(2, 1) = kNan;
  expect_refused([&] { (void)Polytope::from_vertices(vertices); }, "polytope.vertices[2]", "must be finite");
}

TEST(BadInput, PartsCarryTheirPath) {
  const Shape inner = Bundle{{{Sphere{.radius = 1.0}, Pose()}, {Capsule{.radius = 1.0, .length = 2.0}, Pose()}}};
  VectorX parameters = inner.parameters();
  parameters[1] = -1.0;
  expect_refused([&] { (void)inner.with_parameters(parameters); }, "parts[1].capsule.radius", "got -1");
  expect_refused([&] { (void)inner.with_parameters(VectorX::Ones(2)); }, "parameters", "must be 3 numbers, got 2");
}

TEST(BadInput, OptionsAndOtherArguments) {
  const Shape ball = Sphere{.radius = 1.0};
  const Shape pair = Bundle{{{ball, Pose()}}};
  expect_refused([&] { (void)mass_properties(ball, 0.0); }, "density", "must be positive");
  expect_refused([&] { (void)mass_properties(HalfSpace{.normal = {0.0, 0.0, 1.0}}); }, "halfspace", "no finite mass");
  expect_refused([&] { (void)mesh(ball, {.resolution = 2}); }, "resolution", "at least 3, got 2");
  expect_refused([&] { (void)mesh(ball, {.half_space_size = -1.0}); }, "half_space_size", "must be positive");
  expect_refused([&] { (void)pair.set(); }, "bundle", "parts");
}

TEST(BadInput, EmptyPolytopesCannotBeRecentred) {
  Polytope empty = cube();
  empty.b[0] = -2.0;
  expect_refused([&] { (void)recentred(empty); }, "polytope.A", "empty");
  Polytope open{cube().A.topRows(5), VectorX::Constant(5, -3.0)};
  open.b.head<2>().setConstant(5.0);
  expect_refused([&] { (void)recentred(open); }, "polytope.A", "unbounded");
}

/// What was not given is zero, not what happened to be in memory.
TEST(BadInput, SizesThatWereNotGiven) {
  expect_refused([] { (void)Shape(Sphere{}); }, "sphere.radius", "got 0");
  expect_refused([] { (void)Shape(Box{}); }, "box.size.x", "got 0");
  expect_refused([] { (void)Shape(Capsule{}); }, "capsule.radius", "got 0");
  expect_refused([] { (void)Shape(Cylinder{}); }, "cylinder.radius", "got 0");
  expect_refused([] { (void)Shape(Cone{}); }, "cone.height", "got 0");
  HalfSpace half_space;
  EXPECT_EQ(half_space.normal, Vector3::Zero());
  expect_refused([&] { (void)Shape(half_space); }, "halfspace.normal", "must be finite and not zero");
}

}  // namespace
}  // namespace tangere::test
