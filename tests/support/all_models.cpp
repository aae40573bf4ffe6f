#include "tests/support/all_models.hpp"

#include <Eigen/Geometry>

namespace tangere::test {

const std::vector<JointType>& all_joint_types() {
  using enum JointType;
  static const std::vector<JointType> types{fixed, revolute, prismatic,    screw,        universal,
                                            ball,  planar,   translation2, translation3, free};
  return types;
}

BodySpec random_body(const std::string& name, Random& random) {
  // the inertia of a random ellipsoid, somewhere
  const Vector3 axes(random.uniform(0.1, 0.5), random.uniform(0.1, 0.5), random.uniform(0.1, 0.5));
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
  joint.X_PJ = Pose(random.rotation(), 0.5 * random.normal3());
  joint.X_CJ = Pose(random.rotation(), 0.3 * random.normal3());
  joint.axis = random.uniform(0.5, 2.0) * random.unit_vector();
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
  for (int i = 0; i < num_bodies; ++i)
    builder.add_body(random_body("body" + std::to_string(i), random),
                     random_joint(JointType::revolute, "joint" + std::to_string(i), random), i - 1);
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

Model single(JointType type) {
  Random random(100 + static_cast<std::uint64_t>(type));
  ModelBuilder builder("single");
  builder.set_gravity({1.0, -2.0, -9.81});
  builder.add_body(random_body("body", random), random_joint(type, "joint", random));
  // something beyond, so that the joint carries more than one body
  builder.add_body(random_body("tip", random), random_joint(JointType::revolute, "tip", random), "body");
  return builder.build();
}

/// One of each type in a row.
Model chain() {
  Random random(7);
  ModelBuilder builder("chain");
  int parent = kWorld;
  for (const JointType type : all_joint_types()) {
    const std::string name(to_string(type));
    parent = builder.add_body(random_body(name, random), random_joint(type, name, random), parent);
  }
  return builder.build();
}

/// Each body hangs from a random earlier one; two trees and a fixed body.
Model forest() {
  Random random(8);
  ModelBuilder builder("forest");
  builder.add_body(random_body("ground", random), random_joint(JointType::fixed, "ground", random));
  for (int i = 0; i < 20; ++i) {
    const JointType type = all_joint_types()[static_cast<std::size_t>(random.index(9))];
    const int parent = i == 0 || i == 10 ? kWorld : random.index(builder.num_bodies());
    const std::string name = std::string(to_string(type)) + std::to_string(i);
    builder.add_body(random_body(name, random), random_joint(type, name, random), parent);
  }
  return builder.build();
}

/// A free base with four legs of three joints, without springs, dampers and armature.
Model quadruped() {
  Random random(9);
  ModelBuilder builder("quadruped");
  const auto bare = [&](JointType type, const std::string& name) {
    JointSpec joint = random_joint(type, name, random);
    joint.dofs.clear();
    return joint;
  };
  builder.add_body(random_body("base", random), bare(JointType::free, "base"));
  for (int leg = 0; leg < 4; ++leg) {
    std::string parent = "base";
    for (const char* part : {"hip", "thigh", "shin"}) {
      const std::string name = part + std::to_string(leg);
      builder.add_body(random_body(name, random), bare(JointType::revolute, name), parent);
      parent = name;
    }
    builder.add_body(random_body("foot" + std::to_string(leg), random),
                     bare(JointType::fixed, "foot" + std::to_string(leg)), parent);
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
