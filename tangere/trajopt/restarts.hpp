#pragma once

/// Several solves of one problem from different starts, until one succeeds: with contact a start may lead into a valley
/// without a solution, which shows early and is left best by another start.

#include <cstdint>

#include "tangere/trajopt/optimizer.hpp"

namespace tangere {

struct RestartOptions {
  /// Solves at most.
  int count = 5;
  /// Standard deviation of what is added to the guess's controls, as a part of half their range (or of 1): from the
  /// second start on, and from the first on if `noisy_first`.
  double noise = 0.02;
  bool noisy_first = false;
  /// Standard deviation of a bump, highest in the middle of the time, that is added to each tangent coordinate of the
  /// guess's states from the second start on.
  double state_noise = 0.0;
  std::uint64_t seed = 1;
  /// From this start on (the first is 1; 0: never) the controls come from a search by CEM, in the last phase's contact.
  int search_from = 0;
  /// Least regularisation of the starts, one after the other and again from the first; the optimiser's own if empty.
  std::vector<double> least_regularisation = {1.0, 0.1, 0.01};

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

/// The first answer that is solved; else the one with the least violation. `starts`, if not null, becomes how many were
/// made. The callback sees all iterations, and ends all starts by false.
[[nodiscard]] OptimizeResult solve_with_restarts(Optimizer& optimizer, const RestartOptions& options,
                                                 const Guess& guess = {}, const IterationCallback& callback = {},
                                                 int* starts = nullptr);

}  // namespace tangere
