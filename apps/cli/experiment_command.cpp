/// `tangere experiment [NAME]`: the papers' experiments.

#include <cstdio>
#include <fstream>
#include <string>

#include "apps/cli/commands.hpp"
#include "apps/cli/text.hpp"
#include "experiments/experiment.hpp"
#include "tangere/math/error.hpp"

namespace tangere::cli {
namespace {

using experiments::Experiment;

void list() {
  for (const Experiment& experiment : experiments::all_experiments())
    std::printf("%-18s %s: %s\n", experiment.name, experiment.source, experiment.claim);
}

/// Results for machines, and the picture if there is one, beside the log.
void write_files(const std::filesystem::path& folder, const Experiment& experiment,
                 const experiments::Outcome& outcome) {
  if (outcome.svg.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  const std::filesystem::path file = folder / (std::string(experiment.name) + ".svg");
  std::ofstream out(file);
  out << outcome.svg;
  if (!out.flush()) throw InputError(file.string(), "cannot be written");
}

/// The folder that was asked for, or the one of the source tree, or ./scenes.
std::filesystem::path scenes_folder(const std::string& asked) {
  if (!asked.empty()) {
    if (!std::filesystem::is_directory(asked)) throw InputError("--scenes", "is not a folder: " + asked);
    return asked;
  }
  for (const char* folder : {TANGERE_CLI_SCENES, "scenes"})
    if (std::filesystem::is_directory(folder)) return folder;
  throw InputError("--scenes", "the folder scenes of the project is not here: name it");
}

}  // namespace

int run_experiment(const ExperimentArguments& arguments) {
  if (arguments.name.empty()) {
    list();
    return kExitOk;
  }
  const auto all = experiments::all_experiments();
  bool found = false;
  bool met = true;
  nlohmann::json json;
  try {
    const std::filesystem::path scenes = scenes_folder(arguments.scenes);
    const std::filesystem::path output = arguments.output;
    for (const Experiment& experiment : all) {
      if (arguments.name != "all" && arguments.name != experiment.name) continue;
      found = true;
      experiments::ResultLog log(output / (std::string(experiment.name) + ".jsonl"), arguments.resume);
      const experiments::Outcome outcome = experiment.run({scenes, arguments.runs, log});
      write_files(output, experiment, outcome);
      met = met && outcome.met;
      if (arguments.json) {
        json[experiment.name] = {
            {"source", experiment.source}, {"claim", experiment.claim}, {"met", outcome.met}, {"result", outcome.data}};
      } else {
        std::printf("%s (%s)\n  claim: %s\n\n%s\n  %s\n\n", experiment.name, experiment.source, experiment.claim,
                    outcome.text.c_str(), outcome.met ? "MET" : "NOT MET");
      }
    }
  } catch (const InputError& error) {
    std::fprintf(stderr, "tangere: %s\n", error.what());
    return kExitBadInput;
  }
  if (!found) {
    std::fprintf(stderr, "tangere: there is no experiment '%s'; there are\n", arguments.name.c_str());
    for (const Experiment& experiment : all) std::fprintf(stderr, "  %s\n", experiment.name);
    return kExitBadInput;
  }
  if (arguments.json) std::printf("%s\n", json.dump(2).c_str());
  return met ? kExitOk : kExitFailed;
}

}  // namespace tangere::cli
