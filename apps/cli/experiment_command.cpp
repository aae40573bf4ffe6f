/// `tangere experiment [NAME]`: the papers' experiments.

#include <cstdio>
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
    for (const Experiment& experiment : all) {
      if (arguments.name != "all" && arguments.name != experiment.name) continue;
      found = true;
      const experiments::Outcome outcome = experiment.run(scenes);
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
