#include "apps/cli/experiment_pages.hpp"

#include <algorithm>
#include <system_error>

#include "apps/cli/build_info.hpp"
#include "apps/cli/text.hpp"
#include "apps/cli/viewer_page.hpp"
#include "tangere/io/recording_page.hpp"
#include "tangere/math/error.hpp"

namespace tangere::cli {
namespace {

using experiments::Experiment;

std::string result_file(const Experiment& experiment) { return std::string(experiment.name) + "_result.html"; }

std::string claim_of(const Experiment& experiment) { return std::string(experiment.source) + ": " + experiment.claim; }

}  // namespace

std::string verdict_of(const experiments::Outcome& outcome) {
  const std::string verdict = outcome.met ? "MET" : "NOT MET";
  if (!outcome.is_part()) return verdict;
  return verdict + formatted(" by a part: %d of %d runs in every cell", outcome.runs, outcome.runs_claimed);
}

ExperimentPages::ExperimentPages(std::filesystem::path folder) : folder_(std::move(folder)), viewer_(viewer_page()) {
  std::error_code failure;
  std::filesystem::create_directories(folder_, failure);
  if (!std::filesystem::is_directory(folder_)) throw InputError("--html", "cannot make the folder " + folder_.string());
  gallery_.title = "Experiments";
  gallery_.introduction = "What the papers claim, run here: each page is one file that plays without a network.";
}

void ExperimentPages::add(const Experiment& experiment, const experiments::Outcome& outcome) {
  std::vector<GalleryEntry> films;
  for (const experiments::Film& film : outcome.films) {
    films.push_back({.file = film.name + ".html",
                     .title = film.title,
                     .text = std::string(experiment.name) + ", to watch.",
                     .is_recording = true});
    write_whole_file(folder_ / films.back().file, recording_page(viewer_, film.recording));
  }
  const std::string result = result_file(experiment);
  write_whole_file(folder_ / result, result_page({.title = experiment.name,
                                                  .claim = claim_of(experiment),
                                                  .verdict = verdict_of(outcome),
                                                  .made_by = program_name() + ", commit " + commit(),
                                                  .svg = outcome.svg,
                                                  .text = outcome.text,
                                                  .films = films}));
  gallery_.entries.push_back({.file = result,
                              .title = experiment.name,
                              .text = claim_of(experiment) + ": " + verdict_of(outcome) + ".",
                              .picture = outcome.svg,
                              .shown = outcome.svg.empty() && !films.empty() ? films.front().file : ""});
}

std::string ExperimentPages::write_gallery() const {
  Gallery gallery = gallery_;
  for (const Experiment& experiment : experiments::all_experiments()) {
    const std::string result = result_file(experiment);
    const bool is_new = std::any_of(gallery_.entries.begin(), gallery_.entries.end(),
                                    [&](const GalleryEntry& entry) { return entry.file == result; });
    if (is_new || !std::filesystem::exists(folder_ / result)) continue;
    gallery.entries.push_back(
        {.file = result, .title = experiment.name, .text = claim_of(experiment) + " (an earlier run)."});
  }
  const std::filesystem::path index = folder_ / "index.html";
  write_whole_file(index, gallery_page(gallery));
  return std::filesystem::absolute(index).lexically_normal().string();
}

}  // namespace tangere::cli
