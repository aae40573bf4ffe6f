#include "experiments/experiment.hpp"

#include <array>

namespace tangere::experiments {

std::span<const Experiment> all_experiments() {
  static constexpr std::array kAll = {
      Experiment{"nimble_drone", "Nimble, figure 8",
                 "exact gradients leave a drone on the floor, complementarity-aware ones lift it off", nimble_drone},
      Experiment{"nimble_balls", "a public report on Nimble's code",
                 "d(x2 at 1 s) / d(x1, x2, v1, v2) of two elastic balls is (1, 0, 1, 0)", nimble_balls},
      Experiment{"nimble_search", "Nimble, figure 7",
                 "catapult, cartpole and double cartpole by gradients, CEM and MPPI in one run: gradients reach all "
                 "three goals",
                 nimble_search},
      Experiment{"nimble_sets", "Nimble, section IV", "the sets of the last step are right in more than 95 % of steps",
                 nimble_sets},
      Experiment{"nimble_jacobians", "Nimble, tables II and III",
                 "the Jacobians of a step are exact, and many times cheaper than differences", nimble_jacobians},
      Experiment{"silico_drop", "Silico, drop test",
                 "0 of 3600 drops of a polygon fail at 30 iterations, 12 in the mean at most, no more violation than "
                 "its table",
                 silico_drop},
      Experiment{"silico_stack", "Silico, stack test",
                 "all 360 stacks of two blocks stand, every step solved, with no more momentum than its table (5 % "
                 "allowed: cubes for squares)",
                 silico_stack},
      Experiment{"silico_drop_3d", "Silico's drop test, in space",
                 "eight shapes fall on a floor at 10, 30 and 100 Hz: at most 1 step in 200 000 fails", silico_drop_3d},
      Experiment{"silico_drop_two", "Silico's drop test, in space",
                 "two random bodies meet over a floor: at most 1 step in 20 000 fails", silico_drop_two},
      Experiment{
          "silico_drop_heap", "ours",
          "twelve bodies of eight shapes fall into a bin at friction 0.3 to 0.9: at most 1 step in 10 000 fails, "
          "and none penetrates at the end",
          silico_drop_heap},
      Experiment{
          "silico_drop_scales", "ours",
          "drops of 0.01 to 100 m and 0.001 to 1000 kg are the same problem: the same iterations, the same failures",
          silico_drop_scales},
      Experiment{"silico_timing", "Silico, timing test",
                 "on a box in the plane the bilevel form takes 1.25 times the single level's time at least, at equal "
                 "tolerances (the paper: 8 times and more, by finite differences)",
                 silico_timing},
      Experiment{"silico_timing_3d", "Silico's timing test, in space",
                 "the single level does not jam: over twelve scenes at kappa 1e-6 no step is unsolved, cold or warm",
                 silico_timing_3d},
      Experiment{"which_gradient", "ours",
                 "exact gradients are right within their reach, and at rest that is tiny: aware, smooth and randomised "
                 "ones see what lies beyond",
                 which_gradient},
      Experiment{
          "dcol_primitives", "DCOL, figure of the twelve primitives",
          "twelve primitives and a cube collide at 100 Hz: penetration and drift of momenta at most 1e-8, faster than "
          "real time",
          dcol_primitives},
      Experiment{"silico_tower_3d", "Silico's tower, in space", "ten boxes on each other stand for 10 s",
                 silico_tower_3d},
      Experiment{"silico_stack_3d", "Silico's stack test, in space",
                 "a cylinder on a box on a padded polygon stands, at rest to the relaxation", silico_stack_3d},
      Experiment{"silico_peg_3d", "Silico's peg, in space", "a square peg goes into a square hole 0.4 % wider",
                 silico_peg_3d},
      Experiment{"silico_bundles_3d", "Silico's bundles, in space",
                 "a union and a Minkowski sum of primitives come to rest on the floor", silico_bundles_3d},
      Experiment{"silico_tower", "Silico, figure of the tower", "four blocks fall on each other and stand",
                 silico_tower},
      Experiment{"silico_peg", "Silico, peg in hole", "the peg goes into a hole 0.4 % wider", silico_peg},
      Experiment{"silico_bundles", "Silico, convex bundles", "a union and a Minkowski sum come to rest on the floor",
                 silico_bundles},
  };
  return kAll;
}

}  // namespace tangere::experiments
