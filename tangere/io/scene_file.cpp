#include "tangere/io/scene_file.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "tangere/io/robot/internal/mjcf_parts.hpp"
#include "tangere/io/robot/internal/unit_check.hpp"
#include "tangere/io/text/json_reader.hpp"
#include "tangere/io/text/shape_reader.hpp"
#include "tangere/multibody/configuration.hpp"

namespace tangere {
namespace {

using internal::JsonValue;
using internal::MjcfContactBits;

constexpr std::uintmax_t kLargestFile = 64u << 20;
/// As many bodies get a notice about their units, and robots about their gravity: more would say the same.
constexpr int kMostSuspects = 20;

/// Runs f; what it refuses is said at this place of the file.
template <class F>
decltype(auto) at_place(const JsonValue& value, F&& f) {
  try {
    return f();
  } catch (const InputError& error) {
    const bool has_place = !error.field().empty() && error.field() != value.path();
    value.fail(has_place ? error.what() : error.reason());
  }
}

Vector3 vector3(const JsonValue& value) { return value.numbers(3); }

/// Default start of a robot: its first keyframe, or neutral. Its mimics follow.
VectorX default_configuration(const Robot& robot) {
  VectorX q = robot.keyframes.empty() ? neutral_configuration(robot.model) : robot.keyframes.front().q;
  follow_mimics(robot.model, q);
  return q;
}

VectorX default_velocity(const Robot& robot) {
  return robot.keyframes.empty() ? VectorX(VectorX::Zero(robot.model.nv())) : robot.keyframes.front().v;
}

/// The start given for a body or robot.
struct Start {
  int first_body;
  VectorX q;
  VectorX v;
};

class SceneReader {
 public:
  SceneReader(std::filesystem::path file, const LoadOptions& options)
      : file_(std::move(file)), options_(options), builder_("scene") {}

  Scene read(const JsonValue& root) {
    root.require_fields({"format", "version", "name", "gravity", "time_step", "bodies", "robots"});
    (void)root.at("format").word({"tangere-scene"});
    if (root.at("version").number() != 1.0) root.at("version").fail("must be 1");
    if (const auto name = root.find("name")) builder_ = ModelBuilder(name->text());
    scene_has_gravity_ = root.has("gravity");
    scene_has_time_step_ = root.has("time_step");
    if (const auto robots = root.find("robots"))
      for (std::size_t i = 0; i < robots->size(); ++i) robots_.push_back(load((*robots)[i]));
    settle_contact_bits(root);
    if (const auto bodies = root.find("bodies"))
      for (std::size_t i = 0; i < bodies->size(); ++i) read_body((*bodies)[i]);
    if (const auto robots = root.find("robots"))
      for (std::size_t i = 0; i < robots->size(); ++i) read_robot((*robots)[i], robots_[i]);
    read_gravity(root);

    Scene scene{{at_place(root, [&] { return builder_.build(); }), {}, {}, std::move(notices_), std::nullopt}, {}, {}};
    scene.robot.actuators = settled_actuators(scene.robot.model);
    set_start(scene);
    scene.time_step = read_time_step(root).value_or(time_step_.value_or(scene.time_step));
    scene.robot.time_step = scene.time_step;
    return scene;
  }

 private:
  static std::optional<double> read_time_step(const JsonValue& root) {
    const auto step = root.find("time_step");
    if (!step) return std::nullopt;
    if (!(step->number() > 0.0)) step->fail("must be positive");
    return step->number();
  }

  /// The scene's, or the first robot's.
  void read_gravity(const JsonValue& root) {
    if (const auto gravity = root.find("gravity"))
      at_place(*gravity, [&] { builder_.set_gravity(vector3(*gravity)); });
    else if (gravity_)
      builder_.set_gravity(*gravity_);
  }

  /// With their coordinates in the whole model.
  [[nodiscard]] std::vector<Actuator> settled_actuators(const Model& model) const {
    std::map<std::string_view, int> first_v;
    for (const Joint& joint : model.joints()) first_v[joint.spec.name] = joint.first_v;
    std::vector<Actuator> actuators = actuators_;
    for (std::size_t i = 0; i < actuators.size(); ++i) actuators[i].dof += first_v.at(actuator_joints_[i]);
    return actuators;
  }

  void set_start(Scene& scene) const {
    const Model& model = scene.robot.model;
    scene.q = neutral_configuration(model);
    scene.v = VectorX::Zero(model.nv());
    for (const Start& start : starts_) {
      const Joint& first = model.joint(start.first_body);
      scene.q.segment(first.first_q, start.q.size()) = start.q;
      scene.v.segment(first.first_v, start.v.size()) = start.v;
    }
  }

  // bodies

  void read_body(const JsonValue& value) {
    value.require_fields({"name", "fixed", "shape", "shapes", "mass", "density", "center", "inertia", "position",
                          "quaternion", "velocity", "friction", "restitution", "color"});
    BodySpec body;
    body.name = value.at("name").text();
    const bool fixed = value.has("fixed") && value.at("fixed").boolean();
    read_shapes(value, body);
    read_inertia(value, fixed, body);
    if (const std::string remark = internal::unit_remark(body); !remark.empty() && suspects_ < kMostSuspects) {
      notices_.push_back({file_.string(), 0, value.path(), remark});
      ++suspects_;
    }
    const Pose X_WB = internal::read_pose(value);
    JointSpec joint{.name = body.name, .type = fixed ? JointType::fixed : JointType::free};
    if (fixed) joint.X_PJ = X_WB;
    const int index = at_place(value, [&] { return builder_.add_body(std::move(body), std::move(joint)); });
    const auto velocity = value.find("velocity");
    if (!fixed) starts_.push_back({index, coordinates(X_WB), body_velocity(velocity, X_WB)});
    if (fixed && velocity) velocity->fail("a fixed body has none");
  }

  static VectorX coordinates(const Pose& X_WB) {
    VectorX q(7);
    q << X_WB.p, X_WB.quaternion();
    return q;
  }

  /// World axes in the file, body axes in v.
  static VectorX body_velocity(const std::optional<JsonValue>& velocity, const Pose& X_WB) {
    if (!velocity) return VectorX::Zero(6);
    const VectorX V = velocity->numbers(6);
    VectorX v(6);
    v << X_WB.R.transpose() * V.head<3>(), X_WB.R.transpose() * V.tail<3>();
    return v;
  }

  /// Defaults for the shapes of a body.
  struct Surface {
    double friction;
    double restitution;
    Vector4 color;
  };

  void read_shapes(const JsonValue& value, BodySpec& body) {
    Surface surface{options_.friction, options_.restitution, {0.7, 0.7, 0.7, 1.0}};
    if (const auto friction = value.find("friction")) surface.friction = friction->number();
    if (const auto restitution = value.find("restitution")) surface.restitution = restitution->number();
    if (const auto color = value.find("color")) surface.color = color->numbers(4);
    if (const auto shape = value.find("shape")) add_shape(value, *shape, Pose(), surface, body);
    const auto shapes = value.find("shapes");
    if (!shapes) return;
    if (value.has("shape")) shapes->fail("give either shape or shapes");
    for (std::size_t i = 0; i < shapes->size(); ++i) {
      const JsonValue part = (*shapes)[i];
      part.require_fields({"shape", "position", "quaternion", "friction", "restitution"});
      add_shape(part, part.at("shape"), internal::read_pose(part), surface, body);
    }
  }

  /// `holder` may have friction and restitution of its own.
  void add_shape(const JsonValue& holder, const JsonValue& shape, const Pose& X_BS, const Surface& surface,
                 BodySpec& body) {
    CollisionShape collision{.name = body.name + std::to_string(body.shapes.size()),
                             .shape = internal::read_shape(shape),
                             .X_BS = X_BS,
                             .friction = surface.friction,
                             .restitution = surface.restitution};
    if (const auto own = holder.find("friction")) collision.friction = own->number();
    if (const auto own = holder.find("restitution")) collision.restitution = own->number();
    settle(collision);
    body.visuals.push_back({.name = collision.name, .geometry = collision.shape, .X_BV = X_BS, .color = surface.color});
    body.shapes.push_back(std::move(collision));
  }

  void read_inertia(const JsonValue& value, bool fixed, BodySpec& body) {
    const auto mass = value.find("mass");
    const auto density = value.find("density");
    if (mass && density) density->fail("give either mass or density");
    const auto inertia = value.find("inertia");
    if (inertia) {
      if (!mass) inertia->fail("needs a mass beside it");
      const MatrixX I = inertia->rows(3, 3);
      body.inertia = {mass->number(), Vector3::Zero(), I};
      if (const auto center = value.find("center")) body.inertia.center = vector3(*center);
      return;
    }
    if (const auto center = value.find("center"))
      center->fail("goes with inertia; without, both follow from the shapes");
    if (fixed && !mass && !density) return;
    if (body.shapes.empty()) value.fail("needs a shape, or mass and inertia");
    // homogeneous shapes; of the right mass together
    std::vector<ShapePart> parts;
    for (const CollisionShape& shape : body.shapes) parts.push_back({shape.shape, shape.X_BS});
    at_place(value, [&] {
      const MassProperties whole = mass_properties(Bundle{parts}, density ? density->number() : 1000.0);
      body.inertia = whole;
      if (!mass) return;
      const double factor = mass->number() / whole.mass;
      body.inertia.mass = mass->number();
      body.inertia.inertia *= factor;
    });
  }

  // robots

  [[nodiscard]] Robot load(const JsonValue& value) const {
    value.require_fields({"file", "name", "base", "position", "quaternion", "keyframe", "q", "v"});
    LoadOptions options = options_;
    if (const auto base = value.find("base"))
      options.base = base->word({"fixed", "free"}) == "free" ? Base::free : Base::fixed;
    const JsonValue file = value.at("file");
    return at_place(file, [&] { return internal::load_unsettled_robot(file_.parent_path() / file.text(), options); });
  }

  /// MuJoCo's rule for all: bodies and robots collide if the group of one is in the mask of the other.
  void settle_contact_bits(const JsonValue& root) {
    const CollisionShape of_a_body{.shape = Sphere{1.0}};
    std::set<MjcfContactBits> given = {{of_a_body.group, of_a_body.mask}};
    for (const Robot& robot : robots_)
      for (const Body& body : robot.model.bodies())
        for (const CollisionShape& shape : body.spec.shapes) given.insert({shape.group, shape.mask});
    bits_ = both_ways(given);
    if (!bits_.empty()) return;
    notices_.push_back({file_.string(), 0, root.path(),
                        "there are more than 32 kinds of contype and conaffinity: shapes collide only where each one's "
                        "group is in the other's mask"});
    for (const MjcfContactBits& pair : given) bits_[pair] = pair;
  }

  void settle(CollisionShape& shape) const {
    const MjcfContactBits& bits = bits_.at({shape.group, shape.mask});
    shape.group = bits.contype;
    shape.mask = bits.conaffinity;
  }

  void read_robot(const JsonValue& value, const Robot& robot) {
    settle_physics(value, robot);
    notices_.insert(notices_.end(), robot.notices.begin(), robot.notices.end());

    const std::string prefix = value.has("name") ? value.at("name").text() + "/" : "";
    at_place(value, [&] { require_new_names(robot, prefix); });
    Start start = read_start(value, robot);
    at_place(value, [&] { add_robot(robot.model, prefix, internal::read_pose(value), start); });
    add_actuators(robot, prefix);
    starts_.push_back(std::move(start));
  }

  /// The first robot's gravity and time step count, unless the scene has its own.
  void settle_physics(const JsonValue& value, const Robot& robot) {
    const auto differs = [&](const char* what) {
      if (++differing_ > kMostSuspects) return;
      notices_.push_back({file_.string(), 0, value.path(),
                          std::string("its ") + what + " is not that of the robots before it, which counts"});
    };
    if (!scene_has_gravity_ && gravity_ && *gravity_ != robot.model.gravity()) differs("gravity");
    if (!scene_has_time_step_ && time_step_ && robot.time_step && *time_step_ != *robot.time_step) differs("time step");
    if (!gravity_) gravity_ = robot.model.gravity();
    if (!time_step_) time_step_ = robot.time_step;
  }

  /// Actuators and constraints are told apart by their names, as bodies and joints are (which the builder sees to).
  void require_new_names(const Robot& robot, const std::string& prefix) {
    std::set<std::string> names;
    for (const Actuator& actuator : robot.actuators) names.insert("actuator '" + prefix + actuator.name + "'");
    for (const LoopConstraint& constraint : robot.model.constraints())
      names.insert("constraint '" + prefix + constraint.name + "'");
    for (const std::string& name : names)
      if (!names_.insert(name).second)
        throw InputError("", "another robot has the " + name + " already: give the robots names");
  }

  /// Neutral, the first keyframe, the one that is named, or coordinates; the last of these that there is.
  [[nodiscard]] Start read_start(const JsonValue& value, const Robot& robot) const {
    const Model& model = robot.model;
    Start start{builder_.num_bodies(), default_configuration(robot), default_velocity(robot)};
    if (const auto keyframe = value.find("keyframe")) {
      const std::string name = keyframe->text();
      const auto key = std::find_if(robot.keyframes.begin(), robot.keyframes.end(),
                                    [&](const Keyframe& each) { return each.name == name; });
      if (key == robot.keyframes.end()) keyframe->fail("the file has no keyframe '" + name + "'");
      start.q = key->q;
      start.v = key->v;
    }
    if (const auto q = value.find("q")) start.q = read_configuration(*q, model);
    if (const auto v = value.find("v")) start.v = v->numbers(model.nv());
    return start;
  }

  static VectorX read_configuration(const JsonValue& value, const Model& model) {
    VectorX q = value.numbers(model.nq());
    for (const Joint& joint : model.joints()) {
      if (joint.nq == joint.nv) continue;
      const double length = q.segment<4>(joint.first_q + joint.nq - 4).norm();
      if (!(std::abs(length - 1.0) <= 1e-6))
        value.fail("the quaternion of joint '" + joint.spec.name + "' must have unit length");
    }
    return q;
  }

  /// Bodies and constraints, with the roots where the robot stands.
  void add_robot(const Model& model, const std::string& prefix, const Pose& X, Start& start) {
    const int offset = builder_.num_bodies();
    const auto moved = [&](int body) { return body == kWorld ? kWorld : body + offset; };
    for (int b = 0; b < model.num_bodies(); ++b) {
      BodySpec body = model.body(b).spec;
      JointSpec joint = model.joint(b).spec;
      for (CollisionShape& shape : body.shapes) settle(shape);
      body.name = prefix + body.name;
      joint.name = prefix + joint.name;
      if (joint.mimic) joint.mimic->source = prefix + joint.mimic->source;
      const int parent = model.body(b).parent;
      if (parent == kWorld) place_root(X, joint, model.joint(b), start.q);
      builder_.add_body(std::move(body), std::move(joint), moved(parent));
    }
    for (const auto& [A, B] : model.excluded_pairs()) builder_.exclude_pair(moved(A), moved(B));
    for (LoopConstraint constraint : model.constraints()) {
      constraint.name = prefix + constraint.name;
      for (int* body : {&constraint.body_A, &constraint.body_B}) *body = moved(*body);
      // the world's side of it moves with the robot
      if (constraint.body_A == kWorld) constraint.X_AC = X * constraint.X_AC;
      if (constraint.body_B == kWorld) constraint.X_BC = X * constraint.X_BC;
      builder_.add_constraint(std::move(constraint));
    }
  }

  void add_actuators(const Robot& robot, const std::string& prefix) {
    for (Actuator actuator : robot.actuators) {
      for (const Joint& joint : robot.model.joints()) {
        if (actuator.dof < joint.first_v || actuator.dof >= joint.first_v + joint.nv) continue;
        actuator_joints_.push_back(prefix + joint.spec.name);
        actuator.dof -= joint.first_v;
        break;
      }
      actuator.name = prefix + actuator.name;
      actuators_.push_back(std::move(actuator));
    }
  }

  /// A free root is moved by its coordinates, which stay those of the world; any other by its placement.
  static void place_root(const Pose& X, JointSpec& joint, const Joint& in_robot, VectorX& q) {
    if (joint.type != JointType::free) {
      joint.X_PJ = X * joint.X_PJ;
      return;
    }
    auto own = q.segment<7>(in_robot.first_q);
    const Pose X_J =
        Pose(Eigen::Quaterniond(own[6], own[3], own[4], own[5]).normalized().toRotationMatrix(), own.head<3>());
    const Pose moved = joint.X_PJ.inverse() * X * joint.X_PJ * X_J;
    own << moved.p, moved.quaternion();
  }

  std::filesystem::path file_;
  const LoadOptions& options_;
  int suspects_ = 0;
  /// Gravities and time steps that do not count.
  int differing_ = 0;
  ModelBuilder builder_;
  std::vector<Start> starts_;
  std::vector<Notice> notices_;
  std::vector<Actuator> actuators_;
  /// By actuator: the joint it acts on; its dof counts from that joint's first.
  std::vector<std::string> actuator_joints_;
  std::vector<Robot> robots_;
  /// Groups and masks, for those that bodies and robots have.
  std::map<MjcfContactBits, MjcfContactBits> bits_;
  /// Names of actuators and constraints.
  std::set<std::string> names_;
  bool scene_has_gravity_ = false;
  bool scene_has_time_step_ = false;
  std::optional<Vector3> gravity_;
  std::optional<double> time_step_;
};

/// Gives notices of the scene itself their lines.
void settle_notices(std::vector<Notice>& notices, std::string_view text, const std::filesystem::path& file,
                    const LoadOptions& options) {
  for (Notice& notice : notices)
    if (notice.file == file.string()) notice.line = internal::json_line(text, notice.element);
  internal::settle_notices(notices, options);
}

/// Errors get the file and the line.
Scene read_scene(std::string_view text, const std::filesystem::path& file, const LoadOptions& options) {
  return internal::with_json_lines(text, file.string(), [&] {
    const internal::JsonDocument document(text);
    return SceneReader(file, options).read(document.root());
  });
}

/// By what is in the file; by its name where that says nothing.
bool holds_json(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  char c = '\0';
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  while (stream.get(c) &&
         (std::isspace(static_cast<unsigned char>(c)) != 0 || kByteOrderMark.find(c) != std::string_view::npos)) {
  }
  if (stream && (c == '{' || c == '<')) return c == '{';
  return file.extension() == ".json";
}

}  // namespace

Scene scene_from_text(std::string_view text, const std::filesystem::path& file, const LoadOptions& options) {
  Scene scene = read_scene(text, file, options);
  settle_notices(scene.robot.notices, text, file, options);
  return scene;
}

Scene load_scene(const std::filesystem::path& file, const LoadOptions& options) {
  std::error_code failure;
  if (!std::filesystem::exists(file, failure)) throw InputError(file.string(), "there is no such file");
  if (!std::filesystem::is_regular_file(file, failure)) throw InputError(file.string(), "is not a file");
  if (!holds_json(file)) {
    Robot robot = load_robot(file, options);
    Scene scene{std::move(robot), {}, {}};
    scene.q = default_configuration(scene.robot);
    scene.v = default_velocity(scene.robot);
    scene.time_step = scene.robot.time_step.value_or(scene.time_step);
    return scene;
  }
  const std::uintmax_t size = std::filesystem::file_size(file, failure);
  std::ifstream stream(file, std::ios::binary);
  if (failure || !stream) throw InputError(file.string(), "cannot be read");
  if (size > kLargestFile)
    throw InputError(file.string(), "is larger than " + std::to_string(kLargestFile >> 20) + " MB");
  std::ostringstream text;
  text << stream.rdbuf();
  return scene_from_text(text.str(), file, options);
}

}  // namespace tangere
