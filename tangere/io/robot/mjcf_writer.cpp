/// A model as MJCF. Chains of massless bodies that the reader made of several joints become several joints again. A
/// keyframe `initial` in front says where the file has the bodies.

#include "tangere/io/robot/mjcf_writer.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <Eigen/Geometry>

#include "tangere/io/robot/internal/mjcf_geom_writer.hpp"
#include "tangere/io/robot/internal/mjcf_parts.hpp"
#include "tangere/io/robot/internal/mjcf_text.hpp"
#include "tangere/io/text/xml_file.hpp"
#include "tangere/math/error.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/multibody/model_check.hpp"

namespace tangere {
namespace {

using internal::XmlText;

/// MuJoCo's ranges have two ends: one that is missing is put where a reader takes it for none.
Eigen::Vector2d both_ends(double lower, double upper) {
  const double far = internal::kNoMjcfLimit;
  return {std::isfinite(lower) ? lower : -far, std::isfinite(upper) ? upper : far};
}

/// Anchors nearer to each other are one point, relative to where they are (a metre at least).
constexpr double kClosed = 1e-9;

class Writer {
 public:
  explicit Writer(const Robot& robot)
      : robot_(robot), model_(robot.model), geoms_(robot.model), children_(robot.model.bodies().size()) {
    for (int i = 0; i < model_.num_bodies(); ++i) {
      const int parent = model_.body(i).parent;
      (parent == kWorld ? roots_ : children_[parent]).push_back(i);
    }
    // where the bodies are to be
    initial_ = VectorX::Zero(model_.nq());
    for (const Joint& joint : model_.joints())
      if (joint.nq != joint.nv) initial_[joint.first_q + joint.nq - 1] = 1.0;
    if (!robot.keyframes.empty() && robot.keyframes[0].name == "initial" && can_start_at(robot.keyframes[0]) &&
        open_loop_at(robot.keyframes[0].q) == nullptr) {
      initial_ = robot.keyframes[0].q;
      has_first_keyframe_ = true;
    }
    if (const LoopConstraint* open = open_loop_at(initial_))
      throw InputError(open->name, "MJCF closes a connect where the file has the bodies, and here it is open there");
    find_chains();
  }

  std::string write() {
    out_.open("mujoco").text("model", model_.name());
    comment_losses();
    out_.open("compiler").text("angle", "radian").text("autolimits", "true").text("inertiafromgeom", "false").close();
    out_.open("option").numbers("gravity", model_.gravity());
    if (robot_.time_step) out_.number("timestep", *robot_.time_step);
    out_.close();
    geoms_.write_assets(out_);
    out_.open("worldbody");
    for (const int root : roots_) write_body(root);
    out_.close();
    write_exclusions();
    write_equalities();
    write_actuators();
    write_keyframes();
    out_.close();
    return out_.str();
  }

 private:
  [[nodiscard]] const std::string& name_of(int body) const {
    static const std::string world = "world";
    return body == kWorld || body == world_body_ ? world : model_.body(body).spec.name;
  }

  /// The reader makes this keyframe itself, unless a ball is turned or something moves.
  [[nodiscard]] bool can_start_at(const Keyframe& key) const {
    if (key.q.size() != model_.nq() || !key.v.isZero(0.0) || !key.control.isZero(0.0)) return false;
    for (const Joint& joint : model_.joints())
      if (joint.spec.type == JointType::ball && !key.q.segment<3>(joint.first_q).isZero(0.0)) return false;
    return true;
  }

  /// The first `connect` whose two anchors are apart in a configuration: MJCF has the one in the first body only.
  [[nodiscard]] const LoopConstraint* open_loop_at(const VectorX& q) const {
    if (model_.constraints().empty()) return nullptr;
    Data data(model_);
    forward_kinematics(model_, data, q);
    const auto pose = [&](int body) { return body == kWorld ? Pose() : body_pose(model_, data, body); };
    for (const LoopConstraint& loop : model_.constraints()) {
      if (loop.kind != LoopConstraint::Kind::connect) continue;
      const Vector3 on_A = pose(loop.body_A) * loop.X_AC.p;
      const Vector3 on_B = pose(loop.body_B) * loop.X_BC.p;
      if (!((on_A - on_B).norm() <= kClosed * std::max({1.0, on_A.norm(), on_B.norm()}))) return &loop;
    }
    return nullptr;
  }

  void comment_losses() {
    bool speeds = false;
    bool bounces = false;
    for (const DofSpec& dof : model_.dofs()) speeds = speeds || std::isfinite(dof.velocity);
    for (const Body& body : model_.bodies())
      for (const CollisionShape& shape : body.spec.shapes) bounces = bounces || shape.restitution > 0.0;
    if (speeds) out_.comment("left out: largest speeds of the joints");
    if (bounces) out_.comment("left out: coefficients of restitution");
  }

  // bodies and joints

  /// The child's pose in the parent at the initial configuration.
  [[nodiscard]] Pose pose_at_start(const Joint& joint) const {
    const JointSpec& spec = joint.spec;
    const int at = joint.first_q;
    Pose motion;
    switch (spec.type) {
      case JointType::fixed:
        break;
      case JointType::ball:
        if (!same_axes(spec.X_CJ.R))
          throw InputError(spec.name, "MJCF has ball joints along the axes of the body only");
        break;
      case JointType::revolute:
        motion = Pose::rotation(Eigen::AngleAxisd(initial_[at], spec.axis.normalized()).toRotationMatrix());
        break;
      case JointType::prismatic:
        motion = Pose::translation(initial_[at] * spec.axis.normalized());
        break;
      case JointType::free:
        if (!is_identity(spec.X_PJ) || !is_identity(spec.X_CJ))
          throw InputError(spec.name, "MJCF has free joints in the frame of the world and of the body only");
        return Pose::from_quaternion(initial_.segment<3>(at), initial_[at + 3], initial_[at + 4], initial_[at + 5],
                                     initial_[at + 6]);
      default:
        throw InputError(spec.name, "MJCF has no joint of type " + std::string(to_string(spec.type)));
    }
    return spec.X_PJ * motion * spec.X_CJ.inverse();
  }

  static bool same_axes(const Matrix3& R) { return (R - Matrix3::Identity()).cwiseAbs().maxCoeff() < 1e-12; }
  static bool is_identity(const Pose& X) { return same_axes(X.R) && X.p.cwiseAbs().maxCoeff() < 1e-12; }

  /// The bodies that only separate two joints of the one behind them.
  void find_chains() {
    const auto moves = [&](int i) {
      const JointType type = model_.joint(i).spec.type;
      return type == JointType::revolute || type == JointType::prismatic || type == JointType::ball;
    };
    // from the leaves on, so that the last body of a chain is known
    chain_.assign(children_.size(), {-1, -1});
    for (int i = model_.num_bodies() - 1; i >= 0; --i) {
      const BodySpec& spec = model_.body(i).spec;
      Chain& chain = chain_[i];
      chain.last = i;
      const std::vector<int>& behind = children_[i];
      const bool empty =
          spec.inertia.mass == 0.0 && spec.inertia.inertia.isZero(0.0) && spec.shapes.empty() && spec.visuals.empty();
      if (!empty || behind.size() != 1 || !moves(i) || !moves(behind[0])) continue;
      const int last = chain_[behind[0]].last;
      if (spec.name == model_.body(last).spec.name + "/" + model_.joint(i).spec.name &&
          is_identity(pose_at_start(model_.joint(behind[0]))))
        chain = {behind[0], last};
    }
  }

  /// The reader refuses deeper files; what is in a body is one level deeper than the body.
  void require_readable_depth(const std::string& body) const {
    if (out_.depth() + 2 > internal::kMaxXmlDepth)
      throw InputError(body, "hangs from too many bodies for a file: elements nest up to " +
                                 std::to_string(internal::kMaxXmlDepth) + " deep");
  }

  void require_free_in_world(int body) const {
    const int parent = model_.body(body).parent;
    if (model_.joint(body).spec.type == JointType::free && parent != kWorld && parent != world_body_)
      throw InputError(model_.joint(body).spec.name, "MJCF has free joints of bodies in the world only");
  }

  void write_body(int first) {
    if (is_world_body(first)) {
      world_body_ = first;
      geoms_.write_geoms(out_, first);
      for (const int child : children_[first]) write_body(child);
      return;
    }
    const int last = chain_[first].last;
    const BodySpec& spec = model_.body(last).spec;
    require_readable_depth(spec.name);
    require_free_in_world(first);
    out_.open("body").text("name", spec.name).pose(pose_at_start(model_.joint(first)));
    for (int i = first; i >= 0; i = chain_[i].next) write_joint(model_.joint(i));
    write_inertial(spec.inertia);
    geoms_.write_geoms(out_, last);
    for (const int child : children_[last]) write_body(child);
    out_.close();
  }

  void write_inertial(const MassProperties& inertia) {
    const Matrix3& I = inertia.inertia;
    if (!(inertia.mass > 0.0) && I.isZero(0.0)) return;
    out_.open("inertial").numbers("pos", inertia.center).number("mass", inertia.mass);
    // MuJoCo takes six numbers apart by iteration, three as they are
    if (I.isDiagonal(0.0)) {
      out_.numbers("diaginertia", I.diagonal()).close();
      return;
    }
    Eigen::Matrix<double, 6, 1> full;
    full << I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2);
    out_.numbers("fullinertia", full).close();
  }

  [[nodiscard]] bool is_world_body(int index) const {
    const Body& body = model_.body(index);
    return body.parent == kWorld && body.spec.name == "worldbody" && body.spec.inertia.mass == 0.0 &&
           model_.joint(index).spec.type == JointType::fixed && is_identity(pose_at_start(model_.joint(index)));
  }

  void write_joint(const Joint& joint) {
    const JointSpec& spec = joint.spec;
    if (spec.type == JointType::fixed) return;
    order_.push_back(&joint);
    const std::span<const DofSpec> dofs =
        model_.dofs().subspan(static_cast<std::size_t>(joint.first_v), static_cast<std::size_t>(joint.nv));
    const DofSpec& dof = dofs[0];
    for (const DofSpec& other : dofs)
      if (other.damping != dof.damping || other.armature != dof.armature || other.friction != dof.friction ||
          other.effort != dof.effort)
        throw InputError(spec.name, "MJCF has one damping, armature and friction for all coordinates of a joint");
    const bool scalar = joint.nv == 1;
    out_.open("joint").text("name", spec.name);
    out_.text("type", spec.type == JointType::revolute    ? "hinge"
                      : spec.type == JointType::prismatic ? "slide"
                      : spec.type == JointType::ball      ? "ball"
                                                          : "free");
    if (!spec.X_CJ.p.isZero(0.0)) out_.numbers("pos", spec.X_CJ.p);
    const auto amount = [&](const char* attribute, double value) {
      if (value != 0.0) out_.number(attribute, value);
    };
    if (scalar) {
      out_.numbers("axis", spec.X_CJ.R * spec.axis);
      amount("ref", initial_[joint.first_q]);
      if (std::isfinite(dof.lower) || std::isfinite(dof.upper))
        out_.text("limited", "true").numbers("range", both_ends(dof.lower, dof.upper));
      amount("stiffness", dof.stiffness);
      amount("springref", dof.rest);
    }
    amount("damping", dof.damping);
    amount("armature", dof.armature);
    amount("frictionloss", dof.friction);
    // none at all is said so, because two zeros alone are no range
    if (dof.effort == 0.0) out_.text("actuatorfrclimited", "true");
    if (std::isfinite(dof.effort)) out_.numbers("actuatorfrcrange", Eigen::Vector2d(-dof.effort, dof.effort));
    out_.close();
  }

  // what refers to bodies and joints

  void write_exclusions() {
    std::vector<std::pair<int, int>> pairs;
    std::vector<JointSpec> joints;
    for (const Joint& joint : model_.joints()) joints.push_back(joint.spec);
    const auto neighbours = neighbour_pairs(model_.bodies(), joints, {});
    for (const auto& [a, b] : model_.excluded_pairs()) {
      // neighbours are told by the tree; bodies without shapes do not matter
      const bool adjacent = std::binary_search(neighbours.begin(), neighbours.end(), std::pair(a, b));
      const bool empty = model_.body(b).spec.shapes.empty() || (a != kWorld && model_.body(a).spec.shapes.empty());
      if (!adjacent && !empty) pairs.emplace_back(a, b);
    }
    if (pairs.empty()) return;
    out_.open("contact");
    for (const auto& [a, b] : pairs) out_.open("exclude").text("body1", name_of(a)).text("body2", name_of(b)).close();
    out_.close();
  }

  void write_equalities() {
    const auto follows = [](const Joint& joint) { return joint.spec.mimic.has_value(); };
    if (model_.constraints().empty() && std::none_of(model_.joints().begin(), model_.joints().end(), follows)) return;
    out_.open("equality");
    for (const Joint& joint : model_.joints()) {
      if (!joint.spec.mimic) continue;
      const Joint& source = model_.joint(joint.mimic_source);
      // counted from the references
      const double slope = joint.spec.mimic->multiplier;
      const double offset = joint.spec.mimic->offset + slope * initial_[source.first_q] - initial_[joint.first_q];
      out_.open("joint").text("joint1", joint.spec.name).text("joint2", source.spec.name);
      Eigen::Matrix<double, 5, 1> p;
      p << offset, slope, 0.0, 0.0, 0.0;
      out_.numbers("polycoef", p).close();
    }
    for (const LoopConstraint& loop : model_.constraints()) {
      const bool weld = loop.kind == LoopConstraint::Kind::weld;
      out_.open(weld ? "weld" : "connect").text("name", loop.name);
      out_.text("body1", name_of(loop.body_A)).text("body2", name_of(loop.body_B));
      if (weld) {
        const Pose X_AB = loop.X_AC * loop.X_BC.inverse();
        const Vector4 xyzw = X_AB.quaternion();
        Eigen::Matrix<double, 7, 1> pose;
        pose << X_AB.p, xyzw[3], xyzw[0], xyzw[1], xyzw[2];
        out_.numbers("relpose", pose);
        if (!loop.X_BC.p.isZero(0.0)) out_.numbers("anchor", loop.X_BC.p);
      } else {
        out_.numbers("anchor", loop.X_AC.p);
      }
      out_.close();
    }
    out_.close();
  }

  void write_actuators() {
    if (robot_.actuators.empty()) return;
    out_.open("actuator");
    for (const Actuator& actuator : robot_.actuators) {
      using Kind = Actuator::Kind;
      // in words that every version of MuJoCo knows
      const bool general = (actuator.kind == Kind::motor && actuator.gain != 1.0) ||
                           (actuator.kind == Kind::position && actuator.damping != 0.0) ||
                           actuator.kind == Kind::affine;
      const ActuatorLaw law = law_of(actuator);
      out_.open(general                           ? "general"
                : actuator.kind == Kind::motor    ? "motor"
                : actuator.kind == Kind::position ? "position"
                                                  : "velocity");
      out_.text("name", actuator.name);
      if (general) out_.number("gainprm", actuator.gain);
      if (general && actuator.kind != Kind::motor)
        out_.text("biastype", "affine").numbers("biasprm", Vector3(law.bias, -law.stiffness, -law.damping));
      if (!general && actuator.kind == Kind::position) out_.number("kp", actuator.gain);
      if (actuator.kind == Kind::velocity) out_.number("kv", actuator.gain);
      const auto joint = std::find_if(model_.joints().begin(), model_.joints().end(), [&](const Joint& j) {
        return actuator.dof >= j.first_v && actuator.dof < j.first_v + j.nv;
      });
      if (joint == model_.joints().end()) throw InputError(actuator.name + ".dof", "the model has no such coordinate");
      VectorX gear = VectorX::Zero(joint->nv);
      gear[actuator.dof - joint->first_v] = actuator.gear;
      out_.text("joint", joint->spec.name).numbers("gear", gear);
      const auto range = [&](const char* attribute, double lower, double upper) {
        if (std::isfinite(lower) || std::isfinite(upper)) out_.numbers(attribute, both_ends(lower, upper));
      };
      range("ctrlrange", actuator.lower_control, actuator.upper_control);
      range("forcerange", actuator.lower_force, actuator.upper_force);
      out_.close();
    }
    out_.close();
  }

  /// In the order of the file, with MuJoCo's quaternions and velocities.
  void write_keyframes() {
    std::vector<const Keyframe*> keys;
    for (const Keyframe& key : robot_.keyframes)
      if (&key != robot_.keyframes.data() || !has_first_keyframe_) keys.push_back(&key);
    if (keys.empty()) return;
    out_.open("keyframe");
    for (const Keyframe* key : keys) {
      VectorX q(model_.nq());
      VectorX v(model_.nv());
      Eigen::Index at_q = 0;
      Eigen::Index at_v = 0;
      for (const Joint* joint : order_) {
        q.segment(at_q, joint->nq) = key->q.segment(joint->first_q, joint->nq);
        v.segment(at_v, joint->nv) = key->v.segment(joint->first_v, joint->nv);
        if (joint->nq != joint->nv) {
          const Eigen::Index at = at_q + joint->nq - 4;
          const Vector4 xyzw = q.segment<4>(at);
          q.segment<4>(at) << xyzw[3], xyzw[0], xyzw[1], xyzw[2];
          if (joint->nv == 6)
            v.segment<3>(at_v) =
                (Pose::from_quaternion(Vector3::Zero(), xyzw[0], xyzw[1], xyzw[2], xyzw[3]).R * v.segment<3>(at_v))
                    .eval();
        }
        at_q += joint->nq;
        at_v += joint->nv;
      }
      out_.open("key").text("name", key->name).numbers("qpos", q);
      if (!v.isZero(0.0)) out_.numbers("qvel", v);
      if (!key->control.isZero(0.0)) out_.numbers("ctrl", key->control);
      out_.close();
    }
    out_.close();
  }

  const Robot& robot_;
  const Model& model_;
  XmlText out_;
  internal::MjcfGeomWriter geoms_;
  std::vector<int> roots_;
  std::vector<std::vector<int>> children_;
  /// The first keyframe is where the file has the bodies, which a reader makes a keyframe of.
  bool has_first_keyframe_ = false;
  VectorX initial_;
  struct Chain {
    int next;
    int last;
  };
  std::vector<Chain> chain_;
  int world_body_ = kWorld;
  std::vector<const Joint*> order_;
};

}  // namespace

std::string to_mjcf(const Robot& robot) { return Writer(robot).write(); }

}  // namespace tangere
