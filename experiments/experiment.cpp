#include "experiments/experiment.hpp"

#include <array>

namespace tangere::experiments {

std::span<const Experiment> all_experiments() {
  static constexpr std::array kAll = {
      Experiment{"nimble_drone", "Nimble, figure 8",
                 "exact gradients leave a drone on the floor, complementarity-aware ones lift it off", nimble_drone},
      Experiment{"nimble_balls", "a public report on Nimble's code",
                 "d(x2 at 1 s) / d(x1, x2, v1, v2) of two elastic balls is (1, 0, 1, 0)", nimble_balls},
      Experiment{"nimble_sets", "Nimble, section IV", "the sets of the last step are right in more than 95 % of steps",
                 nimble_sets},
      Experiment{"nimble_jacobians", "Nimble, tables II and III",
                 "the Jacobians of a step are exact, and many times cheaper than differences", nimble_jacobians},
  };
  return kAll;
}

}  // namespace tangere::experiments
