#include "tangere/io/robot/urdf_writer.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "tangere/geometry/mesh.hpp"
#include "tangere/io/mesh_file.hpp"
#include "tangere/io/robot/internal/urdf_parts.hpp"
#include "tangere/io/text/markup.hpp"
#include "tangere/io/text/text.hpp"
#include "tangere/math/error.hpp"
#include "tangere/multibody/model_check.hpp"

namespace tangere {
namespace {

using internal::escaped_for_file;

[[noreturn]] void refuse(const std::string& what, const std::string& reason) {
  throw InputError(what, "URDF cannot say it: " + reason);
}

// text
// ---------------------------------------------------------------------------------------------------------------------

/// ` name="text"`.
std::string attribute(const char* name, std::string_view text) {
  return std::string(" ") + name + "=\"" + escaped_for_file(name, text) + "\"";
}

std::string attribute(const char* name, double value) { return attribute(name, internal::shortest(value)); }

std::string attribute(const char* name, const Eigen::Ref<const VectorX>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : " ") + internal::shortest(value);
  return attribute(name, text);
}

/// R = Rz(yaw) Ry(pitch) Rx(roll). The yaw is taken off before the others are found, so that a pitch near a right
/// angle, where it hardly matters, costs no digits.
Vector3 roll_pitch_yaw(const Matrix3& R) {
  const double yaw = std::atan2(R(1, 0), R(0, 0));
  const Matrix3 M = Eigen::AngleAxisd(-yaw, Vector3::UnitZ()).toRotationMatrix() * R;
  return {std::atan2(-M(1, 2), M(1, 1)), std::atan2(-M(2, 0), M(0, 0)), yaw};
}

std::string origin(const Pose& X) {
  if (X.R == Matrix3::Identity() && X.p == Vector3::Zero()) return {};
  return "<origin" + attribute("xyz", X.p) + attribute("rpy", roll_pitch_yaw(X.R)) + "/>";
}

// meshes
// ---------------------------------------------------------------------------------------------------------------------

void write_file(const std::filesystem::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  if (!stream.flush()) throw InputError(file.string(), "cannot be written");
}

/// The mesh files that a robot needs. Without a folder there are none.
class MeshFiles {
 public:
  MeshFiles() = default;
  explicit MeshFiles(std::string folder) : folder_(std::move(folder)) {}

  /// The path of a mesh from the URDF file. The same mesh is one file.
  std::string add(const std::string& owner, const std::shared_ptr<const TriangleMesh>& mesh) {
    if (folder_.empty()) throw InputError(owner, "a mesh needs a file: save_urdf writes them beside the robot's");
    const auto known = std::find_if(meshes_.begin(), meshes_.end(), [&](const auto& m) { return m.second == mesh; });
    if (known != meshes_.end()) return known->first;
    // names of bodies may be anything, those of files are plain and different
    std::string name = owner;
    for (char& c : name)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '_';
    name = folder_ + "/" + std::to_string(meshes_.size()) + "_" + name.substr(0, 60) + ".obj";
    meshes_.emplace_back(name, mesh);
    return name;
  }

  void write(const std::filesystem::path& beside) const {
    if (meshes_.empty()) return;
    std::error_code error;
    std::filesystem::create_directories(beside / folder_, error);
    if (error) throw InputError((beside / folder_).string(), "cannot be made: " + error.message());
    for (const auto& [name, mesh] : meshes_) write_file(beside / name, to_obj(*mesh));
  }

 private:
  std::string folder_;
  /// By path.
  std::vector<std::pair<std::string, std::shared_ptr<const TriangleMesh>>> meshes_;
};

// links
// ---------------------------------------------------------------------------------------------------------------------

std::string mesh_geometry(const std::string& owner, const std::shared_ptr<const TriangleMesh>& mesh, const Pose& X,
                          MeshFiles& files) {
  return "      " + origin(X) + "<geometry><mesh" + attribute("filename", files.add(owner, mesh)) + "/></geometry>\n";
}

/// <origin> and <geometry> of a shape posed in its body.
std::string geometry(const std::string& owner, const Shape& shape, const Pose& X_BS, MeshFiles& files) {
  if (shape.get_if<Polytope>() != nullptr)
    return mesh_geometry(owner, std::make_shared<const TriangleMesh>(mesh(shape)), X_BS, files);
  std::string kind;
  Pose X = X_BS;
  if (const Box* box = shape.get_if<Box>()) kind = "<box" + attribute("size", box->size);
  if (const Sphere* sphere = shape.get_if<Sphere>()) kind = "<sphere" + attribute("radius", sphere->radius);
  const auto along_z = [&](const char* name, double radius, double length) {
    kind = std::string("<") + name + attribute("radius", radius) + attribute("length", length);
    X = X_BS * internal::urdf_axis().inverse();
  };
  if (const Cylinder* cylinder = shape.get_if<Cylinder>()) along_z("cylinder", cylinder->radius, cylinder->length);
  if (const Capsule* capsule = shape.get_if<Capsule>()) along_z("capsule", capsule->radius, capsule->length);
  if (kind.empty()) refuse(owner, "a shape of the type " + std::string(shape.type_name()));
  return "      " + origin(X) + "<geometry>" + kind + "/></geometry>\n";
}

std::string collision(const BodySpec& body, const CollisionShape& shape, MeshFiles& files) {
  const std::string owner = body.name + "." + (shape.name.empty() ? std::string(shape.shape.type_name()) : shape.name);
  const CollisionShape plain{"", shape.shape, shape.X_BS};
  if (shape.friction != plain.friction) refuse(owner + ".friction", "shapes have none");
  if (shape.restitution != plain.restitution) refuse(owner + ".restitution", "shapes have none");
  return "    <collision" + (shape.name.empty() ? "" : attribute("name", shape.name)) + ">\n" +
         geometry(owner, shape.shape, shape.X_BS, files) + "    </collision>\n";
}

std::string visual(const BodySpec& body, const VisualShape& shape, std::size_t index, MeshFiles& files) {
  const std::string owner = body.name + "." + (shape.name.empty() ? "visual" : shape.name);
  const Shape* drawn = std::get_if<Shape>(&shape.geometry);
  const std::string seen =
      drawn != nullptr
          ? geometry(owner, *drawn, shape.X_BV, files)
          : mesh_geometry(owner, std::get<std::shared_ptr<const TriangleMesh>>(shape.geometry), shape.X_BV, files);
  return "    <visual" + (shape.name.empty() ? "" : attribute("name", shape.name)) + ">\n" + seen + "      <material" +
         attribute("name", body.name + "_" + std::to_string(index)) + "><color" + attribute("rgba", shape.color) +
         "/></material>\n    </visual>\n";
}

std::string link(const BodySpec& body, MeshFiles& files) {
  std::string text = "  <link" + attribute("name", body.name) + ">\n";
  const auto& [mass, center, I] = body.inertia;
  if (mass != 0.0 || I != Matrix3::Zero())
    text += "    <inertial>\n      " + origin(Pose::translation(center)) + "<mass" + attribute("value", mass) +
            "/>\n      <inertia" + attribute("ixx", I(0, 0)) + attribute("ixy", I(0, 1)) + attribute("ixz", I(0, 2)) +
            attribute("iyy", I(1, 1)) + attribute("iyz", I(1, 2)) + attribute("izz", I(2, 2)) + "/>\n    </inertial>\n";
  for (const CollisionShape& shape : body.shapes) text += collision(body, shape, files);
  for (std::size_t i = 0; i < body.visuals.size(); ++i) text += visual(body, body.visuals[i], i, files);
  return text + "  </link>\n";
}

// joints
// ---------------------------------------------------------------------------------------------------------------------

const char* type_name(const JointSpec& joint, const DofSpec& dof) {
  switch (joint.type) {
    case JointType::fixed:
      return "fixed";
    case JointType::revolute:
      return std::isinf(dof.lower) && std::isinf(dof.upper) ? "continuous" : "revolute";
    case JointType::prismatic:
      return "prismatic";
    case JointType::planar:
      return "planar";
    case JointType::free:
      return "floating";
    default:
      refuse(joint.name, "a joint of the type " + std::string(to_string(joint.type)));
  }
}

/// The one DofSpec that a URDF joint has for all its coordinates.
DofSpec common_dof(const Model& model, const Joint& joint) {
  const std::string& name = joint.spec.name;
  if (joint.nv == 0) return {};
  const DofSpec dof = model.dofs()[joint.first_v];
  for (int v = joint.first_v + 1; v < joint.first_v + joint.nv; ++v) {
    const DofSpec& other = model.dofs()[v];
    if (other.damping != dof.damping || other.friction != dof.friction || other.effort != dof.effort ||
        other.velocity != dof.velocity || other.lower != dof.lower || other.upper != dof.upper ||
        other.stiffness != dof.stiffness || other.armature != dof.armature)
      refuse(name, "coordinates that differ in their limits, damping or friction");
  }
  if (dof.stiffness != 0.0) refuse(name + ".stiffness", "joints have none");
  if (dof.armature != 0.0) refuse(name + ".armature", "joints have none");
  const bool limited =
      std::isfinite(dof.lower) || std::isfinite(dof.upper) || std::isfinite(dof.effort) || std::isfinite(dof.velocity);
  if (joint.nv > 1 && limited) refuse(name + ".limits", "only joints of one coordinate have limits");
  if (joint.spec.type == JointType::free && (dof.damping != 0.0 || dof.friction != 0.0))
    refuse(name + ".damping", "floating joints have neither damping nor friction");
  return dof;
}

std::string limit(const JointSpec& joint, const DofSpec& dof) {
  // the format wants both of these where there is a limit at all
  std::string text;
  if (std::isfinite(dof.lower) || std::isfinite(dof.upper) || std::isfinite(dof.effort) || std::isfinite(dof.velocity))
    text = attribute("effort", std::min(dof.effort, internal::kNoUrdfLimit)) +
           attribute("velocity", std::min(dof.velocity, internal::kNoUrdfLimit));
  const bool bounded = std::isfinite(dof.lower) && std::isfinite(dof.upper);
  if (!bounded && (std::isfinite(dof.lower) || std::isfinite(dof.upper)))
    refuse(joint.name + ".limits", "a limit on one side only");
  if (bounded) text += attribute("lower", dof.lower) + attribute("upper", dof.upper);
  // a prismatic joint that gives none of these has the limits 0 and 0
  if (!bounded && joint.type == JointType::prismatic && !text.empty())
    text += attribute("lower", -internal::kNoUrdfLimit) + attribute("upper", internal::kNoUrdfLimit);
  return text.empty() ? text : "    <limit" + text + "/>\n";
}

std::string joint(const Model& model, int index) {
  const Joint& joint = model.joint(index);
  const JointSpec& spec = joint.spec;
  const Body& body = model.body(index);
  if (spec.X_CJ.R != Matrix3::Identity() || spec.X_CJ.p != Vector3::Zero())
    refuse(spec.name + ".X_CJ", "the child's frame is that of the joint");
  const DofSpec dof = common_dof(model, joint);
  std::string text = "  <joint" + attribute("name", spec.name) + attribute("type", type_name(spec, dof)) + ">\n";
  if (const std::string placed = origin(spec.X_PJ); !placed.empty()) text += "    " + placed + "\n";
  text += "    <parent" +
          attribute("link", body.parent == kWorld ? std::string("world") : model.body(body.parent).spec.name) +
          "/>\n    <child" + attribute("link", body.spec.name) + "/>\n";
  if (joint.nv > 0 && spec.type != JointType::free)
    text += "    <axis" + attribute("xyz", spec.axis.normalized()) + "/>\n";
  text += limit(spec, dof);
  if (dof.damping != 0.0 || dof.friction != 0.0)
    text += "    <dynamics" + attribute("damping", dof.damping) + attribute("friction", dof.friction) + "/>\n";
  if (spec.mimic)
    text += "    <mimic" + attribute("joint", spec.mimic->source) + attribute("multiplier", spec.mimic->multiplier) +
            attribute("offset", spec.mimic->offset) + "/>\n";
  return text + "  </joint>\n";
}

// the robot
// ---------------------------------------------------------------------------------------------------------------------

/// Whatever their groups and masks are.
void require_all_collide(const Model& model) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> kinds;
  for (const Body& body : model.bodies())
    for (const CollisionShape& shape : body.spec.shapes) {
      if (!kinds.emplace(shape.group, shape.mask).second) continue;
      for (const auto& [group, mask] : kinds)
        if ((shape.group & mask) == 0 || (group & shape.mask) == 0)
          refuse(body.spec.name + "." + std::string(shape.shape.type_name()) + ".group", "all shapes collide");
    }
}

/// Refuses everything that is not in bodies and joints.
void require_nothing_else(const Robot& robot) {
  const Model& model = robot.model;
  require_all_collide(model);
  if (model.gravity() != Vector3(0.0, 0.0, -9.81)) refuse("gravity", "it has none");
  for (const LoopConstraint& constraint : model.constraints()) refuse(constraint.name, "links form a tree");
  std::vector<JointSpec> joints;
  for (const Joint& joint : model.joints()) joints.push_back(joint.spec);
  const auto neighbours = neighbour_pairs(model.bodies(), joints, {});
  for (const auto& pair : model.excluded_pairs())
    if (!std::binary_search(neighbours.begin(), neighbours.end(), pair))
      refuse("excluded pairs", "all links but neighbours collide");
  for (const Actuator& actuator : robot.actuators) refuse(actuator.name, "joints have no actuators");
  for (const Keyframe& keyframe : robot.keyframes) refuse(keyframe.name, "there are no keyframes");
}

/// Whether body 0 can be the root of the file by itself.
bool is_plain_root(const Model& model) {
  if (model.num_bodies() == 0) return false;
  for (int i = 1; i < model.num_bodies(); ++i)
    if (model.body(i).parent == kWorld) return false;
  const JointSpec& joint = model.joint(0).spec;
  const bool placed = joint.X_PJ.R != Matrix3::Identity() || joint.X_PJ.p != Vector3::Zero() ||
                      joint.X_CJ.R != Matrix3::Identity() || joint.X_CJ.p != Vector3::Zero();
  return joint.name == "root_joint" && !placed && (joint.type == JointType::fixed || joint.type == JointType::free);
}

std::string robot_text(const Robot& robot, MeshFiles& files) {
  require_nothing_else(robot);
  const Model& model = robot.model;
  const bool plain = is_plain_root(model);
  if (plain) (void)joint(model, 0);  // says what is wrong with it
  std::string text = "<?xml version=\"1.0\"?>\n<robot" + attribute("name", model.name()) + ">\n";
  if (robot.time_step) text += "  <!-- left out: the time step of " + internal::shortest(*robot.time_step) + " s -->\n";
  if (!plain) text += "  <link name=\"world\"/>\n";
  for (const Body& body : model.bodies()) text += link(body.spec, files);
  for (int i = plain ? 1 : 0; i < model.num_bodies(); ++i) text += joint(model, i);
  return text + "</robot>\n";
}

}  // namespace

std::string to_urdf(const Robot& robot) {
  MeshFiles none;
  return robot_text(robot, none);
}

void save_urdf(const Robot& robot, const std::filesystem::path& file) {
  MeshFiles files(file.stem().string() + "_meshes");
  const std::string text = robot_text(robot, files);
  files.write(file.parent_path());
  write_file(file, text);
}

}  // namespace tangere
