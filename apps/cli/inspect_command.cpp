/// `tangere inspect FILE`: what is in a robot or scene file, what of it was not understood, and, at a state, where its
/// bodies are and what its dynamics say.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/cli/commands.hpp"
#include "apps/cli/text.hpp"
#include "tangere/io/mjcf_writer.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/io/urdf_writer.hpp"
#include "tangere/math/error.hpp"
#include "tangere/multibody/energy.hpp"
#include "tangere/multibody/inverse_dynamics.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/multibody/mass_matrix.hpp"

namespace tangere::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string parent_name(const Model& model, int body) {
  const int parent = model.body(body).parent;
  return parent == kWorld ? "world" : model.body(parent).spec.name;
}

/// What a model does at a state.
struct Evaluation {
  VectorX q;
  VectorX v;
  std::vector<Pose> poses;
  Vector3 center_of_mass;
  double kinetic;
  double potential;
  MatrixX M;
  VectorX bias;
};

Evaluation evaluate(const Model& model, const VectorX& q, const VectorX& v) {
  Data data(model);
  Evaluation out{q, v, {}, Vector3::Zero(), 0.0, 0.0, {}, {}};
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

// for people
// ---------------------------------------------------------------------------------------------------------------------

using Row = std::vector<std::string>;

/// Columns as wide as their widest entry; the last ones named are numbers, to the right.
void print_table(const std::vector<Row>& rows, const std::vector<bool>& to_the_right) {
  std::vector<int> widths(to_the_right.size(), 0);
  for (const Row& row : rows)
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], static_cast<int>(row[k].size()));
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t k = 0; k < row.size(); ++k)
      line += formatted(to_the_right[k] ? "  %*s" : "  %-*s", widths[k], row[k].c_str());
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }
}

/// `3`, `6-11`; which entries of v.
std::string dof_range(const Joint& joint) {
  if (joint.nv == 0) return "-";
  if (joint.nv == 1) return std::to_string(joint.first_v);
  return std::to_string(joint.first_v) + "-" + std::to_string(joint.first_v + joint.nv - 1);
}

/// `[-1.5, 2]` for joints of one limited coordinate.
std::string limits(const Model& model, const Joint& joint) {
  if (joint.nv != 1) return "";
  const DofSpec& dof = model.dofs()[static_cast<std::size_t>(joint.first_v)];
  if (std::isinf(dof.lower) && std::isinf(dof.upper)) return "";
  return formatted("[%.4g, %.4g]", dof.lower, dof.upper);
}

/// `2 box, 1 sphere`.
std::string shape_list(const BodySpec& body) {
  std::vector<std::pair<std::string, int>> counts;
  for (const CollisionShape& shape : body.shapes) {
    const std::string type(shape.shape.type_name());
    const auto known = std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == type; });
    if (known == counts.end())
      counts.emplace_back(type, 1);
    else
      ++known->second;
  }
  std::string text;
  for (const auto& [type, count] : counts)
    text += (text.empty() ? "" : ", ") + (count > 1 ? std::to_string(count) + " " : "") + type;
  return text.empty() ? "-" : text;
}

/// Beyond this many coordinates a mass matrix is for machines.
constexpr int kLargestPrinted = 12;

void print_evaluation(const Model& model, const Evaluation& state) {
  const auto line = [](const Eigen::Ref<const VectorX>& values) {
    std::string text;
    for (const double value : values) text += formatted("%s%.6g", text.empty() ? "" : " ", value);
    return text;
  };
  std::printf("\nat q = %s\n   v = %s\n\n", line(state.q).c_str(), line(state.v).c_str());
  std::vector<Row> rows = {{"body", "position", "quaternion (x y z w)"}};
  for (int i = 0; i < model.num_bodies(); ++i) {
    const Pose& X = state.poses[static_cast<std::size_t>(i)];
    rows.push_back({model.body(i).spec.name, line(X.p), line(X.quaternion())});
  }
  print_table(rows, {false, false, false});
  std::printf("\n  %-16s %s\n", "centre of mass", line(state.center_of_mass).c_str());
  std::printf("  %-16s %.9g J\n  %-16s %.9g J\n", "kinetic energy", state.kinetic, "potential energy", state.potential);
  std::printf("  %-16s %s\n", "bias force", line(state.bias).c_str());
  if (model.nv() > kLargestPrinted) {
    std::printf("  mass matrix: %d x %d, printed with --json\n", model.nv(), model.nv());
    return;
  }
  std::printf("  mass matrix\n");
  std::vector<Row> M;
  for (int i = 0; i < model.nv(); ++i) {
    Row row{model.dof_name(i)};
    for (int j = 0; j < model.nv(); ++j) row.push_back(formatted("%.6g", state.M(i, j)));
    M.push_back(std::move(row));
  }
  std::vector<bool> right(static_cast<std::size_t>(model.nv()) + 1, true);
  right[0] = false;
  print_table(M, right);
}

void print_text(const Robot& robot, const std::optional<Evaluation>& state) {
  const Model& model = robot.model;
  std::printf("%s\n\n", model.name().c_str());
  const auto row = [](const char* name, const std::string& value) { std::printf("  %-12s %s\n", name, value.c_str()); };
  row("bodies", std::to_string(model.num_bodies()));
  row("nq", std::to_string(model.nq()));
  row("nv", std::to_string(model.nv()));
  row("mass", formatted("%.6g kg", model.total_mass()));
  row("gravity", formatted("%.6g %.6g %.6g", model.gravity().x(), model.gravity().y(), model.gravity().z()));
  if (!robot.actuators.empty()) row("actuators", std::to_string(robot.actuators.size()));
  if (!robot.keyframes.empty()) row("keyframes", std::to_string(robot.keyframes.size()));
  if (!model.constraints().empty()) row("constraints", std::to_string(model.constraints().size()));

  std::printf("\n");
  std::vector<Row> rows = {{"", "body", "parent", "joint", "type", "v", "limits", "mass", "shapes", "visuals"}};
  for (int i = 0; i < model.num_bodies(); ++i) {
    const BodySpec& body = model.body(i).spec;
    const Joint& joint = model.joint(i);
    rows.push_back({std::to_string(i), body.name, parent_name(model, i), joint.spec.name,
                    std::string(to_string(joint.spec.type)), dof_range(joint), limits(model, joint),
                    formatted("%.6g", body.inertia.mass), shape_list(body), std::to_string(body.visuals.size())});
  }
  print_table(rows, {true, false, false, false, false, true, false, true, false, true});

  if (state) print_evaluation(model, *state);

  if (robot.notices.empty()) return;
  std::printf("\n%zu notice%s\n", robot.notices.size(), robot.notices.size() == 1 ? "" : "s");
  for (const Notice& notice : robot.notices) std::printf("  %s\n", to_string(notice).c_str());
}

// for machines
// ---------------------------------------------------------------------------------------------------------------------

Json numbers(const Eigen::Ref<const VectorX>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(value);
  return list;
}

/// Infinite limits are null.
Json dof_json(const Model& model, int v) {
  const DofSpec& dof = model.dofs()[static_cast<std::size_t>(v)];
  return {{"name", model.dof_name(v)},  {"lower", dof.lower},   {"upper", dof.upper},
          {"velocity", dof.velocity},   {"effort", dof.effort}, {"damping", dof.damping},
          {"stiffness", dof.stiffness}, {"rest", dof.rest},     {"armature", dof.armature},
          {"friction", dof.friction}};
}

Json joint_json(const Model& model, const Joint& joint) {
  Json out = {{"name", joint.spec.name}, {"type", to_string(joint.spec.type)}, {"first_q", joint.first_q},
              {"nq", joint.nq},          {"first_v", joint.first_v},           {"nv", joint.nv}};
  out["dofs"] = Json::array();
  for (int v = joint.first_v; v < joint.first_v + joint.nv; ++v) out["dofs"].push_back(dof_json(model, v));
  if (joint.spec.mimic)
    out["mimic"] = {{"joint", joint.spec.mimic->source},
                    {"multiplier", joint.spec.mimic->multiplier},
                    {"offset", joint.spec.mimic->offset}};
  return out;
}

Json body_json(const Model& model, int index) {
  const BodySpec& body = model.body(index).spec;
  Json out = {{"name", body.name}, {"parent", parent_name(model, index)}};
  out["joint"] = joint_json(model, model.joint(index));
  out["mass"] = body.inertia.mass;
  out["center"] = numbers(body.inertia.center);
  out["inertia"] = Json::array();
  for (int i = 0; i < 3; ++i) out["inertia"].push_back(numbers(body.inertia.inertia.row(i).transpose()));
  out["shapes"] = Json::array();
  for (const CollisionShape& shape : body.shapes)
    out["shapes"].push_back({{"name", shape.name},
                             {"type", shape.shape.type_name()},
                             {"position", numbers(shape.X_BS.p)},
                             {"quaternion", numbers(shape.X_BS.quaternion())},
                             {"friction", shape.friction},
                             {"restitution", shape.restitution}});
  out["visuals"] = body.visuals.size();
  return out;
}

Json evaluation_json(const Model& model, const Evaluation& state) {
  Json out = {{"q", numbers(state.q)}, {"v", numbers(state.v)}};
  out["poses"] = Json::array();
  for (int i = 0; i < model.num_bodies(); ++i) {
    const Pose& X = state.poses[static_cast<std::size_t>(i)];
    out["poses"].push_back(
        {{"body", model.body(i).spec.name}, {"position", numbers(X.p)}, {"quaternion", numbers(X.quaternion())}});
  }
  out["center_of_mass"] = numbers(state.center_of_mass);
  out["kinetic_energy"] = state.kinetic;
  out["potential_energy"] = state.potential;
  out["bias_force"] = numbers(state.bias);
  out["mass_matrix"] = Json::array();
  for (int i = 0; i < model.nv(); ++i) out["mass_matrix"].push_back(numbers(state.M.row(i).transpose()));
  return out;
}

void print_json(const Robot& robot, const std::optional<Evaluation>& state) {
  const Model& model = robot.model;
  Json out = {{"name", model.name()}, {"nq", model.nq()}, {"nv", model.nv()}, {"mass", model.total_mass()}};
  out["gravity"] = numbers(model.gravity());
  out["bodies"] = Json::array();
  for (int i = 0; i < model.num_bodies(); ++i) out["bodies"].push_back(body_json(model, i));
  out["actuators"] = Json::array();
  for (const Actuator& actuator : robot.actuators)
    out["actuators"].push_back({{"name", actuator.name}, {"dof", model.dof_name(actuator.dof)}});
  out["keyframes"] = Json::array();
  for (const Keyframe& keyframe : robot.keyframes) out["keyframes"].push_back(keyframe.name);
  out["constraints"] = Json::array();
  for (const LoopConstraint& constraint : model.constraints()) out["constraints"].push_back(constraint.name);
  if (state) out["state"] = evaluation_json(model, *state);
  out["notices"] = Json::array();
  for (const Notice& notice : robot.notices)
    out["notices"].push_back(
        {{"file", notice.file}, {"line", notice.line}, {"element", notice.element}, {"text", notice.text}});
  std::printf("%s\n", out.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace

int run_inspect(const InspectArguments& arguments) {
  LoadOptions options;
  options.base = arguments.base == "free" ? Base::free : Base::fixed;
  options.search_paths.assign(arguments.package_paths.begin(), arguments.package_paths.end());
  options.strict = arguments.strict;
  try {
    const Scene scene = load_scene(arguments.file, options);
    const Robot& robot = scene.robot;
    if (arguments.export_as == "urdf")
      std::fputs(to_urdf(robot).c_str(), stdout);
    else if (arguments.export_as == "mjcf")
      std::fputs(to_mjcf(robot).c_str(), stdout);
    else
      (arguments.json ? print_json : print_text)(robot, evaluate(arguments, scene));
  } catch (const InputError& error) {
    std::fprintf(stderr, "tangere inspect: %s\n", error.what());
    return kExitBadInput;
  }
  return kExitOk;
}

}  // namespace tangere::cli
