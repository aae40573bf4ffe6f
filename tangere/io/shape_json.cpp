#include "tangere/io/shape_json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "tangere/io/text/shape_reader.hpp"

namespace tangere {
namespace {

using internal::JsonValue;

// reading
// -----------------------------------------------------------------------------------------------------------------------------

ShapeSpec read_spec(const JsonValue& value, int depth);

/// Eight digits, no negative zero.
std::string to_text(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.8g", value == 0.0 ? 0.0 : value);
  return text.data();
}

Vector3 read_vector3(const JsonValue& value) { return value.numbers(3); }

/// The convex hull of `vertices`; what is wrong with the faces found is wrong with the vertices given.
Polytope read_vertices(const JsonValue& value) {
  Polytope polytope = Polytope::from_vertices(value.rows(3));
  for (Eigen::Index i = 0; i < polytope.b.size(); ++i) {
    if (polytope.b[i] > 0.0) continue;
    value.fail("the origin must be strictly inside the hull, but is " + to_text(-polytope.b[i]) +
               " outside the face with the normal (" + to_text(polytope.A(i, 0)) + ", " + to_text(polytope.A(i, 1)) +
               ", " + to_text(polytope.A(i, 2)) + ")");
  }
  return polytope;
}

Polytope read_faces(const JsonValue& value) {
  const bool by_vertices = value.has("vertices");
  if (by_vertices && (value.has("A") || value.has("b"))) value.fail("must have either A and b, or vertices, not both");
  if (by_vertices) return read_vertices(value.at("vertices"));
  if (!value.has("A") && !value.has("b")) value.fail("must have A and b, or vertices");
  return {value.at("A").rows(3), value.at("b").numbers()};
}

ShapeSpec read_sphere(const JsonValue& value, int) {
  value.require_fields({"type", "radius"});
  return Sphere{.radius = value.at("radius").number()};
}

ShapeSpec read_ellipsoid(const JsonValue& value, int) {
  value.require_fields({"type", "semi_axes", "P"});
  if (value.has("semi_axes") == value.has("P")) value.fail("must have either semi_axes or P");
  if (value.has("P")) return Ellipsoid{.P = Matrix3(value.at("P").rows(3, 3))};
  return Ellipsoid{.semi_axes = read_vector3(value.at("semi_axes"))};
}

ShapeSpec read_box(const JsonValue& value, int) {
  value.require_fields({"type", "size"});
  return Box{.size = read_vector3(value.at("size"))};
}

ShapeSpec read_polytope(const JsonValue& value, int) {
  value.require_fields({"type", "A", "b", "vertices"});
  return read_faces(value);
}

ShapeSpec read_rounded_polytope(const JsonValue& value, int) {
  value.require_fields({"type", "A", "b", "vertices", "radius"});
  return RoundedPolytope{.core = read_faces(value), .radius = value.at("radius").number()};
}

ShapeSpec read_capsule(const JsonValue& value, int) {
  value.require_fields({"type", "radius", "length"});
  return Capsule{.radius = value.at("radius").number(), .length = value.at("length").number()};
}

ShapeSpec read_cylinder(const JsonValue& value, int) {
  value.require_fields({"type", "radius", "length"});
  return Cylinder{.radius = value.at("radius").number(), .length = value.at("length").number()};
}

ShapeSpec read_cone(const JsonValue& value, int) {
  value.require_fields({"type", "height", "half_angle"});
  return Cone{.height = value.at("height").number(), .half_angle = value.at("half_angle").number()};
}

ShapeSpec read_padded_polygon(const JsonValue& value, int) {
  value.require_fields({"type", "C", "d", "radius"});
  return PaddedPolygon{.C = value.at("C").rows(2), .d = value.at("d").numbers(), .radius = value.at("radius").number()};
}

ShapeSpec read_half_space(const JsonValue& value, int) {
  value.require_fields({"type", "normal", "offset"});
  const auto offset = value.find("offset");
  return HalfSpace{.normal = read_vector3(value.at("normal")), .offset = offset ? offset->number() : 0.0};
}

/// Runs `make`; an InputError of geometry (`box.size.x`) gets the path of the value in the file (`a.shape.size[0]`).
template <class Make>
Shape made_at(const JsonValue& value, std::string_view type, const Make& make);

template <class Composite>
ShapeSpec read_composite(const JsonValue& value, int depth) {
  value.require_fields({"type", "parts"});
  const JsonValue parts = value.at("parts");
  Composite composite;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const JsonValue part = parts[i];
    part.require_fields({"shape", "position", "quaternion"});
    const JsonValue shape = part.at("shape");
    if (depth >= kMaxPartDepth) shape.fail("parts nested deeper than " + std::to_string(kMaxPartDepth) + " levels");
    composite.parts.push_back(
        {made_at(shape, shape.at("type").text(), [&] { return Shape(read_spec(shape, depth + 1)); }),
         internal::read_pose(part)});
  }
  return composite;
}

struct ShapeType {
  std::string_view name;
  ShapeSpec (*read)(const JsonValue&, int depth);
};

/// Beyond this, squares of lengths overflow.
constexpr double kFarthest = 1e30;
constexpr std::array<ShapeType, std::variant_size_v<ShapeSpec>> kShapeTypes = {{
    {"sphere", read_sphere},
    {"box", read_box},
    {"capsule", read_capsule},
    {"cylinder", read_cylinder},
    {"cone", read_cone},
    {"ellipsoid", read_ellipsoid},
    {"polytope", read_polytope},
    {"rounded_polytope", read_rounded_polytope},
    {"padded_polygon", read_padded_polygon},
    {"halfspace", read_half_space},
    {"minkowski_sum", read_composite<MinkowskiSum>},
    {"bundle", read_composite<Bundle>},
}};
static_assert(!kShapeTypes.back().name.empty(), "every type of shape has a reader");

ShapeSpec read_spec(const JsonValue& value, int depth) {
  const JsonValue type = value.at("type");
  const std::string name = type.text();
  for (const ShapeType& candidate : kShapeTypes)
    if (candidate.name == name) return candidate.read(value, depth);
  std::string known;
  for (const ShapeType& candidate : kShapeTypes) known += (known.empty() ? "" : ", ") + std::string(candidate.name);
  type.fail("unknown shape type '" + name + "'; known: " + known);
}

/// `size.x` as `size[0]`, the place in the file.
std::string as_index(std::string field) {
  if (field.size() < 2 || field[field.size() - 2] != '.') return field;
  const std::size_t axis = std::string_view("xyz").find(field.back());
  if (axis == std::string_view::npos) return field;
  return field.substr(0, field.size() - 2) + "[" + std::to_string(axis) + "]";
}

template <class Make>
Shape made_at(const JsonValue& value, std::string_view type, const Make& make) {
  try {
    return make();
  } catch (const InputError& error) {
    // ours already carry the path, geometry's start with the name of the type (a rounded polytope's may be those of its
    // core)
    const std::string& field = error.field();
    for (std::string_view prefix : {type, std::string_view("polytope")}) {
      if (!field.starts_with(prefix) || field.size() <= prefix.size() || field[prefix.size()] != '.') continue;
      const std::string inner = as_index(field.substr(prefix.size() + 1));
      throw InputError(value.path().empty() ? inner : value.path() + "." + inner, error.reason());
    }
    throw;
  }
}

// writing
// -----------------------------------------------------------------------------------------------------------------------------

using Json = nlohmann::ordered_json;

Json array_of(const VectorX& v) { return std::vector<double>(v.begin(), v.end()); }

Json rows_of(const MatrixX& M) {
  Json rows = Json::array();
  for (Eigen::Index i = 0; i < M.rows(); ++i) rows.push_back(array_of(M.row(i).transpose()));
  return rows;
}

Json to_json(const Shape& shape);

struct Fields {
  Json& out;

  void operator()(const Sphere& s) const { out["radius"] = s.radius; }
  void operator()(const Ellipsoid& s) const {
    if (s.P)
      out["P"] = rows_of(*s.P);
    else
      out["semi_axes"] = array_of(s.semi_axes);
  }
  void operator()(const Box& s) const { out["size"] = array_of(s.size); }
  void operator()(const Polytope& s) const {
    out["A"] = rows_of(s.A);
    out["b"] = array_of(s.b);
  }
  void operator()(const RoundedPolytope& s) const {
    (*this)(s.core);
    out["radius"] = s.radius;
  }
  void operator()(const Capsule& s) const {
    out["radius"] = s.radius;
    out["length"] = s.length;
  }
  void operator()(const Cylinder& s) const {
    out["radius"] = s.radius;
    out["length"] = s.length;
  }
  void operator()(const Cone& s) const {
    out["height"] = s.height;
    out["half_angle"] = s.half_angle;
  }
  void operator()(const PaddedPolygon& s) const {
    out["C"] = rows_of(s.C);
    out["d"] = array_of(s.d);
    out["radius"] = s.radius;
  }
  void operator()(const HalfSpace& s) const {
    out["normal"] = array_of(s.normal);
    out["offset"] = s.offset;
  }
  void operator()(const MinkowskiSum& s) const { parts(s.parts); }
  void operator()(const Bundle& s) const { parts(s.parts); }

  void parts(const std::vector<ShapePart>& list) const {
    out["parts"] = Json::array();
    for (const ShapePart& part : list)
      out["parts"].push_back({{"shape", to_json(part.shape)},
                              {"position", array_of(part.X.p)},
                              {"quaternion", array_of(part.X.quaternion())}});
  }
};

Json to_json(const Shape& shape) {
  Json out;
  out["type"] = shape.type_name();
  std::visit(Fields{out}, shape.spec());
  return out;
}

}  // namespace

namespace internal {

Shape read_shape(const JsonValue& value) {
  return made_at(value, value.at("type").text(), [&] { return Shape(read_spec(value, 0)); });
}

Pose read_pose(const JsonValue& object) {
  Pose X;
  if (const auto position = object.find("position")) {
    X.p = read_vector3(*position);
    if (!(X.p.cwiseAbs().maxCoeff() <= kFarthest)) position->fail("must be within 1e30 of the origin");
  }
  if (const auto quaternion = object.find("quaternion")) {
    const VectorX q = quaternion->numbers(4);
    const double length = q.stableNorm();
    if (!(std::abs(length - 1.0) <= 1e-6)) quaternion->fail("must have unit length, got length " + to_text(length));
    X = Pose::from_quaternion(X.p, q[0], q[1], q[2], q[3]);
  }
  return X;
}

}  // namespace internal

Shape shape_from_json(std::string_view text, const std::string& path) {
  const internal::JsonDocument document(text);
  return internal::read_shape(document.root(path));
}

std::string shape_to_json(const Shape& shape) {
  return to_json(shape).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tangere
