#pragma once

/// Search without gradients, over parallel rollouts: the cross-entropy method (CEM) and model predictive path
/// integrals (MPPI).
///
///   SearchResult found = search(problem, {.method = SearchMethod::cem});
///   optimizer.solve(found.guess);
///
/// Controls are straight lines between a few nodes. Each generation draws samples of the nodes about a mean, rolls them
/// out, and ranks them by
///
///   J = cost + ½ penalty Σ c² + ½ penalty Σ max(0, h)².
///
/// CEM: mean and deviation of the best `elite` samples are the next ones. MPPI: the mean moves to the average of all
/// samples weighted by exp(-(J - min J) / (temperature (mean J - min J))); the deviation shrinks by `cooling`.
///
/// A sample depends on its number and the seed alone, so the answer is the same for any number of threads.

#include <cstdint>
#include <functional>

#include "tangere/trajopt/optimizer.hpp"

namespace tangere {

enum class SearchMethod { cem, mppi };
[[nodiscard]] std::string_view to_string(SearchMethod method);

struct SearchOptions {
  SearchMethod method = SearchMethod::cem;
  int samples = 48;
  int elite = 8;
  int generations = 60;
  /// Points of a control in time, ends included.
  int nodes = 12;
  /// Deviation at first and at least, in parts of half the range of a control (or of 1).
  double spread = 0.5;
  double least_spread = 0.01;
  /// MPPI.
  double temperature = 0.1;
  double cooling = 0.97;
  double penalty = 100.0;
  ContactPhase contact = {};
  std::uint64_t seed = 1;
  /// 0: as many as the machine has.
  int num_threads = 1;
  /// Ends where no constraint of the best sample is violated by more.
  double constraint_tolerance = 1e-3;
  /// Whether it ends there.
  bool stop_when_feasible = false;
  double max_seconds = 1e30;

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

/// The best sample.
struct SearchResult {
  /// Controls (nu x steps), a start for an optimiser.
  Guess guess;
  double cost = 0.0;
  double objective = 0.0;
  /// The largest violation of a constraint; infinite if no sample's motion was finite.
  double violation = 0.0;
  int generations = 0;
  int rollouts = 0;
  double seconds = 0.0;
};

/// Sees the best sample so far after each generation; false ends the search.
using SearchCallback = std::function<bool(const SearchResult& best)>;

/// From the guess's controls, or zero. InputError for a guess of wrong sizes.
[[nodiscard]] SearchResult search(const OptimalControl& problem, const SearchOptions& options = {},
                                  const Guess& guess = {}, const SearchCallback& callback = {});

}  // namespace tangere
