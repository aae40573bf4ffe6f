/// `tangere inspect` for people. Names are anybody's: they are made printable before they reach a terminal.

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/cli/inspect_report.hpp"
#include "apps/cli/text.hpp"
#include "tangere/geometry/bounds.hpp"
#include "tangere/io/text/text.hpp"
#include "tangere/multibody/model_check.hpp"

namespace tangere::cli {
namespace {

using Row = std::vector<std::string>;

/// A heading of its own line, then columns as wide as their widest entry; numbers are to the right.
std::string table(const std::vector<Row>& rows, const std::vector<bool>& to_the_right) {
  std::vector<int> widths(to_the_right.size(), 0);
  for (const Row& row : rows)
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], static_cast<int>(row[k].size()));
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t k = 0; k < row.size(); ++k)
      line += formatted(to_the_right[k] ? "  %*s" : "  %-*s", widths[k], row[k].c_str());
    // a name must not make a line of its own
    std::replace(line.begin(), line.end(), '\n', '?');
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

/// A table below an empty line; nothing if it has only its heading.
std::string section(const std::vector<Row>& rows, const std::vector<bool>& to_the_right) {
  return rows.size() < 2 ? "" : "\n" + table(rows, to_the_right);
}

std::string line_of(const Eigen::Ref<const VectorX>& values, int digits = 6) {
  std::string text;
  for (const double value : values)
    text += formatted("%s%.*g", text.empty() ? "" : " ", digits, value == 0.0 ? 0.0 : value);
  return text;
}

/// `-` where there is no limit, or nothing.
std::string number_or_dash(double value, double none) { return value == none ? "-" : formatted("%.4g", value); }

/// `[-1.5, 2]`; empty if both ends are open.
std::string interval(double lower, double upper) {
  if (std::isinf(lower) && std::isinf(upper)) return "";
  return formatted("[%.4g, %.4g]", lower, upper);
}

// bodies and joints
// ---------------------------------------------------------------------------------------------------------------------

/// `3`, `6-11`; which entries of v.
std::string dof_range(const Joint& joint) {
  if (joint.nv == 0) return "-";
  if (joint.nv == 1) return std::to_string(joint.first_v);
  return std::to_string(joint.first_v) + "-" + std::to_string(joint.first_v + joint.nv - 1);
}

/// Joints of one limited coordinate.
std::string limits(const Model& model, const Joint& joint) {
  if (joint.nv != 1) return "";
  const DofSpec& dof = model.dofs()[joint.first_v];
  return interval(dof.lower, dof.upper);
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

std::string bodies(const Model& model) {
  std::vector<Row> rows = {{"", "body", "parent", "joint", "type", "v", "limits", "mass", "shapes", "visuals"}};
  for (int i = 0; i < model.num_bodies(); ++i) {
    const BodySpec& body = model.body(i).spec;
    const Joint& joint = model.joint(i);
    rows.push_back({std::to_string(i), printable(body.name), printable(body_name(model, model.body(i).parent)),
                    printable(joint.spec.name), std::string(to_string(joint.spec.type)), dof_range(joint),
                    limits(model, joint), formatted("%.6g", body.inertia.mass), shape_list(body),
                    std::to_string(body.visuals.size())});
  }
  return section(rows, {true, false, false, false, false, true, false, true, false, true});
}

/// `2 shoulder + 0.1`: what a mimic follows.
std::string followed(const JointSpec& joint) {
  if (!joint.mimic) return "";
  std::string text = printable(joint.mimic->source);
  if (joint.mimic->multiplier != 1.0) text = formatted("%.4g ", joint.mimic->multiplier) + text;
  if (joint.mimic->offset != 0.0)
    text += formatted(" %c %.4g", joint.mimic->offset < 0.0 ? '-' : '+', std::abs(joint.mimic->offset));
  return text;
}

/// Whether anything limits or drives a coordinate.
bool is_plain(const DofSpec& dof) {
  const auto none = [](double x) { return !std::isfinite(x); };
  return none(dof.lower) && none(dof.upper) && none(dof.velocity) && none(dof.effort) && dof.damping == 0.0 &&
         dof.friction == 0.0 && dof.stiffness == 0.0 && dof.armature == 0.0;
}

/// Limits and drives of joints that move; of joints of several coordinates (`hip[1]`) only those where something does.
std::string joints(const Model& model) {
  std::vector<Row> rows = {
      {"joint", "axis", "speed", "effort", "damping", "friction", "stiffness", "armature", "follows"}};
  for (const Joint& joint : model.joints()) {
    for (int k = 0; k < joint.nv; ++k) {
      const DofSpec& dof = model.dofs()[joint.first_v + k];
      if (joint.nv > 1 && is_plain(dof)) continue;
      const bool alone = joint.nv == 1;
      rows.push_back({printable(joint.spec.name) + (alone ? "" : formatted("[%d]", k)),
                      alone ? line_of(joint.spec.axis, 4) : "", number_or_dash(dof.velocity, DofSpec::kInfinity),
                      number_or_dash(dof.effort, DofSpec::kInfinity), number_or_dash(dof.damping, 0.0),
                      number_or_dash(dof.friction, 0.0), number_or_dash(dof.stiffness, 0.0),
                      number_or_dash(dof.armature, 0.0), followed(joint.spec)});
    }
  }
  return section(rows, {false, false, true, true, true, true, true, true, false});
}

/// Shapes with the sides of their boxes, along their own axes.
std::string shapes(const Model& model) {
  std::vector<Row> rows = {{"shape of", "type", "size", "position", "friction", "restitution", "group", "mask"}};
  for (const Body& body : model.bodies())
    for (const CollisionShape& shape : body.spec.shapes) {
      const Aabb box = bounds(shape.shape);
      rows.push_back({printable(body.spec.name), std::string(shape.shape.type_name()),
                      line_of(box.upper - box.lower, 4), line_of(shape.X_BS.p, 4), formatted("%.4g", shape.friction),
                      formatted("%.4g", shape.restitution), formatted("%x", shape.group), formatted("%x", shape.mask)});
    }
  return section(rows, {false, false, false, false, true, true, true, true});
}

// the rest of a robot
// ---------------------------------------------------------------------------------------------------------------------

std::string actuators(const Robot& robot) {
  std::vector<Row> rows = {{"actuator", "kind", "moves", "gear", "gain", "control", "force"}};
  for (const Actuator& actuator : robot.actuators)
    rows.push_back({printable(actuator.name), std::string(to_string(actuator.kind)),
                    printable(robot.model.dof_name(actuator.dof)), formatted("%.4g", actuator.gear),
                    formatted("%.4g", actuator.gain), interval(actuator.lower_control, actuator.upper_control),
                    interval(actuator.lower_force, actuator.upper_force)});
  return section(rows, {false, false, false, true, true, false, false});
}

std::string constraints(const Model& model) {
  std::vector<Row> rows = {{"constraint", "kind", "between", "and"}};
  for (const LoopConstraint& constraint : model.constraints())
    rows.push_back({printable(constraint.name), std::string(to_string(constraint.kind)),
                    printable(body_name(model, constraint.body_A)), printable(body_name(model, constraint.body_B))});
  return section(rows, {false, false, false, false});
}

/// Pairs that were asked for, and those of loops; neighbours never collide.
std::string excluded_pairs(const Model& model) {
  std::vector<JointSpec> joints;
  for (const Joint& joint : model.joints()) joints.push_back(joint.spec);
  const auto neighbours = neighbour_pairs(model.bodies(), joints, {});
  std::vector<Row> rows = {{"never collide", ""}};
  for (const auto& pair : model.excluded_pairs())
    if (!std::binary_search(neighbours.begin(), neighbours.end(), pair))
      rows.push_back({printable(body_name(model, pair.first)), printable(body_name(model, pair.second))});
  return section(rows, {false, false});
}

/// Beyond this many coordinates a mass matrix is for machines.
constexpr int kLargestPrinted = 12;

std::string evaluation(const Model& model, const Evaluation& state) {
  std::string text = "\nat q = " + line_of(state.q) + "\n   v = " + line_of(state.v) + "\n\n";
  std::vector<Row> rows = {{"body", "position", "quaternion (x y z w)"}};
  for (int i = 0; i < model.num_bodies(); ++i) {
    const Pose& X = state.poses[i];
    rows.push_back({printable(model.body(i).spec.name), line_of(X.p), line_of(X.quaternion())});
  }
  text += table(rows, {false, false, false});
  text += formatted("\n  %-16s %s\n", "centre of mass", line_of(state.center_of_mass).c_str());
  text += formatted("  %-16s %.9g J\n  %-16s %.9g J\n", "kinetic energy", state.kinetic, "potential energy",
                    state.potential);
  text += formatted("  %-16s %s\n", "bias force", line_of(state.bias).c_str());
  if (model.nv() > kLargestPrinted)
    return text + formatted("  mass matrix: %d x %d, printed with --json\n", model.nv(), model.nv());
  text += "  mass matrix\n";
  std::vector<Row> M;
  for (int i = 0; i < model.nv(); ++i) {
    Row row{printable(model.dof_name(i))};
    for (int j = 0; j < model.nv(); ++j) row.push_back(formatted("%.6g", state.M(i, j)));
    M.push_back(std::move(row));
  }
  std::vector<bool> right(static_cast<std::size_t>(model.nv()) + 1, true);
  right[0] = false;
  return text + table(M, right);
}

std::string heading(const Robot& robot) {
  const Model& model = robot.model;
  std::string text = printable(model.name()) + "\n\n";
  const auto row = [&](const char* name, const std::string& value) {
    text += formatted("  %-12s %s\n", name, value.c_str());
  };
  row("bodies", std::to_string(model.num_bodies()));
  row("nq", std::to_string(model.nq()));
  row("nv", std::to_string(model.nv()));
  row("mass", formatted("%.6g kg", model.total_mass()));
  row("gravity", line_of(model.gravity()));
  if (!robot.actuators.empty()) row("actuators", std::to_string(robot.actuators.size()));
  std::string keyframes;
  for (const Keyframe& key : robot.keyframes) keyframes += (keyframes.empty() ? "" : ", ") + printable(key.name);
  if (!keyframes.empty()) row("keyframes", keyframes);
  if (!model.constraints().empty()) row("constraints", std::to_string(model.constraints().size()));
  return text;
}

std::string notices(const Robot& robot) {
  if (robot.notices.empty()) return "";
  std::string text = formatted("\n%zu notice%s\n", robot.notices.size(), robot.notices.size() == 1 ? "" : "s");
  // the most important first; of many the rest is counted
  constexpr std::size_t kPrinted = 40;
  for (std::size_t i = 0; i < robot.notices.size(); ++i) {
    const Notice& notice = robot.notices[i];
    const bool first = i == 0 || robot.notices[i - 1].rank != notice.rank;
    const auto count = std::count_if(robot.notices.begin(), robot.notices.end(),
                                     [&](const Notice& each) { return each.rank == notice.rank; });
    if (first)
      text += formatted("  %s: %d\n", std::string(tangere::to_string(notice.rank)).c_str(), static_cast<int>(count));
    if (i < kPrinted) text += "    " + to_string(notice) + "\n";
  }
  if (robot.notices.size() > kPrinted) text += formatted("  the first %zu are printed; all with --json\n", kPrinted);
  return text;
}

}  // namespace

std::string_view to_string(Actuator::Kind kind) {
  switch (kind) {
    case Actuator::Kind::motor:
      return "motor";
    case Actuator::Kind::position:
      return "position";
    case Actuator::Kind::velocity:
      return "velocity";
    case Actuator::Kind::affine:
      return "affine";
  }
  return "";
}

std::string_view to_string(LoopConstraint::Kind kind) {
  return kind == LoopConstraint::Kind::weld ? "weld" : "connect";
}

std::string body_name(const Model& model, int body) { return body == kWorld ? "world" : model.body(body).spec.name; }

std::string scene_text(const Scene& scene, const std::optional<Evaluation>& state) {
  const Robot& robot = scene.robot;
  const Model& model = robot.model;
  return heading(robot) + bodies(model) + joints(model) + shapes(model) + actuators(robot) + constraints(model) +
         excluded_pairs(model) + (state ? evaluation(model, *state) : "") + notices(robot);
}

}  // namespace tangere::cli
