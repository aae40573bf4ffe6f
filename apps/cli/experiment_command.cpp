/// `tangere experiment [NAME]`: the papers' experiments.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "apps/cli/build_info.hpp"
#include "apps/cli/commands.hpp"
#include "apps/cli/experiment_pages.hpp"
#include "apps/cli/folders.hpp"
#include "experiments/experiment.hpp"
#include "tangere/io/text/text.hpp"
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

/// Throws InputError, naming the log, if a result that it goes on from is not one of this experiment.
experiments::Outcome run_logged(const Experiment& experiment, const std::filesystem::path& file,
                                const std::filesystem::path& scenes, const ExperimentArguments& arguments, bool films) {
  using experiments::OldResults;
  const OldResults old = arguments.resume      ? OldResults::resume
                         : arguments.overwrite ? OldResults::overwrite
                                               : OldResults::refuse;
  experiments::ResultLog log(file, old, made_by());
  for (const std::string& notice : log.notices()) std::fprintf(stderr, "tangere: %s\n", printable(notice).c_str());
  for (const nlohmann::json& maker : log.other_makers())
    std::fprintf(stderr, "tangere: %s: keeps results of another program, %s\n", printable(file.string()).c_str(),
                 printable(maker.dump()).c_str());
  try {
    return experiment.run({scenes, arguments.runs, log, films});
  } catch (const nlohmann::json::exception& error) {
    throw InputError(file.string(), "has a result that is not one of this experiment: " + std::string(error.what()));
  }
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
    std::optional<ExperimentPages> pages;
    if (!arguments.html.empty()) pages.emplace(arguments.html);
    const std::filesystem::path scenes = scenes_folder(arguments.scenes, "--scenes");
    const std::filesystem::path output = arguments.output;
    for (const Experiment& experiment : all) {
      if (arguments.name != "all" && arguments.name != experiment.name) continue;
      found = true;
      const experiments::Outcome outcome = run_logged(experiment, output / (std::string(experiment.name) + ".jsonl"),
                                                      scenes, arguments, pages.has_value());
      write_files(output, experiment, outcome);
      if (pages) pages->add(experiment, outcome);
      met = met && outcome.met;
      if (arguments.json) {
        json[experiment.name] = {{"source", experiment.source},
                                 {"claim", experiment.claim},
                                 {"made_by", made_by()},
                                 {"met", outcome.met},
                                 {"result", outcome.data}};
        if (outcome.runs > 0) {
          json[experiment.name]["runs_a_cell"] = outcome.runs;
          json[experiment.name]["part"] = outcome.is_part();
        }
      } else {
        std::printf("%s (%s)\n  claim: %s\n\n%s\n  %s\n\n", experiment.name, experiment.source, experiment.claim,
                    outcome.text.c_str(), verdict_of(outcome).c_str());
      }
    }
    if (pages && found) std::fprintf(stderr, "pages: %s\n", pages->write_gallery().c_str());
  } catch (const InputError& error) {
    std::fprintf(stderr, "tangere: %s\n", printable(error.what()).c_str());
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
