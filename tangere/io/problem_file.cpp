#include "tangere/io/problem_file.hpp"

#include <fstream>
#include <limits>
#include <sstream>

#include "tangere/io/text/json_reader.hpp"
#include "tangere/trajopt/keep_apart.hpp"

namespace tangere {
namespace {

using internal::JsonValue;

/// Runs f; what it refuses is said at this place of the file.
template <class F>
decltype(auto) at_place(const JsonValue& value, F&& f) {
  try {
    return f();
  } catch (const InputError& error) {
    if (error.field().starts_with(value.path())) throw;
    value.fail(error.what());
  }
}

/// A number, which stands for all, or an array of numbers; null entries are infinite.
VectorX entries(const JsonValue& value, double of_null) {
  if (value.is_null()) return all_of(of_null);
  try {
    return all_of(value.number());
  } catch (const InputError&) {
    VectorX out(static_cast<Eigen::Index>(value.size()));
    for (std::size_t i = 0; i < value.size(); ++i)
      out[static_cast<Eigen::Index>(i)] = value[i].is_null() ? of_null : value[i].number();
    return out;
  }
}

/// Three numbers, where null is infinite.
Vector3 three_entries(const JsonValue& value, double of_null) {
  const VectorX out = entries(value, of_null);
  if (out.size() != 3) value.fail("must have three entries");
  return out;
}

Knots knots_of(const JsonValue& value, const Knots& otherwise) {
  const auto given = value.find("knots");
  if (!given) return otherwise;
  if (given->size() != 2) given->fail("must be [first, last]");
  constexpr int kMost = std::numeric_limits<int>::max();
  return {(*given)[0].integer(-kMost, kMost), (*given)[1].integer(-kMost, kMost)};
}

double number_or(const JsonValue& value, std::string_view key, double otherwise) {
  const auto given = value.find(key);
  return given ? given->number() : otherwise;
}

bool boolean_or(const JsonValue& value, std::string_view key, bool otherwise) {
  const auto given = value.find(key);
  return given ? given->boolean() : otherwise;
}

std::string name_or(const JsonValue& value, const char* otherwise) {
  const auto given = value.find("name");
  return given ? given->text() : otherwise;
}

Pose pose_of(const JsonValue& value) {
  Pose pose;
  if (const auto position = value.find("position")) pose.p = position->numbers(3);
  if (const auto quaternion = value.find("quaternion")) {
    const VectorX q = quaternion->numbers(4);
    pose = at_place(*quaternion, [&] { return Pose::from_quaternion(pose.p, q[0], q[1], q[2], q[3]); });
  }
  return pose;
}

/// [q; v] of `{"q": […], "v": […]}`; what is not given is `otherwise`.
VectorX state_of(const JsonValue& value, const World& world, const VectorX& otherwise) {
  value.require_fields({"q", "v"});
  VectorX x = otherwise;
  if (const auto q = value.find("q")) x.head(world.nq()) = q->numbers(world.nq());
  if (const auto v = value.find("v")) x.segment(world.nq(), world.nv()) = v->numbers(world.nv());
  return x;
}

/// A coordinate by the name of the model.
int coordinate_of(const JsonValue& value, const Model& model, const std::string& name) {
  for (int i = 0; i < model.nv(); ++i)
    if (model.dof_name(i) == name) return i;
  value.fail("the model has no coordinate '" + name + "'");
}

void add_cost(const JsonValue& value, const World& world, OptimalControl& problem) {
  const std::string type = value.at("type").word({"state", "control", "frame", "center_of_mass"});
  const bool per_second = boolean_or(value, "per_second", false);
  const auto weight = [&] { return entries(value.at("weight"), 0.0); };
  if (type == "control") {
    value.require_fields({"type", "name", "target", "weight", "knots", "per_second"});
    ControlCost cost{.name = name_or(value, "control"), .weight = weight(), .per_second = per_second};
    cost.knots = knots_of(value, cost.knots);
    if (const auto target = value.find("target")) cost.target = target->numbers(world.nu());
    problem.add(cost);
  } else if (type == "state") {
    value.require_fields({"type", "name", "target", "weight", "knots", "per_second"});
    StateCost cost{.name = name_or(value, "state"), .weight = weight(), .per_second = per_second};
    cost.target = state_of(value.at("target"), world, problem.horizon().start);
    cost.knots = knots_of(value, cost.knots);
    // parameters of the world have costs of their own
    if (cost.weight.size() == 1) cost.weight = VectorX::Constant(2 * world.nv(), cost.weight[0]);
    if (cost.weight.size() == 2 * world.nv())
      cost.weight.conservativeResizeLike(VectorX::Zero(problem.dynamics().ndx()));
    problem.add(cost);
  } else if (type == "frame") {
    value.require_fields({"type", "name", "body", "position", "quaternion", "weight", "knots", "per_second"});
    FrameCost cost{.name = name_or(value, "frame"), .body = value.at("body").text(), .target = pose_of(value)};
    cost.weight = value.at("weight").numbers(6);
    cost.per_second = per_second;
    cost.knots = knots_of(value, cost.knots);
    problem.add(cost);
  } else {
    value.require_fields({"type", "name", "position", "weight", "knots", "per_second"});
    CenterOfMassCost cost{.name = name_or(value, "center of mass"), .per_second = per_second};
    cost.target = value.at("position").numbers(3);
    cost.weight = value.at("weight").numbers(3);
    cost.knots = knots_of(value, cost.knots);
    problem.add(cost);
  }
}

/// A state, or some of its coordinates by name: `{"coordinates": {"root_y": 0.6}, "velocities": {…}}`.
Reach reach_of(const JsonValue& value, const World& world, const VectorX& start, int ndx) {
  value.require_fields({"type", "name", "target", "coordinates", "velocities", "knots"});
  Reach reach{.name = name_or(value, "reach"), .target = start};
  reach.knots = knots_of(value, reach.knots);
  if (const auto target = value.find("target")) {
    reach.target = state_of(*target, world, reach.target);
    reach.mask.setZero(ndx);
    reach.mask.head(2 * world.nv()).setOnes();
    return reach;
  }
  reach.mask.setZero(ndx);
  const Model& model = world.model();
  for (const bool velocity : {false, true}) {
    const auto given = value.find(velocity ? "velocities" : "coordinates");
    if (!given) continue;
    for (const std::string& name : given->keys()) {
      const int i = coordinate_of(*given, model, name);
      if (!velocity && model.nq() != model.nv())
        given->fail("needs a model without ball and free joints; use `target`");
      reach.target[velocity ? model.nq() + i : i] = given->at(name).number();
      reach.mask[velocity ? model.nv() + i : i] = 1.0;
    }
  }
  return reach;
}

KeepApart keep_apart_of(const JsonValue& value, const Dynamics& dynamics) {
  value.require_fields({"type", "name", "movers", "obstacles", "metric", "margin", "knots"});
  KeepApart out{.name = name_or(value, "keep apart"), .margin = number_or(value, "margin", 0.0)};
  out.knots = knots_of(value, out.knots);
  if (const auto metric = value.find("metric"))
    out.metric =
        metric->word({"scaling", "distance"}) == "scaling" ? KeepApart::Metric::scaling : KeepApart::Metric::distance;
  const auto read = [&](const JsonValue& names, std::vector<Collider>& colliders) {
    for (std::size_t i = 0; i < names.size(); ++i)
      for (Collider& collider : at_place(names[i], [&] { return colliders_of(dynamics, names[i].text()); }))
        colliders.push_back(std::move(collider));
  };
  read(value.at("movers"), out.movers);
  read(value.at("obstacles"), out.obstacles);
  return out;
}

void add_constraint(const JsonValue& value, const World& world, OptimalControl& problem) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::string type = value.at("type").word(
      {"control_bounds", "state_bounds", "joint_limits", "reach", "reach_frame", "frame_bounds", "keep_apart"});
  if (type == "control_bounds") {
    value.require_fields({"type", "name", "lower", "upper", "knots"});
    ControlBounds bounds{.name = name_or(value, "control bounds")};
    problem.dynamics().control_limits(bounds.lower, bounds.upper);
    if (const auto lower = value.find("lower")) bounds.lower = entries(*lower, -kInfinity);
    if (const auto upper = value.find("upper")) bounds.upper = entries(*upper, kInfinity);
    bounds.knots = knots_of(value, bounds.knots);
    problem.add(bounds);
  } else if (type == "state_bounds") {
    value.require_fields({"type", "name", "lower", "upper", "knots"});
    StateBounds bounds{.name = name_or(value, "state bounds")};
    bounds.lower = entries(value.at("lower"), -kInfinity);
    bounds.upper = entries(value.at("upper"), kInfinity);
    bounds.knots = knots_of(value, bounds.knots);
    problem.add(bounds);
  } else if (type == "joint_limits") {
    value.require_fields({"type", "knots"});
    StateBounds bounds = StateBounds::joint_limits(world.model());
    bounds.knots = knots_of(value, bounds.knots);
    problem.add(bounds);
  } else if (type == "reach") {
    problem.add(reach_of(value, world, problem.horizon().start, problem.dynamics().ndx()));
  } else if (type == "reach_frame") {
    value.require_fields({"type", "name", "body", "position", "quaternion", "mask", "knots"});
    ReachFrame reach{.name = name_or(value, "reach frame"), .body = value.at("body").text(), .target = pose_of(value)};
    reach.position_only = !value.has("quaternion");
    if (const auto mask = value.find("mask")) {
      const int size = reach.position_only ? 3 : 6;
      reach.mask.head(size) = mask->numbers(size);
    }
    reach.knots = knots_of(value, reach.knots);
    problem.add(reach);
  } else if (type == "frame_bounds") {
    value.require_fields({"type", "name", "body", "lower", "upper", "knots"});
    FrameBounds bounds{.name = name_or(value, "frame bounds"), .body = value.at("body").text()};
    if (const auto lower = value.find("lower")) bounds.lower = three_entries(*lower, -kInfinity);
    if (const auto upper = value.find("upper")) bounds.upper = three_entries(*upper, kInfinity);
    bounds.knots = knots_of(value, bounds.knots);
    problem.add(bounds);
  } else {
    add(problem, keep_apart_of(value, problem.dynamics()));
  }
}

OptimizerOptions options_of(const JsonValue& root) {
  const auto contact = root.find("contact");
  const std::string kind = contact ? contact->word({"given", "hard", "find"}) : "given";
  OptimizerOptions options;
  if (kind == "hard") options = OptimizerOptions::hard_contact();
  if (kind == "find") options = OptimizerOptions::through_contact();
  if (const auto sight = root.find("sight"))
    for (ContactPhase& phase : options.phases) phase.margin = sight->number();
  const auto given = root.find("options");
  if (!given) return options;
  given->require_fields({"tolerance", "constraint_tolerance", "max_iterations", "barrier", "slack", "penalty",
                         "penalty_growth", "regularisation", "least_regularisation", "memory", "progress",
                         "max_round_iterations", "max_rounds"});
  options.tolerance = number_or(*given, "tolerance", options.tolerance);
  options.constraint_tolerance = number_or(*given, "constraint_tolerance", options.constraint_tolerance);
  options.barrier = number_or(*given, "barrier", options.barrier);
  options.slack = number_or(*given, "slack", options.slack);
  options.penalty = number_or(*given, "penalty", options.penalty);
  options.regularisation = number_or(*given, "regularisation", options.regularisation);
  options.least_regularisation = number_or(*given, "least_regularisation", options.least_regularisation);
  options.progress = number_or(*given, "progress", options.progress);
  if (const auto most = given->find("max_iterations")) options.max_iterations = most->integer(0, 1'000'000);
  options.penalty_growth = number_or(*given, "penalty_growth", options.penalty_growth);
  if (const auto most = given->find("max_round_iterations")) options.max_round_iterations = most->integer(1, 1'000'000);
  if (const auto most = given->find("max_rounds")) options.max_rounds = most->integer(1, 1000);
  if (const auto memory = given->find("memory")) options.memory = memory->integer(1, 1000);
  at_place(*given, [&] { options.verify(); });
  return options;
}

RestartOptions restarts_of(const JsonValue& root, const OptimizerOptions& options) {
  RestartOptions restarts;
  if (options.least_regularisation < 1.0) restarts.least_regularisation = {};
  const auto given = root.find("restarts");
  if (!given) return restarts;
  given->require_fields({"count", "noise", "least_regularisation", "search_from"});
  if (const auto count = given->find("count")) restarts.count = count->integer(1, 1000);
  if (const auto from = given->find("search_from")) restarts.search_from = from->integer(0, 1000);
  restarts.noise = number_or(*given, "noise", restarts.noise);
  if (const auto least = given->find("least_regularisation")) {
    const VectorX values = least->numbers();
    restarts.least_regularisation.assign(values.begin(), values.end());
  }
  at_place(*given, [&] { restarts.verify(); });
  return restarts;
}

/// Parameters of the world that are to be chosen, with their bounds.
struct Design {
  std::vector<DesignVariable> variables{};
  VectorX lower{};
  VectorX upper{};
};

/// `{"parameter": "link1.mass", …}`, or `{"name": "length", "value": 0.25, "parts": {"link1.link1.size.y": 1, …}, …}`.
Design design_of(const JsonValue& root, const World& world) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Design design;
  const auto given = root.find("design");
  if (!given) return design;
  const auto count = static_cast<Eigen::Index>(given->size());
  design.lower.setConstant(count, -kInfinity);
  design.upper.setConstant(count, kInfinity);
  for (Eigen::Index i = 0; i < count; ++i) {
    const JsonValue entry = (*given)[static_cast<std::size_t>(i)];
    entry.require_fields({"name", "parameter", "value", "parts", "lower", "upper"});
    DesignVariable variable;
    if (const auto parameter = entry.find("parameter")) {
      variable = at_place(*parameter, [&] { return design_variable(world, parameter->text()); });
    } else {
      variable.name = entry.at("name").text();
      variable.value = entry.at("value").number();
      const JsonValue parts = entry.at("parts");
      for (const std::string& name : parts.keys())
        variable.parts.push_back(
            {at_place(parts, [&] { return find_step_parameter(world, name); }), parts.at(name).number()});
    }
    if (const auto lower = entry.find("lower")) design.lower[i] = lower->number();
    if (const auto upper = entry.find("upper")) design.upper[i] = upper->number();
    design.variables.push_back(std::move(variable));
  }
  return design;
}

/// Bounds of the parameters, at the first knot.
void add_design_bounds(const Design& design, OptimalControl& problem) {
  const auto count = static_cast<Eigen::Index>(design.variables.size());
  if (count == 0) return;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const int ndx = problem.dynamics().ndx();
  StateBounds bounds{.name = "design",
                     .lower = VectorX::Constant(ndx, -kInfinity),
                     .upper = VectorX::Constant(ndx, kInfinity),
                     .knots = Knots::at(0)};
  bounds.lower.tail(count) = design.lower;
  bounds.upper.tail(count) = design.upper;
  problem.add(bounds);
}

ProblemFile read_problem(const JsonValue& root, const std::filesystem::path& file) {
  root.require_fields({"format", "version", "name", "scene", "steps", "time_step", "simulate_joint_limits", "start",
                       "design", "costs", "constraints", "contact", "sight", "options", "restarts", "guess",
                       "start_noise"});
  (void)root.at("format").word({"tangere-problem"});
  if (root.at("version").number() != 1.0) root.at("version").fail("must be 1");
  const JsonValue scene_file = root.at("scene");
  const Scene scene = at_place(scene_file, [&] { return load_scene(file.parent_path() / scene_file.text()); });
  WorldOptions world_options{.time_step = number_or(root, "time_step", scene.time_step)};
  world_options.contact.joint_limits = boolean_or(root, "simulate_joint_limits", true);
  const World plain = at_place(root, [&] { return World(scene.robot.model, scene.robot.actuators, world_options); });
  const Design design = design_of(root, plain);
  const auto dynamics = at_place(root, [&] { return std::make_shared<const WorldDynamics>(plain, design.variables); });
  const World& world = dynamics->world();
  VectorX start = dynamics->state(scene.q, scene.v);
  if (const auto given = root.find("start")) start = state_of(*given, world, start);
  const int steps = root.at("steps").integer(1, 1'000'000);
  Horizon horizon{start, constant_steps(steps, world_options.time_step)};
  horizon.free_start.setZero(dynamics->ndx());
  horizon.free_start.tail(dynamics->num_design()).setOnes();
  if (dynamics->num_design() == 0) horizon.free_start.resize(0);
  OptimalControl problem = at_place(root, [&] { return OptimalControl(dynamics, horizon); });
  at_place(root, [&] { add_design_bounds(design, problem); });
  if (const auto costs = root.find("costs"))
    for (std::size_t i = 0; i < costs->size(); ++i)
      at_place((*costs)[i], [&] { add_cost((*costs)[i], world, problem); });
  if (const auto constraints = root.find("constraints"))
    for (std::size_t i = 0; i < constraints->size(); ++i)
      at_place((*constraints)[i], [&] { add_constraint((*constraints)[i], world, problem); });
  Guess guess;
  if (const auto given = root.find("guess")) {
    given->require_fields({"line_to", "controls"});
    if (const auto goal = given->find("line_to")) guess = Guess::line(problem, state_of(*goal, world, start));
    if (const auto controls = given->find("controls")) guess.u = controls->numbers(world.nu()).replicate(1, steps);
  }
  const OptimizerOptions options = options_of(root);
  const auto name = root.find("name");
  return {.name = name ? name->text() : file.stem().string(),
          .dynamics = dynamics,
          .problem = problem,
          .options = options,
          .restarts = restarts_of(root, options),
          .guess = guess,
          .start_noise = number_or(root, "start_noise", 0.01)};
}

}  // namespace

ProblemFile problem_from_text(std::string_view text, const std::filesystem::path& file) {
  return internal::with_json_lines(text, file.string(), [&] {
    const internal::JsonDocument document(text);
    return read_problem(document.root(), file);
  });
}

ProblemFile load_problem(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(file.string(), "cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  return problem_from_text(text.str(), file);
}

}  // namespace tangere
