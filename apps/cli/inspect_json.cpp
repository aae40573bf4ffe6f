/// `tangere inspect --json`. Poses are `position` and `quaternion` (x y z w), lengths in metres; infinite limits are
/// null, as JSON has no word for them.

#include <nlohmann/json.hpp>

#include "apps/cli/inspect_report.hpp"
#include "tangere/io/shape_json.hpp"

namespace tangere::cli {
namespace {

using Json = nlohmann::ordered_json;

Json numbers(const Eigen::Ref<const VectorX>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(value);
  return list;
}

Json rows(const MatrixX& M) {
  Json list = Json::array();
  for (Eigen::Index i = 0; i < M.rows(); ++i) list.push_back(numbers(M.row(i).transpose()));
  return list;
}

Json pose_json(const Pose& X) { return {{"position", numbers(X.p)}, {"quaternion", numbers(X.quaternion())}}; }

template <class Range, class F>
Json list_of(const Range& range, const F& item) {
  Json list = Json::array();
  for (const auto& each : range) list.push_back(item(each));
  return list;
}

// joints
// ---------------------------------------------------------------------------------------------------------------------

Json dof_json(const Model& model, int v) {
  const DofSpec& dof = model.dofs()[v];
  return {{"name", model.dof_name(v)},  {"lower", dof.lower},   {"upper", dof.upper},
          {"velocity", dof.velocity},   {"effort", dof.effort}, {"damping", dof.damping},
          {"stiffness", dof.stiffness}, {"rest", dof.rest},     {"armature", dof.armature},
          {"friction", dof.friction}};
}

/// Only what its type has.
void add_axes(const JointSpec& joint, Json& out) {
  switch (joint.type) {
    case JointType::fixed:
    case JointType::ball:
    case JointType::translation3:
    case JointType::free:
      return;
    default:
      out["axis"] = numbers(joint.axis);
  }
  if (joint.type == JointType::universal) out["axis2"] = numbers(joint.axis2);
  if (joint.type == JointType::screw) out["pitch"] = joint.pitch;
}

Json joint_json(const Model& model, const Joint& joint) {
  Json out = {{"name", joint.spec.name}, {"type", to_string(joint.spec.type)}};
  out["in_parent"] = pose_json(joint.spec.X_PJ);
  out["in_child"] = pose_json(joint.spec.X_CJ);
  add_axes(joint.spec, out);
  out["first_q"] = joint.first_q;
  out["nq"] = joint.nq;
  out["first_v"] = joint.first_v;
  out["nv"] = joint.nv;
  out["dofs"] = Json::array();
  for (int v = joint.first_v; v < joint.first_v + joint.nv; ++v) out["dofs"].push_back(dof_json(model, v));
  if (joint.spec.mimic)
    out["mimic"] = {{"joint", joint.spec.mimic->source},
                    {"multiplier", joint.spec.mimic->multiplier},
                    {"offset", joint.spec.mimic->offset}};
  return out;
}

// bodies
// ---------------------------------------------------------------------------------------------------------------------

Json shape_json(const CollisionShape& shape) {
  Json out = {{"name", shape.name}, {"shape", Json::parse(shape_to_json(shape.shape))}};
  out.update(pose_json(shape.X_BS));
  out["friction"] = shape.friction;
  out["restitution"] = shape.restitution;
  out["group"] = shape.group;
  out["mask"] = shape.mask;
  return out;
}

/// A mesh by its numbers and its box, not by its triangles.
Json mesh_json(const TriangleMesh& mesh) {
  Vector3 lower = Vector3::Constant(DofSpec::kInfinity);
  Vector3 upper = -lower;
  for (const Vector3& vertex : mesh.vertices) {
    lower = lower.cwiseMin(vertex).eval();
    upper = upper.cwiseMax(vertex).eval();
  }
  return {{"vertices", mesh.vertices.size()},
          {"triangles", mesh.triangles.size()},
          {"lower", numbers(lower)},
          {"upper", numbers(upper)}};
}

Json visual_json(const VisualShape& visual) {
  Json out = {{"name", visual.name}};
  if (const Shape* shape = std::get_if<Shape>(&visual.geometry))
    out["shape"] = Json::parse(shape_to_json(*shape));
  else
    out["mesh"] = mesh_json(*std::get<std::shared_ptr<const TriangleMesh>>(visual.geometry));
  out.update(pose_json(visual.X_BV));
  out["color"] = numbers(visual.color);
  return out;
}

Json body_json(const Model& model, int index) {
  const BodySpec& body = model.body(index).spec;
  Json out = {{"name", body.name}, {"parent", body_name(model, model.body(index).parent)}};
  out["joint"] = joint_json(model, model.joint(index));
  out["mass"] = body.inertia.mass;
  out["center"] = numbers(body.inertia.center);
  out["inertia"] = rows(body.inertia.inertia);
  out["shapes"] = list_of(body.shapes, shape_json);
  out["visuals"] = list_of(body.visuals, visual_json);
  return out;
}

// the rest of a robot
// ---------------------------------------------------------------------------------------------------------------------

Json actuator_json(const Model& model, const Actuator& actuator) {
  return {{"name", actuator.name},
          {"dof", model.dof_name(actuator.dof)},
          {"kind", to_string(actuator.kind)},
          {"gear", actuator.gear},
          {"gain", actuator.gain},
          {"bias", actuator.bias},
          {"stiffness", actuator.stiffness},
          {"damping", actuator.damping},
          {"lower_control", actuator.lower_control},
          {"upper_control", actuator.upper_control},
          {"lower_force", actuator.lower_force},
          {"upper_force", actuator.upper_force}};
}

Json keyframe_json(const Keyframe& key) {
  return {{"name", key.name}, {"q", numbers(key.q)}, {"v", numbers(key.v)}, {"control", numbers(key.control)}};
}

Json constraint_json(const Model& model, const LoopConstraint& constraint) {
  return {{"name", constraint.name},
          {"kind", to_string(constraint.kind)},
          {"body_a", body_name(model, constraint.body_A)},
          {"body_b", body_name(model, constraint.body_B)},
          {"in_a", pose_json(constraint.X_AC)},
          {"in_b", pose_json(constraint.X_BC)}};
}

Json notice_json(const Notice& notice) {
  return {{"file", notice.file},
          {"line", notice.line},
          {"element", notice.element},
          {"text", notice.text},
          {"rank", to_string(notice.rank)}};
}

Json evaluation_json(const Model& model, const Evaluation& state) {
  Json out = {{"q", numbers(state.q)}, {"v", numbers(state.v)}};
  out["poses"] = Json::array();
  for (int i = 0; i < model.num_bodies(); ++i) {
    Json pose = {{"body", model.body(i).spec.name}};
    pose.update(pose_json(state.poses[i]));
    out["poses"].push_back(std::move(pose));
  }
  out["center_of_mass"] = numbers(state.center_of_mass);
  out["kinetic_energy"] = state.kinetic;
  out["potential_energy"] = state.potential;
  out["bias_force"] = numbers(state.bias);
  out["passive_force"] = numbers(state.passive);
  out["mass_matrix"] = rows(state.M);
  return out;
}

}  // namespace

std::string scene_json(const Scene& scene, const std::optional<Evaluation>& state) {
  const Robot& robot = scene.robot;
  const Model& model = robot.model;
  Json out = {{"name", model.name()}, {"nq", model.nq()}, {"nv", model.nv()}, {"mass", model.total_mass()}};
  out["gravity"] = numbers(model.gravity());
  out["time_step"] = scene.time_step;
  out["start"] = {{"q", numbers(scene.q)}, {"v", numbers(scene.v)}};
  out["bodies"] = Json::array();
  for (int i = 0; i < model.num_bodies(); ++i) out["bodies"].push_back(body_json(model, i));
  out["actuators"] = list_of(robot.actuators, [&](const Actuator& each) { return actuator_json(model, each); });
  out["keyframes"] = list_of(robot.keyframes, keyframe_json);
  out["constraints"] =
      list_of(model.constraints(), [&](const LoopConstraint& each) { return constraint_json(model, each); });
  out["excluded_pairs"] = list_of(model.excluded_pairs(), [&](const std::pair<int, int>& pair) {
    return Json::array({body_name(model, pair.first), body_name(model, pair.second)});
  });
  out["frames"] = list_of(model.frames(), [&](const NamedFrame& frame) {
    Json each = {{"name", frame.name}, {"body", body_name(model, frame.body)}};
    each.update(pose_json(frame.X_BF));
    return each;
  });
  if (state) out["state"] = evaluation_json(model, *state);
  out["notices"] = list_of(robot.notices, notice_json);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tangere::cli
