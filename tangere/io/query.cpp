#include "tangere/io/query.hpp"

#include <optional>
#include <vector>

#include "tangere/io/internal/json_lines.hpp"
#include "tangere/io/text/shape_reader.hpp"
#include "tangere/proximity/distance.hpp"
#include "tangere/proximity/proximity_derivatives.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"

namespace tangere {
namespace {

using internal::array_of;
using internal::Json;
using internal::JsonValue;

// reading
// -----------------------------------------------------------------------------------------------------------------------------

enum class Metric { scaling, distance, proximity };
enum class Derivatives { none, gradient, jacobian };

struct Posed {
  Shape shape;
  Pose X_W;
};

struct Query {
  Posed a;
  Posed b;
  Metric metric = Metric::scaling;
  /// Options of the metric asked for; the others keep their defaults.
  ScalingOptions scaling = {};
  DistanceOptions distance = {};
  ProximityOptions proximity = {};
  Derivatives derivatives = Derivatives::none;
  bool parameters = false;
};

Posed read_posed(const JsonValue& value) {
  value.require_fields({"shape", "position", "quaternion"});
  return {internal::read_shape(value.at("shape")), internal::read_pose(value)};
}

void read_version(const JsonValue& root) {
  const auto version = root.find("version");
  if (version && version->number() != kQueryVersion) version->fail("must be " + std::to_string(kQueryVersion));
}

Metric read_metric(const JsonValue& root) {
  const auto metric = root.find("metric");
  if (!metric) return Metric::scaling;
  const std::string name = metric->word({"scaling", "distance", "proximity"});
  if (name == "distance") return Metric::distance;
  return name == "proximity" ? Metric::proximity : Metric::scaling;
}

/// Runs `f`; an InputError about options gets the name of the query's field: the last name of its path.
template <class F>
void with_field_of_query(F&& f) {
  try {
    f();
  } catch (const InputError& error) {
    const std::string& field = error.field();
    if (field == "A" || field == "B") throw InputError(field == "A" ? "a.shape" : "b.shape", error.reason());
    throw InputError(field.substr(field.rfind('.') + 1), error.reason());
  }
}

void read_tolerances(const JsonValue& root, auto& options) {
  if (const auto smoothing = root.find("smoothing")) options.smoothing = smoothing->number();
  if (const auto tolerance = root.find("tolerance")) options.tolerance = tolerance->number();
  with_field_of_query([&] { options.verify(); });
}

ScalingOptions read_scaling_options(const JsonValue& root) {
  ScalingOptions options;
  if (const auto method = root.find("method")) {
    const std::string name = method->word({"auto", "conic", "support"});
    if (name != "auto") options.method = name == "conic" ? ScalingMethod::conic : ScalingMethod::support;
  }
  read_tolerances(root, options);
  return options;
}

DistanceOptions read_distance_options(const JsonValue& root) {
  for (const char* field : {"method", "smoothing"}) {
    if (const auto value = root.find(field)) value->fail("not for the metric distance, which has one exact method");
  }
  DistanceOptions options;
  if (const auto tolerance = root.find("tolerance")) options.tolerance = tolerance->number();
  with_field_of_query([&] { options.verify(); });
  return options;
}

ProximityOptions read_proximity_options(const JsonValue& root) {
  ProximityOptions options;
  if (const auto method = root.find("method")) {
    const std::string name = method->word({"auto", "interior_point", "active_set"});
    if (name == "interior_point") options.method = ProximityMethod::interior_point;
    if (name == "active_set") options.method = ProximityMethod::active_set;
  }
  read_tolerances(root, options);
  return options;
}

Derivatives read_derivatives(const JsonValue& root) {
  const auto derivatives = root.find("derivatives");
  if (!derivatives) return Derivatives::none;
  const std::string name = derivatives->word({"none", "gradient", "jacobian"});
  if (name == "jacobian") return Derivatives::jacobian;
  return name == "gradient" ? Derivatives::gradient : Derivatives::none;
}

Query read_query(const JsonValue& root) {
  root.require_fields(
      {"version", "id", "a", "b", "metric", "method", "smoothing", "tolerance", "derivatives", "parameters"});
  read_version(root);
  const Metric metric = read_metric(root);
  Query query{read_posed(root.at("a")), read_posed(root.at("b")), metric};
  if (metric == Metric::scaling) query.scaling = read_scaling_options(root);
  if (metric == Metric::distance) query.distance = read_distance_options(root);
  if (metric == Metric::proximity) query.proximity = read_proximity_options(root);
  query.derivatives = read_derivatives(root);
  if (const auto parameters = root.find("parameters")) query.parameters = parameters->boolean();
  if (query.a.shape.is_half_space() && query.b.shape.is_half_space()) {
    if (metric == Metric::scaling)
      throw InputError("b.shape",
                       "two half-spaces have no scaling: neither grows, so one of the shapes must be another");
    if (metric == Metric::distance)
      throw InputError("b.shape", "two half-spaces have no distance: one of the shapes must be bounded");
  }
  return query;
}

// writing
// -----------------------------------------------------------------------------------------------------------------------------

template <class Derived>
Json rows_of(const Eigen::MatrixBase<Derived>& M) {
  Json rows = Json::array();
  for (Eigen::Index i = 0; i < M.rows(); ++i) rows.push_back(array_of(M.row(i)));
  return rows;
}

void write_value(const Scaling& result, Json& out) {
  out["status"] = to_string(result.status);
  out["alpha"] = result.alpha;
  out["point"] = array_of(result.x);
  out["normal"] = array_of(result.normal);
  out["witness_a"] = array_of(result.p_A);
  out["witness_b"] = array_of(result.p_B);
  out["center_line_gap"] = result.center_line_gap;
  if (result.method == ScalingMethod::conic) {
    out["point_freedom"] = result.point_freedom;
    out["normal_freedom"] = result.normal_freedom;
  }
  out["method"] = to_string(result.method);
  out["iterations"] = result.iterations;
  out["gap"] = result.gap;
}

void write_jacobian(const ScalingJacobian& jacobian, Json& out) {
  out["jacobian"] = {{"point", rows_of(jacobian.x_alpha.topRows<3>())},
                     {"alpha", array_of(jacobian.x_alpha.row(3))},
                     {"witness_a", rows_of(jacobian.p_A)},
                     {"witness_b", rows_of(jacobian.p_B)},
                     {"unique", jacobian.unique}};
}

Json named(const std::vector<std::string>& names, const VectorX& values) {
  Json object = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) object[names[i]] = values[static_cast<Eigen::Index>(i)];
  return object;
}

void write_gradient(const Vector12& gradient, Json& out) {
  out["gradient"] = {{"a", array_of(gradient.head<6>())}, {"b", array_of(gradient.tail<6>())}};
}

void write_parameter_gradient(const Query& query, const VectorX& d_a, const VectorX& d_b, Json& out) {
  out["parameter_gradient"] = {{"a", named(query.a.shape.parameter_names(), d_a)},
                               {"b", named(query.b.shape.parameter_names(), d_b)}};
}

void answer_scaling(const Query& query, ScalingWorkspace& workspace, Json& out) {
  const Posed& a = query.a;
  const Posed& b = query.b;
  const Scaling result = scaling(a.shape, a.X_W, b.shape, b.X_W, query.scaling, workspace);
  write_value(result, out);
  if (!a.shape.is_convex() || !b.shape.is_convex()) out["parts"] = {result.part_A, result.part_B};
  if (query.derivatives != Derivatives::none) write_gradient(scaling_gradient(workspace), out);
  if (query.derivatives == Derivatives::jacobian) write_jacobian(scaling_jacobian(workspace), out);
  if (query.parameters) {
    VectorX d_a;
    VectorX d_b;
    scaling_parameter_gradient(workspace, d_a, d_b);
    write_parameter_gradient(query, d_a, d_b, out);
  }
}

void write_value(const Proximity& result, Json& out) {
  out["status"] = to_string(result.status);
  out["phi"] = result.phi;
  out["core_distance"] = result.core_distance;
  out["normal"] = array_of(result.normal);
  out["core_a"] = array_of(result.c_A);
  out["core_b"] = array_of(result.c_B);
  out["witness_a"] = array_of(result.p_A);
  out["witness_b"] = array_of(result.p_B);
  out["crossing"] = result.crossing;
  out["point_freedom"] = result.point_freedom;
  out["iterations"] = result.iterations;
  out["gap"] = result.gap;
}

void write_jacobian(const ProximityJacobian& jacobian, Json& out) {
  out["jacobian"] = {{"core_a", rows_of(jacobian.c_A)},    {"core_b", rows_of(jacobian.c_B)},
                     {"witness_a", rows_of(jacobian.p_A)}, {"witness_b", rows_of(jacobian.p_B)},
                     {"normal", rows_of(jacobian.normal)}, {"unique", jacobian.unique}};
}

void answer_distance(const Query& query, Json& out) {
  const Posed& a = query.a;
  const Posed& b = query.b;
  DistanceWorkspace workspace;
  const Distance result = distance(a.shape, a.X_W, b.shape, b.X_W, query.distance, workspace);
  out["status"] = to_string(result.status);
  out["distance"] = result.distance;
  out["normal"] = array_of(result.normal);
  out["witness_a"] = array_of(result.p_A);
  out["witness_b"] = array_of(result.p_B);
  out["iterations"] = result.iterations;
  out["gap"] = result.gap;
  if (!a.shape.is_convex() || !b.shape.is_convex()) out["parts"] = {result.part_A, result.part_B};
  if (query.derivatives != Derivatives::none) write_gradient(distance_gradient(workspace), out);
  if (query.derivatives == Derivatives::jacobian) {
    const DistanceJacobian jacobian = distance_jacobian(workspace);
    // where it does not exist the rows are null
    out["jacobian"] = {{"witness_a", rows_of(jacobian.p_A)},
                       {"witness_b", rows_of(jacobian.p_B)},
                       {"normal", rows_of(jacobian.normal)},
                       {"exists", jacobian.exists}};
  }
  if (query.parameters) {
    VectorX d_a;
    VectorX d_b;
    distance_parameter_gradient(workspace, d_a, d_b);
    write_parameter_gradient(query, d_a, d_b, out);
  }
}

void answer_proximity(const Query& query, Json& out) {
  const Posed& a = query.a;
  const Posed& b = query.b;
  ProximityWorkspace workspace;
  with_field_of_query([&] { write_value(proximity(a.shape, a.X_W, b.shape, b.X_W, query.proximity, workspace), out); });
  if (query.derivatives != Derivatives::none) write_gradient(proximity_gradient(workspace), out);
  if (query.derivatives == Derivatives::jacobian) write_jacobian(proximity_jacobian(workspace), out);
  if (query.parameters) {
    VectorX d_a;
    VectorX d_b;
    proximity_parameter_gradient(workspace, d_a, d_b);
    write_parameter_gradient(query, d_a, d_b, out);
  }
}

void answer(const Query& query, ScalingWorkspace& workspace, Json& out) {
  if (query.metric == Metric::scaling) answer_scaling(query, workspace, out);
  if (query.metric == Metric::distance) answer_distance(query, out);
  if (query.metric == Metric::proximity) answer_proximity(query, out);
}

}  // namespace

QueryAnswer answer_query_line(std::string_view line, std::size_t line_number, ScalingWorkspace& workspace) {
  return internal::answer_line(line, line_number,
                               [&](const JsonValue& root, Json& out) { answer(read_query(root), workspace, out); });
}

QueryAnswer answer_long_query_line(std::size_t line_number) {
  const std::string limit = std::to_string(kMaxQueryLine >> 20);
  Json out = Json::object();
  out["error"] = internal::error_at(line_number, "", "longer than " + limit + " MiB");
  return {internal::line_of(out), false};
}

}  // namespace tangere
