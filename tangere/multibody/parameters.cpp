#include "tangere/multibody/parameters.hpp"

#include <array>

#include "tangere/math/error.hpp"
#include "tangere/math/so3.hpp"

namespace tangere {
namespace {

using Kind = Parameter::Kind;

constexpr std::array kAxes = {"x", "y", "z"};
constexpr std::array kMoments = {"xx", "yy", "zz", "xy", "xz", "yz"};
constexpr std::array kPlacement = {"x", "y", "z", "rx", "ry", "rz"};
constexpr int kRow[6] = {0, 1, 2, 0, 0, 1};
constexpr int kColumn[6] = {0, 1, 2, 1, 2, 2};

const Joint& joint_of_dof(const Model& model, int v) {
  for (const Joint& joint : model.joints())
    if (v >= joint.first_v && v < joint.first_v + joint.nv) return joint;
  throw InputError("parameter", "there is no velocity coordinate " + std::to_string(v));
}

bool has_spring(const Joint& joint) { return joint.nq == joint.nv; }

double DofSpec::*member_of(Kind kind) {
  switch (kind) {
    case Kind::damping:
      return &DofSpec::damping;
    case Kind::stiffness:
      return &DofSpec::stiffness;
    case Kind::rest:
      return &DofSpec::rest;
    default:
      return &DofSpec::armature;
  }
}

const char* word_of(Kind kind) {
  switch (kind) {
    case Kind::damping:
      return "damping";
    case Kind::stiffness:
      return "stiffness";
    case Kind::rest:
      return "rest";
    default:
      return "armature";
  }
}

}  // namespace

void require_parameter(const Model& model, const Parameter& p) {
  const int count = p.kind == Kind::gravity ? 1 : p.kind <= Kind::placement ? model.num_bodies() : model.nv();
  const int components = p.kind == Kind::center || p.kind == Kind::gravity      ? 3
                         : p.kind == Kind::inertia || p.kind == Kind::placement ? 6
                                                                                : 1;
  if (p.index < 0 || p.index >= count || p.component < 0 || p.component >= components)
    throw InputError("parameter", "the model has none with index " + std::to_string(p.index) + " and component " +
                                      std::to_string(p.component) + " of this kind");
  if ((p.kind == Kind::stiffness || p.kind == Kind::rest) && !has_spring(joint_of_dof(model, p.index)))
    throw InputError("parameter", "ball and free joints have no spring");
}

std::vector<Parameter> all_parameters(const Model& model) {
  std::vector<Parameter> out;
  for (int b = 0; b < model.num_bodies(); ++b) {
    out.push_back({Kind::mass, b, 0});
    for (int k = 0; k < 3; ++k) out.push_back({Kind::center, b, k});
    for (int k = 0; k < 6; ++k) out.push_back({Kind::inertia, b, k});
  }
  for (int j = 0; j < model.num_bodies(); ++j)
    for (int k = 0; k < 6; ++k) out.push_back({Kind::placement, j, k});
  for (const Joint& joint : model.joints()) {
    for (const Kind kind : {Kind::damping, Kind::stiffness, Kind::rest, Kind::armature}) {
      if ((kind == Kind::stiffness || kind == Kind::rest) && !has_spring(joint)) continue;
      for (int k = 0; k < joint.nv; ++k) out.push_back({kind, joint.first_v + k, 0});
    }
  }
  for (int k = 0; k < 3; ++k) out.push_back({Kind::gravity, 0, k});
  return out;
}

std::string parameter_name(const Model& model, const Parameter& parameter) {
  require_parameter(model, parameter);
  const auto component = static_cast<std::size_t>(parameter.component);
  switch (parameter.kind) {
    case Kind::mass:
      return model.body(parameter.index).spec.name + ".mass";
    case Kind::center:
      return model.body(parameter.index).spec.name + ".center." + kAxes[component];
    case Kind::inertia:
      return model.body(parameter.index).spec.name + ".inertia." + kMoments[component];
    case Kind::placement:
      return model.joint(parameter.index).spec.name + ".placement." + kPlacement[component];
    case Kind::gravity:
      return std::string("gravity.") + kAxes[component];
    default: {
      const Joint& joint = joint_of_dof(model, parameter.index);
      std::string name = joint.spec.name + "." + word_of(parameter.kind);
      if (joint.nv > 1) name += "[" + std::to_string(parameter.index - joint.first_v) + "]";
      return name;
    }
  }
}

std::string parameter_forms() {
  return "<body>.mass, .center.x, .inertia.xx, <joint>.placement.x, .damping, .stiffness, .rest, .armature, gravity.x";
}

Parameter find_parameter(const Model& model, std::string_view name) {
  for (const Parameter& parameter : all_parameters(model))
    if (parameter_name(model, parameter) == name) return parameter;
  throw InputError("parameter", "the model has no '" + std::string(name) + "'; names are " + parameter_forms());
}

VectorX parameter_values(const Model& model, std::span<const Parameter> parameters) {
  VectorX values(static_cast<Eigen::Index>(parameters.size()));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    require_parameter(model, p);
    double& value = values[static_cast<Eigen::Index>(i)];
    switch (p.kind) {
      case Kind::mass:
        value = model.body(p.index).spec.inertia.mass;
        break;
      case Kind::center:
        value = model.body(p.index).spec.inertia.center[p.component];
        break;
      case Kind::inertia:
        value = model.body(p.index).spec.inertia.inertia(kRow[p.component], kColumn[p.component]);
        break;
      case Kind::placement: {
        const Pose& X = model.joint(p.index).spec.X_PJ;
        value = p.component < 3 ? X.p[p.component] : so3::log(X.R)[p.component - 3];
        break;
      }
      case Kind::gravity:
        value = model.gravity()[p.component];
        break;
      default:
        value = model.dofs()[p.index].*member_of(p.kind);
        break;
    }
  }
  return values;
}

Model with_parameters(const Model& model, std::span<const Parameter> parameters,
                      const Eigen::Ref<const VectorX>& values) {
  if (values.size() != static_cast<Eigen::Index>(parameters.size()))
    throw InputError("values", "must be one a parameter (" + std::to_string(parameters.size()) + "), are " +
                                   std::to_string(values.size()));
  std::vector<BodySpec> bodies;
  std::vector<JointSpec> joints;
  std::vector<Vector3> rotations;
  for (int b = 0; b < model.num_bodies(); ++b) {
    const Joint& joint = model.joint(b);
    bodies.push_back(model.body(b).spec);
    joints.push_back(joint.spec);
    // one entry a coordinate, so that each can change
    const auto dofs = model.dofs().subspan(static_cast<std::size_t>(joint.first_v), static_cast<std::size_t>(joint.nv));
    joints.back().dofs.assign(dofs.begin(), dofs.end());
    rotations.push_back(so3::log(joint.spec.X_PJ.R));
  }
  std::vector<bool> turned(bodies.size(), false);
  Vector3 gravity = model.gravity();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    require_parameter(model, p);
    const double value = values[static_cast<Eigen::Index>(i)];
    const auto at = static_cast<std::size_t>(p.index);
    switch (p.kind) {
      case Kind::mass:
        bodies[at].inertia.mass = value;
        break;
      case Kind::center:
        bodies[at].inertia.center[p.component] = value;
        break;
      case Kind::inertia:
        bodies[at].inertia.inertia(kRow[p.component], kColumn[p.component]) = value;
        bodies[at].inertia.inertia(kColumn[p.component], kRow[p.component]) = value;
        break;
      case Kind::placement:
        if (p.component < 3) {
          joints[at].X_PJ.p[p.component] = value;
        } else {
          rotations[at][p.component - 3] = value;
          turned[at] = true;
        }
        break;
      case Kind::gravity:
        gravity[p.component] = value;
        break;
      default: {
        const Joint& joint = joint_of_dof(model, p.index);
        const auto j = static_cast<std::size_t>(&joint - model.joints().data());
        joints[j].dofs[p.index - joint.first_v].*member_of(p.kind) = value;
        break;
      }
    }
  }
  ModelBuilder builder(model);
  builder.set_gravity(gravity);
  for (int b = 0; b < model.num_bodies(); ++b) {
    const auto at = static_cast<std::size_t>(b);
    if (turned[at]) joints[at].X_PJ.R = so3::exp(rotations[at]);
    builder.set_body(b, std::move(bodies[at]));
    builder.set_joint(b, std::move(joints[at]));
  }
  return builder.build();
}

}  // namespace tangere
