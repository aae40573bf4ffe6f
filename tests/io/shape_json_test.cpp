#include "tangere/io/shape_json.hpp"

#include <gtest/gtest.h>

#include "tangere/geometry/support.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tests/support/all_shapes.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere {
namespace {

class ShapeJson : public testing::TestWithParam<test::NamedShape> {};

TEST_P(ShapeJson, RoundTrip) {
  const Shape& shape = GetParam().shape;
  const std::string text = shape_to_json(shape);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const Shape again = shape_from_json(text);
  EXPECT_EQ(again.type_name(), shape.type_name());
  EXPECT_EQ(again.parameter_names(), shape.parameter_names());
  // numbers are written so that they come back bit by bit; the rotations of parts go through quaternions
  EXPECT_EQ(again.parameters(), shape.parameters());
  ASSERT_EQ(again.parts().size(), shape.parts().size());
  for (std::size_t i = 0; i < shape.parts().size(); ++i) {
    EXPECT_NEAR_ABSOLUTE(again.parts()[i].X_SP.R, shape.parts()[i].X_SP.R, 1e-14);
    EXPECT_NEAR_ABSOLUTE(again.parts()[i].X_SP.p, shape.parts()[i].X_SP.p, 0.0);
  }
  // the same body
  if (shape.is_half_space()) return;
  Random random(3);
  for (int i = 0; i < 20; ++i) {
    const Vector3 n = random.unit_vector();
    EXPECT_NEAR(support(again, n).dot(n), support(shape, n).dot(n), 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(AllShapes, ShapeJson, testing::ValuesIn(test::all_shapes()),
                         [](const auto& instance) { return test::shape_test_name(instance); });

TEST(ShapeJsonText, EveryTypeAsDocumented) {
  const auto parameters = [](const char* text) { return shape_from_json(text).parameters(); };
  EXPECT_EQ(parameters(R"({"type": "sphere", "radius": 0.5})"), VectorX::Constant(1, 0.5));
  EXPECT_EQ(parameters(R"({"type": "box", "size": [1, 2, 3]})"), Vector3(1, 2, 3));
  EXPECT_EQ(parameters(R"({"type": "capsule", "radius": 0.5, "length": 2})"), Eigen::Vector2d(0.5, 2));
  EXPECT_EQ(parameters(R"({"type": "cylinder", "radius": 0.5, "length": 2})"), Eigen::Vector2d(0.5, 2));
  EXPECT_EQ(parameters(R"({"type": "cone", "height": 2, "half_angle": 0.4})"), Eigen::Vector2d(2, 0.4));
  EXPECT_EQ(parameters(R"({"type": "ellipsoid", "semi_axes": [1, 2, 3]})"), Vector3(1, 2, 3));
  EXPECT_EQ(parameters(R"({"type": "ellipsoid", "P": [[4, 0, 0], [0, 3, 1], [0, 1, 2]]})").size(), 6);
  EXPECT_EQ(
      parameters(
          R"({"type": "polytope", "A": [[1,0,0],[-1,0,0],[0,1,0],[0,-1,0],[0,0,1],[0,0,-1]], "b": [1,1,2,2,3,3]})")
          .size(),
      24);
  EXPECT_EQ(parameters(R"({"type": "polytope", "vertices": [[1,1,1],[1,-1,-1],[-1,1,-1],[-1,-1,1]]})").size(), 16);
  EXPECT_EQ(
      parameters(R"({"type": "rounded_polytope", "vertices": [[1,1,1],[1,-1,-1],[-1,1,-1],[-1,-1,1]], "radius": 0.1})")
          .size(),
      17);
  EXPECT_EQ(
      parameters(R"({"type": "padded_polygon", "C": [[1,0],[-1,1],[-1,-1]], "d": [1,1,1], "radius": 0.2})").size(), 10);
  EXPECT_EQ(parameters(R"({"type": "halfspace", "normal": [0, 0, 2], "offset": 0.5})"), Eigen::Vector4d(0, 0, 2, 0.5));
  EXPECT_EQ(parameters(R"({"type": "halfspace", "normal": [0, 0, 2]})"), Eigen::Vector4d(0, 0, 2, 0));
  const char* sum = R"({"type": "minkowski_sum", "parts": [
      {"shape": {"type": "box", "size": [1, 1, 1]}},
      {"shape": {"type": "sphere", "radius": 0.2}, "position": [0.1, 0, 0], "quaternion": [0, 0, 1, 0]}]})";
  EXPECT_EQ(parameters(sum).size(), 4);
  const Shape bundle = shape_from_json(R"({"type": "bundle", "parts": [
      {"shape": {"type": "sphere", "radius": 1}, "position": [5, 0, 0]}, {"shape": {"type": "sphere", "radius": 2}}]})");
  EXPECT_EQ(bundle.parts().size(), 2U);
  EXPECT_EQ(bundle.parts()[0].X_SP.p, Vector3(5, 0, 0));
}

struct BadShape {
  const char* name;
  const char* json;
  const char* field;
  const char* message;
};
void PrintTo(const BadShape& bad, std::ostream* stream) { *stream << bad.json; }

class BadShapeJson : public testing::TestWithParam<BadShape> {};

TEST_P(BadShapeJson, SaysWhatAndWhere) {
  const BadShape& bad = GetParam();
  try {
    const Shape shape = shape_from_json(bad.json, "a.shape");
    FAIL() << "accepted: " << shape_to_json(shape);
  } catch (const InputError& error) {
    EXPECT_EQ(error.field(), bad.field);
    EXPECT_NE(error.reason().find(bad.message), std::string::npos) << error.reason();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, BadShapeJson,
    testing::Values(
        BadShape{"NotAnObject", R"([1, 2])", "a.shape", "must be an object, got array"},
        BadShape{"NoType", R"({"radius": 1})", "a.shape.type", "is required"},
        BadShape{"TypeIsANumber", R"({"type": 3})", "a.shape.type", "must be a string, got number"},
        BadShape{"UnknownType", R"({"type": "sphre", "radius": 1})", "a.shape.type",
                 "unknown shape type 'sphre'; known: sphere, box, capsule, cylinder, cone, ellipsoid, polytope, "
                 "rounded_polytope, padded_polygon, "
                 "halfspace, minkowski_sum, bundle"},
        BadShape{"Missing", R"({"type": "capsule", "radius": 1})", "a.shape.length", "is required"},
        BadShape{"UnknownField", R"({"type": "sphere", "raduis": 1})", "a.shape.raduis",
                 "unknown field; known: type, radius"},
        BadShape{"FieldOfAnotherType", R"({"type": "sphere", "radius": 1, "length": 2})", "a.shape.length",
                 "unknown field"},
        BadShape{"Negative", R"({"type": "sphere", "radius": -1})", "a.shape.radius",
                 "must be positive and finite, got -1"},
        BadShape{"Zero", R"({"type": "cylinder", "radius": 1, "length": 0})", "a.shape.length", "must be positive"},
        BadShape{"WrongType", R"({"type": "sphere", "radius": "1"})", "a.shape.radius", "must be a number, got string"},
        BadShape{"Null", R"({"type": "sphere", "radius": null})", "a.shape.radius", "must be a number, got null"},
        BadShape{"TooLarge", R"({"type": "sphere", "radius": 1e999})", "radius", "must be finite, got 1e999"},
        BadShape{"TooShort", R"({"type": "box", "size": [1, 2]})", "a.shape.size", "must be 3 numbers, got 2"},
        BadShape{"NotANumber", R"({"type": "box", "size": [1, "2", 3]})", "a.shape.size[1]",
                 "must be a number, got string"},
        BadShape{"NotAnArray", R"({"type": "box", "size": 1})", "a.shape.size", "must be 3 numbers, got number"},
        BadShape{"NegativeEntry", R"({"type": "box", "size": [1, -2, 3]})", "a.shape.size[1]",
                 "must be positive and finite, got -2"},
        BadShape{"HalfAngle", R"({"type": "cone", "height": 1, "half_angle": 2})", "a.shape.half_angle",
                 "must be between 0 and pi/2"},
        BadShape{"NeitherForm", R"({"type": "ellipsoid"})", "a.shape", "must have either semi_axes or P"},
        BadShape{"BothForms", R"({"type": "ellipsoid", "semi_axes": [1,1,1], "P": [[1,0,0],[0,1,0],[0,0,1]]})",
                 "a.shape", "must have either semi_axes or P"},
        BadShape{"RaggedRows", R"({"type": "ellipsoid", "P": [[1,0,0],[0,1],[0,0,1]]})", "a.shape.P[1]",
                 "must be 3 numbers, got 2"},
        BadShape{"TooFewRows", R"({"type": "ellipsoid", "P": [[1,0,0],[0,1,0]]})", "a.shape.P",
                 "must be 3 rows of 3 numbers, got 2"},
        BadShape{"NotSymmetric", R"({"type": "ellipsoid", "P": [[1,0.5,0],[0,1,0],[0,0,1]]})", "a.shape.P",
                 "must be symmetric"},
        BadShape{"NotDefinite", R"({"type": "ellipsoid", "P": [[1,0,0],[0,-1,0],[0,0,1]]})", "a.shape.P",
                 "must be positive definite"},
        BadShape{"NoFaces", R"({"type": "polytope"})", "a.shape", "must have A and b, or vertices"},
        BadShape{"FacesAndVertices", R"({"type": "polytope", "b": [1], "vertices": [[1,1,1]]})", "a.shape",
                 "must have either A and b, or vertices, not both"},
        BadShape{"LengthOfB", R"({"type": "polytope", "A": [[1,0,0],[-1,0,0]], "b": [1]})", "a.shape.b",
                 "must have one entry a row of A, got 1 for 2"},
        BadShape{"EmptyPolytope", R"({"type": "polytope", "A": [], "b": []})", "a.shape.A", "at least four"},
        BadShape{"Unbounded",
                 R"({"type": "polytope", "A": [[1,0,0],[-1,0,0],[0,1,0],[0,-1,0],[0,0,-1]], "b": [1,1,1,1,1]})",
                 "a.shape.A", "no face towards (0, 0, 1)"},
        BadShape{
            "OriginOutside",
            R"({"type": "polytope", "A": [[1,0,0],[-1,0,0],[0,1,0],[0,-1,0],[0,0,1],[0,0,-1]], "b": [1,1,1,1,2,-1]})",
            "a.shape.b[5]", "must be positive, got -1: the origin is outside face 5"},
        BadShape{"ZeroRow", R"({"type": "polytope", "A": [[1,0,0],[0,0,0]], "b": [1,1]})", "a.shape.A[1]",
                 "must not be zero"},
        BadShape{"TooFewVertices", R"({"type": "polytope", "vertices": [[1,0,0],[0,1,0],[0,0,1]]})", "a.shape.vertices",
                 "must be at least four points, got 3"},
        BadShape{"FlatVertices", R"({"type": "polytope", "vertices": [[1,0,0],[0,1,0],[-1,0,0],[0,-1,0]]})",
                 "a.shape.vertices", "flat"},
        BadShape{"OriginOutsideVertices", R"({"type": "polytope", "vertices": [[3,1,1],[3,-1,-1],[2,1,-1],[2,-1,1]]})",
                 "a.shape.vertices", "the origin must be strictly inside the hull"},
        BadShape{"FlatCore",
                 R"({"type": "rounded_polytope", "vertices": [[1,0,0],[0,1,0],[-1,0,0],[0,-1,0]], "radius": 1})",
                 "a.shape.vertices", "flat"},
        BadShape{"CoreWithoutRadius",
                 R"({"type": "rounded_polytope", "vertices": [[1,1,1],[1,-1,-1],[-1,1,-1],[-1,-1,1]]})",
                 "a.shape.radius", "is required"},
        BadShape{"OpenPolygon", R"({"type": "padded_polygon", "C": [[1,0],[-1,0],[0,1]], "d": [1,1,1], "radius": 1})",
                 "a.shape.C", "unbounded"},
        BadShape{"PolygonColumns", R"({"type": "padded_polygon", "C": [[1,0,0]], "d": [1], "radius": 1})",
                 "a.shape.C[0]", "must be 2 numbers, got 3"},
        BadShape{"ZeroNormal", R"({"type": "halfspace", "normal": [0,0,0], "offset": 1})", "a.shape.normal",
                 "not zero"},
        BadShape{"EmptySum", R"({"type": "minkowski_sum", "parts": []})", "a.shape.parts", "must not be empty"},
        BadShape{"PartsNotAnArray", R"({"type": "bundle", "parts": {}})", "a.shape.parts",
                 "must be an array, got object"},
        BadShape{
            "InAPart",
            R"({"type": "bundle", "parts": [{"shape": {"type": "sphere", "radius": 1}}, {"shape": {"type": "sphere", "radius": 0}}]})",
            "a.shape.parts[1].shape.radius", "must be positive"},
        BadShape{
            "InANestedPart",
            R"({"type": "bundle", "parts": [{"shape": {"type": "minkowski_sum", "parts": [{"shape": {"type": "box", "size": [1, 1, 0]}}]}}]})",
            "a.shape.parts[0].shape.parts[0].shape.size[2]", "must be positive"},
        BadShape{"UnknownFieldOfAPart",
                 R"({"type": "bundle", "parts": [{"shape": {"type": "sphere", "radius": 1}, "pos": [0,0,0]}]})",
                 "a.shape.parts[0].pos", "unknown field; known: shape, position, quaternion"},
        BadShape{
            "QuaternionOfAPart",
            R"({"type": "bundle", "parts": [{"shape": {"type": "sphere", "radius": 1}, "quaternion": [0,0,0,0]}]})",
            "a.shape.parts[0].quaternion", "must have unit length, got length 0"},
        BadShape{
            "HalfSpaceInASum",
            R"({"type": "minkowski_sum", "parts": [{"shape": {"type": "halfspace", "normal": [0,0,1], "offset": 0}}]})",
            "a.shape.parts[0]", "halfspace cannot be part of a Minkowski sum"},
        BadShape{"KeyTwice", R"({"type": "sphere", "radius": 1, "radius": 2})", "radius", "given twice"}),
    [](const auto& instance) { return instance.param.name; });

TEST(ShapeJsonText, NestingIsLimited) {
  // deeper than parts may nest, and deeper than JSON may
  for (const int depth : {kMaxPartDepth + 1, 10000}) {
    std::string text = R"({"type": "sphere", "radius": 1})";
    std::string open;
    std::string close;
    for (int i = 0; i < depth; ++i) {
      open += R"({"type": "minkowski_sum", "parts": [{"shape": )";
      close += "}]}";
    }
    try {
      (void)shape_from_json(open + text + close);
      FAIL() << depth;
    } catch (const InputError& error) {
      EXPECT_NE(error.reason().find("nested deeper than"), std::string::npos) << error.reason();
    }
  }
  EXPECT_THROW((void)shape_from_json(std::string(1000000, '[')), InputError);
}

TEST(ShapeJsonText, DeepButAllowed) {
  std::string text = R"({"type": "sphere", "radius": 1})";
  for (int i = 0; i < kMaxPartDepth; ++i) text = R"({"type": "bundle", "parts": [{"shape": )" + text + "}]}";
  EXPECT_EQ(shape_from_json(text).parts().size(), 1U);
}

}  // namespace
}  // namespace tangere
