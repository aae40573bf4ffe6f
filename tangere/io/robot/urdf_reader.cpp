#include "tangere/io/robot/urdf_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <set>
#include <string>
#include <utility>

#include "tangere/io/robot/internal/mend.hpp"
#include "tangere/io/robot/internal/urdf_parts.hpp"
#include "tangere/io/text/xml_file.hpp"
#include "tangere/math/check.hpp"

namespace tangere {
namespace {

using internal::XmlDocument;
using internal::XmlElement;

/// More than this many radians is probably degrees.
constexpr double kManyTurns = 20.0 * std::numbers::pi;

struct UrdfJoint {
  XmlElement element;
  std::string name;
  int child;
};

struct UrdfLink {
  XmlElement element;
  std::string name;
  /// The joint it hangs from; -1 for roots.
  int joint = -1;
  /// The joints that hang from it, in the order of the file.
  std::vector<int> joints{};
  /// In the model.
  int body = kWorld;
  bool visited = false;
};

// joints
// ---------------------------------------------------------------------------------------------------------------------

class JointReader {
 public:
  JointReader(const XmlElement& element, bool strict, std::vector<Notice>& notices)
      : element_(element), strict_(strict), notices_(notices) {}

  JointSpec read() {
    JointSpec joint;
    joint.name = element_.text("name");
    joint.X_PJ = internal::read_origin(element_);
    type_ = element_.text("type");
    joint.type = joint_type();
    joint.axis = read_axis(joint.type);
    // what is left alone here is reported
    const bool has_coordinates = joint.type != JointType::fixed && joint.type != JointType::free;
    if (!has_coordinates) return joint;
    DofSpec dof;
    if (joint.type != JointType::planar) read_limit(dof);
    if (const auto dynamics = element_.find_child("dynamics")) {
      dof.damping = not_negative(*dynamics, "damping").value_or(0.0);
      dof.friction = not_negative(*dynamics, "friction").value_or(0.0);
    }
    joint.dofs = {dof};
    joint.mimic = read_mimic();
    return joint;
  }

 private:
  [[nodiscard]] JointType joint_type() const {
    if (type_ == "fixed") return JointType::fixed;
    if (type_ == "revolute" || type_ == "continuous") return JointType::revolute;
    if (type_ == "prismatic") return JointType::prismatic;
    if (type_ == "floating") return JointType::free;
    if (type_ == "planar") return JointType::planar;
    element_.fail("type", "must be fixed, revolute, continuous, prismatic, floating or planar, got '" +
                              type_.substr(0, 40) + "'");
  }

  Vector3 read_axis(JointType type) {
    const std::optional<XmlElement> element = element_.find_child("axis");
    if (!element) return Vector3::UnitX();
    const Vector3 axis = element->vector3("xyz");
    // those that do not move along or about one often have (0, 0, 0)
    if (type == JointType::fixed || type == JointType::free) return Vector3::UnitX();
    const double length = axis.norm();
    if (!(length > 1e-9 && length < 1e9)) element->fail("xyz", "must be a direction, got " + internal::to_text(axis));
    if (std::abs(length - 1.0) > 1e-3)
      notices_.push_back(
          element->notice("the axis is not of unit length, only its direction is used", NoticeRank::unused));
    // a unit vector of the file stays as it is
    return std::abs(length - 1.0) <= 1e-15 ? axis : Vector3(axis / length);
  }

  /// A largest effort or speed. Many files say `inf` where there is none; others a very large number.
  static double read_bound(const XmlElement& limit, const char* attribute) {
    const double none = std::numeric_limits<double>::infinity();
    const double value = limit.find_limit(attribute).value_or(none);
    if (value < 0.0) limit.fail(attribute, "must not be negative, got " + internal::to_text(value));
    return value < internal::kNoUrdfLimit ? value : none;
  }

  static std::optional<double> not_negative(const XmlElement& element, const char* attribute) {
    const std::optional<double> value = element.find_number(attribute);
    if (value && *value < 0.0) element.fail(attribute, "must not be negative, got " + internal::to_text(*value));
    return value;
  }

  void read_limit(DofSpec& dof) {
    const std::optional<XmlElement> limit = element_.find_child("limit");
    if (!limit) {
      if (type_ != "continuous") notices_.push_back(element_.notice("has no <limit>, so it is not limited"));
      return;
    }
    dof.effort = read_bound(*limit, "effort");
    dof.velocity = read_bound(*limit, "velocity");
    if (type_ == "continuous") return;  // lower and upper, if there, are reported
    if (!limit->has("lower") && !limit->has("upper"))
      notices_.push_back(limit->notice("has neither lower nor upper: both are zero, which holds the joint there"));
    dof.lower = limit->find_limit("lower").value_or(0.0);
    dof.upper = limit->find_limit("upper").value_or(0.0);
    const double none = std::numeric_limits<double>::infinity();
    if (dof.lower <= -internal::kNoUrdfLimit) dof.lower = -none;
    if (dof.upper >= internal::kNoUrdfLimit) dof.upper = none;
    if (dof.lower > dof.upper && !strict_ && std::isfinite(dof.lower) && std::isfinite(dof.upper)) {
      notices_.push_back(limit->notice("lower exceeds upper, which other engines read as no limit"));
      dof.lower = -none;
      dof.upper = none;
    }
    if (dof.lower > dof.upper || dof.lower == none || dof.upper == -none)
      limit->fail("lower", "must not exceed upper, got " + internal::to_text(dof.lower) + " and " +
                               internal::to_text(dof.upper));
    const double largest = std::max(std::abs(dof.lower), std::abs(dof.upper));
    if (type_ == "revolute" && largest > kManyTurns && std::isfinite(largest))
      notices_.push_back(limit->notice("a limit of " + internal::to_text(largest) +
                                       " radians is more than ten turns: are these degrees?"));
  }

  [[nodiscard]] std::optional<Mimic> read_mimic() const {
    const std::optional<XmlElement> mimic = element_.find_child("mimic");
    if (!mimic) return std::nullopt;
    return Mimic{mimic->text("joint"), mimic->find_number("multiplier").value_or(1.0),
                 mimic->find_number("offset").value_or(0.0)};
  }

  const XmlElement& element_;
  bool strict_;
  std::vector<Notice>& notices_;
  std::string type_;
};

// the tree
// ---------------------------------------------------------------------------------------------------------------------

class UrdfReader {
 public:
  UrdfReader(const XmlDocument& document, const std::filesystem::path& file, const LoadOptions& options)
      : document_(document), root_(document.root()), options_(options), links_reader_(file, options, notices_) {}

  Robot run() {
    if (root_.name() != "robot") root_.fail("must be <robot>");
    root_.use({"version"});
    for (const std::string& attribute : root_.attribute_names())
      if (attribute.starts_with("xmlns")) root_.use({attribute.c_str()});
    ModelBuilder builder(robot_name());
    read_materials();
    collect_links();
    collect_joints();
    if (!links_.empty()) add_bodies(builder, find_root());
    Model model = build(builder);
    std::vector<Notice> unused = document_.unused();
    notices_.insert(notices_.end(), std::make_move_iterator(unused.begin()), std::make_move_iterator(unused.end()));
    internal::settle_notices(notices_, options_);
    return {std::move(model), {}, {}, std::move(notices_)};
  }

 private:
  std::string robot_name() {
    const std::optional<std::string> name = root_.find_text("name");
    if (name && !name->empty()) return *name;
    if (options_.strict) return root_.text("name");
    const std::string stem = std::filesystem::path(root_.file()).stem().string();
    notices_.push_back(root_.notice("has no name: it is called as its file is", NoticeRank::unused));
    return stem.empty() ? "robot" : stem;
  }

  UrdfLink& link(int i) { return links_[i]; }
  UrdfJoint& joint(int i) { return joints_[i]; }

  static std::string name_of(const XmlElement& element) {
    std::string name = element.text("name");
    if (name.empty()) element.fail("name", "must not be empty");
    return name;
  }

  /// Reads the materials of the robot, then those that links define in place.
  void read_materials() {
    std::set<std::string> names;
    for (const XmlElement& material : root_.children("material")) {
      if (!names.insert(material.find_text("name").value_or("")).second)
        notices_.push_back(material.notice("there is a material of this name already", NoticeRank::look));
      links_reader_.read_material(material);
    }
    for (const XmlElement& link : root_.children("link"))
      for (const XmlElement& visual : link.children("visual"))
        for (const XmlElement& material : visual.children("material"))
          if (material.has("name")) links_reader_.read_material(material);
  }

  void collect_links() {
    for (const XmlElement& element : root_.children("link")) {
      const std::string name = name_of(element);
      const auto [known, is_new] = link_of_name_.emplace(name, static_cast<int>(links_.size()));
      if (!is_new)
        element.fail("name", "there is a link of this name already, in line " +
                                 std::to_string(link(known->second).element.line()));
      links_.push_back({element, name});
    }
    if (!links_.empty()) return;
    if (options_.strict) root_.fail("has no links");
    notices_.push_back(root_.notice("has no links: there is nothing in it", NoticeRank::unused));
  }

  int find_link(const XmlElement& joint, const char* role) {
    const XmlElement element = joint.child(role);
    const std::string name = element.text("link");
    const auto found = link_of_name_.find(name);
    if (found == link_of_name_.end()) element.fail("link", "there is no link '" + name + "'");
    return found->second;
  }

  void collect_joints() {
    for (const XmlElement& element : root_.children("joint")) {
      const std::string name = name_of(element);
      const int index = static_cast<int>(joints_.size());
      const auto [known, is_new] = joint_of_name_.emplace(name, index);
      if (!is_new)
        element.fail("name", "there is a joint of this name already, in line " +
                                 std::to_string(joint(known->second).element.line()));
      const int parent = find_link(element, "parent");
      const int child = find_link(element, "child");
      if (parent == child) element.fail("connects link '" + link(child).name + "' with itself");
      if (link(child).joint >= 0)
        element.fail("link '" + link(child).name + "' is the child of joint '" + joint(link(child).joint).name +
                     "' already: links form a tree, not a loop");
      link(child).joint = index;
      link(parent).joints.push_back(index);
      joints_.push_back({element, name, child});
    }
  }

  int find_root() {
    int root = -1;
    for (int i = 0; i < static_cast<int>(links_.size()); ++i) {
      if (link(i).joint >= 0) continue;
      if (root >= 0)
        link(i).element.fail("no joint has this link as its child, but there is a root already: '" + link(root).name +
                             "' in line " + std::to_string(link(root).element.line()));
      root = i;
    }
    if (root < 0) links_.front().element.fail("every link is the child of a joint: they form a loop, without a root");
    return root;
  }

  /// The root joint has this name, or a longer one if the file has it.
  std::string root_joint_name() const {
    std::string name = "root_joint";
    while (joint_of_name_.count(name) > 0) name += "_";
    return name;
  }

  void add_root(ModelBuilder& builder, int root) {
    UrdfLink& base = link(root);
    BodySpec body = links_reader_.read(base.element);
    base.visited = true;
    if (base.name != "world") {
      JointSpec joint;
      joint.name = root_joint_name();
      joint.type = options_.base == Base::free ? JointType::free : JointType::fixed;
      base.body = add_body(builder, std::move(body), std::move(joint), kWorld, base, nullptr);
      return;
    }
    if (options_.base == Base::free)
      notices_.push_back(base.element.notice("the root is the world: there is no base to be free"));
    if (body.inertia.mass > 0.0) notices_.push_back(base.element.notice("the mass of the world is not used"));
    if (body.shapes.empty() && body.visuals.empty()) return;
    // what the world looks like is on a body that does not move
    body.name = "world_link";
    while (link_of_name_.count(body.name) > 0) body.name += "_";
    body.inertia = BodySpec{}.inertia;
    JointSpec joint;
    joint.name = body.name;
    while (joint_of_name_.count(joint.name) > 0) joint.name += "_";
    base.body = add_body(builder, std::move(body), std::move(joint), kWorld, base, nullptr);
  }

  void add_bodies(ModelBuilder& builder, int root) {
    add_root(builder, root);
    // depth first, without recursion: a chain may be long
    std::vector<int> open(link(root).joints.rbegin(), link(root).joints.rend());
    while (!open.empty()) {
      const UrdfJoint& next = joint(open.back());
      open.pop_back();
      UrdfLink& child = link(next.child);
      child.visited = true;
      if (child.name == "world") child.element.fail("name", "only the root link can be the world");
      JointSpec spec = JointReader(next.element, options_.strict, notices_).read();
      settle_mimic(next, spec);
      const int parent = link(link_of_name_.at(next.element.child("parent").text("link"))).body;
      child.body = add_body(builder, links_reader_.read(child.element), std::move(spec), parent, child, &next.element);
      open.insert(open.end(), child.joints.rbegin(), child.joints.rend());
    }
    for (const UrdfLink& each : links_)
      if (!each.visited) each.element.fail("does not hang from the root: the joints above it form a loop");
  }

  void settle_mimic(const UrdfJoint& joint, JointSpec& spec) {
    if (!spec.mimic || joint_of_name_.count(spec.mimic->source) > 0) return;
    if (!options_.strict) {
      notices_.push_back(joint.element.child("mimic").notice("there is no joint '" + spec.mimic->source +
                                                             "': this one moves by itself"));
      spec.mimic.reset();
      return;
    }
    joint.element.child("mimic").fail("joint", "there is no joint '" + spec.mimic->source + "'");
  }

  /// Adds a body; errors of the builder are placed at the joint, the inertia or the link.
  static int add_body(ModelBuilder& builder, BodySpec body, JointSpec joint, int parent, const UrdfLink& link,
                      const XmlElement* joint_element) {
    try {
      return builder.add_body(std::move(body), std::move(joint), parent);
    } catch (const ModelError& error) {
      XmlElement place = link.element;
      const bool of_joint = error.part() == ModelError::Part::joint && !error.quantity().empty();
      if (joint_element != nullptr && of_joint) place = *joint_element;
      if (internal::is_about_mass(error)) place = link.element.child("inertial");
      throw InputError(place.place() + ": " + error.field(), error.reason());
    } catch (const InputError& error) {
      throw InputError(link.element.place() + ": " + error.field(), error.reason());
    }
  }

  /// The element of a joint by its index in the model; the link of the root for the root joint.
  [[nodiscard]] const XmlElement& place_of_joint(int index) const {
    for (const UrdfJoint& each : joints_)
      if (links_[each.child].body == index) return each.element;
    return root_;
  }

  Model build(ModelBuilder& builder) {
    try {
      if (options_.strict) return builder.build();
      return internal::build_mended(
          builder, [&](int joint, std::string text) { notices_.push_back(place_of_joint(joint).notice(text)); });
    } catch (const ModelError& error) {
      for (const UrdfJoint& each : joints_)
        if (error.part() == ModelError::Part::joint && error.name() == each.name) each.element.fail(error.reason());
      throw InputError(root_.place() + ": " + error.field(), error.reason());
    } catch (const InputError& error) {
      throw InputError(root_.place() + ": " + error.field(), error.reason());
    }
  }

  const XmlDocument& document_;
  XmlElement root_;
  const LoadOptions& options_;
  std::vector<Notice> notices_;
  internal::UrdfLinkReader links_reader_;
  std::vector<UrdfLink> links_;
  std::vector<UrdfJoint> joints_;
  std::map<std::string, int> link_of_name_;
  std::map<std::string, int> joint_of_name_;
};

}  // namespace

Robot load_urdf(const std::filesystem::path& file, const LoadOptions& options) {
  const XmlDocument document = XmlDocument::load(file);
  return UrdfReader(document, file, options).run();
}

Robot urdf_from_text(std::string_view text, const std::filesystem::path& file, const LoadOptions& options) {
  const XmlDocument document = XmlDocument::parse(text, file.string());
  return UrdfReader(document, file, options).run();
}

}  // namespace tangere
