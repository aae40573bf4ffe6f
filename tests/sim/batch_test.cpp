#include "tangere/sim/batch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tangere/io/scene_file.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/tangent_map.hpp"

namespace tangere {
namespace {

constexpr const char* kScene = R"({"format": "tangere-scene", "version": 1, "time_step": 0.005, "bodies": [
  {"name": "floor", "fixed": true, "friction": 0.4, "shape": {"type": "halfspace", "normal": [0, 0, 1]}},
  {"name": "box", "shape": {"type": "box", "size": [0.5, 0.4, 0.2]}, "mass": 2, "position": [0, 0, 0.0999],
   "velocity": [1, 0.3, 0, 0, 0, 0.5]},
  {"name": "ball", "shape": {"type": "sphere", "radius": 0.1}, "mass": 1, "position": [1, 0, 0.2]}]})";

struct Case {
  World world;
  State start;
};

Case scene(Formulation formulation) {
  const Scene scene = scene_from_text(kScene, "scene.json");
  WorldOptions options{.time_step = scene.time_step};
  options.formulation = formulation;
  options.smooth.kappa = 1e-3;
  return {World(scene.robot.model, {}, options), {scene.q, scene.v}};
}

std::vector<double> random_numbers(std::size_t count) {
  Random random(5);
  std::vector<double> out(count);
  for (double& x : out) x = random.uniform(-1.0, 1.0);
  return out;
}

class BatchTest : public testing::TestWithParam<Formulation> {};

TEST_P(BatchTest, LiveStepsAreThoseOfOneWorldForAnyNumberOfThreads) {
  const Case c = scene(GetParam());
  constexpr int kSize = 6;
  constexpr int kSteps = 15;
  const int nu = c.world.nu();
  const std::vector<double> controls = random_numbers(static_cast<std::size_t>(kSize * nu));
  for (const int threads : {1, 3}) {
    Batch batch(c.world, c.start, kSize, {.num_threads = threads});
    for (int t = 0; t < kSteps; ++t) batch.step(controls);
    for (int i = 0; i < kSize; ++i) {
      Workspace workspace(c.world);
      State state = c.start;
      const VectorX u = Eigen::Map<const VectorX>(controls.data() + i * nu, nu);
      for (int t = 0; t < kSteps; ++t) (void)step(c.world, state, u, workspace, state);
      EXPECT_EQ(Eigen::Map<const VectorX>(batch.q().data() + i * c.world.nq(), c.world.nq()), state.q);
      EXPECT_EQ(Eigen::Map<const VectorX>(batch.v().data() + i * c.world.nv(), c.world.nv()), state.v);
    }
  }
}

TEST_P(BatchTest, ParametersOfItsOwn) {
  const Case c = scene(GetParam());
  const std::vector<StepParameter> mass = {find_step_parameter(c.world, "box.mass")};
  const std::vector<double> masses = {1.0, 4.0};
  Batch batch(c.world, c.start, 2, {.num_threads = 2});
  batch.set_parameters(mass, masses);
  const std::vector<double> controls(static_cast<std::size_t>(2 * c.world.nu()), 1.0);
  for (int t = 0; t < 5; ++t) batch.step(controls);
  for (int i = 0; i < 2; ++i) {
    const World changed = with_parameters(c.world, mass, VectorX::Constant(1, masses[i]));
    Workspace workspace(changed);
    State state = c.start;
    for (int t = 0; t < 5; ++t) (void)step(changed, state, VectorX::Ones(c.world.nu()), workspace, state);
    EXPECT_EQ(Eigen::Map<const VectorX>(batch.v().data() + i * c.world.nv(), c.world.nv()), state.v);
  }
}

TEST_P(BatchTest, ReverseProductsAreThoseOfTheJacobians) {
  const Case c = scene(GetParam());
  constexpr int kSize = 3;
  const int nv = c.world.nv();
  const int nu = c.world.nu();
  const auto count = [](int n) { return static_cast<std::size_t>(n); };
  Batch batch(c.world, c.start, kSize, {.num_threads = 2});
  const std::vector<double> controls = random_numbers(count(kSize * nu));
  std::vector<double> A(count(kSize * 4 * nv * nv));
  std::vector<double> B(count(kSize * 2 * nv * nu));
  EXPECT_THROW(batch.jacobians(A, B), InputError);
  batch.record(controls);
  batch.jacobians(A, B);
  const std::vector<double> g = random_numbers(count(kSize * 2 * nv));
  std::vector<double> g_state(g.size());
  std::vector<double> g_controls(controls.size());
  batch.vjp(g, g_state, g_controls);
  std::vector<double> d_next(g.size());
  batch.jvp(g, controls, d_next);
  using Vector = Eigen::Map<const VectorX>;
  for (int i = 0; i < kSize; ++i) {
    const Eigen::Map<const RowMatrixX> A_i(A.data() + i * 4 * nv * nv, 2 * nv, 2 * nv);
    const Eigen::Map<const RowMatrixX> B_i(B.data() + i * 2 * nv * nu, 2 * nv, nu);
    const Vector g_i(g.data() + i * 2 * nv, 2 * nv);
    const Vector u_i(controls.data() + i * nu, nu);
    EXPECT_LT((Vector(g_state.data() + i * 2 * nv, 2 * nv) - A_i.transpose() * g_i).norm(), 1e-9);
    EXPECT_LT((Vector(g_controls.data() + i * nu, nu) - B_i.transpose() * g_i).norm(), 1e-9);
    EXPECT_LT((Vector(d_next.data() + i * 2 * nv, 2 * nv) - A_i * g_i - B_i * u_i).norm(), 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(Formulations, BatchTest, testing::Values(Formulation::lcp, Formulation::single_level),
                         [](const auto& test) { return std::string(to_string(test.param)); });

TEST(Batch, RefusesWhatDoesNotFit) {
  const Case c = scene(Formulation::lcp);
  EXPECT_THROW(Batch(c.world, c.start, 0), InputError);
  EXPECT_THROW(Batch(c.world, State{}, 2), InputError);
  Batch batch(c.world, c.start, 2);
  const std::vector<double> few(3);
  EXPECT_THROW(batch.step(few), InputError);
  const std::vector<int> beyond{2};
  EXPECT_THROW(batch.reset(beyond), InputError);
}

TEST(Batch, MapsOfTangentsAreThoseOfIntegrate) {
  const Case c = scene(Formulation::lcp);
  const Model& model = c.world.model();
  Random random(3);
  const VectorX q = random_configuration(model, random);
  VectorX delta(model.nv());
  for (double& x : delta) x = random.uniform(-1.0, 1.0);
  VectorX rates(model.nq());
  map_tangent(model, q, TangentMap::to_rates, delta, rates);
  VectorX sides[2] = {q, q};
  constexpr double kStep = 1e-6;
  integrate(model, q, kStep * delta, sides[0]);
  integrate(model, q, -kStep * delta, sides[1]);
  EXPECT_LT((rates - (sides[0] - sides[1]) / (2.0 * kStep)).norm(), 1e-8);
  // a quaternion that is twice as long moves half as far in its tangent
  VectorX longer = q;
  longer.segment<4>(3) *= 2.0;
  VectorX back(model.nv());
  map_tangent(model, longer, TangentMap::from_rates, rates, back);
  EXPECT_LT((back.segment<3>(3) - 0.5 * delta.segment<3>(3)).norm(), 1e-12);
  EXPECT_LT((back.head<3>() - delta.head<3>()).norm(), 1e-12);
}

}  // namespace
}  // namespace tangere
