#pragma once

/// One run each of Silico's drop and stack tests and of ours in space: what the experiments repeat in every cell of
/// their tables, and sweeps (python/tangere/sweep/papers.py) as often as one likes.

#include <vector>

#include "experiments/smooth_worlds.hpp"

namespace tangere::experiments {

/// A polygon falls on a floor from a random start, 1.5 s, cold starts. `violation` is the largest of the run. States
/// are added to `states`, the start first, if it is given.
[[nodiscard]] RunCount drop_polygon(double frequency, double kappa, Random& random,
                                    std::vector<State>* states = nullptr);

/// How much two blocks, one on the other with its centre `offset` beside it, move in a second.
struct StackRun {
  RunCount count;
  /// Means over the steps of |Σ m v| (N s) and Σ |J ω|.
  double linear = 0.0;
  double angular = 0.0;
  /// Whether nothing has moved by 5 cm.
  bool stable = false;
};
/// `rho` is the paper's relaxation, absolute.
[[nodiscard]] StackRun stack_blocks(double frequency, double rho, double offset, std::vector<State>* states = nullptr);

/// Bodies over a floor in space; `violation` is that of the end.
[[nodiscard]] RunCount drop_bodies(const std::vector<FreeBody>& bodies, double seconds, double friction,
                                   const WorldOptions& options, const std::vector<Fixture>& walls = {},
                                   std::vector<State>* states = nullptr);
/// Shape `kind` of kinds(1) on a floor, and any two of them that meet over it; 1.5 s.
[[nodiscard]] RunCount drop_shape(int kind, double frequency, double kappa, Random& random,
                                  std::vector<State>* states = nullptr);
[[nodiscard]] RunCount drop_two(double frequency, double kappa, Random& random, std::vector<State>* states = nullptr);

}  // namespace tangere::experiments
