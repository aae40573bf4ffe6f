/// `tangere experiment [NAME]`: the papers' experiments.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "apps/cli/commands.hpp"
#include "apps/cli/folders.hpp"
#include "apps/cli/gallery.hpp"
#include "apps/cli/text.hpp"
#include "apps/cli/viewer_page.hpp"
#include "experiments/experiment.hpp"
#include "tangere/io/recording_page.hpp"
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

/// The films of experiments as pages, and a gallery that links them.
class FilmPages {
 public:
  explicit FilmPages(std::filesystem::path folder) : folder_(std::move(folder)), viewer_(viewer_page()) {
    std::error_code failure;
    std::filesystem::create_directories(folder_, failure);
    if (!std::filesystem::is_directory(folder_))
      throw InputError("--html", "cannot make the folder " + folder_.string());
    gallery_.title = "Experiments";
    gallery_.introduction = "What the papers claim, run here: each page is one file that plays without a network.";
  }

  void add(const Experiment& experiment, const experiments::Outcome& outcome) {
    const std::string result = std::string(experiment.name) + "_result.html";
    write_whole_file(folder_ / result, result_page(experiment.name, outcome.svg, outcome.text));
    gallery_.entries.push_back(
        {.file = result,
         .title = experiment.name,
         .text = std::string(experiment.source) + ": " + experiment.claim + (outcome.met ? ": met." : ": NOT met."),
         .picture = outcome.svg});
    for (const experiments::Film& film : outcome.films) {
      const std::string file = film.name + ".html";
      write_whole_file(folder_ / file, recording_page(viewer_, film.recording));
      gallery_.entries.push_back({.file = file,
                                  .title = film.title,
                                  .text = std::string(experiment.name) + ", to watch.",
                                  .is_recording = true});
    }
  }

  /// Where it is.
  [[nodiscard]] std::string write_gallery() const {
    const std::filesystem::path index = folder_ / "index.html";
    write_whole_file(index, gallery_page(gallery_));
    return std::filesystem::absolute(index).lexically_normal().string();
  }

 private:
  std::filesystem::path folder_;
  std::string viewer_;
  Gallery gallery_;
};

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
    std::optional<FilmPages> pages;
    if (!arguments.html.empty()) pages.emplace(arguments.html);
    const std::filesystem::path scenes = scenes_folder(arguments.scenes, "--scenes");
    const std::filesystem::path output = arguments.output;
    for (const Experiment& experiment : all) {
      if (arguments.name != "all" && arguments.name != experiment.name) continue;
      found = true;
      experiments::ResultLog log(output / (std::string(experiment.name) + ".jsonl"), arguments.resume);
      const experiments::Outcome outcome = experiment.run({scenes, arguments.runs, log});
      write_files(output, experiment, outcome);
      if (pages) pages->add(experiment, outcome);
      met = met && outcome.met;
      if (arguments.json) {
        json[experiment.name] = {
            {"source", experiment.source}, {"claim", experiment.claim}, {"met", outcome.met}, {"result", outcome.data}};
      } else {
        std::printf("%s (%s)\n  claim: %s\n\n%s\n  %s\n\n", experiment.name, experiment.source, experiment.claim,
                    outcome.text.c_str(), outcome.met ? "MET" : "NOT MET");
      }
    }
    if (pages && found) std::fprintf(stderr, "pages: %s\n", pages->write_gallery().c_str());
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
