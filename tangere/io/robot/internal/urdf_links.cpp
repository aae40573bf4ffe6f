/// Links of a URDF: inertia, collision and visual geometry, materials.

#include <cmath>

#include "tangere/io/mesh_file.hpp"
#include "tangere/io/robot/internal/mend.hpp"
#include "tangere/io/robot/internal/unit_check.hpp"
#include "tangere/io/robot/internal/urdf_parts.hpp"

namespace tangere::internal {
namespace {

MassProperties read_inertial(const XmlElement& inertial, bool strict, std::vector<Notice>& notices) {
  const Pose X = read_origin(inertial);
  MassProperties result{inertial.child("mass").number("value"), X.p, Matrix3::Zero()};
  if (result.mass < 0.0 && strict) inertial.child("mass").fail("value", "must not be negative");
  const XmlElement inertia = inertial.child("inertia");
  Matrix3 I;
  I(0, 0) = inertia.number("ixx");
  I(1, 1) = inertia.number("iyy");
  I(2, 2) = inertia.number("izz");
  I(0, 1) = I(1, 0) = inertia.number("ixy");
  I(0, 2) = I(2, 0) = inertia.number("ixz");
  I(1, 2) = I(2, 1) = inertia.number("iyz");
  // six times the same number: somebody who had to write something, and no body at all
  if (I(0, 0) > 0.0 && (I.array() == I(0, 0)).all()) {
    notices.push_back(inertia.notice("no body has six equal entries: the products of inertia are not used"));
    I = Matrix3(I(0, 0) * Matrix3::Identity());
  }
  // given in the inertial frame's axes
  result.inertia = X.R * I * X.R.transpose();
  result.inertia = (0.5 * (result.inertia + result.inertia.transpose())).eval();
  if (strict) return result;
  if (const std::string mended = mend_inertia(result); !mended.empty()) notices.push_back(inertial.notice(mended));
  return result;
}

/// The shape element in a <geometry>.
XmlElement geometry_of(const XmlElement& owner) {
  const XmlElement geometry = owner.child("geometry");
  const std::vector<XmlElement> kinds = geometry.children();
  if (kinds.empty()) geometry.fail("needs a box, cylinder, sphere, capsule or mesh");
  if (kinds.size() > 1) kinds[1].fail("there is a geometry already");
  return kinds[0];
}

struct PosedShape {
  Shape shape;
  Pose X;
};

/// A shape that is no mesh, in the frame of its <origin>.
PosedShape read_primitive(const XmlElement& element) {
  const std::string kind = element.name();
  const auto made = [&](const ShapeSpec& spec, const Pose& X) {
    return PosedShape{element.located([&] { return Shape(spec); }), X};
  };
  if (kind == "box") return made(Box{element.vector3("size")}, Pose());
  if (kind == "sphere") return made(Sphere{element.number("radius")}, Pose());
  if (kind == "cylinder") return made(Cylinder{element.number("radius"), element.number("length")}, urdf_axis());
  if (kind == "capsule") return made(Capsule{element.number("radius"), element.number("length")}, urdf_axis());
  // not URDF, but what some engines read: the ground
  if (kind == "plane") return made(HalfSpace{element.find_vector3("normal").value_or(Vector3::UnitZ()), 0.0}, Pose());
  element.fail("must be a box, cylinder, sphere, capsule or mesh");
}

Vector4 color_of(const XmlElement& color) {
  const VectorX rgba = color.numbers("rgba", 4, 4);
  for (int i = 0; i < 4; ++i)
    if (!(rgba[i] >= 0.0 && rgba[i] <= 1.0)) color.fail("rgba", "must be between 0 and 1");
  return rgba;
}

}  // namespace

Pose urdf_axis() {
  Matrix3 R;
  R << 0, 0, -1, 0, 1, 0, 1, 0, 0;
  return Pose::rotation(R);
}

Pose read_origin(const XmlElement& parent) {
  const std::optional<XmlElement> origin = parent.find_child("origin");
  if (!origin) return {};
  const Vector3 rpy = origin->find_vector3("rpy").value_or(Vector3::Zero());
  // about the fixed x, then y, then z
  const Matrix3 R = (Eigen::AngleAxisd(rpy[2], Vector3::UnitZ()) * Eigen::AngleAxisd(rpy[1], Vector3::UnitY()) *
                     Eigen::AngleAxisd(rpy[0], Vector3::UnitX()))
                        .toRotationMatrix();
  return {R, origin->find_vector3("xyz").value_or(Vector3::Zero())};
}

void UrdfLinkReader::read_material(const XmlElement& material) {
  const std::string name = material.text("name");
  if (const std::optional<XmlElement> color = material.find_child("color")) colors_.emplace(name, color_of(*color));
}

UrdfLinkReader::Mesh& UrdfLinkReader::mesh(const XmlElement& element) {
  const Vector3 scale = element.find_vector3("scale").value_or(Vector3::Ones());
  const std::string name = element.text("filename");
  return element.located([&]() -> Mesh& {
    const FoundMesh found = finder_.find(name);
    Mesh& mesh = meshes_[{found.path.string(), {scale[0], scale[1], scale[2]}}];
    if (mesh.mesh) return mesh;
    if (!found.remark.empty()) notices_.push_back(element.notice(found.remark, NoticeRank::unused));
    mesh.mesh = std::make_shared<const TriangleMesh>(load_mesh(found.path, scale, &notices_));
    return mesh;
  });
}

CollisionShape UrdfLinkReader::read_collision(const XmlElement& collision) {
  const std::string name = collision.find_text("name").value_or("");
  const Pose X_BO = read_origin(collision);
  const XmlElement geometry = geometry_of(collision);
  if (geometry.name() != "mesh") {
    const PosedShape posed = read_primitive(geometry);
    return {name, posed.shape, X_BO * posed.X, options_.friction, options_.restitution};
  }
  Mesh& found = mesh(geometry);
  geometry.located([&] {
    if (!found.hull) found.hull = hull_of_mesh(*found.mesh);
  });
  if (const std::string remark = describe(*found.hull); !remark.empty())
    notices_.push_back(geometry.notice(remark, NoticeRank::collision));
  return {name, found.hull->shape, X_BO * found.hull->X_MS, options_.friction, options_.restitution};
}

Vector4 UrdfLinkReader::read_color(const XmlElement& visual) {
  const Vector4 grey = VisualShape{"", Sphere{1.0}, Pose()}.color;
  const std::optional<XmlElement> material = visual.find_child("material");
  if (!material) return grey;
  const std::optional<std::string> name = material->find_text("name");
  if (const std::optional<XmlElement> color = material->find_child("color")) return color_of(*color);
  const auto known = colors_.find(name.value_or(""));
  if (known != colors_.end()) return known->second;
  // a texture is reported by itself
  if (material->children().empty())
    notices_.push_back(material->notice("there is no material of this name that has a colour", NoticeRank::look));
  for (const XmlElement& child : material->children()) child.mark_unused();
  return grey;
}

std::optional<VisualShape> UrdfLinkReader::read_visual(const XmlElement& visual) {
  const std::string name = visual.find_text("name").value_or("");
  const Pose X_BO = read_origin(visual);
  const Vector4 color = read_color(visual);
  const XmlElement geometry = geometry_of(visual);
  // there is a robot without it
  try {
    if (geometry.name() != "mesh") {
      const PosedShape posed = read_primitive(geometry);
      return VisualShape{name, posed.shape, X_BO * posed.X, color};
    }
    return VisualShape{name, mesh(geometry).mesh, X_BO, color};
  } catch (const InputError& error) {
    geometry.use_all();
    std::string reason = error.what();
    if (const std::string place = geometry.place() + ": "; reason.starts_with(place)) reason.erase(0, place.size());
    reason = reason.substr(0, reason.find("; looked for"));
    notices_.push_back(geometry.notice("this visual is left out: " + reason, NoticeRank::look));
    return std::nullopt;
  }
}

BodySpec UrdfLinkReader::read(const XmlElement& link) {
  BodySpec body;
  body.name = link.text("name");
  const std::optional<XmlElement> inertial = link.find_child("inertial");
  if (inertial) body.inertia = read_inertial(*inertial, options_.strict, notices_);
  for (const XmlElement& collision : link.children("collision")) body.shapes.push_back(read_collision(collision));
  for (const XmlElement& visual : link.children("visual"))
    if (std::optional<VisualShape> shape = read_visual(visual)) body.visuals.push_back(*std::move(shape));
  if (const std::string remark = unit_remark(body); !remark.empty()) notices_.push_back(inertial->notice(remark));
  return body;
}

}  // namespace tangere::internal
