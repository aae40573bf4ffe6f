/// A robot from a file, one step, and its linearisation. With a file name as argument some steps are recorded there, to
/// be watched with `tangere view`.

#include <cstdio>

#include "tangere/io/recording.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/sim/simulator.hpp"

int main(int argc, char** argv) {
  using namespace tangere;
  World world(load_scene(TANGERE_SCENES "/half_cheetah.xml"));
  Simulator sim(world);
  const VectorX u = world.default_control();
  State x = sim.step(world.default_state(), u);
  Linearization L = sim.linearize();
  std::printf("dx' = A dx + B du: A is %d x %d, B is %d x %d, %s\n", static_cast<int>(L.A.rows()),
              static_cast<int>(L.A.cols()), static_cast<int>(L.B.rows()), static_cast<int>(L.B.cols()),
              to_string(L.quality).data());
  StepReport report = sim.report();

  if (argc > 1) {
    RecordingWriter recording(world, argv[1]);
    recording.add(0, x);
    for (int i = 1; i <= 100; ++i) {
      x = sim.step(x, u);
      report = sim.report();
      recording.add(i, x, report.contacts);
    }
    recording.finish();
    std::printf("%zu contacts at the end\n", report.contacts.size());
  }
  return L.quality == GradientQuality::exact && report.status == StepStatus::solved ? 0 : 1;
}
