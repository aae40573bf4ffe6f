#pragma once

/// Experiments to look at: a page with the table and the picture, one for each film, and a gallery that links them.

#include <filesystem>
#include <string>

#include "apps/cli/gallery.hpp"
#include "experiments/experiment.hpp"

namespace tangere::cli {

/// MET or NOT MET, and by what part where fewer runs were made than the claim is about.
[[nodiscard]] std::string verdict_of(const experiments::Outcome& outcome);

class ExperimentPages {
 public:
  /// Throws InputError if the viewer was not built or the folder cannot be made.
  explicit ExperimentPages(std::filesystem::path folder);

  void add(const experiments::Experiment& experiment, const experiments::Outcome& outcome);

  /// With the pages of earlier runs in the same folder behind those of this one. Where it is.
  [[nodiscard]] std::string write_gallery() const;

 private:
  std::filesystem::path folder_;
  std::string viewer_;
  Gallery gallery_;
};

}  // namespace tangere::cli
