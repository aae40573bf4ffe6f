/// MJCF assets and geoms.
///
/// MuJoCo's capsules and cylinders lie along z and have half lengths, ours along x; its sizes are radii and half sides.
/// A mesh geom's frame is that of the mesh as the file has it; its shape is the convex hull, about its own centroid.

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>

#include "tangere/geometry/hull.hpp"
#include "tangere/io/mesh_file.hpp"
#include "tangere/io/robot/internal/mjcf_mesh_inertia.hpp"
#include "tangere/io/robot/internal/mjcf_parts.hpp"
#include "tangere/math/check.hpp"

namespace tangere::internal {
namespace {

/// Our x axis along z.
const Pose kAlongZ = Pose::rotation((Matrix3() << 0, 1, 0, 0, 0, 1, 1, 0, 0).finished());

// meshes
// ---------------------------------------------------------------------------------------------------------------------

TriangleMesh inline_mesh(const XmlElement& element, const Vector3& scale) {
  const VectorX numbers = element.numbers("vertex", 12);
  if (numbers.size() % 3 != 0)
    element.fail("vertex", "must have three numbers a vertex, has " + std::to_string(numbers.size()));
  TriangleMesh mesh;
  for (Eigen::Index i = 0; i < numbers.size(); i += 3)
    mesh.vertices.emplace_back(Vector3(numbers.segment<3>(i)).cwiseProduct(scale));
  const int count = static_cast<int>(mesh.vertices.size());

  // without faces, those of the hull
  const std::optional<VectorX> faces = element.find_numbers("face");
  if (!faces) {
    MatrixX3 points(count, 3);
    for (int i = 0; i < count; ++i) points.row(i) = mesh.vertices[i].transpose();
    const Hull hull = element.located([&] { return hull_of_points(points); });
    mesh.vertices.clear();
    for (Eigen::Index i = 0; i < hull.vertices.rows(); ++i)
      mesh.vertices.emplace_back(hull.vertices.row(i).transpose());
    for (const std::vector<int>& face : hull.faces)
      for (std::size_t k = 2; k < face.size(); ++k) mesh.triangles.push_back({face[0], face[k - 1], face[k]});
    return mesh;
  }
  if (faces->size() % 3 != 0 || faces->size() == 0)
    element.fail("face", "must have three indices a face, has " + std::to_string(faces->size()));
  const bool mirrored = scale.prod() < 0.0;
  for (Eigen::Index i = 0; i < faces->size(); i += 3) {
    std::array<int, 3> triangle{};
    for (int k = 0; k < 3; ++k) {
      const double index = (*faces)[i + k];
      if (!(index >= 0.0 && index < count) || index != std::floor(index))
        element.fail("face",
                     "must be indices of vertices, 0 to " + std::to_string(count - 1) + ", got " + to_text(index));
      triangle[k] = static_cast<int>(index);
    }
    if (mirrored) std::swap(triangle[1], triangle[2]);
    mesh.triangles.push_back(triangle);
  }
  return mesh;
}

TriangleMesh mesh_from_file(MjcfReader& reader, const XmlElement& element, const Vector3& scale) {
  std::filesystem::path name = element.text("file");
  if (reader.settings.strip_path) name = name.filename();
  // beside the main file, beside the file that says so if that is included, then in the folders of the options
  std::vector<std::filesystem::path> candidates{reader.files.folder() / reader.settings.mesh_folder / name};
  const std::filesystem::path own = std::filesystem::path(element.file()).parent_path();
  candidates.push_back(own / reader.settings.mesh_folder / name);
  candidates.push_back(own / name);
  for (const std::filesystem::path& folder : reader.options.search_paths) {
    candidates.push_back(folder / reader.settings.mesh_folder / name);
    candidates.push_back(folder / name);
  }
  std::error_code error;
  for (const std::filesystem::path& path : candidates)
    if (std::filesystem::is_regular_file(path, error))
      return element.located([&] { return load_mesh(path, scale, &reader.notices); });
  element.fail("file", "there is no file '" + candidates.front().string() + "'");
}

/// refpos and refquat: where the frame of the mesh is to be, in that of the file.
void move_to_reference(const XmlElement& element, const Vector3& scale, TriangleMesh& mesh) {
  const Vector3 position = element.find_vector3("refpos").value_or(Vector3::Zero());
  const VectorX quaternion = element.find_numbers("refquat", 4, 4).value_or(Vector4(1, 0, 0, 0));
  const std::optional<Matrix3> R = rotation_of_wxyz(Vector4(quaternion));
  if (!R) element.fail("refquat", "must not be zero");
  if (position.isZero(0.0) && R->isIdentity(0.0)) return;
  // the scale comes last there and was first here
  for (Vector3& v : mesh.vertices) v = (R->transpose() * (v.cwiseQuotient(scale) - position)).cwiseProduct(scale);
}

/// By `inertia`; the hull where a surface has no inside.
MassProperties solid_of_mesh(MjcfReader& reader, const MjcfAttributes& attributes, const TriangleMesh& mesh,
                             const MeshHull& hull) {
  const std::string by_default = reader.settings.exact_mesh_inertia ? "exact" : "legacy";
  const std::string kind = attributes.word("inertia", {"legacy", "exact", "convex", "shell"}).value_or(by_default);
  std::optional<MassProperties> solid;
  if (kind == "exact") solid = mesh_inertia(mesh, MeshInertia::exact);
  if (kind == "legacy") solid = mesh_inertia(mesh, MeshInertia::legacy);
  if (kind == "shell") solid = mesh_inertia(mesh, MeshInertia::shell);
  if (solid) return *solid;
  if (kind != "convex")
    reader.report(attributes.element(), "the inertia is that of the convex hull: the mesh has no inside");
  return posed(mass_properties(hull.shape, 1.0), hull.X_MS);
}

void read_mesh(MjcfReader& reader, const XmlElement& element) {
  const MjcfAttributes attributes = reader.defaults.of(element, {"mesh"});
  const bool from_file = element.has("file");
  std::string name = element.find_text("name").value_or("");
  if (name.empty() && from_file) name = std::filesystem::path(element.text("file")).stem().string();
  if (name.empty()) element.fail("name", "is required");
  if (reader.meshes.count(name) > 0) element.fail("there is a mesh '" + name + "' already");
  const Vector3 scale = attributes.vector3("scale").value_or(Vector3::Ones());
  if (!(scale.cwiseAbs().minCoeff() > 0.0)) attributes.fail("scale", "must not be zero");

  // what is only to be seen
  if (!from_file) element.use({"normal", "texcoord"});
  if (!from_file && !element.has("vertex")) {
    element.fail("needs a file or vertices (other sources of meshes are not read)");
  }
  auto mesh =
      std::make_shared<TriangleMesh>(from_file ? mesh_from_file(reader, element, scale) : inline_mesh(element, scale));
  move_to_reference(element, scale, *mesh);
  MeshHull hull = element.located([&] { return hull_of_mesh(*mesh); });
  if (const std::string text = describe(hull); !text.empty()) reader.report(element, text, NoticeRank::collision);

  const MassProperties solid = solid_of_mesh(reader, attributes, *mesh, hull);
  reader.meshes.emplace(name, MjcfMesh{std::move(mesh), std::move(hull), solid});
}

// geoms
// ---------------------------------------------------------------------------------------------------------------------

Vector4 color_of(MjcfReader& reader, const MjcfAttributes& attributes) {
  Vector4 color(0.5, 0.5, 0.5, 1.0);
  if (const std::optional<std::string> material = attributes.text("material")) {
    const auto found = reader.materials.find(*material);
    if (found == reader.materials.end()) attributes.fail("material", "there is no material '" + *material + "'");
    color = found->second;
  }
  const std::optional<VectorX> rgba = attributes.numbers("rgba", reader.options.strict ? 3 : 0, 4);
  if (rgba && rgba->size() < 3) reader.report(attributes.element(), "rgba has too few numbers", NoticeRank::look);
  if (rgba && rgba->size() >= 3) {
    color[3] = 1.0;
    color.head(rgba->size()) = *rgba;
    if (!(color.minCoeff() >= 0.0 && color.maxCoeff() <= 1.0)) attributes.fail("rgba", "must be between 0 and 1");
  }
  return color;
}

/// Sizes and pose of the primitive types; `fromto` gives both.
struct Primitive {
  Shape shape;
  Pose X;
};

Primitive read_primitive(const MjcfReader& reader, const MjcfAttributes& attributes, const std::string& type) {
  const VectorX given = attributes.overlaid("size", 3).value_or(VectorX());
  Vector3 size = Vector3::Zero();
  size.head(given.size()) = given;
  int needed = type == "sphere" ? 1 : type == "capsule" || type == "cylinder" ? 2 : 3;
  if (type == "plane") needed = 0;
  Pose X;
  if (const std::optional<VectorX> ends = attributes.numbers("fromto", 6, 6); ends && needed >= 2) {
    // an orientation is not asked for: the element's own is reported as unused
    if (const auto p = attributes.numbers("pos", 3, 3); p && !p->isZero(0.0))
      attributes.element().fail("fromto", "gives the position, but 'pos' (its own, or of its class) does too");
    const Vector3 along = ends->head<3>() - ends->tail<3>();
    if (!(along.norm() > 1e-12)) attributes.fail("fromto", "must have two different ends");
    X = Pose(rotation_to(along), 0.5 * (ends->head<3>() + ends->tail<3>()));
    if (needed == 3) size[1] = size[0];
    size[needed - 1] = 0.5 * along.norm();
    needed = 1;
  } else if (ends) {
    attributes.fail("fromto", "is for capsules, cylinders, ellipsoids and boxes, this is a " + type);
  } else {
    X = pose_of(attributes, reader.settings);
  }
  if (given.size() < needed)
    attributes.fail("size", "must be " + std::to_string(needed) + " numbers for a " + type + ", got " +
                                std::to_string(given.size()));
  return attributes.element().located([&]() -> Primitive {
    if (type == "plane") return {HalfSpace{Vector3::UnitZ(), 0.0}, X};
    if (type == "sphere") return {Sphere{size[0]}, X};
    if (type == "capsule") return {Capsule{size[0], 2.0 * size[1]}, X * kAlongZ};
    if (type == "cylinder") return {Cylinder{size[0], 2.0 * size[1]}, X * kAlongZ};
    if (type == "ellipsoid") return {Ellipsoid{size}, X};
    return {Box{2.0 * size}, X};
  });
}

/// A solid of density 1 with the mass or density that the geom asks for.
MassProperties with_mass(const MjcfAttributes& attributes, const MassProperties& solid) {
  const std::optional<double> mass = attributes.amount("mass");
  const double density = attributes.amount("density").value_or(1000.0);
  const double factor = mass ? *mass / solid.mass : density;
  return {factor * solid.mass, solid.center, factor * solid.inertia};
}

// what a geom is, where it is, and what it weighs

const MjcfMesh& mesh_named(const MjcfReader& reader, const MjcfAttributes& attributes) {
  const std::optional<std::string> name = attributes.text("mesh");
  const auto found = name ? reader.meshes.find(*name) : reader.meshes.end();
  if (found == reader.meshes.end()) attributes.fail("mesh", name ? "there is no mesh '" + *name + "'" : "is required");
  return found->second;
}

/// A primitive of the size of a mesh: about the box that has its principal moments, the longest side along z.
void set_fitted(const MjcfReader& reader, const MjcfAttributes& attributes, const std::string& type, const Pose& X_BF,
                MjcfGeom& geom) {
  const MassProperties& solid = mesh_named(reader, attributes).solid;
  const Eigen::SelfAdjointEigenSolver<Matrix3> solver(solid.inertia);
  // the smallest moment is about the longest side
  const Vector3 moments = solver.eigenvalues().reverse();
  Matrix3 R = solver.eigenvectors().rowwise().reverse();
  if (R.determinant() < 0.0) R.col(0) = -R.col(0);
  // half sides: I_i = m/3 (h_j² + h_k²)
  const Vector3 h = ((1.5 / solid.mass) * (moments.sum() - 2.0 * moments.array())).max(0.0).sqrt() *
                    attributes.number("fitscale").value_or(1.0);
  const double radius = 0.5 * (h[0] + h[1]);
  const Pose X = X_BF * pose_of(attributes, reader.settings) * Pose(R, solid.center);
  const Pose X_along = type == "capsule" || type == "cylinder" ? kAlongZ : Pose();
  geom.shape = attributes.element().located([&]() -> Shape {
    if (type == "sphere") return Sphere{h.mean()};
    if (type == "capsule") return Capsule{radius, 2.0 * std::max(0.0, h[2] - 0.5 * radius)};
    if (type == "cylinder") return Cylinder{radius, 2.0 * h[2]};
    if (type == "ellipsoid") return Ellipsoid{h};
    return Box{2.0 * h};
  });
  geom.X_BS = X * X_along;
  geom.inertia = posed(with_mass(attributes, mass_properties(geom.shape, 1.0)), geom.X_BS);
}

void set_mesh(const MjcfReader& reader, const MjcfAttributes& attributes, const Pose& X_BF, MjcfGeom& geom) {
  const MjcfMesh& mesh = mesh_named(reader, attributes);
  geom.X_BM = X_BF * pose_of(attributes, reader.settings);
  geom.shape = mesh.hull.shape;
  geom.X_BS = geom.X_BM * mesh.hull.X_MS;
  geom.mesh = mesh.mesh;
  geom.inertia = posed(with_mass(attributes, mesh.solid), geom.X_BM);
}

void set_primitive(const MjcfReader& reader, const MjcfAttributes& attributes, const std::string& type,
                   const Pose& X_BF, MjcfGeom& geom) {
  const Primitive primitive = read_primitive(reader, attributes, type);
  geom.shape = primitive.shape;
  geom.X_BS = X_BF * primitive.X;
  if (type == "plane")
    attributes.element().use({"mass", "density"});
  else
    geom.inertia = posed(with_mass(attributes, mass_properties(geom.shape, 1.0)), geom.X_BS);
}

void set_contact(const MjcfReader& reader, const MjcfAttributes& attributes, MjcfGeom& geom) {
  geom.contype = attributes.bits("contype").value_or(1);
  geom.conaffinity = attributes.bits("conaffinity").value_or(1);
  geom.friction = reader.options.friction;
  if (const std::optional<VectorX> friction = attributes.numbers("friction", 1, 3)) {
    if ((*friction)[0] < 0.0) attributes.fail("friction", "must not be negative, got " + to_text((*friction)[0]));
    geom.friction = (*friction)[0];
  }
  const double group = attributes.number("group").value_or(0.0);
  if (!(std::abs(group) <= 1e6)) attributes.fail("group", "must be a small whole number, got " + to_text(group));
  geom.group = static_cast<int>(group);
}

}  // namespace

void read_assets(MjcfReader& reader, const XmlElement& element) {
  for (const XmlElement& child : reader.files.children(element)) {
    const std::string kind = child.name();
    if (kind == "mesh") {
      read_mesh(reader, child);
    } else if (kind == "material") {
      const VectorX color = child.find_numbers("rgba", 4, 4).value_or(Vector4::Ones());
      if (!(color.minCoeff() >= 0.0 && color.maxCoeff() <= 1.0)) child.fail("rgba", "must be between 0 and 1");
      if (!reader.materials.emplace(child.text("name"), color).second)
        child.fail("there is a material '" + child.text("name") + "' already");
    } else {
      child.mark_unused();
    }
  }
}

std::optional<MjcfGeom> read_geom(MjcfReader& reader, const XmlElement& element, const std::string& inherited,
                                  const Pose& X_BF) {
  const MjcfAttributes attributes = reader.defaults.of(element, {"geom"}, inherited);
  const std::string name = reader.name_of(element);
  if (!name.empty() && !reader.geom_names.insert(name).second) element.fail("there is a geom '" + name + "' already");
  std::string type =
      attributes.word("type", {"plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf"})
          .value_or("sphere");
  const std::optional<std::string> mesh_name = attributes.text("mesh");
  if (type == "hfield" || type == "sdf") {
    element.use_all();
    reader.report(element, "geoms of type " + type + " are not read: this one is left out", NoticeRank::collision);
    return std::nullopt;
  }
  const bool fitted = mesh_name && type != "mesh" && type != "plane";

  MassProperties none{0.0, Vector3::Zero(), Matrix3::Zero()};
  MjcfGeom geom{element, name, Sphere{1.0}, {}, nullptr, {}, color_of(reader, attributes), 0.0, 0, 0, 0, none};
  if (type == "mesh")
    set_mesh(reader, attributes, X_BF, geom);
  else if (fitted)
    set_fitted(reader, attributes, type, X_BF, geom);
  else
    set_primitive(reader, attributes, type, X_BF, geom);
  set_contact(reader, attributes, geom);
  return geom;
}

}  // namespace tangere::internal
