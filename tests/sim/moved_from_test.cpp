/// Values that were moved from: memory says so and can be given a new value; shapes, models and worlds stay what they
/// were.

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "tangere/math/error.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/proximity/batch.hpp"
#include "tangere/proximity/broad_phase.hpp"
#include "tangere/proximity/distance.hpp"
#include "tangere/proximity/manifold.hpp"
#include "tangere/proximity/proximity.hpp"
#include "tangere/proximity/scaling.hpp"
#include "tangere/sim/rollout.hpp"
#include "tangere/solvers/lcp/boxed_lcp.hpp"
#include "tests/support/step_cases.hpp"

namespace tangere::test {
namespace {

/// `use` works before a move, names `owner` after it, and works again once a new value was assigned.
template <class T>
void expect_clear_end(const std::string& owner, T object, T other, const std::function<void(T&)>& use) {
  use(object);
  T taken = std::move(object);
  use(taken);
  try {
    use(object);  // NOLINT(bugprone-use-after-move): that is the test
    ADD_FAILURE() << owner << " was used";
  } catch (const InputError& error) {
    EXPECT_EQ(error.field(), owner);
    EXPECT_NE(error.reason().find("moved from"), std::string::npos) << error.what();
  }
  object = std::move(other);
  use(object);
}

const Shape& ball() {
  static const Shape shape = Sphere{.radius = 0.5};
  return shape;
}
const Pose kApart = Pose::translation({2.0, 0.3, 0.1});

TEST(MovedFrom, PairQueries) {
  expect_clear_end<ScalingWorkspace>("ScalingWorkspace", {}, {},
                                     [](ScalingWorkspace& w) { (void)scaling(ball(), Pose(), ball(), kApart, {}, w); });
  expect_clear_end<DistanceWorkspace>(
      "DistanceWorkspace", {}, {}, [](DistanceWorkspace& w) { (void)distance(ball(), Pose(), ball(), kApart, {}, w); });
  expect_clear_end<ProximityWorkspace>("ProximityWorkspace", {}, {}, [](ProximityWorkspace& w) {
    (void)proximity(ball(), Pose(), ball(), kApart, {}, w);
  });
  expect_clear_end<ManifoldWorkspace>(
      "ManifoldWorkspace", {}, {}, [](ManifoldWorkspace& w) { (void)manifold(ball(), Pose(), ball(), kApart, {}, w); });
  expect_clear_end<BatchWorkspace>("BatchWorkspace", BatchWorkspace(1), BatchWorkspace(1), [](BatchWorkspace& w) {
    const PosedPair pair{&ball(), Pose(), &ball(), kApart};
    Distance result;
    distance_batch(std::span(&pair, 1), {}, std::span(&result, 1), w);
  });
  expect_clear_end<BroadPhase>("BroadPhase", BroadPhase(), BroadPhase(), [](BroadPhase& b) { (void)b.pairs(); });
}

TEST(MovedFrom, Solvers) {
  expect_clear_end<BoxedLcpSolver>("BoxedLcpSolver", {}, {}, [](BoxedLcpSolver& solver) {
    (void)solver.solve(MatrixX::Identity(1, 1), VectorX::Ones(1), std::vector<BoxedLcpRow>(1));
  });
}

TEST(MovedFrom, MemoryOfStepsAndModels) {
  const StepCase& one = all_step_cases().front();
  expect_clear_end<Workspace>("Workspace", Workspace(one.world), Workspace(one.world), [&](Workspace& workspace) {
    State next;
    (void)step(one.world, one.state, one.u, workspace, next);
  });
  expect_clear_end<Data>("Data", Data(one.world.model()), Data(one.world.model()),
                         [&](Data& data) { forward_kinematics(one.world.model(), data, one.state.q); });
}

TEST(MovedFrom, ShapesModelsAndWorldsStayWhatTheyWere) {
  for (const StepCase& one : all_step_cases()) {
    State expected;
    {
      Workspace workspace(one.world);
      (void)step(one.world, one.state, one.u, workspace, expected);
    }
    World world = one.world;
    std::optional<World> taken = std::move(world);
    taken.reset();
    State next;
    Workspace workspace(world);  // NOLINT(bugprone-use-after-move)
    (void)step(world, one.state, one.u, workspace, next);
    EXPECT_EQ(next.v, expected.v) << one.name;

    Model model = one.world.model();
    std::optional<Model> model_taken = std::move(model);
    model_taken.reset();
    EXPECT_EQ(neutral_configuration(model).size(), one.world.nq()) << one.name;  // NOLINT(bugprone-use-after-move)
  }
  Shape shape = Capsule{.radius = 0.5, .length = 1.0};
  std::optional<Shape> shape_taken = std::move(shape);
  shape_taken.reset();
  ScalingWorkspace workspace;
  const Scaling found = scaling(shape, Pose(), ball(), kApart, {}, workspace);  // NOLINT(bugprone-use-after-move)
  EXPECT_GT(found.alpha, 1.0);
}

TEST(MovedFrom, RolloutIsEmpty) {
  const StepCase& one = all_step_cases().front();
  Rollout rollout(one.world);
  rollout.run(one.state, one.u.replicate(1, 3));
  Rollout taken = std::move(rollout);
  EXPECT_EQ(taken.states().size(), 4);
  EXPECT_TRUE(rollout.states().empty());  // NOLINT(bugprone-use-after-move)
  StateTangent g;
  MatrixX g_controls;
  EXPECT_THROW((void)rollout.reverse({}, g, g_controls), InputError);
  EXPECT_THROW(rollout.run(one.state, one.u.replicate(1, 3)), InputError);
}

}  // namespace
}  // namespace tangere::test
