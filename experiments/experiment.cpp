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
      Experiment{"silico_drop", "Silico, drop test",
                 "0 of 3600 drops of a polygon fail at 30 iterations, 12 in the mean at most, no more violation than "
                 "its table",
                 silico_drop, true},
      Experiment{"silico_stack", "Silico, stack test",
                 "all 360 stacks of two blocks stand, with no more momentum than its table", silico_stack, true},
      Experiment{"silico_tower", "Silico, figure of the tower", "four blocks fall on each other and stand",
                 silico_tower},
      Experiment{"silico_peg", "Silico, peg in hole", "the peg goes into a hole 0.4 % wider", silico_peg},
      Experiment{"silico_bundles", "Silico, convex bundles", "a union and a Minkowski sum come to rest on the floor",
                 silico_bundles},
  };
  return kAll;
}

}  // namespace tangere::experiments
