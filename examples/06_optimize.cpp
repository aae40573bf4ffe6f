/// A trajectory through contact: the half cheetah brings its head to a point, with the contacts it finds by itself; the
/// plan is then played with hard contact (docs/optimise.md). Arguments: a file to record the motion to, to be watched
/// with `tangere view`, and the folder with the scenes.

#include <cstdio>
#include <string>

#include "tangere/io/problem_file.hpp"
#include "tangere/io/recording.hpp"
#include "tangere/trajopt/verification.hpp"

int main(int argc, char** argv) {
  using namespace tangere;
  const std::string scenes = argc > 2 ? argv[2] : "scenes";
  const ProblemFile task = load_problem(scenes + "/problems/half_cheetah.json");

  Optimizer optimizer(task.problem, task.options);
  const OptimizeResult& result = optimizer.solve({}, [](const Iteration& it) {
    std::printf("%3d  cost %.3e  goal missed by %.1e  step %.2f\n", it.iteration, it.cost, it.equality, it.step);
    return true;  // false would stop here
  });
  std::printf("%s after %d iterations\n", std::string(to_string(result.status)).c_str(), result.iterations);

  // the plan replays: hard contact at its own step is what its last phase was made for
  const Verification replay = verify(task.problem, result.plan);
  std::printf("played: goal missed by %.1e, states off by %.1e\n", replay.equality, replay.strays);

  if (argc > 1) {
    const World& world = task.dynamics->world();
    RecordingWriter recording(world, argv[1]);
    for (std::size_t k = 0; k < result.plan.x.size(); ++k)
      recording.add(static_cast<int>(k), {result.plan.x[k].head(world.nq()), result.plan.x[k].tail(world.nv())});
    recording.finish();
  }
  return result.status == OptimizeStatus::solved && replay.strays <= 1e-6 ? 0 : 1;
}
