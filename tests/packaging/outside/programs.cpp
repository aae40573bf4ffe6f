// The three programs that a newcomer writes first, with shapes that are temporaries.
//
//   programs SCENES

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <tangere/tangere.hpp>

namespace {

using namespace tangere;

int num_failures = 0;

void expect(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "programs: %s\n", what);
  ++num_failures;
}

ScalingAnswer pair_of_temporaries() {
  return scaling(Capsule{.radius = 0.2, .length = 1.0}, Pose(), Box{.size = {1, 2, 3}}, Pose::translation({2, 1, 0.5}));
}

// what its shapes were made of is gone when the derivative is asked for
void pair() {
  const ScalingAnswer r = pair_of_temporaries();
  const Vector12 g = gradient(r);
  expect(std::abs(g.head<3>().dot(Vector3(-2, -1, -0.5)) - r.alpha) < 1e-6 * r.alpha,
         "the gradient of alpha is not homogeneous in the centre line");
  expect(jacobian(r).x_alpha.allFinite(), "the Jacobian is not finite");
  expect(parameter_gradient(r).A.size() == 2, "a capsule has not two parameters");
}

void robot(const std::string& scenes) {
  World world(load_scene(scenes + "/half_cheetah.xml"));
  Simulator sim(world);
  const State x = sim.step(world.default_state(), VectorX::Zero(world.nu()));
  const Linearization L = sim.linearize();
  expect(x.q.size() == world.nq() && L.A.rows() == 2 * world.nv() && L.B.cols() == world.nu(), "sizes are wrong");
  expect(L.quality == GradientQuality::exact, "the linearisation is not exact");
  expect(sim.report().status == StepStatus::solved, "the step was not solved");
}

// the gradient of the height of a point at the end of a rollout, against a difference
void loss(const std::string& scenes) {
  World world(load_scene(scenes + "/half_cheetah.xml"));
  MatrixX controls = MatrixX::Constant(world.nu(), 20, 0.1);
  Rollout rollout(world);
  const auto end = [&]() -> const State& {
    rollout.run(world.default_state(), controls);
    return rollout.states().back();
  };
  std::vector<StateTangent> gradients(21);
  VectorX dl_dq = VectorX::Zero(world.nq());
  dl_dq[0] = 1.0;
  gradients.back() = {tangent_gradient(world.model(), end().q, dl_dq), VectorX::Zero(world.nv())};
  StateTangent g_start;
  MatrixX g_controls;
  expect(rollout.reverse(gradients, g_start, g_controls) == GradientQuality::exact, "the gradient is not exact");
  const double h = 1e-5;
  controls(0, 3) += h;
  const double more = end().q[0];
  controls(0, 3) -= 2.0 * h;
  const double difference = (more - end().q[0]) / (2.0 * h);
  expect(std::abs(g_controls(0, 3) - difference) < 1e-5 * std::abs(difference), "the gradient is not the difference");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string scenes = argc > 1 ? argv[1] : "scenes";
  pair();
  robot(scenes);
  loss(scenes);
  if (num_failures == 0) std::printf("programs: pair, robot and loss work\n");
  return num_failures == 0 ? 0 : 1;
}
