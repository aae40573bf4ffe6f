#include "tangere/io/grasp_file.hpp"

#include <fstream>
#include <sstream>

#include "tangere/io/scene_file.hpp"
#include "tangere/io/text/json_reader.hpp"

namespace tangere {
namespace {

using internal::JsonValue;

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(file.string(), "cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

double number_or(const JsonValue& value, std::string_view key, double otherwise) {
  const auto given = value.find(key);
  return given ? given->number() : otherwise;
}

World world_of(const JsonValue& root, const Scene& scene) {
  WorldOptions options{.time_step = number_or(root, "time_step", scene.time_step),
                       .formulation = Formulation::single_level};
  options.smooth.kappa = number_or(root, "kappa", 1e-4);
  options.smooth.gradient_kappa = number_or(root, "gradient_kappa", 3e-3);
  options.smooth.margin = number_or(root, "sight", 4.0);
  return World(scene.robot.model, scene.robot.actuators, options);
}

int coordinate_of(const JsonValue& value, const Model& model, const std::string& name) {
  for (int i = 0; i < model.nv(); ++i)
    if (model.dof_name(i) == name) return i;
  value.fail("the model has no coordinate '" + name + "'");
}

void read_goal(const JsonValue& root, const Model& model, ContactRrtProblem& problem) {
  const JsonValue goal = root.at("goal");
  const JsonValue samples = root.at("samples");
  for (const std::string& name : goal.keys()) {
    problem.object.push_back(coordinate_of(goal, model, name));
    const Eigen::Index i = problem.goal.size();
    for (VectorX* vector : {&problem.goal, &problem.lower, &problem.upper}) vector->conservativeResize(i + 1);
    problem.goal[i] = goal.at(name).number();
    const VectorX range = samples.at(name).numbers(2);
    if (!(range[0] <= range[1])) samples.at(name).fail("must be [least, largest]");
    problem.lower[i] = range[0];
    problem.upper[i] = range[1];
  }
}

ContactRrtOptions options_of(const JsonValue& root) {
  ContactRrtOptions options;
  const auto given = root.find("options");
  if (!given) return options;
  given->require_fields({"max_nodes", "trees", "most_steps", "regularisation", "step", "goal_bias", "regrasp",
                         "goal_distance", "goal_error", "rest"});
  if (const auto most = given->find("max_nodes")) options.max_nodes = most->integer(2, 1'000'000);
  if (const auto most = given->find("trees")) options.trees = most->integer(1, 1000);
  if (const auto most = given->find("most_steps")) options.most_steps = most->integer(1, 1000);
  options.regularisation = number_or(*given, "regularisation", options.regularisation);
  options.step = number_or(*given, "step", options.step);
  options.goal_bias = number_or(*given, "goal_bias", options.goal_bias);
  options.regrasp = number_or(*given, "regrasp", options.regrasp);
  options.goal_distance = number_or(*given, "goal_distance", options.goal_distance);
  options.goal_error = number_or(*given, "goal_error", options.goal_error);
  options.rest = number_or(*given, "rest", options.rest);
  options.verify();
  return options;
}

GraspFile read_grasp(const JsonValue& root, const std::filesystem::path& file) {
  root.require_fields({"format", "version", "name", "scene", "time_step", "kappa", "gradient_kappa", "sight", "object",
                       "fingers", "goal", "samples", "options"});
  (void)root.at("format").word({"tangere-grasp"});
  if (root.at("version").number() != 1.0) root.at("version").fail("must be 1");
  const Scene scene = load_scene(file.parent_path() / root.at("scene").text());
  const World world = world_of(root, scene);
  const JsonValue fingers = root.at("fingers");
  if (fingers.size() != 2) fingers.fail("must be two bodies");
  ContactRrtProblem problem{.world = world, .start = scene.q, .command = holding_command(world, scene.q)};
  read_goal(root, world.model(), problem);
  problem.grasp = antipodal_grasps(
      world, {.object = root.at("object").text(), .first = fingers[0].text(), .second = fingers[1].text()});
  const auto name = root.find("name");
  return {name ? name->text() : file.stem().string(), std::move(problem), options_of(root)};
}

}  // namespace

bool is_grasp_file(const std::filesystem::path& file) {
  return text_of(file).find("\"tangere-grasp\"") != std::string::npos;
}

GraspFile load_grasp(const std::filesystem::path& file) {
  const std::string text = text_of(file);
  return internal::with_json_lines(text, file.string(), [&] {
    const internal::JsonDocument document(text);
    return read_grasp(document.root(), file);
  });
}

}  // namespace tangere
