/// Poses, shapes, masses, bounds and meshes.

#include <nanobind/operators.h>

#include "python/src/support.hpp"
#include "tangere/geometry/bounds.hpp"
#include "tangere/geometry/mass_properties.hpp"
#include "tangere/geometry/mesh.hpp"
#include "tangere/geometry/mesh_hull.hpp"
#include "tangere/geometry/shape.hpp"
#include "tangere/io/mesh_file.hpp"
#include "tangere/io/shape_json.hpp"

namespace tangere::python {
namespace {

using nb::literals::operator""_a;

Pose make_pose(const std::optional<Numbers>& p, const std::optional<Numbers>& quaternion,
               const std::optional<Numbers>& R) {
  const Vector3 position = p ? read_vector3(*p, "p") : Vector3::Zero();
  if (quaternion && R) throw InputError("pose", "takes a quaternion or R, not both");
  if (R) return {read_matrix(*R, "R", 3, 3), position};
  if (!quaternion) return Pose::translation(position);
  const VectorX q = read_vector(*quaternion, "quaternion", 4);
  return Pose::from_quaternion(position, q[0], q[1], q[2], q[3]);
}

Array pose_numbers(const Pose& X) {
  double numbers[7];
  Eigen::Map<Vector3>{numbers} = X.p;
  Eigen::Map<Vector4>{numbers + 3} = X.quaternion();
  return new_array({7}, numbers);
}

Array pose_matrix(const Pose& X) {
  RowMatrix m = RowMatrix::Identity(4, 4);
  m.topLeftCorner<3, 3>() = X.R;
  m.topRightCorner<3, 1>() = X.p;
  return new_array({4, 4}, m.data());
}

void bind_pose(nb::module_& m) {
  nb::class_<Pose>(
      m, "Pose",
      "A rigid motion X_WB: the pose of frame B in frame W. Functions that take a pose also take a position "
      "(3 numbers), a position and a quaternion x y z w (7), or a 4 x 4 matrix.")
      .def(
          "__init__",
          [](Pose* self, const std::optional<Numbers>& p, const std::optional<Numbers>& quaternion,
             const std::optional<Numbers>& R) { new (self) Pose(make_pose(p, quaternion, R)); },
          "p"_a = nb::none(), "quaternion"_a = nb::none(), nb::kw_only(), "R"_a = nb::none(),
          "From a position and a quaternion x y z w, or a rotation matrix.")
      .def_static(
          "exp", [](const Numbers& xi) { return se3::exp(Vector6(read_vector(xi, "xi", 6))); }, "xi"_a,
          "The motion of a twist [linear; angular] in the body's frame.")
      .def(
          "log", [](const Pose& X) { return to_array(se3::log(X)); }, "The twist whose exp this is.")
      .def(
          "adjoint", [](const Pose& X) { return to_array(se3::adjoint(X)); }, "Twists of B to twists of W, 6 x 6.")
      .def_prop_ro(
          "p", [](const Pose& X) { return to_array(X.p); }, "The position.")
      .def_prop_ro(
          "R", [](const Pose& X) { return to_array(X.R); }, "The rotation matrix.")
      .def_prop_ro(
          "quaternion", [](const Pose& X) { return to_array(X.quaternion()); }, "x y z w, w not negative.")
      .def_prop_ro("numbers", pose_numbers, "Position and quaternion, (7,).")
      .def_prop_ro("matrix", pose_matrix, "4 x 4.")
      .def("inverse", &Pose::inverse, "X_BW.")
      .def(
          "perturbed",
          [](const Pose& X, const Numbers& tangent) {
            return X.perturbed(Vector6(read_vector(tangent, "tangent", 6)));
          },
          "tangent"_a, "Moved by the tangent of pair queries: p + tangent[:3], R exp(tangent[3:]).")
      .def(
          "__matmul__", [](const Pose& X, const Pose& Y) { return X * Y; }, "other"_a, nb::is_operator(),
          "X_AB @ X_BC is X_AC.")
      .def(
          "__mul__", [](const Pose& X, const Pose& Y) { return X * Y; }, "other"_a, nb::is_operator(), "As @.")
      .def(
          "transform", [](const Pose& X, const Numbers& point) { return to_array(X * read_vector3(point, "point")); },
          "point"_a, "The point of B as W sees it.")
      .def(
          "__eq__", [](const Pose& X, const Pose& Y) { return X.R == Y.R && X.p == Y.p; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__getstate__", [](const Pose& X) { return nb::make_tuple(to_array(X.R), to_array(X.p)); })
      .def("__setstate__",
           [](Pose& X, const nb::tuple& state) {
             if (state.size() != 2) throw InputError("pose", "has another state");
             new (&X) Pose(read_matrix({state[0]}, "R", 3, 3), read_vector3({state[1]}, "p"));
           })
      .def("__repr__", [](const Pose& X) {
        const Vector4 q = X.quaternion();
        const nb::tuple p = nb::make_tuple(X.p[0], X.p[1], X.p[2]);
        return std::string("Pose(") + nb::repr(p).c_str() + ", " +
               nb::repr(nb::make_tuple(q[0], q[1], q[2], q[3])).c_str() + ")";
      });
}

/// `Capsule(radius=0.5, length=2.0)`; of many parameters only how many.
std::string shape_text(const Shape& shape) {
  std::string name;
  bool upper = true;
  for (const char c : std::string(shape.type_name())) {
    if (c == '_') {
      upper = true;
      continue;
    }
    name += upper ? static_cast<char>(std::toupper(c)) : c;
    upper = false;
  }
  if (shape.parameters().size() > 8) return name + "(" + std::to_string(shape.parameters().size()) + " parameters)";
  std::string text;
  for (int i = 0; i < shape.parameters().size(); ++i)
    text +=
        (i > 0 ? ", " : "") + shape.parameter_names()[i] + "=" + nb::repr(nb::float_(shape.parameters()[i])).c_str();
  return name + "(" + text + ")";
}

nb::list shape_parts(const Shape& shape) {
  nb::list out;
  const auto add = [&](const std::vector<ShapePart>& parts) {
    for (const ShapePart& part : parts) out.append(nb::make_tuple(part.shape, part.X));
  };
  if (const auto* sum = shape.get_if<MinkowskiSum>()) add(sum->parts);
  if (const auto* bundle = shape.get_if<Bundle>()) add(bundle->parts);
  return out;
}

void bind_shape(nb::module_& m) {
  nb::class_<Shape>(m, "Shape",
                    "A shape: validated once, constant, free to share between threads. Made by Sphere, Box, Capsule, …")
      .def_prop_ro("type_name", &Shape::type_name, "The name in files: `sphere`, `rounded_polytope`, …")
      .def_prop_ro("is_convex", &Shape::is_convex, "False for bundles only.")
      .def_prop_ro(
          "parameters", [](const Shape& s) { return to_array(s.parameters()); },
          "The numbers that size the shape, in the order of `parameter_names`.")
      .def_prop_ro("parameter_names", &Shape::parameter_names, "`radius`, `size.x`, `A[0].x`, `parts[1].radius`, …")
      .def(
          "with_parameters",
          [](const Shape& s, const Numbers& parameters) {
            return s.with_parameters(read_vector(parameters, "parameters", s.parameters().size()));
          },
          "parameters"_a, "The same shape with other numbers, validated again.")
      .def_prop_ro("parts", shape_parts, "Of sums and bundles: (shape, pose) of each part as given; else empty.")
      .def("to_json", &shape_to_json, "One line of JSON (docs/query.md has the schema).")
      .def_static(
          "from_json", [](std::string_view text) { return shape_from_json(text); }, "text"_a,
          "The shape of a line of JSON.")
      .def(
          "__eq__", [](const Shape& a, const Shape& b) { return shape_to_json(a) == shape_to_json(b); },
          nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const Shape& s) { return std::hash<std::string>()(shape_to_json(s)); })
      .def("__copy__", [](const nb::handle_t<Shape>& s) { return nb::borrow<nb::object>(s); })
      .def("__deepcopy__", [](const nb::handle_t<Shape>& s, nb::handle) { return nb::borrow<nb::object>(s); })
      .def("__getstate__", [](const Shape& s) { return shape_to_json(s); })
      .def("__setstate__", [](Shape& s, const std::string& text) { new (&s) Shape(shape_from_json(text)); })
      .def("__repr__", shape_text);
}

/// Parts as a list of shapes, or of (shape, pose).
std::vector<ShapePart> read_parts(const nb::sequence& parts) {
  std::vector<ShapePart> out;
  for (nb::handle part : parts) {
    const std::string name = "parts[" + std::to_string(out.size()) + "]";
    if (nb::isinstance<Shape>(part)) {
      out.push_back({nb::cast<Shape>(part), {}});
      continue;
    }
    if (!nb::isinstance<nb::tuple>(part) || nb::len(part) != 2 || !nb::isinstance<Shape>(part[0]))
      throw InputError(name, "must be a shape or a tuple (shape, pose)");
    const nb::object pose = part[1];
    out.push_back({nb::cast<Shape>(nb::object(part[0])), read_pose({pose}, name.c_str())});
  }
  return out;
}

Polytope read_polytope(const std::optional<Numbers>& A, const std::optional<Numbers>& b,
                       const std::optional<Numbers>& vertices) {
  if (vertices && !A && !b) return Polytope::from_vertices(read_matrix(*vertices, "polytope.vertices", -1, 3));
  if (!A || !b || vertices) throw InputError("polytope", "takes A and b, or vertices");
  return {read_matrix(*A, "polytope.A", -1, 3), read_vector(*b, "polytope.b")};
}

Shape make_ellipsoid(const std::optional<Numbers>& semi_axes, const std::optional<Numbers>& P) {
  if (semi_axes.has_value() == P.has_value()) throw InputError("ellipsoid", "takes semi_axes or P");
  if (semi_axes) return Ellipsoid{.semi_axes = read_vector3(*semi_axes, "ellipsoid.semi_axes")};
  return Ellipsoid{.P = Matrix3(read_matrix(*P, "ellipsoid.P", 3, 3))};
}

void bind_shape_makers(nb::module_& m) {
  m.def(
      "Sphere", [](double radius) -> Shape { return Sphere{radius}; }, "radius"_a, "|p| ≤ radius.");
  m.def("Ellipsoid", make_ellipsoid, "semi_axes"_a = nb::none(), nb::kw_only(), "P"_a = nb::none(),
        "pᵀ P p ≤ 1, by its semi-axes along x, y, z or by P (symmetric, positive definite).");
  m.def(
      "Box", [](const Numbers& size) -> Shape { return Box{read_vector3(size, "box.size")}; }, "size"_a,
      "|p_i| ≤ size_i / 2.");
  m.def(
      "Polytope",
      [](const std::optional<Numbers>& A, const std::optional<Numbers>& b,
         const std::optional<Numbers>& vertices) -> Shape { return read_polytope(A, b, vertices); },
      "A"_a = nb::none(), "b"_a = nb::none(), nb::kw_only(), "vertices"_a = nb::none(),
      "A p ≤ b with b > 0, one face a row, bounded; or the convex hull of vertices around the origin.");
  m.def(
      "RoundedPolytope",
      [](const std::optional<Numbers>& A, const std::optional<Numbers>& b, const std::optional<Numbers>& vertices,
         double radius) -> Shape {
        return RoundedPolytope{read_polytope(A, b, vertices), radius};
      },
      "A"_a = nb::none(), "b"_a = nb::none(), nb::kw_only(), "vertices"_a = nb::none(), "radius"_a,
      "All points within `radius` of a polytope.");
  m.def(
      "Capsule",
      [](double radius, double length) -> Shape {
        return Capsule{radius, length};
      },
      "radius"_a, "length"_a, "All points within `radius` of a segment of the given length along x.");
  m.def(
      "Cylinder",
      [](double radius, double length) -> Shape {
        return Cylinder{radius, length};
      },
      "radius"_a, "length"_a, "Axis x, from -length/2 to length/2.");
  m.def(
      "Cone",
      [](double height, double half_angle) -> Shape {
        return Cone{height, half_angle};
      },
      "height"_a, "half_angle"_a, "Axis x: apex at -3/4 height, base at +1/4 height. Half-angle in (0, π/2).");
  m.def(
      "PaddedPolygon",
      [](const Numbers& C, const Numbers& d, double radius) -> Shape {
        return PaddedPolygon{read_matrix(C, "padded_polygon.C", -1, 2), read_vector(d, "padded_polygon.d"), radius};
      },
      "C"_a, "d"_a, "radius"_a, "All points within `radius` of the polygon C (x, y) ≤ d in the plane z = 0.");
  m.def(
      "HalfSpace",
      [](const Numbers& normal, double offset) -> Shape {
        return HalfSpace{read_vector3(normal, "halfspace.normal"), offset};
      },
      "normal"_a, "offset"_a = 0.0, "normal · p ≤ offset. Not scaled.");
  m.def(
      "MinkowskiSum", [](const nb::sequence& parts) -> Shape { return MinkowskiSum{read_parts(parts)}; }, "parts"_a,
      "The sum of convex shapes: a list of shapes or (shape, pose).");
  m.def(
      "Bundle", [](const nb::sequence& parts) -> Shape { return Bundle{read_parts(parts)}; }, "parts"_a,
      "The union of convex shapes: a list of shapes or (shape, pose).");
}

TriangleMesh make_mesh(const Numbers& vertices, const Numbers& triangles) {
  const RowMatrix V = read_matrix(vertices, "vertices", -1, 3);
  const RowMatrix T = read_matrix(triangles, "triangles", -1, 3);
  TriangleMesh out;
  for (int i = 0; i < V.rows(); ++i) out.vertices.emplace_back(V.row(i));
  for (int i = 0; i < T.rows(); ++i) {
    std::array<int, 3> corners{};
    for (std::size_t k = 0; k < 3; ++k) {
      const double index = T(i, static_cast<int>(k));
      if (!(index >= 0.0 && index < static_cast<double>(V.rows()) && index == std::floor(index)))
        throw InputError(
            "triangles[" + std::to_string(i) + "]",
            "must be indices from 0 to " + std::to_string(V.rows() - 1) + ", got " + std::to_string(index));
      corners[k] = static_cast<int>(index);
    }
    out.triangles.push_back(corners);
  }
  return out;
}

Array mesh_vertices(const TriangleMesh& mesh) {
  double* to = nullptr;
  Array out = empty_array({mesh.vertices.size(), 3}, to);
  for (const Vector3& p : mesh.vertices) to = std::copy_n(p.data(), 3, to);
  return out;
}

nb::ndarray<nb::numpy, int> mesh_triangles(const TriangleMesh& mesh) {
  auto* to = new int[3 * mesh.triangles.size() + 1];
  const nb::capsule owner(to, [](void* p) noexcept { delete[] static_cast<int*>(p); });
  int* at = to;
  for (const auto& triangle : mesh.triangles) at = std::copy_n(triangle.data(), 3, at);
  const std::size_t shape[2] = {mesh.triangles.size(), 3};
  return {to, 2, shape, owner};
}

void bind_meshes(nb::module_& m) {
  nb::class_<TriangleMesh>(m, "TriangleMesh", "Triangles, counter-clockwise seen from outside.")
      .def(
          "__init__",
          [](TriangleMesh* self, const Numbers& vertices, const Numbers& triangles) {
            new (self) TriangleMesh(make_mesh(vertices, triangles));
          },
          "vertices"_a, "triangles"_a, "From points (n, 3) and indices (m, 3).")
      .def_prop_ro("vertices", mesh_vertices, "(n, 3).")
      .def_prop_ro("triangles", mesh_triangles, nb::rv_policy::automatic, "(m, 3).")
      .def("__getstate__", [](const TriangleMesh& s) { return nb::make_tuple(mesh_vertices(s), mesh_triangles(s)); })
      .def("__setstate__", [](TriangleMesh& s, const nb::tuple& state) {
        if (state.size() != 2) throw InputError("mesh", "has another state");
        new (&s) TriangleMesh(make_mesh({state[0]}, {state[1]}));
      });
  m.def(
      "mesh",
      [](const Shape& shape, int resolution, double half_space_size) {
        return mesh(shape, {.resolution = resolution, .half_space_size = half_space_size});
      },
      "shape"_a, nb::kw_only(), "resolution"_a = MeshOptions{}.resolution,
      "half_space_size"_a = MeshOptions{}.half_space_size, "The surface of a shape, to draw.");
  m.def(
      "load_mesh",
      [](const std::filesystem::path& file, const std::optional<Numbers>& scale) {
        return load_mesh(file, scale ? read_vector3(*scale, "scale") : Vector3::Ones());
      },
      "file"_a, "scale"_a = nb::none(), "A mesh from a file: OBJ, STL, and what assimp reads if it was built in.");
  nb::class_<MeshHull>(m, "MeshHull", "The convex hull of a mesh, about its centroid.")
      .def_ro("shape", &MeshHull::shape, "A polytope.")
      .def_ro("X_MS", &MeshHull::X_MS, "Its frame in that of the mesh.")
      .def_ro("num_vertices", &MeshHull::num_vertices, "Of the hull.")
      .def_ro("outside", &MeshHull::outside, "How far vertices of the mesh are outside of the shape, at most.")
      .def_ro("inside", &MeshHull::inside, "How far vertices of the mesh are below the surface of the hull, at most.")
      .def_ro("thickened", &MeshHull::thickened, "How thick a flat mesh was made; 0 otherwise.");
  m.def(
      "hull_of_mesh",
      [](const TriangleMesh& mesh, int max_vertices) { return hull_of_mesh(mesh, {.max_vertices = max_vertices}); },
      "mesh"_a, nb::kw_only(), "max_vertices"_a = MeshHullOptions{}.max_vertices, "The convex hull of a mesh.");
}

void bind_masses(nb::module_& m) {
  nb::class_<MassProperties>(m, "MassProperties", "Mass, centre of mass, and inertia about the centre.")
      .def(
          "__init__",
          [](MassProperties* self, double mass, const std::optional<Numbers>& center,
             const std::optional<Numbers>& inertia) {
            new (self) MassProperties{mass, center ? read_vector3(*center, "center") : Vector3::Zero(),
                                      inertia ? Matrix3(read_matrix(*inertia, "inertia", 3, 3)) : Matrix3::Zero()};
          },
          "mass"_a = 0.0, "center"_a = nb::none(), "inertia"_a = nb::none(), "Zero where nothing is given.")
      .def_ro("mass", &MassProperties::mass, "kg.")
      .def_prop_ro(
          "center", [](const MassProperties& s) { return to_array(s.center); }, "In the shape's frame.")
      .def_prop_ro(
          "inertia", [](const MassProperties& s) { return to_array(s.inertia); }, "3 x 3, the shape's axes.")
      .def("__getstate__",
           [](const MassProperties& s) { return nb::make_tuple(s.mass, to_array(s.center), to_array(s.inertia)); })
      .def("__setstate__",
           [](MassProperties& s, const nb::tuple& state) {
             if (state.size() != 3) throw InputError("mass_properties", "has another state");
             new (&s) MassProperties{nb::cast<double>(state[0]), read_vector3({state[1]}, "center"),
                                     read_matrix({state[2]}, "inertia", 3, 3)};
           })
      .def("__repr__", [](const MassProperties& s) {
        return std::string("MassProperties(mass=") + nb::repr(nb::float_(s.mass)).c_str() + ")";
      });
  m.def(
      "mass_properties", [](const Shape& shape, double density) { return mass_properties(shape, density); }, "shape"_a,
      "density"_a = 1000.0, "Of a homogeneous shape.");
  m.def(
      "mass_properties", [](const TriangleMesh& shape, double density) { return mass_properties(shape, density); },
      "mesh"_a, "density"_a = 1000.0, "Of what a closed mesh encloses.");
  m.def(
      "bounds",
      [](const Shape& shape, const std::optional<PoseLike>& X_WS) {
        const Aabb box = bounds(shape, X_WS ? read_pose(*X_WS, "X_WS") : Pose());
        return nb::make_tuple(to_array(box.lower), to_array(box.upper));
      },
      "shape"_a, "X_WS"_a = nb::none(), "The tightest box around a posed shape, world axes: (lower, upper).");
  m.def(
      "recentred",
      [](const Numbers& vertices) {
        const Recentred moved = recentred(Polytope::from_vertices(read_matrix(vertices, "vertices", -1, 3)));
        return nb::make_tuple(moved.shape, moved.X_OldNew);
      },
      "vertices"_a, "The hull of points anywhere, about its own centroid: (shape, X_OldNew).");
}

}  // namespace

void bind_geometry(nb::module_& m) {
  bind_pose(m);
  bind_shape(m);
  bind_shape_makers(m);
  bind_meshes(m);
  bind_masses(m);
}

}  // namespace tangere::python
