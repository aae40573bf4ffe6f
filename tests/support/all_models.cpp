#include "tests/support/all_models.hpp"

#include <Eigen/Geometry>

namespace tangere::test {

const std::vector<JointType>& all_joint_types() {
  using enum JointType;
  static const std::vector<JointType> types{fixed, revolute, prismatic,    screw,        universal,
                                            ball,  planar,   translation2, translation3, free};
  return types;
}

namespace {

// Draws are statements of their own: which argument of a call is drawn first is the compiler's choice, and the models
// are those of the fixtures.

Pose random_pose(double reach, Random& random) {
  const Vector3 p = reach * random.normal3();
  return {random.rotation(), p};
}

}  // namespace

BodySpec random_body(const std::string& name, Random& random) {
  // the inertia of a random ellipsoid, somewhere
  Vector3 axes;
  for (const int k : {2, 1, 0}) axes[k] = random.uniform(0.1, 0.5);
  MassProperties inertia = mass_properties(Ellipsoid{.semi_axes = axes}, random.uniform(500.0, 2000.0));
  const Matrix3 R = random.rotation();
  inertia.inertia = R * inertia.inertia * R.transpose();
  inertia.inertia = (0.5 * (inertia.inertia + inertia.inertia.transpose())).eval();
  inertia.center = 0.3 * random.normal3();
  return {.name = name, .inertia = inertia};
}

JointSpec random_joint(JointType type, const std::string& name, Random& random) {
  JointSpec joint;
  joint.name = name;
  joint.type = type;
  joint.X_PJ = random_pose(0.5, random);
  joint.X_CJ = random_pose(0.3, random);
  joint.axis = random.unit_vector();
  joint.axis *= random.uniform(0.5, 2.0);
  joint.axis2 = random.unit_vector();
  joint.pitch = random.uniform(-0.3, 0.3);
  const bool has_position = num_positions(type) == num_velocities(type);
  for (int k = 0; k < num_velocities(type); ++k) {
    DofSpec dof;
    dof.damping = random.uniform(0.0, 2.0);
    dof.armature = random.uniform(0.0, 0.5);
    if (has_position) {
      dof.stiffness = random.uniform(0.0, 20.0);
      dof.rest = random.uniform(-0.5, 0.5);
    }
    joint.dofs.push_back(dof);
  }
  return joint;
}

Model random_chain(int num_bodies, std::uint64_t seed) {
  Random random(seed);
  ModelBuilder builder("chain");
  for (int i = 0; i < num_bodies; ++i) {
    const JointSpec joint = random_joint(JointType::revolute, "joint" + std::to_string(i), random);
    builder.add_body(random_body("body" + std::to_string(i), random), joint, i - 1);
  }
  return builder.build();
}

VectorX random_vector(int n, Random& random) {
  VectorX out(n);
  for (int i = 0; i < n; ++i) out[i] = random.normal();
  return out;
}

std::vector<Vector6> random_wrenches(const Model& model, Random& random) {
  std::vector<Vector6> out;
  for (int b = 0; b < model.num_bodies(); ++b) {
    Vector6 wrench;
    wrench << 10.0 * random.normal3(), 5.0 * random.normal3();
    out.push_back(wrench);
  }
  return out;
}

namespace {

/// The joint is drawn first.
int add_random_body(ModelBuilder& builder, JointType type, const std::string& name, Random& random, int parent) {
  const JointSpec joint = random_joint(type, name, random);
  return builder.add_body(random_body(name, random), joint, parent);
}

Model single(JointType type) {
  Random random(100 + static_cast<std::uint64_t>(type));
  ModelBuilder builder("single");
  builder.set_gravity({1.0, -2.0, -9.81});
  const JointSpec joint = random_joint(type, "joint", random);
  builder.add_body(random_body("body", random), joint);
  // something beyond, so that the joint carries more than one body
  add_random_body(builder, JointType::revolute, "tip", random, 0);
  return builder.build();
}

/// One of each type in a row.
Model chain() {
  Random random(7);
  ModelBuilder builder("chain");
  int parent = kWorld;
  for (const JointType type : all_joint_types()) {
    const std::string name(to_string(type));
    parent = add_random_body(builder, type, name, random, parent);
  }
  return builder.build();
}

/// Each body hangs from a random earlier one; two trees and a fixed body.
Model forest() {
  Random random(8);
  ModelBuilder builder("forest");
  add_random_body(builder, JointType::fixed, "ground", random, kWorld);
  for (int i = 0; i < 20; ++i) {
    const JointType type = all_joint_types()[random.index(9)];
    const int parent = i == 0 || i == 10 ? kWorld : random.index(builder.num_bodies());
    const std::string name = std::string(to_string(type)) + std::to_string(i);
    add_random_body(builder, type, name, random, parent);
  }
  return builder.build();
}

/// A free base with four legs of three joints, without springs, dampers and armature.
Model quadruped() {
  Random random(9);
  ModelBuilder builder("quadruped");
  const auto add_bare = [&](JointType type, const std::string& name, int parent) {
    JointSpec joint = random_joint(type, name, random);
    joint.dofs.clear();
    return builder.add_body(random_body(name, random), joint, parent);
  };
  const int base = add_bare(JointType::free, "base", kWorld);
  for (int leg = 0; leg < 4; ++leg) {
    int parent = base;
    for (const char* part : {"hip", "thigh", "shin"})
      parent = add_bare(JointType::revolute, part + std::to_string(leg), parent);
    add_bare(JointType::fixed, "foot" + std::to_string(leg), parent);
  }
  return builder.build();
}

}  // namespace

const std::vector<NamedModel>& all_models() {
  static const std::vector<NamedModel> models = [] {
    std::vector<NamedModel> out;
    for (const JointType type : all_joint_types()) out.push_back({std::string(to_string(type)), single(type)});
    out.push_back({"chain", chain()});
    out.push_back({"forest", forest()});
    out.push_back({"quadruped", quadruped()});
    return out;
  }();
  return models;
}

}  // namespace tangere::test
