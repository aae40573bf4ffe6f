#include "experiments/scene_run.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "apps/cli/progress.hpp"
#include "apps/cli/text.hpp"
#include "tangere/multibody/energy.hpp"

namespace tangere::experiments {
namespace {

VectorX vector_of(const nlohmann::json& json) {
  const auto values = json.get<std::vector<double>>();
  return Eigen::Map<const VectorX>(values.data(), static_cast<Eigen::Index>(values.size()));
}

std::vector<double> values_of(const VectorX& vector) { return {vector.begin(), vector.end()}; }

nlohmann::json to_json(const SceneRun& run) {
  return {{"count", to_json(run.count)}, {"q", values_of(run.q)}, {"v", values_of(run.v)}, {"series", run.series}};
}

SceneRun scene_run(const nlohmann::json& json, const Setup& setup) {
  SceneRun run;
  run.time_step = setup.world.options().time_step;
  run.count = run_count(json.at("count"));
  run.q = vector_of(json.at("q"));
  run.v = vector_of(json.at("v"));
  run.series = json.at("series").get<std::map<std::string, std::vector<double>>>();
  return run;
}

SceneRun run_steps(const std::string& name, const Setup& setup, int steps, const Watch& watch) {
  const World& world = setup.world;
  State state = setup.state;
  SceneRun run;
  Workspace workspace(world);
  Data data(world.model());
  const VectorX u = VectorX::Zero(world.nu());
  cli::Progress progress(name, steps);
  for (int i = 0; i < steps; ++i) {
    progress.show(i);
    const auto before = std::chrono::steady_clock::now();
    const StepResult& result = step(world, state, u, workspace, state);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - before;
    run.count.add(result);
    std::map<std::string, double> values = watch ? watch(state) : std::map<std::string, double>();
    values["penetration"] = violation(world, state.q, data);
    forward_kinematics(world.model(), data, state.q, state.v);
    values["kinetic"] = kinetic_energy(world.model(), data, state.v);
    values["energy"] = values["kinetic"] + potential_energy(world.model(), data, state.q);
    values["speed"] = state.v.cwiseAbs().maxCoeff();
    values["pairs"] = static_cast<double>(result.contacts.size());
    values["seconds"] = taken.count();
    for (const auto& [of, value] : values) run.series[of].push_back(value);
  }
  run.q = state.q;
  run.v = state.v;
  return run;
}

}  // namespace

double SceneRun::largest(const std::string& name) const {
  const std::vector<double>& values = series.at(name);
  return values.empty() ? 0.0 : *std::max_element(values.begin(), values.end());
}

double SceneRun::sum(const std::string& name) const {
  const std::vector<double>& values = series.at(name);
  return std::accumulate(values.begin(), values.end(), 0.0);
}

SceneRun run_scene(const std::string& name, const Setup& setup, int steps, ResultLog& log, const Watch& watch) {
  return scene_run(log.result(name, [&] { return to_json(run_steps(name, setup, steps, watch)); }), setup);
}

void add_film(const Request& request, const std::string& name, const std::string& title, const Setup& setup, int steps,
              Outcome& outcome) {
  if (!request.films) return;
  outcome.films.push_back(film(name, title, setup.world, setup.state, MatrixX::Zero(setup.world.nu(), steps)));
}

ChartLine time_line(const std::string& line_name, const SceneRun& run, const std::string& series) {
  ChartLine line{line_name, {}, run.series.at(series)};
  for (std::size_t i = 0; i < line.y.size(); ++i) line.x.push_back(static_cast<double>(i + 1) * run.time_step);
  return line;
}

std::string scene_charts(const std::string& title, const SceneRun& run) {
  const ChartAxis time{"time, s"};
  return chart_svg(
      {{title + ": energy", time, {"J"}, {time_line("total", run, "energy"), time_line("kinetic", run, "kinetic")}},
       {title + ": speed and penetration",
        time,
        {"m/s, rad/s; 1 - alpha", true},
        {time_line("speed", run, "speed"), time_line("penetration", run, "penetration")}}});
}

nlohmann::json summary(const SceneRun& run) {
  return {{"q", values_of(run.q)},
          {"speed", run.speed()},
          {"violation", run.largest("penetration")},
          {"steps", run.count.steps},
          {"second_tries", run.count.second_tries},
          {"failed_steps", run.count.failures}};
}

std::string counts_text(const SceneRun& run) {
  return cli::formatted("  %ld steps, %ld needed a second start (%s), %ld failed; largest violation %.1e\n",
                        run.count.steps, run.count.second_tries, ladder_text(run.count).c_str(), run.count.failures,
                        run.largest("penetration"));
}

}  // namespace tangere::experiments
