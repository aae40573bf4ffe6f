/// Two arms over a table: which shapes are near each other, how to move apart, and whether a motion is free, with a
/// proof for all of it. Arguments: a file to record the motion to, and the folder of the scenes.

#include <cstdio>
#include <string>

#include "tangere/io/recording.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/sim/swept_clearance.hpp"

int main(int argc, char** argv) {
  using namespace tangere;
  const World world(load_scene((argc > 2 ? std::string(argv[2]) : "scenes") + "/two_arms.json"));
  const VectorX q = world.default_state().q;

  // all pairs of the arms nearer than 20 cm
  const PairSelection arms{.include = {{"left*", "*"}, {"right*", "*"}}};
  const Clearance near = clearance(world, q, {.margin = 0.2}, arms);
  for (const ClearancePair& pair : near.pairs)
    std::printf("%-20s %-20s %8.4f m\n", std::string(pair.a).c_str(), std::string(pair.b).c_str(), pair.value);

  // a step along the gradient of the smooth minimum moves them apart
  VectorX gradient;
  const double before = smooth_minimum(near, 0.02, &gradient);
  VectorX apart(world.nq());
  integrate(world.model(), q, 0.05 * gradient.normalized(), apart);
  const double after = smooth_minimum(clearance(world, apart, {.margin = 0.2}, arms), 0.02);
  std::printf("smooth minimum %.4f m, after a step of 0.05 along its gradient %.4f m\n", before, after);

  // a swing of the left arm's shoulder towards the right one
  VectorX swung = q;
  swung[world.model().joint(world.model().joint_index("left/shoulder")).first_q] -= 1.5;
  const SweptClearance swept = swept_clearance(world, q, swung, {.margin = 0.5}, arms);
  const FirstContact contact = first_contact(world, q, swung, {}, arms);
  std::printf("the swing comes as near as %.4f m at t = %.3f; no pair is ever nearer than %.4f m\n", swept.distance,
              swept.time, swept.lower_bound);
  if (contact.touches)
    std::printf("%s meets %s at t = %.4f\n", std::string(contact.pair.a).c_str(), std::string(contact.pair.b).c_str(),
                contact.time);

  if (argc > 1) {
    RecordingWriter recording(world, argv[1]);
    for (int i = 0; i <= 50; ++i) recording.add(i, {q + i / 50.0 * (swung - q), VectorX::Zero(world.nv())});
    recording.finish();
  }
  return after > before && swept.certified ? 0 : 1;
}
