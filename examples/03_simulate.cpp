/// A crate, a ball and a can fall on the floor and come to rest. With a file name as argument it is recorded there, to
/// be watched with `tangere view`.

#include <cmath>
#include <cstdio>
#include <memory>

#include "tangere/io/recording.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/sim/step.hpp"

int main(int argc, char** argv) {
  using namespace tangere;
  // the text of a scene; load_scene reads files, and robots beside them
  const Scene scene = scene_from_text(R"({"format": "tangere-scene", "version": 1, "time_step": 0.005, "bodies": [
    {"name": "floor", "fixed": true, "shape": {"type": "halfspace", "normal": [0, 0, 1]}},
    {"name": "crate", "shape": {"type": "box", "size": [1, 1, 0.4]}, "mass": 4, "position": [0, 0, 0.3]},
    {"name": "ball", "shape": {"type": "sphere", "radius": 0.2}, "mass": 1, "position": [2, 0, 0.5]},
    {"name": "can", "shape": {"type": "cylinder", "radius": 0.1, "length": 0.5}, "mass": 2, "position": [-2, 0, 0.4]}]})",
                                      "falling.json");
  const World world(scene);

  State state = world.default_state();
  const VectorX u = world.default_control();
  Workspace workspace(world);
  std::unique_ptr<RecordingWriter> recording;
  if (argc > 1) recording = std::make_unique<RecordingWriter>(world, argv[1]);
  if (recording) recording->add(0, state);
  std::size_t num_contacts = 0;
  for (int i = 1; i <= 200; ++i) {
    const StepResult& result = step(world, state, u, workspace, state);
    num_contacts = result.contacts.size();
    if (recording) recording->add(i, state, result.contacts);
    // free bodies one after the other, 7 coordinates each: position, then quaternion
    if (i % 40 == 0)
      std::printf("t %.1f s: heights of crate %.4f, ball %.4f, can %.4f; %zu contacts\n", i * scene.time_step,
                  state.q[2], state.q[9], state.q[16], num_contacts);
  }
  if (recording) {
    recording->finish();
    std::printf("recorded: tangere view %s\n", argv[1]);
  }
  const bool at_rest = std::abs(state.q[2] - 0.2) < 1e-4 && std::abs(state.q[9] - 0.2) < 1e-4 && state.v.norm() < 1e-3;
  return at_rest && num_contacts > 0 ? 0 : 1;
}
