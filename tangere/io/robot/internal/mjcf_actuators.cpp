/// MJCF actuators and keyframes.

#include <algorithm>
#include <cmath>

#include "tangere/io/robot/internal/mjcf_parts.hpp"
#include "tangere/math/check.hpp"

namespace tangere::internal {
namespace {

// actuators
// ---------------------------------------------------------------------------------------------------------------------

void read_range(MjcfReader& reader, const MjcfAttributes& attributes, const char* limited, const char* range,
                double& lower, double& upper) {
  const std::optional<Eigen::Vector2d> ends = reader.counted_range(attributes, limited, range);
  if (!ends) return;
  if (!((*ends)[0] < (*ends)[1])) attributes.fail(range, "the lower limit must be below the upper");
  if ((*ends)[0] > -kNoMjcfLimit) lower = (*ends)[0];
  if ((*ends)[1] < kNoMjcfLimit) upper = (*ends)[1];
}

/// gain · u + b₀ + b₁ length + b₂ speed, as far as the types say so. In MuJoCo all kinds of actuators share this one
/// law: each kind changes a part of what the classes around it have left.
struct ActuatorLaw {
  std::string dynamics = "none";
  std::string gain_type = "fixed";
  std::string bias_type = "none";
  double gain = 1.0;
  Vector3 bias = Vector3::Zero();

  void change_by(const XmlElement& element) {
    const std::string kind = element.name();
    const MjcfAttributes own({element});
    if (kind == "general") {
      dynamics = own.text("dyntype").value_or(dynamics);
      gain_type = own.text("gaintype").value_or(gain_type);
      bias_type = own.text("biastype").value_or(bias_type);
      if (const auto g = own.numbers("gainprm", 0, 10); g && g->size() > 0) gain = (*g)[0];
      if (const auto b = own.numbers("biasprm", 0, 10)) {
        const Eigen::Index count = std::min<Eigen::Index>(b->size(), 3);
        bias.head(count) = b->head(count);
      }
      return;
    }
    dynamics = "none";
    gain_type = "fixed";
    bias_type = kind == "motor" ? "none" : "affine";
    if (kind == "motor") {
      gain = 1.0;
    } else if (kind == "position") {
      gain = own.amount("kp").value_or(gain);
      bias[1] = -gain;
      if (const std::optional<double> damping = own.amount("kv")) bias[2] = -*damping;
    } else {
      gain = own.amount("kv").value_or(gain);
      bias = Vector3(0.0, 0.0, -gain);
    }
  }
};

/// False (and reported) if the law is none of ours.
bool read_law(MjcfReader& reader, const MjcfAttributes& attributes, Actuator& actuator) {
  // from the outermost class to the element itself
  ActuatorLaw law;
  const std::vector<XmlElement>& sources = attributes.sources();
  for (auto source = sources.rbegin(); source != sources.rend(); ++source) law.change_by(*source);

  actuator.gain = law.gain;
  if (law.dynamics == "none" && law.gain_type == "fixed") {
    if (law.bias_type == "none") return true;
    const bool servo = law.bias_type == "affine" && law.bias[0] == 0.0 && law.gain >= 0.0;
    // without any gain the two are the same, and the file chooses
    const bool chosen = law.gain > 0.0 || attributes.element().name() == "velocity";
    if (servo && chosen && law.bias[1] == 0.0 && law.bias[2] == -law.gain) {
      actuator.kind = Actuator::Kind::velocity;
      return true;
    }
    if (servo && law.bias[1] == -law.gain && law.bias[2] <= 0.0) {
      actuator.kind = Actuator::Kind::position;
      actuator.damping = 0.0 - law.bias[2];  // not -0
      return true;
    }
    if (law.bias_type == "affine") {
      actuator.kind = Actuator::Kind::affine;
      actuator.bias = law.bias[0];
      actuator.stiffness = 0.0 - law.bias[1];
      actuator.damping = 0.0 - law.bias[2];
      return true;
    }
  }
  reader.report(attributes.element(), "has dynamics, or a gain or bias that is not affine: left out");
  return false;
}

/// Reads the coordinate it acts on; false (and reported) if that is not one coordinate of a joint.
bool read_transmission(MjcfReader& reader, const MjcfAttributes& attributes, const Model& model, Actuator& actuator) {
  const XmlElement& element = attributes.element();
  for (const char* other : {"tendon", "site", "body", "cranksite", "jointinparent"}) {
    if (!element.has(other)) continue;
    reader.report(element, std::string("acts on a ") + other + ", not on a joint: left out");
    return false;
  }
  const std::string name = element.text("joint");
  const MjcfJoint* joint = reader.find_joint(name);
  if (joint == nullptr) element.fail("joint", "there is no joint '" + name + "'");
  if (actuator.name.empty()) actuator.name = name;
  const Joint& in_model = model.joint(joint->index);
  VectorX gear = attributes.overlaid("gear", 6).value_or(VectorX());
  if (gear.size() == 0) gear = VectorX::Ones(1);
  if (in_model.nv == 1) {
    actuator.dof = in_model.first_v;
    actuator.gear = gear[0];
    return true;
  }
  // one of the turns of a ball or free joint, about the body's axes
  int axis = -1;
  int count = 0;
  for (int k = 0; k < static_cast<int>(gear.size()); ++k) {
    if (gear[k] == 0.0) continue;
    ++count;
    axis = k;
  }
  if (count != 1 || axis >= in_model.nv || (in_model.nv == 6 && axis < 3) || law_of(actuator).stiffness != 0.0) {
    reader.report(element,
                  "of the actuators of ball and free joints only those of a force or speed about one axis of the body "
                  "are read: left out");
    return false;
  }
  actuator.dof = in_model.first_v + axis;
  actuator.gear = gear[axis];
  return true;
}

std::optional<Actuator> read_actuator(MjcfReader& reader, const XmlElement& element, const Model& model,
                                      std::set<std::string>& names) {
  const std::string kind = element.name();
  if (kind != "motor" && kind != "position" && kind != "velocity" && kind != "general") {
    element.mark_unused();
    return std::nullopt;
  }
  const MjcfAttributes attributes = reader.defaults.of(element, {"motor", "position", "velocity", "general"});
  Actuator actuator;
  actuator.name = element.find_text("name").value_or("");
  if (!actuator.name.empty() && !names.insert(actuator.name).second)
    element.fail("there is an actuator '" + actuator.name + "' already");
  const bool named = !actuator.name.empty();
  element.use({"group"});
  read_range(reader, attributes, "ctrllimited", "ctrlrange", actuator.lower_control, actuator.upper_control);
  read_range(reader, attributes, "forcelimited", "forcerange", actuator.lower_force, actuator.upper_force);
  const bool law = read_law(reader, attributes, actuator);
  const bool place = law && read_transmission(reader, attributes, model, actuator);
  if (!place) {
    element.use_all();
    return std::nullopt;
  }
  if (!named) actuator.name = new_name(actuator.name, names);
  return actuator;
}

// keyframes
// ---------------------------------------------------------------------------------------------------------------------

/// The configuration of the file in MuJoCo's order: quaternions w x y z.
VectorX initial_qpos(const MjcfReader& reader, const Model& model) {
  VectorX q = VectorX::Zero(model.nq());
  for (const MjcfBody& body : reader.bodies) {
    for (const MjcfJoint& joint : body.joints) {
      const Joint& in_model = model.joint(joint.index);
      const int at = in_model.first_q;
      if (joint.type == JointType::free) {
        const Vector4 xyzw = body.X_WB.quaternion();
        q.segment<3>(at) = body.X_WB.p;
        q.segment<4>(at + 3) << xyzw[3], xyzw[0], xyzw[1], xyzw[2];
      } else if (joint.type == JointType::ball) {
        q[at] = 1.0;
      } else {
        q[at] = joint.ref;
      }
    }
  }
  return q;
}

/// Quaternions to x y z w, w ≥ 0; linear velocities of free joints to the body's axes.
void to_our_state(MjcfReader& reader, const Model& model, const XmlElement& element, VectorX& q, VectorX& v) {
  for (const Joint& joint : model.joints()) {
    if (joint.spec.type != JointType::free && joint.spec.type != JointType::ball) continue;
    const int at = joint.first_q + (joint.spec.type == JointType::free ? 3 : 0);
    const std::optional<Matrix3> R = rotation_of_wxyz(Vector4(q.segment<4>(at)));
    if (!R) {
      if (reader.options.strict)
        element.fail("qpos", "the quaternion of joint '" + joint.spec.name + "' must not be zero");
      reader.report(element, "the quaternion of joint '" + joint.spec.name + "' is zero: taken is the identity");
      q.segment<4>(at) << 0, 0, 0, 1;
      continue;
    }
    // scaled first: a number may be too large to be squared
    const Vector4 given = q.segment<4>(at) / q.segment<4>(at).cwiseAbs().maxCoeff();
    const Vector4 wxyz = given / given.norm() * (given[0] < 0.0 ? -1.0 : 1.0);
    q.segment<4>(at) << wxyz[1], wxyz[2], wxyz[3], wxyz[0];
    if (joint.spec.type == JointType::free)
      v.segment<3>(joint.first_v) = (R->transpose() * v.segment<3>(joint.first_v)).eval();
  }
}

}  // namespace

std::vector<std::optional<Actuator>> read_actuators(MjcfReader& reader, const std::vector<XmlElement>& sections,
                                                    const Model& model) {
  std::vector<std::optional<Actuator>> actuators;
  std::set<std::string> names;
  for (const XmlElement& section : sections) {
    if (section.name() != "actuator") continue;
    for (const XmlElement& element : reader.files.children(section))
      actuators.push_back(read_actuator(reader, element, model, names));
  }
  return actuators;
}

std::vector<Keyframe> read_keyframes(MjcfReader& reader, const std::vector<XmlElement>& sections, const Model& model,
                                     const std::vector<std::optional<Actuator>>& actuators) {
  const int num_controls = static_cast<int>(actuators.size());
  const auto ours = static_cast<Eigen::Index>(
      std::count_if(actuators.begin(), actuators.end(), [](const auto& actuator) { return actuator.has_value(); }));
  const VectorX initial = initial_qpos(reader, model);
  const auto keyframe_of = [&](const XmlElement& element, std::string name, VectorX q, VectorX v, const VectorX& u) {
    Keyframe key{std::move(name), std::move(q), std::move(v), VectorX::Zero(ours)};
    to_our_state(reader, model, element, key.q, key.v);
    Eigen::Index at = 0;
    for (int i = 0; i < num_controls; ++i)
      if (actuators[i]) key.control[at++] = u[i];
    return key;
  };

  std::vector<Keyframe> keyframes;
  std::set<std::string> names;
  for (const XmlElement& section : sections) {
    if (section.name() != "keyframe") continue;
    for (const XmlElement& element : reader.files.children(section)) {
      if (element.name() != "key") {
        element.mark_unused();
        continue;
      }
      const std::optional<std::string> name = element.find_text("name");
      if (name && !names.insert(*name).second) element.fail("there is a key '" + *name + "' already");
      if (element.find_number("time").value_or(0.0) != 0.0)
        reader.report(element, "the time is not kept", NoticeRank::unused);
      keyframes.push_back(
          keyframe_of(element, name ? *name : new_name("key" + std::to_string(keyframes.size()), names),
                      element.find_numbers("qpos", model.nq(), model.nq()).value_or(initial),
                      element.find_numbers("qvel", model.nv(), model.nv()).value_or(VectorX::Zero(model.nv())),
                      element.find_numbers("ctrl", num_controls, num_controls).value_or(VectorX::Zero(num_controls))));
    }
  }

  // where the file has everything, first, unless that is the neutral configuration
  Keyframe first =
      keyframe_of(reader.files.root(), "initial", initial, VectorX::Zero(model.nv()), VectorX::Zero(num_controls));
  VectorX neutral = VectorX::Zero(model.nq());
  for (const Joint& joint : model.joints())
    if (joint.nq != joint.nv) neutral[joint.first_q + joint.nq - 1] = 1.0;
  if (!first.q.isApprox(neutral, 0.0) && names.count("initial") == 0) keyframes.insert(keyframes.begin(), first);
  return keyframes;
}

}  // namespace tangere::internal
