/// MJCF bodies: the tree, joints and inertias.

#include <cmath>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include "tangere/io/robot/internal/mend.hpp"
#include "tangere/io/robot/internal/mjcf_parts.hpp"
#include "tangere/math/check.hpp"

namespace tangere::internal {
namespace {

/// Copies that <replicate> may make in one model.
constexpr int kMostReplicas = 10000;

// joints
// ---------------------------------------------------------------------------------------------------------------------

void read_limits(MjcfReader& reader, const MjcfAttributes& attributes, MjcfJoint& joint) {
  const std::optional<Eigen::Vector2d> range = reader.counted_range(attributes, "limited", "range");
  if (!range) return;
  if (joint.type == JointType::ball || joint.type == JointType::free) {
    reader.report(joint.element, "limits of ball and free joints are not read");
    return;
  }
  const auto position = [&](double value) {
    const bool angle = joint.type != JointType::prismatic;
    return std::abs(value) < kNoMjcfLimit ? (angle ? reader.settings.angle(value) : value)
                                          : std::copysign(DofSpec::kInfinity, value);
  };
  joint.dof.lower = position((*range)[0]);
  joint.dof.upper = position((*range)[1]);
}

void read_dof(MjcfReader& reader, const MjcfAttributes& attributes, MjcfJoint& joint) {
  const auto position = [&](const char* attribute) {
    const double value = attributes.number(attribute).value_or(0.0);
    return joint.type == JointType::revolute ? reader.settings.angle(value) : value;
  };
  const bool scalar = joint.type == JointType::revolute || joint.type == JointType::prismatic;
  joint.dof.damping = attributes.amount("damping").value_or(0.0);
  joint.dof.armature = attributes.amount("armature").value_or(0.0);
  joint.dof.friction = attributes.amount("frictionloss").value_or(0.0);
  joint.dof.stiffness = attributes.amount("stiffness").value_or(0.0);
  joint.dof.rest = position("springref");
  joint.ref = position("ref");
  if (!scalar) {
    if (joint.dof.stiffness > 0.0) reader.report(joint.element, "springs of ball and free joints are not read");
    if (joint.dof.friction > 0.0 && joint.type == JointType::free)
      reader.report(joint.element, "dry friction acts along the body's axes, not the world's");
    joint.dof.stiffness = joint.dof.rest = joint.ref = 0.0;
  }
  read_limits(reader, attributes, joint);
  const std::optional<Eigen::Vector2d> range =
      reader.counted_range(attributes, "actuatorfrclimited", "actuatorfrcrange");
  if (!range) return;
  const auto [lower, upper] = std::pair((*range)[0], (*range)[1]);
  if (!(lower <= 0.0 && upper >= 0.0)) attributes.fail("actuatorfrcrange", "must not leave zero out");
  joint.dof.effort = std::max(-lower, upper);
  if (-lower != upper) reader.report(joint.element, "the larger of the two limits of the force counts both ways");
}

void read_joint(MjcfReader& reader, const XmlElement& element, int index, const std::string& inherited,
                const Pose& X_BF) {
  MjcfBody& body = reader.body(index);
  if (index == 0) element.fail("the world has no joints");
  const std::string name = reader.name_of(element);
  if (!name.empty() && !reader.joint_by_name.emplace(name, std::pair(index, body.joints.size())).second)
    element.fail("there is a joint '" + name + "' already");
  MjcfJoint joint{element, name, JointType::free, Vector3::Zero(), Vector3::UnitZ(), 0.0, {}, {}};
  element.use({"group"});
  if (element.name() == "joint") {
    const MjcfAttributes attributes = reader.defaults.of(element, {"joint"}, inherited);
    const std::string type = attributes.word("type", {"hinge", "slide", "ball", "free"}).value_or("hinge");
    joint.type = type == "hinge"   ? JointType::revolute
                 : type == "slide" ? JointType::prismatic
                 : type == "ball"  ? JointType::ball
                                   : JointType::free;
    joint.anchor = X_BF * attributes.vector3("pos").value_or(Vector3::Zero());
    const Vector3 axis = X_BF.R * attributes.vector3("axis").value_or(Vector3::UnitZ());
    if (!(axis.stableNorm() > 1e-10)) attributes.fail("axis", "must not be zero");
    joint.axis = axis.stableNormalized();
    read_dof(reader, attributes, joint);
  }
  if (joint.type == JointType::free) {
    if (body.parent != 0) element.fail("a free joint is for bodies in the world only");
    joint.anchor = Vector3::Zero();
  }
  if (!body.joints.empty() && (joint.type == JointType::free || body.joints[0].type == JointType::free))
    element.fail("a free joint must be the only one of its body");
  body.joints.push_back(std::move(joint));
}

// bodies
// ---------------------------------------------------------------------------------------------------------------------

MassProperties read_inertial(const MjcfReader& reader, const XmlElement& element, const Pose& X_BF) {
  const MjcfAttributes attributes({element});
  (void)element.vector3("pos");
  const Pose X = X_BF * pose_of(element, reader.settings);
  MassProperties inertial{0.0, Vector3::Zero(), Matrix3::Zero()};
  if (!element.has("mass")) element.fail("mass", "is required");
  inertial.mass = *attributes.amount("mass");
  const std::optional<Vector3> diagonal = element.find_vector3("diaginertia");
  const std::optional<VectorX> full = element.find_numbers("fullinertia", 6, 6);
  if (diagonal && full) element.fail("fullinertia", "one inertia is enough, there is 'diaginertia' already");
  if (!diagonal && !full && inertial.mass > 0.0) element.fail("diaginertia", "is required, or fullinertia");
  if (diagonal) inertial.inertia = diagonal->asDiagonal();
  if (full) {
    const VectorX& I = *full;
    if (find_orientation(element, reader.settings)) element.fail("fullinertia", "goes without an orientation");
    inertial.inertia << I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2];
  }
  return posed(inertial, X);
}

/// The surroundings of an element of the tree.
struct Surroundings {
  int body;
  /// The class of `childclass`.
  std::string inherited;
  /// The frame that poses are given in.
  Pose X_BF;
  /// Depth of the element through all files; the root has 1.
  int depth;
};

void read_contents(MjcfReader& reader, const XmlElement& element, Surroundings around);
void read_replicas(MjcfReader& reader, const XmlElement& element, Surroundings around);

/// <site>: a place with a name. One without name cannot be referred to.
void read_site(MjcfReader& reader, const XmlElement& element, int body, const std::string& inherited,
               const Pose& X_BF) {
  const MjcfAttributes attributes = reader.defaults.of(element, {"site"}, inherited);
  // what it looks like is not kept
  element.use({"type", "size", "rgba", "material", "group", "user"});
  Pose X = pose_of(attributes, reader.settings);
  if (const std::optional<VectorX> ends = attributes.numbers("fromto", 6, 6)) {
    const Vector3 along = ends->head<3>() - ends->tail<3>();
    if (along.norm() > 1e-12) X = Pose(rotation_to(along), 0.5 * (ends->head<3>() + ends->tail<3>()));
  }
  const std::string name = reader.name_of(element);
  if (name.empty()) return;
  const int index = static_cast<int>(reader.sites.size());
  if (!reader.site_by_name.emplace(name, index).second) element.fail("there is a site '" + name + "' already");
  reader.sites.push_back({element, name, body, X_BF * X});
}

void read_body(MjcfReader& reader, const XmlElement& element, const Surroundings& around) {
  const std::string name = reader.name_of(element);
  const int index = static_cast<int>(reader.bodies.size());
  if (!name.empty() && !reader.body_by_name.emplace(name, index).second)
    element.fail("there is a body '" + name + "' already");
  const Pose X_PB = around.X_BF * pose_of(element, reader.settings);
  reader.bodies.push_back({element, name, around.body, X_PB, reader.body(around.body).X_WB * X_PB, {}, {}, {}});
  if (element.find_boolean("mocap").value_or(false))
    reader.report(element, "mocap has no effect: nothing moves this body from outside");
  read_contents(reader, element, {index, around.inherited, Pose(), around.depth + 1});
}

/// Reads the contents of a body or of a frame in it.
void read_contents(MjcfReader& reader, const XmlElement& element, Surroundings around) {
  reader.defaults.require_class(element, "childclass");
  around.inherited = element.find_text("childclass").value_or(around.inherited);
  const auto& [index, inherited, X_BF, depth] = around;
  for (const XmlElement& child : reader.files.children(element)) {
    require_depth(child, depth + 1);
    const std::string kind = child.name();
    if (kind == "body") {
      read_body(reader, child, around);
    } else if (kind == "geom") {
      if (std::optional<MjcfGeom> geom = read_geom(reader, child, inherited, X_BF))
        reader.body(index).geoms.push_back(*std::move(geom));
    } else if (kind == "joint" || kind == "freejoint") {
      read_joint(reader, child, index, inherited, X_BF);
    } else if (kind == "inertial" && index > 0) {
      if (reader.body(index).inertial) child.fail("there is one already");
      reader.body(index).inertial = read_inertial(reader, child, X_BF);
      reader.body(index).inertial_element = child;
    } else if (kind == "frame") {
      child.use({"name"});
      read_contents(reader, child, {index, inherited, X_BF * pose_of(child, reader.settings), depth + 1});
    } else if (kind == "replicate") {
      read_replicas(reader, child, {index, inherited, X_BF, depth + 1});
    } else if (kind == "site") {
      read_site(reader, child, index, inherited, X_BF);
    } else {
      child.mark_unused();
    }
  }
}

/// <replicate>: its contents `count` times, each copy moved by `offset` and turned by `euler` beyond the one before,
/// the number behind their names.
void read_replicas(MjcfReader& reader, const XmlElement& element, Surroundings around) {
  const double count = element.number("count");
  if (!(count >= 1.0 && count <= kMostReplicas) || count != std::floor(count))
    element.fail("count",
                 "must be a whole number from 1 to " + std::to_string(kMostReplicas) + ", got " + to_text(count));
  const std::string separator = element.find_text("sep").value_or("");
  Pose step = Pose::translation(element.find_vector3("offset").value_or(Vector3::Zero()));
  if (element.has("euler")) step.R = *find_orientation(element, reader.settings);
  const std::string outer = reader.name_suffix;
  const int copies = static_cast<int>(count);
  const std::size_t digits = std::to_string(copies - 1).size();
  for (int i = 0; i < copies; ++i) {
    if ((reader.replicas += 1) > kMostReplicas) element.fail("count", "there are too many copies in this model");
    const std::string number = std::to_string(i);
    reader.name_suffix = outer + separator + std::string(digits - number.size(), '0') + number;
    read_contents(reader, element, around);
    around.X_BF = around.X_BF * step;
  }
  reader.name_suffix = outer;
}

/// Mass properties of the geoms that count for the inertia of their body.
std::vector<MassProperties> parts_of(const MjcfBody& body, const MjcfSettings& settings) {
  std::vector<MassProperties> parts;
  for (const MjcfGeom& geom : body.geoms)
    if (geom.inertia.mass > 0.0 && geom.group >= settings.first_group && geom.group <= settings.last_group)
      parts.push_back(geom.inertia);
  return parts;
}

/// Bounds and balance act on the principal moments.
void adjust_inertia(const MjcfSettings& settings, MassProperties& body) {
  body.mass = std::max(body.mass, settings.least_mass);
  if (!(settings.least_inertia > 0.0) && !settings.balance_inertia) return;
  const Eigen::SelfAdjointEigenSolver<Matrix3> solver(body.inertia);
  Vector3 moments = solver.eigenvalues().cwiseMax(settings.least_inertia);
  if (settings.balance_inertia && moments[0] + moments[1] < moments[2]) moments.setConstant(moments.mean());
  const Matrix3& R = solver.eigenvectors();
  body.inertia = R * moments.asDiagonal() * R.transpose();
  body.inertia = 0.5 * (body.inertia + body.inertia.transpose()).eval();
}

}  // namespace

std::string MjcfReader::name_of(const XmlElement& element) const {
  const std::string name = element.find_text("name").value_or("");
  return name.empty() ? name : name + name_suffix;
}

const MjcfSite& MjcfReader::site_named(const XmlElement& element, const char* attribute) const {
  const std::string name = element.text(attribute);
  const auto found = site_by_name.find(name);
  if (found == site_by_name.end()) element.fail(attribute, "there is no site '" + name + "'");
  return sites[found->second];
}

int MjcfReader::body_named(const XmlElement& element, const char* attribute) const {
  const std::string name = element.text(attribute);
  const auto found = body_by_name.find(name);
  if (found == body_by_name.end()) element.fail(attribute, "there is no body '" + name + "'");
  return found->second;
}

MjcfJoint* MjcfReader::find_joint(const std::string& name) {
  const auto found = joint_by_name.find(name);
  if (found == joint_by_name.end()) return nullptr;
  const auto [body, index] = found->second;
  return &bodies[body].joints[index];
}

std::optional<Eigen::Vector2d> MjcfReader::counted_range(const MjcfAttributes& attributes, const char* limited,
                                                         const char* range) {
  const std::string when = attributes.word(limited, {"true", "false", "auto"}).value_or("auto");
  const std::optional<VectorX> given = attributes.numbers(range, 2, 2);
  if (when == "true" && !given) attributes.fail(limited, std::string("needs the attribute '") + range + "'");
  if (when == "false" || !given || (when == "auto" && given->isZero(0.0))) return std::nullopt;
  if (when == "auto" && !settings.autolimits) {
    report(attributes.element(), std::string("'") + range + "' does not count: autolimits is off, and '" + limited +
                                     "' does not say so either");
    return std::nullopt;
  }
  const Eigen::Vector2d ends = *given;
  const bool ordered = when == "true" ? ends[0] <= ends[1] : ends[0] < ends[1];
  if (!ordered)
    attributes.fail(range, std::string("the lower limit must ") + (when == "true" ? "not be above" : "be below") +
                               " the upper, got " + to_text(ends[0]) + " and " + to_text(ends[1]));
  return ends;
}

void add_world(MjcfReader& reader, const XmlElement& element) {
  reader.bodies.push_back({element, "world", -1, {}, {}, {}, {}, {}});
  reader.body_by_name.emplace("world", 0);
}

void read_world(MjcfReader& reader, const XmlElement& element) {
  if (reader.bodies.empty()) add_world(reader, element);
  read_contents(reader, element, {0, "", Pose(), 2});
}

void settle_inertias(MjcfReader& reader) {
  using When = MjcfSettings::InertiaFromGeom;
  const MjcfSettings& settings = reader.settings;
  double total = 0.0;
  for (std::size_t i = 1; i < reader.bodies.size(); ++i) {
    MjcfBody& body = reader.bodies[i];
    const bool from_geoms =
        settings.inertia_from_geom == When::always || (settings.inertia_from_geom == When::automatic && !body.inertial);
    const std::vector<MassProperties> parts = from_geoms ? parts_of(body, settings) : std::vector<MassProperties>();
    // where no geom counts, what is given does
    if (!parts.empty())
      body.inertia = combined(parts);
    else if (body.inertial)
      body.inertia = *body.inertial;
    adjust_inertia(settings, body.inertia);
    if (!reader.options.strict)
      if (const std::string mended = mend_inertia(body.inertia); !mended.empty())
        reader.report(body.inertial_element.value_or(body.element), mended);
    total += body.inertia.mass;
  }
  if (!(settings.total_mass > 0.0) || !(total > 0.0)) return;
  const double factor = settings.total_mass / total;
  for (MjcfBody& body : reader.bodies) {
    body.inertia.mass *= factor;
    body.inertia.inertia *= factor;
  }
}

}  // namespace tangere::internal
