/// Our dynamics beside DART's: robots that DART reads from the same URDF, and skeletons built joint by joint from our
/// models (MJCF scenes, and every joint type).
///
///   dart_dynamics [--write tests/data/dart_dynamics.jsonl]
///
/// DART's coordinates are ours but for rotations, which are rotation vectors, and for free joints, which have them
/// first: q = (rotation, position), v = [angular; linear]. Both engines measure the velocity of ball and free joints in
/// the joint's frame on the child. DART's pitch is by the turn, ours by the radian. It has no armature.
///
/// DART's forward dynamics treats springs and dampers implicitly over a time step; the step is set so small that this
/// makes no difference.

#include <tinyxml2.h>

#include <dart/dynamics/dynamics.hpp>
#include <dart/utils/urdf/DartLoader.hpp>
#include <memory>
#include <numbers>
#include <stdexcept>

#include "tests/oracles/dynamics_comparison.hpp"

namespace tangere::oracle {
namespace {

namespace dd = dart::dynamics;

constexpr double kTolerance = 1e-9;
constexpr double kTimeStep = 1e-200;

Eigen::Isometry3d isometry(const Pose& X) {
  Eigen::Isometry3d out = Eigen::Isometry3d::Identity();
  out.linear() = X.R;
  out.translation() = X.p;
  return out;
}

const dd::Inertia kNoInertia(0.0, Eigen::Vector3d::Zero(), Eigen::Matrix3d::Zero());

/// Without shapes. Six equal entries of an inertia, a placeholder, become their diagonal, as we read them
/// (docs/robots.md).
std::string prepared_urdf(const std::filesystem::path& file) {
  tinyxml2::XMLDocument document;
  if (document.LoadFile(file.string().c_str()) != tinyxml2::XML_SUCCESS) throw std::runtime_error(document.ErrorStr());
  auto* link = document.RootElement()->FirstChildElement("link");
  for (; link != nullptr; link = link->NextSiblingElement("link")) {
    for (const char* what : {"visual", "collision"})
      while (auto* shape = link->FirstChildElement(what)) link->DeleteChild(shape);
    auto* inertial = link->FirstChildElement("inertial");
    auto* inertia = inertial == nullptr ? nullptr : inertial->FirstChildElement("inertia");
    if (inertia == nullptr) continue;
    const double first = inertia->DoubleAttribute("ixx");
    bool equal = true;
    for (const char* name : {"ixy", "ixz", "iyy", "iyz", "izz"})
      equal = equal && inertia->DoubleAttribute(name) == first;
    if (!equal) continue;
    for (const char* name : {"ixy", "ixz", "iyz"}) inertia->SetAttribute(name, 0);
  }
  tinyxml2::XMLPrinter printer;
  document.Print(&printer);
  return printer.CStr();
}

/// By DART's own reader. A link without <inertial> weighs 1 kg there unless told otherwise.
dd::SkeletonPtr read_urdf(const test::DynamicsCase& which) {
  using Loader = dart::utils::DartLoader;
  const Loader::RootJointType root =
      which.base == Base::free ? Loader::RootJointType::FLOATING : Loader::RootJointType::FIXED;
  Loader loader(Loader::Options(nullptr, root, kNoInertia));
  const std::filesystem::path file = test::dynamics_file(which.name);
  const std::string uri = "file://" + std::filesystem::absolute(file).string();
  dd::SkeletonPtr skeleton = loader.parseSkeletonString(prepared_urdf(file), dart::common::Uri(uri));
  if (!skeleton) throw std::runtime_error("DART does not read the file");
  return skeleton;
}

/// The first two axes of the plane with a normal: those after the coordinate axis that is near it (z where none is),
/// all turned the shortest way that takes it to the normal (joint.hpp).
std::array<Eigen::Vector3d, 2> plane_axes(const Vector3& axis) {
  const Vector3 n = axis.normalized();
  const int near = n.x() > 0.9 ? 0 : n.y() > 0.9 ? 1 : 2;
  const Vector3 first = Vector3::Unit((near + 1) % 3);
  const Vector3 second = Vector3::Unit((near + 2) % 3);
  const Vector3 about = Vector3::Unit(near).cross(n);
  if (about.norm() == 0.0) return {first, second};
  const Eigen::AngleAxisd turn(std::atan2(about.norm(), n[near]), about.normalized());
  return {turn * first, turn * second};
}

template <class JointClass>
std::pair<dd::BodyNode*, JointClass*> add(const dd::SkeletonPtr& skeleton, dd::BodyNode* parent,
                                          const std::string& name) {
  typename JointClass::Properties properties;
  properties.mName = name;
  const auto [joint, body] = skeleton->createJointAndBodyNodePair<JointClass>(parent, properties);
  return {body, joint};
}

/// The joint of one type, and the body beyond.
dd::BodyNode* add_joint(const dd::SkeletonPtr& skeleton, dd::BodyNode* parent, const JointSpec& spec) {
  const Eigen::Vector3d axis = spec.axis.normalized();
  switch (spec.type) {
    case JointType::fixed:
      return add<dd::WeldJoint>(skeleton, parent, spec.name).first;
    case JointType::revolute: {
      const auto [body, joint] = add<dd::RevoluteJoint>(skeleton, parent, spec.name);
      joint->setAxis(axis);
      return body;
    }
    case JointType::prismatic: {
      const auto [body, joint] = add<dd::PrismaticJoint>(skeleton, parent, spec.name);
      joint->setAxis(axis);
      return body;
    }
    case JointType::screw: {
      const auto [body, joint] = add<dd::ScrewJoint>(skeleton, parent, spec.name);
      joint->setAxis(axis);
      joint->setPitch(2.0 * std::numbers::pi * spec.pitch);
      return body;
    }
    case JointType::universal: {
      const auto [body, joint] = add<dd::UniversalJoint>(skeleton, parent, spec.name);
      joint->setAxis1(axis);
      joint->setAxis2(spec.axis2.normalized());
      return body;
    }
    case JointType::ball:
      return add<dd::BallJoint>(skeleton, parent, spec.name).first;
    case JointType::planar: {
      const auto [body, joint] = add<dd::PlanarJoint>(skeleton, parent, spec.name);
      const auto axes = plane_axes(spec.axis);
      joint->setArbitraryPlane(axes[0], axes[1]);
      return body;
    }
    case JointType::translation2: {
      const auto [body, joint] = add<dd::TranslationalJoint2D>(skeleton, parent, spec.name);
      const auto axes = plane_axes(spec.axis);
      joint->setArbitraryPlane(axes[0], axes[1]);
      return body;
    }
    case JointType::translation3:
      return add<dd::TranslationalJoint>(skeleton, parent, spec.name).first;
    case JointType::free:
      return add<dd::FreeJoint>(skeleton, parent, spec.name).first;
  }
  throw std::runtime_error("unknown joint type");
}

/// Where the k-th velocity coordinate of a joint is in DART's joint.
std::size_t their_dof(JointType type, int k) {
  return static_cast<std::size_t>(type == JointType::free ? (k + 3) % 6 : k);
}

dd::SkeletonPtr build(const Model& model) {
  dd::SkeletonPtr skeleton = dd::Skeleton::create(model.name());
  std::vector<dd::BodyNode*> bodies;
  for (int b = 0; b < model.num_bodies(); ++b) {
    const BodySpec& spec = model.body(b).spec;
    const JointSpec& joint_spec = model.joint(b).spec;
    const int parent = model.body(b).parent;
    dd::BodyNode* body = add_joint(skeleton, parent == kWorld ? nullptr : bodies[parent], joint_spec);
    bodies.push_back(body);
    body->setName(spec.name);
    body->setInertia(dd::Inertia(spec.inertia.mass, spec.inertia.center, spec.inertia.inertia));
    dd::Joint* joint = body->getParentJoint();
    joint->setTransformFromParentBodyNode(isometry(joint_spec.X_PJ));
    joint->setTransformFromChildBodyNode(isometry(joint_spec.X_CJ));
    for (int k = 0; k < model.joint(b).nv; ++k) {
      const DofSpec& dof = model.dofs()[model.joint(b).first_v + k];
      const std::size_t theirs = their_dof(joint_spec.type, k);
      joint->setDampingCoefficient(theirs, dof.damping);
      joint->setSpringStiffness(theirs, dof.stiffness);
      joint->setRestPosition(theirs, dof.rest);
    }
  }
  return skeleton;
}

Eigen::Vector3d rotation_vector(const double* q) {
  const Vector3 vector(q[0], q[1], q[2]);
  const double sine = vector.norm();
  return sine == 0.0 ? Vector3::Zero().eval() : (2.0 * std::atan2(sine, q[3]) / sine * vector).eval();
}

class DartPeer {
 public:
  DartPeer(const test::DynamicsCase& which, const Model& model) {
    skeleton_ = which.name.ends_with(".urdf") ? read_urdf(which) : build(model);
    skeleton_->setGravity(model.gravity());
    skeleton_->setTimeStep(kTimeStep);
    dofs_.resize(static_cast<std::size_t>(model.nv()));
    std::size_t matched = 0;
    for (int b = 0; b < model.num_bodies(); ++b) {
      const BodySpec& body = model.body(b).spec;
      bodies_.push_back(skeleton_->getBodyNode(body.name));
      if (bodies_.back() == nullptr) throw std::runtime_error("DART has no body " + body.name);
      // the joint of a body, so that the one of the root needs no name
      dd::Joint* joint = bodies_.back()->getParentJoint();
      joint->setActuatorType(dd::Joint::FORCE);
      joints_.push_back({model.joint(b), joint});
      for (int k = 0; k < model.joint(b).nv; ++k, ++matched)
        dofs_[model.joint(b).first_v + k] =
            static_cast<int>(joint->getIndexInSkeleton(their_dof(model.joint(b).spec.type, k)));
    }
    if (matched != skeleton_->getNumDofs()) throw std::runtime_error("DART has other joints");
  }

  PeerAnswer operator()(const test::DynamicsState& state) {
    for (const auto& [ours, theirs] : joints_) set_position(ours, *theirs, state.q.data() + ours.first_q);
    skeleton_->setVelocities(to_theirs(state.v));

    PeerAnswer out;
    out.kinetic = skeleton_->computeKineticEnergy();
    out.potential = potential();
    const Eigen::MatrixXd& M = skeleton_->getMassMatrix();
    out.M = M(dofs_, dofs_);
    for (const dd::BodyNode* body : bodies_) {
      const Eigen::Isometry3d& X = body->getWorldTransform();
      out.poses.emplace_back(Pose(X.linear(), X.translation()));
    }
    // springs and dampers are no part of DART's bias
    Eigen::VectorXd bias = skeleton_->getCoriolisAndGravityForces();
    for (std::size_t k = 0; k < skeleton_->getNumDofs(); ++k) {
      const dd::DegreeOfFreedom& dof = *skeleton_->getDof(k);
      bias[static_cast<Eigen::Index>(k)] += dof.getDampingCoefficient() * dof.getVelocity() +
                                            dof.getSpringStiffness() * (dof.getPosition() - dof.getRestPosition());
    }
    out.bias = bias(dofs_);

    skeleton_->setAccelerations(to_theirs(state.a));
    skeleton_->computeInverseDynamics(false, true, true);
    out.tau = skeleton_->getForces()(dofs_);

    skeleton_->setForces(to_theirs(state.tau));
    skeleton_->computeForwardDynamics();
    out.qdd = skeleton_->getAccelerations()(dofs_);
    return out;
  }

 private:
  /// Skeleton::computePotentialEnergy takes the origins of the bodies for their centres of mass.
  [[nodiscard]] double potential() const {
    double energy = -skeleton_->getMass() * skeleton_->getGravity().dot(skeleton_->getCOM());
    for (const auto& [ours, theirs] : joints_) energy += theirs->computePotentialEnergy();
    return energy;
  }

  [[nodiscard]] Eigen::VectorXd to_theirs(const VectorX& x) const {
    Eigen::VectorXd out(x.size());
    for (std::size_t k = 0; k < dofs_.size(); ++k) out[dofs_[k]] = x[static_cast<Eigen::Index>(k)];
    return out;
  }

  static void set_position(const Joint& ours, dd::Joint& theirs, const double* q) {
    if (ours.spec.type == JointType::free) {
      Eigen::Matrix<double, 6, 1> position;
      position << rotation_vector(q + 3), q[0], q[1], q[2];
      theirs.setPositions(position);
    } else if (ours.spec.type == JointType::ball) {
      theirs.setPositions(rotation_vector(q));
    } else if (ours.nv > 0) {
      theirs.setPositions(Eigen::Map<const Eigen::VectorXd>(q, ours.nq));
    }
  }

  dd::SkeletonPtr skeleton_;
  std::vector<dd::BodyNode*> bodies_;
  std::vector<std::pair<Joint, dd::Joint*>> joints_;
  /// DART's coordinate for each of ours.
  std::vector<int> dofs_;
};

}  // namespace
}  // namespace tangere::oracle

int main(int argc, char** argv) {
  using tangere::Base;
  using tangere::oracle::DartPeer;
  std::vector<tangere::oracle::CaseToRun> cases;
  // built from our models
  for (const char* name : {"scenes/cartpole.xml", "scenes/catapult.xml", "scenes/double_cartpole.xml",
                           "scenes/drone.xml", "scenes/half_cheetah.xml", "scenes/humanoid.xml", "scenes/jump_worm.xml",
                           "robots/mjcf/car.xml", "robots/mjcf/humanoid.xml"})
    cases.push_back({{.name = name, .armature = false}});
  for (const tangere::test::NamedModel& entry : tangere::test::all_models())
    cases.push_back({{.name = "models/" + entry.name, .armature = false}});
  // read by DART
  for (const char* name : {"scenes/arm.urdf", "scenes/double_pendulum.urdf", "scenes/pendulum.urdf",
                           "robots/double_pendulum_description/urdf/double_pendulum.urdf",
                           "robots/double_pendulum_description/urdf/double_pendulum_continuous.urdf",
                           "robots/double_pendulum_description/urdf/double_pendulum_simple.urdf"})
    cases.push_back({{.name = name}});
  for (const char* name :
       {"robots/atlas/atlas_v3_no_head.urdf", "robots/atlas/atlas_v3_box_colliders.urdf",
        "robots/hyq_description/robots/hyq_no_sensors.urdf", "robots/quadruped_description/urdf/quadruped.urdf",
        "robots/simple_humanoid_description/urdf/simple_humanoid.urdf",
        "robots/simple_humanoid_description/urdf/simple_humanoid_classical.urdf"}) {
    cases.push_back({{.name = name, .base = Base::fixed}, false});
    cases.push_back({{.name = name, .base = Base::free}});
  }
  const auto make_peer = [](const tangere::test::DynamicsCase& which,
                            const tangere::Model& model) -> tangere::oracle::Peer {
    return [peer = std::make_shared<DartPeer>(which, model)](const tangere::test::DynamicsState& state) {
      return (*peer)(state);
    };
  };
  return tangere::oracle::run_comparison(argc, argv, cases, make_peer, tangere::oracle::kTolerance);
}
