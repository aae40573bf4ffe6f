#include "tangere/multibody/model_check.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "tangere/math/check.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/internal/data_memory.hpp"

namespace tangere {
namespace {

/// Files are written with few digits: principal moments may break the triangle inequality by this part of the largest.
constexpr double kRounding = 1e-3;
/// Below this part of the inertia that hangs from a joint, what is left to it is rounding.
constexpr double kLeastPivot = 1e-13;

/// Runs `f`, whose errors are about quantities of a part.
template <class F>
void about(ModelError::Part part, const std::string& name, F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const InputError& error) {
    throw ModelError(part, name, error.field(), error.reason());
  }
}

void verify_inertia(const MassProperties& inertia) {
  internal::require_finite("mass", inertia.mass);
  if (inertia.mass < 0.0) throw InputError("mass", "must not be negative, got " + internal::to_text(inertia.mass));
  for (int i = 0; i < 3; ++i) internal::require_finite("center", inertia.center[i]);
  const Matrix3& I = inertia.inertia;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) internal::require_finite("inertia", I(i, j));
  const double size = I.cwiseAbs().maxCoeff();
  if (inertia.mass == 0.0 && size > 0.0) throw InputError("inertia", "must be 0 where there is no mass");
  if ((I - I.transpose()).cwiseAbs().maxCoeff() > 1e-9 * size) throw InputError("inertia", "must be symmetric");
  const Vector3 moments = Eigen::SelfAdjointEigenSolver<Matrix3>(I, Eigen::EigenvaluesOnly).eigenvalues();
  if (moments[0] < -1e-9 * size)
    throw InputError("inertia", "must be positive, principal moments are " + internal::to_text(VectorX(moments)));
  if (moments[0] + moments[1] < (1.0 - kRounding) * moments[2])
    throw InputError("inertia", "no body has these principal moments: the largest exceeds the sum of the other two, " +
                                    internal::to_text(VectorX(moments)));
}

void verify_dof(const std::string& prefix, const DofSpec& dof, bool has_position) {
  const auto not_negative = [&](const char* what, double value) {
    if (!(value >= 0.0)) throw InputError(prefix + what, "must not be negative, got " + internal::to_text(value));
  };
  if (std::isnan(dof.lower) || std::isnan(dof.upper) || dof.lower > dof.upper)
    throw InputError(prefix + "limits", "lower must not exceed upper, got " + internal::to_text(dof.lower) + " and " +
                                            internal::to_text(dof.upper));
  not_negative("velocity", dof.velocity);
  not_negative("effort", dof.effort);
  for (const auto& [what, value] : {std::pair{"damping", dof.damping},
                                    {"stiffness", dof.stiffness},
                                    {"armature", dof.armature},
                                    {"friction", dof.friction}}) {
    internal::require_finite(prefix + what, value);
    not_negative(what, value);
  }
  internal::require_finite(prefix + "rest", dof.rest);
  if (has_position) return;
  if (std::isfinite(dof.lower) || std::isfinite(dof.upper))
    throw InputError(prefix + "limits", "ball and free joints have no position limits");
  if (dof.stiffness != 0.0) throw InputError(prefix + "stiffness", "ball and free joints have none");
}

}  // namespace

namespace {

void verify_shape(const std::string& name, const CollisionShape& shape) {
  internal::require_pose(name + ".X_BS", shape.X_BS);
  internal::require_finite(name + ".friction", shape.friction);
  if (shape.friction < 0.0)
    throw InputError(name + ".friction", "must not be negative, got " + internal::to_text(shape.friction));
  if (!(shape.restitution >= 0.0 && shape.restitution <= 1.0))
    throw InputError(name + ".restitution", "must be between 0 and 1, got " + internal::to_text(shape.restitution));
}

void verify_visual(const std::string& name, const VisualShape& visual) {
  internal::require_pose(name + ".X_BV", visual.X_BV);
  for (int i = 0; i < 4; ++i)
    if (!(visual.color[i] >= 0.0 && visual.color[i] <= 1.0))
      throw InputError(name + ".color", "must be between 0 and 1, got " + internal::to_text(visual.color[i]));
  const auto* mesh = std::get_if<std::shared_ptr<const TriangleMesh>>(&visual.geometry);
  if (mesh != nullptr && *mesh == nullptr) throw InputError(name + ".geometry", "must not be null");
}

void verify_joint(const JointSpec& joint) {
  internal::require_pose("X_PJ", joint.X_PJ);
  internal::require_pose("X_CJ", joint.X_CJ);
  const auto require_axis = [](const char* what, const Vector3& axis) {
    for (int i = 0; i < 3; ++i) internal::require_finite(what, axis[i]);
    if (!(axis.norm() > 1e-12)) throw InputError(what, "must not be zero");
  };
  require_axis("axis", joint.axis);
  if (joint.type == JointType::universal) {
    require_axis("axis2", joint.axis2);
    if (joint.axis.normalized().cross(joint.axis2.normalized()).norm() < 1e-9)
      throw InputError("axis2", "must not be parallel to axis");
  }
  internal::require_finite("pitch", joint.pitch);
  const int nv = num_velocities(joint.type);
  const std::size_t given = joint.dofs.size();
  if (given > 1 && given != static_cast<std::size_t>(nv))
    throw InputError("dofs", "must have one entry for each of " + std::to_string(nv) +
                                 " coordinates, or one for all, has " + std::to_string(given));
  const bool has_position = num_positions(joint.type) == nv;
  for (std::size_t k = 0; k < given; ++k)
    verify_dof(given == 1 ? "" : "dofs[" + std::to_string(k) + "].", joint.dofs[k], has_position);
  if (!joint.mimic) return;
  if (nv != 1) throw InputError("mimic", "only joints of one coordinate can follow another");
  internal::require_finite("mimic.multiplier", joint.mimic->multiplier);
  internal::require_finite("mimic.offset", joint.mimic->offset);
}

}  // namespace

void verify(const BodySpec& body) {
  about(ModelError::Part::body, body.name, [&] {
    verify_inertia(body.inertia);
    for (const CollisionShape& shape : body.shapes)
      verify_shape(shape.name.empty() ? std::string(shape.shape.type_name()) : shape.name, shape);
    for (const VisualShape& visual : body.visuals) verify_visual(visual.name.empty() ? "visual" : visual.name, visual);
  });
}

void verify(const JointSpec& joint) {
  about(ModelError::Part::joint, joint.name, [&] { verify_joint(joint); });
}

void require_few_neighbours(std::size_t pairs) {
  if (pairs > kMaxNeighbourPairs)
    throw InputError("bodies", "too many are fixed to each other on both sides of a joint: " + std::to_string(pairs) +
                                   " pairs that do not collide, at most " + std::to_string(kMaxNeighbourPairs));
}

std::vector<std::pair<int, int>> neighbour_pairs(std::span<const Body> bodies, std::span<const JointSpec> joints,
                                                 std::span<const LoopConstraint> constraints) {
  // the body that each one is held to by fixed joints, in the end; kWorld: the world
  std::vector<int> holder(bodies.size());
  std::vector<std::vector<int>> held(bodies.size());
  const auto at = [](auto& list, int i) -> auto& { return list[i]; };
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const int index = static_cast<int>(b);
    const int parent = bodies[b].parent;
    const bool fixed = joints[b].type == JointType::fixed;
    holder[b] = !fixed ? index : parent == kWorld ? kWorld : at(holder, parent);
    if (holder[b] != kWorld && !bodies[b].spec.shapes.empty()) at(held, holder[b]).push_back(index);
  }
  std::vector<std::pair<int, int>> pairs;
  const auto add = [&](int A, int B) {
    if (A == kWorld || B == kWorld) return;
    pairs.emplace_back(std::minmax({A, B}));
    const int with_A = at(holder, A);
    const int with_B = at(holder, B);
    if (with_A == kWorld || with_B == kWorld || with_A == with_B) return;
    require_few_neighbours(pairs.size() + at(held, with_A).size() * at(held, with_B).size());
    for (const int a : at(held, with_A))
      for (const int b : at(held, with_B)) pairs.emplace_back(std::minmax({a, b}));
  };
  for (std::size_t b = 0; b < bodies.size(); ++b)
    if (joints[b].type != JointType::free) add(bodies[b].parent, static_cast<int>(b));
  for (const LoopConstraint& constraint : constraints) add(constraint.body_A, constraint.body_B);
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

void connect_mimics(std::vector<Joint>& joints) {
  std::map<std::string_view, int> by_name;
  for (std::size_t i = 0; i < joints.size(); ++i) by_name.emplace(joints[i].spec.name, static_cast<int>(i));
  for (Joint& joint : joints) {
    if (!joint.spec.mimic) continue;
    const auto source = by_name.find(joint.spec.mimic->source);
    if (source != by_name.end()) joint.mimic_source = source->second;
    if (joint.mimic_source < 0)
      throw ModelError(ModelError::Part::joint, joint.spec.name, "mimic",
                       "there is no joint '" + joint.spec.mimic->source + "'");
    if (joints[joint.mimic_source].nv != 1)
      throw ModelError(ModelError::Part::joint, joint.spec.name, "mimic",
                       "'" + joint.spec.mimic->source + "' must have one coordinate");
  }
  // each joint is walked through once: who comes to one of this walk again goes in a circle
  std::vector<std::size_t> walk_of(joints.size(), 0);
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const std::size_t walk = i + 1;
    for (int k = static_cast<int>(i); k >= 0; k = joints[k].mimic_source) {
      std::size_t& seen = walk_of[k];
      if (seen == walk)
        throw ModelError(ModelError::Part::joint, joints[i].spec.name, "mimic", "follows itself in a circle");
      if (seen != 0) break;
      seen = walk;
    }
  }
}

void require_movable(const Model& model) {
  // what each coordinate meets somewhere in general, beside what hangs from it
  const Links& tree = model.links();
  Data::Memory m(model);
  Random random(1);
  const VectorX still = VectorX::Zero(model.nv());
  articulated_bodies(model, random_configuration(model, random), still, still, {}, m);
  std::vector<SpatialInertia> below;
  for (const Link& link : tree.links) below.push_back(link.inertia);
  for (std::size_t i = tree.links.size(); i-- > 0;)
    if (tree.links[i].parent >= 0) below[tree.links[i].parent] += transformed(m.X[i], below[i]);
  // the outermost first: beyond a joint that moves nothing, what those before it meet is no number
  for (int index = model.num_bodies() - 1; index >= 0; --index) {
    const Joint& joint = model.joint(index);
    for (int v = joint.first_v; v < joint.first_v + joint.nv; ++v) {
      const auto at = static_cast<std::size_t>(v);
      const int i = tree.link_of_dof[at];
      const Link& link = tree[i];
      const SpatialInertia& inertia = below[i];
      const bool linear = link.kind == Link::Kind::prismatic || (link.kind == Link::Kind::free && v - link.v < 3);
      double scale = tree.armature[at];
      if (linear || link.pitch != 0.0) scale += inertia.m * (linear ? 1.0 : link.pitch * link.pitch);
      if (!linear) scale += to_matrix3(inertia.I).trace();
      if (m.d[at] > kLeastPivot * scale) continue;
      throw ImmovableJoint(index, joint.spec.name,
                           "moves nothing that has inertia of its own: give the bodies behind it mass and inertia "
                           "about every axis they turn about, or the joint an armature");
    }
  }
}

}  // namespace tangere
