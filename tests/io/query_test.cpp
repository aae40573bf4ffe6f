#include "tangere/io/query.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tangere/proximity/proximity_derivatives.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere {
namespace {

using nlohmann::json;

const char* const kSpheres = R"("a": {"shape": {"type": "sphere", "radius": 0.5}},
    "b": {"shape": {"type": "sphere", "radius": 0.7}, "position": [1, 2, 2], "quaternion": [0, 0, 0, 1]})";

QueryAnswer ask(const std::string& line, std::size_t line_number = 1) {
  ScalingWorkspace workspace;
  return answer_query_line(line, line_number, workspace);
}

json good(const std::string& line) {
  const QueryAnswer answer = ask(line);
  EXPECT_TRUE(answer.ok) << answer.json;
  EXPECT_EQ(answer.json.find('\n'), std::string::npos);
  return json::parse(answer.json);
}

json bad(const std::string& line) {
  const QueryAnswer answer = ask(line, 7);
  EXPECT_FALSE(answer.ok) << answer.json;
  const json error = json::parse(answer.json).at("error");
  EXPECT_EQ(error.at("line"), 7);
  return error;
}

VectorX vector_of(const json& array) {
  const auto values = array.get<std::vector<double>>();
  return Eigen::Map<const VectorX>(values.data(), static_cast<Eigen::Index>(values.size()));
}

MatrixX matrix_of(const json& rows) {
  MatrixX M(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(rows.at(0).size()));
  for (Eigen::Index i = 0; i < M.rows(); ++i) M.row(i) = vector_of(rows.at(static_cast<std::size_t>(i))).transpose();
  return M;
}

std::string spheres(const std::string& more = "") { return std::string("{") + kSpheres + more + "}"; }

TEST(Query, DistanceOfTwoSpheres) {
  const json answer = good(spheres(R"(, "metric": "distance", "derivatives": "jacobian", "parameters": true)"));
  EXPECT_EQ(answer.at("status"), "solved");
  EXPECT_NEAR(answer.at("distance"), 1.8, 1e-12);
  const Vector3 n = Vector3(1, 2, 2) / 3;
  EXPECT_NEAR_ABSOLUTE(vector_of(answer.at("normal")), n, 1e-12);
  EXPECT_NEAR_ABSOLUTE(vector_of(answer.at("witness_a")), Vector3(0.5 * n), 1e-12);
  EXPECT_NEAR_ABSOLUTE(vector_of(answer.at("gradient").at("b")).head<3>(), n, 1e-12);
  EXPECT_TRUE(answer.at("jacobian").at("exists"));
  EXPECT_NEAR(answer.at("parameter_gradient").at("a").at("radius"), -1.0, 1e-9);
}

TEST(Query, ValueOfTwoSpheres) {
  const json answer = good(spheres());
  EXPECT_EQ(answer.at("status"), "solved");
  EXPECT_NEAR(answer.at("alpha"), 2.5, 1e-7);
  const Vector3 n = Vector3(1, 2, 2) / 3;
  EXPECT_NEAR_ABSOLUTE(vector_of(answer.at("normal")), n, 1e-6);
  EXPECT_NEAR_ABSOLUTE(vector_of(answer.at("point")), Vector3(2.5 * 0.5 * n), 1e-6);
  EXPECT_NEAR_ABSOLUTE(vector_of(answer.at("witness_a")), Vector3(0.5 * n), 1e-6);
  EXPECT_NEAR_ABSOLUTE(vector_of(answer.at("witness_b")), Vector3((3.0 - 0.7) * n), 1e-6);
  EXPECT_NEAR(answer.at("center_line_gap"), 1.8, 1e-6);
  EXPECT_EQ(answer.at("method"), "support");
  EXPECT_FALSE(answer.contains("point_freedom"));
  EXPECT_EQ(good(spheres(R"(, "method": "conic")")).at("point_freedom"), 0);
  EXPECT_GT(answer.at("iterations"), 0);
  EXPECT_LE(answer.at("gap"), 1e-8);
  // only what was asked for
  for (const char* field : {"gradient", "jacobian", "parameter_gradient", "parts", "id", "error"})
    EXPECT_FALSE(answer.contains(field));
}

TEST(Query, Gradient) {
  const json answer = good(spheres(R"(, "derivatives": "gradient", "tolerance": 1e-10)"));
  VectorX expected = VectorX::Zero(6);
  expected.head<3>() = Vector3(1, 2, 2) / 3 / 1.2;
  EXPECT_NEAR_ABSOLUTE(vector_of(answer.at("gradient").at("b")), expected, 1e-8);
  EXPECT_NEAR_ABSOLUTE(vector_of(answer.at("gradient").at("a")), VectorX(-expected), 1e-8);
  EXPECT_FALSE(answer.contains("jacobian"));
}

TEST(Query, JacobianHasTheLibrarysNumbers) {
  const json answer = good(spheres(R"(, "derivatives": "jacobian", "smoothing": 1e-3)"));
  ScalingWorkspace workspace;
  const Shape a = Sphere{.radius = 0.5};
  const Shape b = Sphere{.radius = 0.7};
  const Scaling result =
      scaling(a, Pose(), b, Pose::translation({1, 2, 2}), ScalingOptions{.smoothing = 1e-3}, workspace);
  const ScalingJacobian expected = scaling_jacobian(workspace);
  EXPECT_EQ(answer.at("alpha").get<double>(), result.alpha);
  const json& jacobian = answer.at("jacobian");
  EXPECT_NEAR_ABSOLUTE(matrix_of(jacobian.at("point")), expected.x_alpha.topRows<3>(), 0.0);
  EXPECT_NEAR_ABSOLUTE(vector_of(jacobian.at("alpha")).transpose(), expected.x_alpha.row(3), 0.0);
  EXPECT_NEAR_ABSOLUTE(matrix_of(jacobian.at("witness_a")), expected.p_A, 0.0);
  EXPECT_NEAR_ABSOLUTE(matrix_of(jacobian.at("witness_b")), expected.p_B, 0.0);
  EXPECT_EQ(jacobian.at("unique"), expected.unique);
  EXPECT_TRUE(answer.contains("gradient"));
}

TEST(Query, ParameterGradient) {
  const json answer = good(spheres(R"(, "parameters": true, "tolerance": 1e-10)"));
  EXPECT_NEAR(answer.at("parameter_gradient").at("a").at("radius"), -3.0 / 1.44, 1e-7);
  EXPECT_NEAR(answer.at("parameter_gradient").at("b").at("radius"), -3.0 / 1.44, 1e-7);
  EXPECT_FALSE(answer.contains("gradient"));
}

TEST(Query, ProximityOfTwoSpheres) {
  const json answer = good(spheres(R"(, "metric": "proximity", "parameters": true)"));
  const Vector3 n = Vector3(1, 2, 2) / 3;
  EXPECT_EQ(answer.at("status"), "solved");
  EXPECT_NEAR(answer.at("phi"), 9.0 - 1.44, 1e-12);
  EXPECT_NEAR(answer.at("core_distance"), 3.0, 1e-12);
  EXPECT_NEAR_ABSOLUTE(vector_of(answer.at("normal")), n, 1e-12);
  EXPECT_NEAR_ABSOLUTE(vector_of(answer.at("core_b")), Vector3(1, 2, 2), 1e-12);
  EXPECT_NEAR_ABSOLUTE(vector_of(answer.at("witness_a")), Vector3(0.5 * n), 1e-12);
  EXPECT_NEAR_ABSOLUTE(vector_of(answer.at("witness_b")), Vector3(2.3 * n), 1e-12);
  EXPECT_EQ(answer.at("crossing"), false);
  EXPECT_EQ(answer.at("point_freedom"), 0);
  EXPECT_NEAR(answer.at("parameter_gradient").at("a").at("radius"), -2.4, 1e-12);
  for (const char* field : {"gradient", "jacobian", "alpha", "point"}) EXPECT_FALSE(answer.contains(field));
}

TEST(Query, ProximityDerivatives) {
  const std::string pair = R"({"a": {"shape": {"type": "capsule", "radius": 0.2, "length": 1}},
      "b": {"shape": {"type": "box", "size": [1, 2, 3]}, "position": [2, 1, 2.5], "quaternion": [0, 0, 0.6, 0.8]},
      "metric": "proximity", "derivatives": "jacobian", "method": "interior_point", "tolerance": 1e-9)";
  for (const double smoothing : {0.0, 1e-3}) {
    const json answer = good(pair + ", \"smoothing\": " + std::to_string(smoothing) + "}");
    ProximityWorkspace workspace;
    const Proximity result =
        proximity(Capsule{0.2, 1.0}, {}, Box{{1, 2, 3}}, Pose::from_quaternion({2, 1, 2.5}, 0, 0, 0.6, 0.8),
                  {.method = ProximityMethod::interior_point, .tolerance = 1e-9, .smoothing = smoothing}, workspace);
    EXPECT_EQ(answer.at("phi").get<double>(), result.phi);
    EXPECT_NEAR_ABSOLUTE(vector_of(answer.at("gradient").at("b")), proximity_gradient(workspace).tail<6>(), 0.0);
    const ProximityJacobian expected = proximity_jacobian(workspace);
    const json& jacobian = answer.at("jacobian");
    EXPECT_NEAR_ABSOLUTE(matrix_of(jacobian.at("core_a")), expected.c_A, 0.0);
    EXPECT_NEAR_ABSOLUTE(matrix_of(jacobian.at("core_b")), expected.c_B, 0.0);
    EXPECT_NEAR_ABSOLUTE(matrix_of(jacobian.at("witness_a")), expected.p_A, 0.0);
    EXPECT_NEAR_ABSOLUTE(matrix_of(jacobian.at("witness_b")), expected.p_B, 0.0);
    EXPECT_NEAR_ABSOLUTE(matrix_of(jacobian.at("normal")), expected.normal, 0.0);
    EXPECT_EQ(jacobian.at("unique"), expected.unique);
  }
}

TEST(Query, CrossingCoresAreAnAnswer) {
  const json answer = good(R"({"a": {"shape": {"type": "capsule", "radius": 0.5, "length": 1}},
      "b": {"shape": {"type": "capsule", "radius": 0.25, "length": 2}}, "metric": "proximity",
      "derivatives": "jacobian", "parameters": true})");
  EXPECT_EQ(answer.at("crossing"), true);
  EXPECT_EQ(answer.at("phi"), -0.5625);
  EXPECT_EQ(answer.at("jacobian").at("unique"), false);
  EXPECT_EQ(answer.dump().find("null"), std::string::npos) << answer;
}

TEST(Query, BundleSaysWhichParts) {
  const json answer = good(R"({"a": {"shape": {"type": "sphere", "radius": 1}},
      "b": {"shape": {"type": "bundle", "parts": [{"shape": {"type": "sphere", "radius": 1}, "position": [9, 0, 0]},
                                                  {"shape": {"type": "sphere", "radius": 1}, "position": [4, 0, 0]}]}}})");
  EXPECT_NEAR(answer.at("alpha"), 2.0, 1e-7);
  EXPECT_EQ(answer.at("parts"), json({0, 1}));
}

TEST(Query, EverythingSaid) {
  const json answer = good(spheres(
      R"(, "version": 1, "id": "pair 7", "metric": "scaling", "method": "conic", "smoothing": 0, "derivatives": "none",
                                      "parameters": false)"));
  EXPECT_EQ(answer.at("id"), "pair 7");
  EXPECT_EQ(good(spheres(R"(, "id": 12)")).at("id"), 12);
}

TEST(Query, CoincidentCentresAreAnAnswer) {
  const json answer =
      good(R"({"a": {"shape": {"type": "sphere", "radius": 1}}, "b": {"shape": {"type": "box", "size": [1, 1, 1]}},
                               "derivatives": "gradient"})");
  EXPECT_EQ(answer.at("status"), "zero_scaling");
  EXPECT_EQ(answer.at("alpha"), 0.0);
  EXPECT_EQ(answer.dump().find("null"), std::string::npos) << answer;
}

TEST(Query, AnErrorCarriesTheId) {
  const QueryAnswer answer = ask(R"({"id": "x", "a": {}})", 3);
  EXPECT_EQ(json::parse(answer.json).at("id"), "x");
}

TEST(Query, MalformedJsonSaysTheColumn) {
  const json error = bad(R"({"a": {"shape": }})");
  EXPECT_EQ(error.at("column"), 17);
  EXPECT_NE(error.at("message").get<std::string>().find("malformed JSON"), std::string::npos);
  EXPECT_FALSE(error.contains("field"));
  for (const char* line : {"", "{", "nonsense", R"({"a": NaN})", R"({"a": Infinity})", R"({"a": 1,})",
                           "{\"a\": \"\xff\xfe\"}", "\xff", "{} {}", R"({"a": 'x'})", "// comment"})
    EXPECT_TRUE(bad(line).contains("column")) << line;
}

TEST(Query, LongLinesAreRefused) {
  const std::string line = spheres(std::string(kMaxQueryLine, ' '));
  EXPECT_NE(bad(line).at("message").get<std::string>().find("longer than 16 MiB"), std::string::npos);
  ScalingWorkspace workspace;
  EXPECT_FALSE(answer_long_query_line(2).ok);
}

TEST(Query, DeepNestingIsRefused) {
  EXPECT_NE(bad(std::string(1000000, '[')).at("message").get<std::string>().find("nested deeper"), std::string::npos);
}

struct BadQuery {
  const char* name;
  std::string json;
  const char* field;
  const char* message;
};
void PrintTo(const BadQuery& bad_query, std::ostream* stream) { *stream << bad_query.json; }

class BadQueryLine : public testing::TestWithParam<BadQuery> {};

TEST_P(BadQueryLine, SaysWhatAndWhere) {
  const json error = bad(GetParam().json);
  EXPECT_EQ(error.value("field", ""), GetParam().field);
  EXPECT_NE(error.at("message").get<std::string>().find(GetParam().message), std::string::npos) << error;
}

const char* const kA = R"("a": {"shape": {"type": "sphere", "radius": 1}})";

INSTANTIATE_TEST_SUITE_P(
    Cases, BadQueryLine,
    testing::Values(
        BadQuery{"NotAnObject", "[]", "", "must be an object, got array"},
        BadQuery{"Number", "3", "", "must be an object, got number"}, BadQuery{"Empty", "{}", "a", "is required"},
        BadQuery{"NoB", std::string("{") + kA + "}", "b", "is required"},
        BadQuery{"NoShape", R"({"a": {}})", "a.shape", "is required"},
        BadQuery{"ShapeIsAString", R"({"a": {"shape": "sphere"}})", "a.shape", "must be an object"},
        BadQuery{"UnknownField", spheres(R"(, "smooting": 1)"), "smooting", "unknown field; known: version, id, a, b"},
        BadQuery{"UnknownFieldOfA", R"({"a": {"shape": {"type": "sphere", "radius": 1}, "orientation": [0,0,0,1]}})",
                 "a.orientation", "unknown field"},
        BadQuery{"Radius", R"({"a": {"shape": {"type": "sphere", "radius": 0}}})", "a.shape.radius",
                 "must be positive"},
        BadQuery{"TooLarge", R"({"a": {"shape": {"type": "sphere", "radius": 1e999}}})", "a.shape.radius",
                 "must be finite, got 1e999"},
        BadQuery{"TooLargeInARow", R"({"a": {"shape": {"type": "box", "size": [1, 2, -1e400]}}})", "a.shape.size[2]",
                 "must be finite, got -1e400"},
        BadQuery{"Position", R"({"a": {"shape": {"type": "sphere", "radius": 1}, "position": [1, 2]}})", "a.position",
                 "must be 3 numbers, got 2"},
        BadQuery{"QuaternionNotUnit",
                 R"({"a": {"shape": {"type": "sphere", "radius": 1}, "quaternion": [0, 0, 0, 1.1]}})", "a.quaternion",
                 "must have unit length, got length 1.1"},
        BadQuery{"QuaternionZero", R"({"a": {"shape": {"type": "sphere", "radius": 1}, "quaternion": [0, 0, 0, 0]}})",
                 "a.quaternion", "must have unit length, got length 0"},
        BadQuery{"QuaternionTooShort", R"({"a": {"shape": {"type": "sphere", "radius": 1}, "quaternion": [0, 0, 1]}})",
                 "a.quaternion", "must be 4 numbers, got 3"},
        BadQuery{
            "InB",
            std::string("{") + kA +
                R"(, "b": {"shape": {"type": "bundle", "parts": [{"shape": {"type": "cone", "height": 1, "half_angle": 0}}]}}})",
            "b.shape.parts[0].shape.half_angle", "must be between 0 and pi/2"},
        BadQuery{
            "TwoHalfSpaces",
            R"({"a": {"shape": {"type": "halfspace", "normal": [0,0,1]}}, "b": {"shape": {"type": "halfspace", "normal": [0,0,-1]}, "position": [0,0,3]}})",
            "b.shape", "two half-spaces"},
        BadQuery{"DistanceMethod", spheres(R"(, "metric": "distance", "method": "conic")"), "method",
                 "not for the metric distance"},
        BadQuery{"DistanceTolerance", spheres(R"(, "metric": "distance", "tolerance": 1)"), "tolerance",
                 "must be between 1e-13 and 1e-2, got 1"},
        BadQuery{"SupportWithSmoothing", spheres(R"(, "method": "support", "smoothing": 1e-3)"), "method",
                 "must be auto or conic with smoothing: the support route has none"},
        BadQuery{"ProximityMethod", spheres(R"(, "metric": "proximity", "method": "conic")"), "method",
                 "must be one of auto, interior_point, active_set, got 'conic'"},
        BadQuery{"ProximityTolerance", spheres(R"(, "metric": "proximity", "tolerance": 0.1)"), "tolerance",
                 "must be between 1e-14 and 1e-2, got 0.1"},
        BadQuery{"ProximitySmoothing", spheres(R"(, "metric": "proximity", "smoothing": 0.2)"), "smoothing",
                 "must be 0 or between 1e-12 and 0.1, got 0.2"},
        BadQuery{"ProximityActiveSetSmoothed",
                 spheres(R"(, "metric": "proximity", "method": "active_set", "smoothing": 0.1)"), "method",
                 "the active set has no smoothing"},
        BadQuery{"ProximityOfACone",
                 std::string("{") + kA +
                     R"(, "b": {"shape": {"type": "cone", "height": 1, "half_angle": 0.5}}, "metric": "proximity"})",
                 "b.shape", "got cone"},
        BadQuery{"UnknownMetric", spheres(R"(, "metric": "volume")"), "metric",
                 "must be one of scaling, distance, proximity, got 'volume'"},
        BadQuery{"UnknownMethod", spheres(R"(, "method": "gjk")"), "method",
                 "must be one of auto, conic, support, got 'gjk'"},
        BadQuery{"UnknownDerivatives", spheres(R"(, "derivatives": "all")"), "derivatives",
                 "must be one of none, gradient, jacobian, got 'all'"},
        BadQuery{"SmoothingNegative", spheres(R"(, "smoothing": -1)"), "smoothing", "-1"},
        BadQuery{"SmoothingLarge", spheres(R"(, "smoothing": 0.5)"), "smoothing", "0.5"},
        BadQuery{"SmoothingIsText", spheres(R"(, "smoothing": "no")"), "smoothing", "must be a number, got string"},
        BadQuery{"ToleranceZero", spheres(R"(, "tolerance": 0)"), "tolerance", "0"},
        BadQuery{"Parameters", spheres(R"(, "parameters": 1)"), "parameters", "must be true or false, got number"},
        BadQuery{"Version", spheres(R"(, "version": 2)"), "version", "must be 1"},
        BadQuery{"Id", spheres(R"(, "id": [1])"), "id", "must be a string or a number"},
        BadQuery{"KeyTwice", spheres(R"(, "a": 1)"), "a", "given twice"},
        BadQuery{"KeyTwiceInside", R"({"a": {"shape": {"type": "box", "size": [1,1,1], "size": [2,2,2]}}})",
                 "a.shape.size", "given twice"}),
    [](const auto& instance) { return instance.param.name; });

TEST(Query, WorkspaceServesOnAfterABadLine) {
  ScalingWorkspace workspace;
  EXPECT_FALSE(answer_query_line("{", 1, workspace).ok);
  EXPECT_TRUE(answer_query_line(spheres(), 2, workspace).ok);
}

}  // namespace
}  // namespace tangere
