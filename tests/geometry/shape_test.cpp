#include "tangere/geometry/shape.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tangere/geometry/mass_properties.hpp"
#include "tangere/geometry/support.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tests/support/all_shapes.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/random_shapes.hpp"

namespace tangere::test {
namespace {

TEST(Shape, AllTwelveTypesAreListed) {
  std::set<std::string_view> types;
  for (const NamedShape& named : all_shapes()) types.insert(named.shape.type_name());
  EXPECT_EQ(types.size(), std::variant_size_v<ShapeSpec>);
}

class Parameters : public testing::TestWithParam<NamedShape> {};

TEST_P(Parameters, RoundTrip) {
  const Shape& shape = GetParam().shape;
  const VectorX theta = shape.parameters();
  ASSERT_EQ(static_cast<std::size_t>(theta.size()), shape.parameter_names().size());
  const std::set<std::string> names(shape.parameter_names().begin(), shape.parameter_names().end());
  EXPECT_EQ(names.size(), shape.parameter_names().size());

  const Shape same = shape.with_parameters(theta);
  EXPECT_EQ(same.parameters(), theta);
  EXPECT_EQ(same.type_name(), shape.type_name());
  for (std::size_t i = 0; i < shape.parts().size(); ++i)
    EXPECT_EQ(same.parts()[i].set->rows.matrix(), shape.parts()[i].set->rows.matrix());

  const Shape other = shape.with_parameters(1.0001 * theta);
  EXPECT_EQ(other.parameters(), VectorX(1.0001 * theta));
}

INSTANTIATE_TEST_SUITE_P(AllShapes, Parameters, testing::ValuesIn(all_shapes()),
                         shape_test_name<testing::TestParamInfo<NamedShape>>);

TEST(Shape, ParameterNamesFollowTheSpecification) {
  const Shape capsule = Capsule{.radius = 0.5, .length = 2.0};
  EXPECT_EQ(capsule.parameter_names(), (std::vector<std::string>{"radius", "length"}));
  const Shape nested =
      MinkowskiSum{{{MinkowskiSum{{{capsule, Pose()}}}, Pose()}, {Box{.size = {1.0, 2.0, 3.0}}, Pose()}}};
  EXPECT_EQ(nested.parameter_names(),
            (std::vector<std::string>{"parts[0].parts[0].radius", "parts[0].parts[0].length", "parts[1].size.x",
                                      "parts[1].size.y", "parts[1].size.z"}));
  const Shape ellipsoid = Ellipsoid{.P = Matrix3::Identity()};
  EXPECT_EQ(ellipsoid.parameter_names(), (std::vector<std::string>{"P.xx", "P.yy", "P.zz", "P.xy", "P.xz", "P.yz"}));
}

TEST(Shape, BundlesAreFlattened) {
  Random random(1);
  const Pose X1(random.rotation(), random.normal3());
  const Pose X2(random.rotation(), random.normal3());
  const Shape inner = Bundle{{{Sphere{.radius = 1.0}, Pose()}, {Capsule{.radius = 0.5, .length = 1.0}, X2}}};
  const Shape outer = Bundle{{{Box{.size = {1.0, 1.0, 1.0}}, Pose()}, {inner, X1}}};
  ASSERT_EQ(outer.parts().size(), 3u);
  EXPECT_FALSE(outer.is_convex());
  EXPECT_EQ(outer.parts()[2].first_parameter, 4);
  EXPECT_NEAR_ABSOLUTE(outer.parts()[2].X_SP.p, Vector3(X1 * X2.p), 1e-14);
  EXPECT_NEAR_ABSOLUTE(outer.parts()[2].X_SP.R, Matrix3(X1.R * X2.R), 1e-14);
}

/// The moved shape, put back, is the old one.
void expect_moved(const Recentred& moved, const std::function<Vector3(const Vector3&)>& old_support) {
  Random random(2);
  for (int trial = 0; trial < 50; ++trial) {
    const Vector3 n = random.unit_vector();
    const Vector3 p = moved.X_OldNew * support(moved.shape, moved.X_OldNew.R.transpose() * n);
    EXPECT_NEAR(n.dot(p), n.dot(old_support(n)), 1e-10);
  }
  EXPECT_LE(mass_properties(moved.shape).center.norm(), 1e-9 * moved.shape.set().outer_radius);
}

TEST(Recentred, PolytopesWhoseOriginIsOutside) {
  Random random(3);
  for (int trial = 0; trial < 500; ++trial) {
    const Polytope inside = random_polytope(random, 4 + random.index(30), 1.0, 30.0);
    const Shape shape = inside;
    const Vector3 away = 5.0 * random.unit_vector();
    const Polytope outside{inside.A, inside.b + inside.A * away};
    EXPECT_THROW((void)Shape(outside), InputError);
    const auto old_support = [&](const Vector3& n) -> Vector3 { return support(shape, n) + away; };
    expect_moved(recentred(outside), old_support);

    MatrixX3 vertices = shape.set().core.vertices;
    vertices.rowwise() += away.transpose();
    expect_moved(recentred(Polytope::from_vertices(vertices)), old_support);

    const RoundedPolytope rounded{outside, 0.2};
    expect_moved(recentred(rounded), [&](const Vector3& n) -> Vector3 { return old_support(n) + 0.2 * n; });
  }
}

TEST(Recentred, PolygonsAndSums) {
  Random random(4);
  const PaddedPolygon polygon = random_padded_polygon(random, 7);
  PaddedPolygon outside = polygon;
  outside.d += outside.C * Vector2(4.0, -3.0);
  EXPECT_THROW((void)Shape(outside), InputError);
  const Shape shape = polygon;
  expect_moved(recentred(outside),
               [&](const Vector3& n) -> Vector3 { return support(shape, n) + Vector3(4.0, -3.0, 0.0); });

  MinkowskiSum sum{{{Capsule{.radius = 0.2, .length = 1.0}, Pose(random.rotation(), Vector3(3.0, 0.0, 0.0))},
                    {shape, Pose(random.rotation(), Vector3(0.0, 2.0, 0.0))}}};
  EXPECT_THROW((void)Shape(sum), InputError);
  expect_moved(recentred(sum), [&](const Vector3& n) -> Vector3 {
    Vector3 point = Vector3::Zero();
    for (const ShapePart& part : sum.parts) point += part.X * support(part.shape, part.X.R.transpose() * n);
    return point;
  });
}

TEST(Recentred, CentredShapesStay) {
  for (const ShapeSpec& spec :
       {ShapeSpec(Sphere{1.0}), ShapeSpec(Cone{1.0, 0.5}), ShapeSpec(HalfSpace{Vector3::UnitZ(), 1.0})}) {
    const Recentred same = recentred(spec);
    EXPECT_TRUE(same.X_OldNew.p.isZero(0.0));
    EXPECT_TRUE(same.X_OldNew.R.isIdentity(0.0));
  }
}

/// The origin of a sum may be anywhere strictly inside.
TEST(MinkowskiSum, OriginInsideIsDecidedExactly) {
  Random random(5);
  for (int trial = 0; trial < 60; ++trial) {
    const auto& types = bounded_types();
    const auto draw = [&] { return random_shape(types[random.index(9)], random, 1.0, 5.0); };
    MinkowskiSum sum{
        {{draw(), Pose(random.rotation(), Vector3::Zero())}, {draw(), Pose(random.rotation(), Vector3::Zero())}}};
    const Shape centred = sum;
    // a boundary point brought to just inside and just outside the origin
    const Vector3 boundary = support(centred, random.unit_vector());
    sum.parts[1].X.p = -0.999 * boundary;
    EXPECT_NO_THROW((void)Shape(sum));
    sum.parts[1].X.p = -1.001 * boundary;
    EXPECT_THROW((void)Shape(sum), InputError);
  }
}

}  // namespace
}  // namespace tangere::test
