/// Our dynamics beside MuJoCo's, on robot files that both read and on our scenes, written as MJCF.
///
///   mujoco_dynamics [--write tests/data/mujoco_dynamics.jsonl]
///
/// MuJoCo's coordinates differ from ours in two things: quaternions are w x y z, and the linear velocity of a free
/// joint is in the world's axes. With v' = T v, T = R on those three and 1 elsewhere:
///
///   a' = T a + Ṫ v,   Ṫ v = R (ω x v_linear),   τ = Tᵀ τ',   M = Tᵀ M' T
///
/// Contacts, limits, dry friction and actuators are off. The root of a URDF is MuJoCo's world, which has no mass.

#include <mujoco/mujoco.h>
#include <tinyxml2.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "tangere/io/robot/mjcf_writer.hpp"
#include "tests/oracles/dynamics_comparison.hpp"

namespace tangere::oracle {
namespace {

// what MuJoCo's compiler leaves: vertices of meshes in single precision, principal axes of <fullinertia>
constexpr double kTolerance = 1e-7;

struct PrincipalInertia {
  Matrix3 R;
  Vector3 moments;
};

/// MuJoCo finds principal axes to about 1e-6 rad only (mju_eig3 stops at cos φ > 1 - 1e-12), so it gets them from here.
PrincipalInertia principal_inertia(const Matrix3& I) {
  const Eigen::SelfAdjointEigenSolver<Matrix3> solver(I);
  Matrix3 R = solver.eigenvectors();
  if (R.determinant() < 0.0) R.col(0) *= -1.0;
  return {R, solver.eigenvalues()};
}

/// All digits of three or four numbers, as attributes have them.
std::string attribute_text(const Eigen::Ref<const VectorX>& values) {
  std::string text;
  for (const double value : values) {
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%.17g", value);
    text += (text.empty() ? "" : " ") + std::string(digits.data());
  }
  return text;
}

/// <inertial fullinertia="…"> in its principal axes. Whether it had one.
bool prepare_full_inertia(tinyxml2::XMLElement& inertial) {
  const char* text = inertial.Attribute("fullinertia");
  if (text == nullptr) return false;
  Matrix3 I;
  std::sscanf(text, "%lf %lf %lf %lf %lf %lf", &I(0, 0), &I(1, 1), &I(2, 2), &I(0, 1), &I(0, 2), &I(1, 2));
  I.triangularView<Eigen::StrictlyLower>() = I.transpose();
  const PrincipalInertia principal = principal_inertia(I);
  const Eigen::Quaterniond q(principal.R);
  inertial.DeleteAttribute("fullinertia");
  inertial.SetAttribute("quat", attribute_text(Eigen::Vector4d(q.w(), q.x(), q.y(), q.z())).c_str());
  inertial.SetAttribute("diaginertia", attribute_text(principal.moments).c_str());
  return true;
}

/// Takes out what version 2.2.2 does not know of newer files and the dynamics does not need: the largest force of
/// actuators at a joint, sensors. And meshes are to weigh what the solid inside does: by default that version gives the
/// hull in car.xml, which is convex, 9 % more than its volume. Whether anything changed.
bool prepare_mjcf(tinyxml2::XMLElement& element) {
  bool changed = prepare_full_inertia(element) || element.Attribute("actuatorfrcrange") != nullptr;
  element.DeleteAttribute("actuatorfrcrange");
  while (auto* sensor = element.FirstChildElement("sensor")) {
    element.DeleteChild(sensor);
    changed = true;
  }
  if (auto* asset = element.FirstChildElement("asset"); asset != nullptr && asset->FirstChildElement("mesh")) {
    element.InsertNewChildElement("compiler")->SetAttribute("exactmeshinertia", "true");
    changed = true;
  }
  for (auto* child = element.FirstChildElement(); child != nullptr; child = child->NextSiblingElement())
    changed = prepare_mjcf(*child) || changed;
  return changed;
}

/// <inertial> of a URDF in its principal axes.
void prepare_inertia(tinyxml2::XMLElement& inertial) {
  auto* inertia = inertial.FirstChildElement("inertia");
  if (inertia == nullptr) return;
  const auto entry = [&](const char* name) { return inertia->DoubleAttribute(name); };
  Matrix3 I;
  I << entry("ixx"), entry("ixy"), entry("ixz"), entry("ixy"), entry("iyy"), entry("iyz"), entry("ixz"), entry("iyz"),
      entry("izz");
  // six equal entries, a placeholder: we read the diagonal of it (docs/robots.md)
  if ((I.array() == I(0, 0)).all()) I = I(0, 0) * Matrix3::Identity();
  const PrincipalInertia principal = principal_inertia(I);

  auto* origin = inertial.FirstChildElement("origin");
  if (origin == nullptr) origin = inertial.InsertNewChildElement("origin");
  Vector3 rpy = Vector3::Zero();
  if (const char* text = origin->Attribute("rpy")) std::sscanf(text, "%lf %lf %lf", &rpy[0], &rpy[1], &rpy[2]);
  using Turn = Eigen::AngleAxisd;
  const Matrix3 R =
      Turn(rpy[2], Vector3::UnitZ()) * Turn(rpy[1], Vector3::UnitY()) * Turn(rpy[0], Vector3::UnitX()) * principal.R;
  const Vector3 ypr = R.eulerAngles(2, 1, 0);
  origin->SetAttribute("rpy", attribute_text(ypr.reverse()).c_str());
  for (const char* name : {"ixy", "ixz", "iyz"}) inertia->SetAttribute(name, 0);
  for (const int k : {0, 1, 2})
    inertia->SetAttribute(std::array{"ixx", "iyy", "izz"}.at(static_cast<std::size_t>(k)),
                          attribute_text(principal.moments.segment(k, 1)).c_str());
}

/// No shapes, principal axes, and bodies that are fixed to others stay bodies.
void prepare_urdf(tinyxml2::XMLElement& robot) {
  for (auto* link = robot.FirstChildElement("link"); link != nullptr; link = link->NextSiblingElement("link")) {
    for (const char* what : {"visual", "collision"})
      while (auto* shape = link->FirstChildElement(what)) link->DeleteChild(shape);
    if (auto* inertial = link->FirstChildElement("inertial")) prepare_inertia(*inertial);
  }
  robot.InsertNewChildElement("mujoco")->InsertNewChildElement("compiler")->SetAttribute("fusestatic", "false");
}

using ModelPointer = std::unique_ptr<mjModel, decltype(&mj_deleteModel)>;
using DataPointer = std::unique_ptr<mjData, decltype(&mj_deleteData)>;

/// A scene as MJCF, without shapes: MuJoCo does not have all of them.
std::string scene_mjcf(const Model& model) {
  ModelBuilder builder(model);
  for (int b = 0; b < model.num_bodies(); ++b) {
    BodySpec body = model.body(b).spec;
    body.shapes.clear();
    body.visuals.clear();
    builder.set_body(b, std::move(body));
  }
  return to_mjcf({builder.build(), {}, {}, {}});
}

ModelPointer load(const std::filesystem::path& file, const Model& ours) {
  tinyxml2::XMLDocument document;
  const auto result =
      file.extension() == ".json" ? document.Parse(scene_mjcf(ours).c_str()) : document.LoadFile(file.string().c_str());
  if (result != tinyxml2::XML_SUCCESS) throw std::runtime_error(document.ErrorStr());
  tinyxml2::XMLElement& root = *document.RootElement();
  std::array<char, 1000> error{};
  const int size = static_cast<int>(error.size());
  mjModel* model = nullptr;
  const bool urdf = std::strcmp(root.Name(), "robot") == 0;
  if (urdf) prepare_urdf(root);
  const bool as_it_is = !urdf && !prepare_mjcf(root) && file.extension() != ".json";
  if (as_it_is) {
    model = mj_loadXML(file.string().c_str(), nullptr, error.data(), size);
  } else {
    tinyxml2::XMLPrinter printer;
    document.Print(&printer);
    const auto files = std::make_unique<mjVFS>();
    mj_defaultVFS(files.get());
    mj_makeEmptyFileVFS(files.get(), "robot.xml", printer.CStrSize());
    std::memcpy(files->filedata[0], printer.CStr(), static_cast<std::size_t>(printer.CStrSize()));
    model = mj_loadXML("robot.xml", files.get(), error.data(), size);
    mj_deleteVFS(files.get());
  }
  if (model == nullptr) throw std::runtime_error("MuJoCo: " + std::string(error.data()));
  model->opt.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_ACTUATION;
  model->opt.enableflags |= mjENBL_ENERGY;
  return {model, &mj_deleteModel};
}

/// Where a joint of ours has its coordinates in MuJoCo.
struct JointMap {
  JointType type = JointType::fixed;
  int q = 0;
  int v = 0;
  int n = 0;
  int their_q = 0;
  int their_v = 0;
};

class MujocoPeer {
 public:
  MujocoPeer(const std::filesystem::path& file, const Model& model)
      : model_(load(file, model)), data_(mj_makeData(model_.get()), &mj_deleteData), nv_(model.nv()) {
    const bool urdf = file.extension() == ".urdf";
    for (int b = 0; b < model.num_bodies(); ++b) bodies_.push_back(find_body(model, b, urdf));
    int matched = 0;
    for (int j = 0; j < model.num_bodies(); ++j) {
      const Joint& joint = model.joint(j);
      if (joint.nv == 0) continue;
      const int theirs = find_joint(joint, j);
      joints_.push_back({joint.spec.type, joint.first_q, joint.first_v, joint.nv, model_->jnt_qposadr[theirs],
                         model_->jnt_dofadr[theirs]});
      matched += joint.nv;
    }
    if (matched != model_->nv || matched != nv_) throw std::runtime_error("MuJoCo has other joints");
  }

  PeerAnswer operator()(const test::DynamicsState& state) {
    // the state in their coordinates
    const int n = model_->nv;
    MatrixX T = MatrixX::Zero(n, n);
    VectorX T_rate_v = VectorX::Zero(n);
    for (const JointMap& joint : joints_) set_joint(joint, state, T, T_rate_v);
    const VectorX v = T * state.v;
    const VectorX a = T * state.a + T_rate_v;
    mju_copy(data_->qvel, v.data(), n);
    mju_copy(data_->qacc, a.data(), n);

    PeerAnswer out;
    mj_inverse(model_.get(), data_.get());
    out.tau = T.transpose() * Eigen::Map<const VectorX>(data_->qfrc_inverse, n);

    const VectorX tau = T.transpose().inverse() * state.tau;
    mju_copy(data_->qfrc_applied, tau.data(), n);
    mj_forward(model_.get(), data_.get());
    out.qdd = T.inverse() * (Eigen::Map<const VectorX>(data_->qacc, n) - T_rate_v);

    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> M(n, n);
    mj_fullM(model_.get(), M.data(), data_->qM);
    out.M = T.transpose() * M * T;
    const VectorX bias =
        Eigen::Map<const VectorX>(data_->qfrc_bias, n) - Eigen::Map<const VectorX>(data_->qfrc_passive, n);
    out.bias = T.transpose() * (bias + M * T_rate_v);
    out.potential = data_->energy[0] + root_potential_;
    out.kinetic = data_->energy[1];
    for (const int b : bodies_) out.poses.push_back(b < 0 ? std::nullopt : std::optional(pose(b)));
    return out;
  }

 private:
  /// -1 for bodies that only we have: the world's shapes, those between the joints of one body, the root of a URDF.
  int find_body(const Model& model, int b, bool urdf) {
    const BodySpec& body = model.body(b).spec;
    const int theirs = mj_name2id(model_.get(), mjOBJ_BODY, body.name.c_str());
    if (theirs >= 0) return theirs;
    if (body.name == "worldbody" || body.inertia.mass == 0.0) return -1;
    if (!urdf || model.body(b).parent != kWorld || model.joint(b).nv != 0)
      throw std::runtime_error("MuJoCo has no body " + body.name);
    const JointSpec& joint = model.joint(b).spec;
    const Vector3 center = joint.X_PJ * joint.X_CJ.inverse() * body.inertia.center;
    root_potential_ -= body.inertia.mass * model.gravity().dot(center);
    return -1;
  }

  /// By name; one without a name is the only joint of its body.
  [[nodiscard]] int find_joint(const Joint& joint, int body) const {
    const int theirs = mj_name2id(model_.get(), mjOBJ_JOINT, joint.spec.name.c_str());
    if (theirs >= 0) return theirs;
    const int b = bodies_[body];
    if (b < 0 || model_->body_jntnum[b] != 1) throw std::runtime_error("MuJoCo has no joint " + joint.spec.name);
    return model_->body_jntadr[b];
  }

  void set_joint(const JointMap& joint, const test::DynamicsState& state, MatrixX& T, VectorX& T_rate_v) {
    mjtNum* q = data_->qpos + joint.their_q;
    const double* ours = state.q.data() + joint.q;
    T.block(joint.their_v, joint.v, joint.n, joint.n).setIdentity();
    if (joint.type == JointType::free) {
      mju_copy(q, ours, 3);
      q += 3;
      ours += 3;
      const Matrix3 R = Eigen::Quaterniond(ours[3], ours[0], ours[1], ours[2]).toRotationMatrix();
      const Vector3 linear = state.v.segment<3>(joint.v);
      const Vector3 angular = state.v.segment<3>(joint.v + 3);
      T.block<3, 3>(joint.their_v, joint.v) = R;
      T_rate_v.segment<3>(joint.their_v) = R * angular.cross(linear);
    }
    if (joint.type == JointType::free || joint.type == JointType::ball) {
      q[0] = ours[3];
      mju_copy(q + 1, ours, 3);
    } else {
      *q = *ours;
    }
  }

  [[nodiscard]] Pose pose(int b) const {
    const auto index = static_cast<std::size_t>(b);
    return {Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(data_->xmat + 9 * index),
            Eigen::Map<const Vector3>(data_->xpos + 3 * index)};
  }

  ModelPointer model_;
  DataPointer data_;
  int nv_ = 0;
  std::vector<int> bodies_;
  std::vector<JointMap> joints_;
  double root_potential_ = 0.0;
};

}  // namespace
}  // namespace tangere::oracle

int main(int argc, char** argv) {
  using tangere::Model;
  using tangere::oracle::CaseToRun;
  using tangere::oracle::MujocoPeer;
  const std::vector<CaseToRun> cases{
      {{"scenes/cartpole.xml"}},
      {{"scenes/catapult.xml"}},
      {{"scenes/double_cartpole.xml"}},
      {{"scenes/drone.xml"}},
      {{"scenes/half_cheetah.xml"}},
      {{"scenes/humanoid.xml"}},
      {{"scenes/jump_worm.xml"}},
      {{"scenes/arm.urdf"}},
      {{"scenes/double_pendulum.urdf"}},
      {{"scenes/pendulum.urdf"}},
      {{"robots/mjcf/car.xml"}},
      {{"robots/mjcf/humanoid.xml"}},
      {{"robots/quadruped_description/urdf/quadruped.urdf"}},
      {{"robots/atlas/atlas_v3_no_head.urdf"}},
      {{"robots/atlas/atlas_v3_box_colliders.urdf"}},
      {{"robots/double_pendulum_description/urdf/double_pendulum.urdf"}},
      {{"robots/double_pendulum_description/urdf/double_pendulum_continuous.urdf"}},
      {{"robots/double_pendulum_description/urdf/double_pendulum_simple.urdf"}},
      {{"robots/hyq_description/robots/hyq_no_sensors.urdf"}},
      {{"robots/simple_humanoid_description/urdf/simple_humanoid.urdf"}},
      {{"robots/simple_humanoid_description/urdf/simple_humanoid_classical.urdf"}},
      {{"scenes/mixed_stack.json"}},
      {{"scenes/sweep.json"}},
      {{"scenes/two_arms.json"}},
  };
  const auto make_peer = [](const tangere::test::DynamicsCase& which, const Model& model) -> tangere::oracle::Peer {
    return [peer = std::make_shared<MujocoPeer>(tangere::test::dynamics_file(which.name), model)](
               const tangere::test::DynamicsState& state) { return (*peer)(state); };
  };
  return tangere::oracle::run_comparison(argc, argv, cases, make_peer, tangere::oracle::kTolerance);
}
