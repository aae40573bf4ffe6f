/// `tangere inspect FILE`: what is in a robot or scene file, what of it was not understood, and, at a state, where its
/// bodies are and what its dynamics say.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/commands.hpp"
#include "apps/cli/inspect_report.hpp"
#include "apps/cli/text.hpp"
#include "tangere/io/robot/mjcf_writer.hpp"
#include "tangere/io/robot/urdf_writer.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/io/text/text.hpp"
#include "tangere/math/error.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/energy.hpp"
#include "tangere/multibody/inverse_dynamics.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/multibody/mass_matrix.hpp"

namespace tangere::cli {
namespace {

VectorX passive_forces(const Model& model, const VectorX& q, const VectorX& v) {
  VectorX forces = VectorX::Zero(model.nv());
  for (const Joint& joint : model.joints()) {
    for (int k = 0; k < joint.nv; ++k) {
      const DofSpec& dof = model.dofs()[joint.first_v + k];
      forces[joint.first_v + k] = -dof.damping * v[joint.first_v + k];
      if (joint.nq == joint.nv) forces[joint.first_v + k] -= dof.stiffness * (q[joint.first_q + k] - dof.rest);
    }
  }
  return forces;
}

Evaluation evaluate(const Model& model, const VectorX& q, const VectorX& v) {
  Data data(model);
  Evaluation out{q, v, {}, Vector3::Zero(), 0.0, 0.0, {}, {}, passive_forces(model, q, v)};
  forward_kinematics(model, data, q, v);
  for (int b = 0; b < model.num_bodies(); ++b) out.poses.push_back(body_pose(model, data, b));
  if (model.total_mass() > 0.0) out.center_of_mass = center_of_mass(model, data);
  out.kinetic = kinetic_energy(model, data, v);
  out.potential = potential_energy(model, data, q);
  out.bias = bias_forces(model, data, q, v);
  out.M = mass_matrix(model, data, q);
  return out;
}

/// The state that the arguments name; nothing if they name none.
std::optional<Evaluation> evaluate(const InspectArguments& arguments, const Scene& scene) {
  if (arguments.q.empty() && arguments.v.empty() && arguments.keyframe.empty()) return std::nullopt;
  const Model& model = scene.robot.model;
  VectorX q = scene.q;
  VectorX v = scene.v;
  if (!arguments.keyframe.empty()) {
    const auto& keys = scene.robot.keyframes;
    const auto key =
        std::find_if(keys.begin(), keys.end(), [&](const Keyframe& k) { return k.name == arguments.keyframe; });
    if (key == keys.end()) throw InputError("--keyframe", "the file has none called '" + arguments.keyframe + "'");
    q = key->q;
    v = key->v;
  }
  const auto take = [](const char* name, const std::vector<double>& given, VectorX& to) {
    if (given.empty()) return;
    if (static_cast<Eigen::Index>(given.size()) != to.size())
      throw InputError(name, formatted("needs %d numbers, got %zu", static_cast<int>(to.size()), given.size()));
    for (std::size_t k = 0; k < given.size(); ++k) {
      if (!std::isfinite(given[k])) throw InputError(name, "must be finite numbers");
      to[static_cast<Eigen::Index>(k)] = given[k];
    }
  };
  take("--q", arguments.q, q);
  take("--v", arguments.v, v);
  for (const Joint& joint : model.joints()) {
    if (joint.nq == joint.nv) continue;
    const double length = q.segment<4>(joint.first_q + joint.nq - 4).norm();
    if (!(std::abs(length - 1.0) < 1e-6))
      throw InputError("--q", "the quaternion of joint '" + joint.spec.name + "' (x y z w, last of its " +
                                  std::to_string(joint.nq) + " numbers from " + std::to_string(joint.first_q) +
                                  ") must have unit length, got " + formatted("%.6g", length));
  }
  return evaluate(model, q, v);
}

/// With the state that the scene starts from as its first keyframe, unless that is what a reader makes of no keyframe.
Robot with_start(const Scene& scene) {
  Robot robot = scene.robot;
  if (!robot.keyframes.empty()) return robot;
  if (scene.q == neutral_configuration(robot.model) && scene.v.isZero(0.0)) return robot;
  const auto num_controls = static_cast<Eigen::Index>(robot.actuators.size());
  robot.keyframes.push_back({"initial", scene.q, scene.v, VectorX::Zero(num_controls)});
  return robot;
}

void export_robot(const InspectArguments& arguments, const Scene& scene) {
  const bool urdf = arguments.export_as == "urdf";
  // URDF has no keyframes
  const Robot robot = urdf ? scene.robot : with_start(scene);
  if (arguments.output.empty()) {
    std::fputs((urdf ? to_urdf(robot) : to_mjcf(robot)).c_str(), stdout);
  } else if (urdf) {
    save_urdf(robot, arguments.output);
  } else {
    // what cannot be written leaves the file as it was
    const std::string text = to_mjcf(robot);
    std::ofstream stream(arguments.output, std::ios::binary);
    stream << text;
    if (!stream.flush()) throw InputError(arguments.output, "cannot be written");
  }
}

}  // namespace

int run_inspect(const InspectArguments& arguments) {
  LoadOptions options;
  options.base = arguments.base == "free" ? Base::free : Base::fixed;
  options.search_paths.assign(arguments.package_paths.begin(), arguments.package_paths.end());
  options.strict = arguments.strict;
  try {
    const Scene scene = load_scene(arguments.file, options);
    if (!arguments.export_as.empty())
      export_robot(arguments, scene);
    else
      std::fputs((arguments.json ? scene_json : scene_text)(scene, evaluate(arguments, scene)).c_str(), stdout);
  } catch (const InputError& error) {
    std::fprintf(stderr, "tangere inspect: %s\n", printable(error.what()).c_str());
    return kExitBadInput;
  }
  return kExitOk;
}

}  // namespace tangere::cli
