/// Identification: the density, friction and size of a cube from noisy recordings of how it was thrown, and what a
/// throw without a known force does not tell (docs/optimise.md). Argument: a file to record a throw to.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "tangere/io/recording.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/math/random.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/sim/step_parameters.hpp"
#include "tangere/trajopt/identify.hpp"

namespace {

using namespace tangere;

constexpr const char* kScene = R"({"format": "tangere-scene", "version": 1,
  "bodies": [{"name": "floor", "fixed": true, "shape": {"type": "halfspace", "normal": [0, 0, 1]}},
             {"name": "cube", "shape": {"type": "box", "size": [0.2, 0.2, 0.2]}, "friction": 0.4, "mass": 0.8}]})";

/// A throw, pushed by known forces for 0.1 s if asked for; poses with 1 mm and 2 mrad of noise.
MotionRecording thrown(const World& world, int seed, bool pushed, RecordingWriter* recording) {
  Random random(static_cast<std::uint64_t>(seed));
  const int samples = 160;
  MotionRecording motion{.x = MatrixX::Zero(world.nq() + world.nv(), samples),
                         .u = MatrixX::Zero(world.nu(), samples - 1)};
  if (pushed)
    for (int k = 0; k < 20; ++k) motion.u.col(k) << 4.0, 1.0, 8.0, 0.02, 0.03, -0.02;
  State state = world.default_state();
  state.q[2] = 0.35;
  state.v << 1.5, 0.3 * random.normal(), 0.5, random.normal(), 2.0 * random.normal(), random.normal();
  Workspace workspace(world);
  VectorX noisy(world.nq()), away(world.nv());
  for (int k = 0; k < samples; ++k) {
    if (recording != nullptr) recording->add(k, state);
    for (int i = 0; i < 6; ++i) away[i] = (i < 3 ? 1e-3 : 2e-3) * random.normal();
    integrate(world.model(), state.q, away, noisy);
    motion.x.col(k).head(world.nq()) = noisy;
    if (k + 1 < samples) (void)step(world, state, motion.u.col(k), workspace, state);
  }
  return motion;
}

void print(const IdentifyResult& found) {
  std::printf("%s after %d iterations, %.2f s; misfit %.2f\n", std::string(to_string(found.status)).c_str(),
              found.iterations, found.seconds, found.misfit);
  for (std::size_t i = 0; i < found.names.size(); ++i)
    std::printf("  %-22s %10.5f +- %.1e\n", found.names[i].c_str(), found.values[static_cast<Eigen::Index>(i)],
                found.deviations[static_cast<Eigen::Index>(i)]);
  for (const IdentifiedCombination& unknown : found.not_identified)
    std::printf("  not told: %s\n", unknown.text.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const Scene scene = scene_from_text(kScene, "toss.json");
  const World truth(scene.robot.model, {}, {.time_step = 0.005});
  std::vector<MotionRecording> recordings;
  for (int seed = 1; seed <= 3; ++seed) recordings.push_back(thrown(truth, seed, true, nullptr));

  // a guess that is far off
  const std::vector<std::string> names = {"cube.mass", "cube.cube0.friction", "cube.cube0.size.x", "cube.cube0.size.y",
                                          "cube.cube0.size.z"};
  std::vector<StepParameter> parameters;
  for (const std::string& name : names) parameters.push_back(find_step_parameter(truth, name));
  VectorX guess(5);
  guess << 1.2, 0.6, 0.19, 0.19, 0.19;
  const World start = with_parameters(truth, parameters, guess);

  // poses were measured, velocities were not
  IdentifyOptions options{.noise = VectorX::Constant(12, std::numeric_limits<double>::infinity())};
  options.noise.head<6>() << 1e-3, 1e-3, 1e-3, 2e-3, 2e-3, 2e-3;
  const std::vector<std::string> unknowns = {"cube.mass", "cube.cube0.friction",
                                             "cube.cube0.size.x = cube.cube0.size.y = cube.cube0.size.z"};
  const IdentifyResult found = identify(start, unknowns, recordings, options);
  print(found);

  // without a known force the motion is the same with any density
  const IdentifyResult free =
      identify(truth, {"cube.density", "cube.cube0.friction"}, {thrown(truth, 2, false, nullptr)}, options);
  print(free);

  if (argc > 1) {
    RecordingWriter recording(truth, argv[1]);
    (void)thrown(truth, 1, true, &recording);
    recording.finish();
  }
  // within three standard deviations, and 3 %
  const double exact[] = {0.8, 0.4, 0.2};
  bool near = true;
  for (int i = 0; i < 3; ++i)
    near = near && std::abs(found.values[i] - exact[i]) < std::min(3.0 * found.deviations[i], 0.03 * exact[i]);
  return near && free.not_identified.size() == 1 ? 0 : 1;
}
