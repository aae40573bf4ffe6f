/// Clearance of worlds beside all pairs without broad phase, gradients beside differences, selections, batches.
///
/// TANGERE_STRESS_CLEARANCE: how many random scenes of boxes (20 000). TANGERE_STRESS_CONFIGURATIONS: configurations
/// per robot for gradients (60).

#include "tangere/sim/clearance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "tangere/math/error.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tests/support/allocation.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/planner_worlds.hpp"

namespace tangere::test {
namespace {

int count_from(const char* variable, int standard) {
  const char* text = std::getenv(variable);
  return text == nullptr ? standard : std::max(1, std::atoi(text));
}

/// Free boxes and boxes that stand, of random sizes.
World boxes(Random& random, int num_free, int num_fixed) {
  ModelBuilder builder("boxes");
  for (int i = 0; i < num_free + num_fixed; ++i) {
    const std::string name = "box" + std::to_string(i);
    const Shape shape =
        Box{{random.log_uniform(0.05, 1.0), random.log_uniform(0.05, 1.0), random.log_uniform(0.05, 1.0)}};
    BodySpec body{.name = name, .shapes = {{.name = name, .shape = shape}}};
    JointSpec joint{.name = name};
    if (i < num_free) {
      body.inertia = mass_properties(shape);
      joint.type = JointType::free;
    } else {
      joint.X_PJ = Pose(random.rotation(), {random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)});
    }
    builder.add_body(std::move(body), std::move(joint));
  }
  return World(builder.build());
}

/// The answer lists exactly the plain pairs below the limit, with their values, in order.
void expect_same(const World& world, const VectorX& q, const ClearanceOptions& options, const Clearance& answer) {
  std::vector<PlainPair> plain = plain_pairs(world, q, options.metric);
  std::erase_if(plain, [&](const PlainPair& pair) { return !(pair.value <= answer.limit); });
  ASSERT_EQ(answer.pairs.size(), plain.size());
  for (std::size_t k = 0; k < answer.pairs.size(); ++k) {
    const ClearancePair& pair = answer.pairs[k];
    const auto same = std::find_if(plain.begin(), plain.end(), [&](const PlainPair& other) {
      return other.shape_A == pair.shape_A && other.shape_B == pair.shape_B;
    });
    ASSERT_NE(same, plain.end()) << pair.a << " and " << pair.b;
    EXPECT_NEAR(pair.value, same->value, 1e-9 + 1e-7 * std::abs(same->value)) << pair.a << " and " << pair.b;
    if (k > 0) {
      EXPECT_LE(answer.pairs[k - 1].value, pair.value);
    }
  }
}

class OfRobots : public testing::TestWithParam<ClearanceMetric> {};
INSTANTIATE_TEST_SUITE_P(Clearance, OfRobots, testing::Values(ClearanceMetric::distance, ClearanceMetric::scaling),
                         [](const auto& of) { return of.param == ClearanceMetric::distance ? "distance" : "scaling"; });

TEST_P(OfRobots, IsThatOfAllPairs) {
  Random random(1);
  for (const PlannerWorld& robot : planner_worlds(12, 2)) {
    SCOPED_TRACE(robot.name);
    ClearanceWorkspace workspace(robot.world);
    for (int k = 0; k < 200; ++k) {
      const VectorX q = planner_configuration(robot.world, random);
      const ClearanceOptions options{.margin = k % 3 == 0 ? 0.0 : 0.3, .metric = GetParam()};
      expect_same(robot.world, q, options, clearance(robot.world, q, options, workspace));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(OfRobots, GradientsAreDifferences) {
  const ClearanceMetric metric = GetParam();
  const int count = count_from("TANGERE_STRESS_CONFIGURATIONS", 60);
  Random random(3);
  for (const PlannerWorld& robot : planner_worlds(12, 4)) {
    SCOPED_TRACE(robot.name);
    const World& world = robot.world;
    ClearanceWorkspace workspace(world);
    int compared = 0;
    int kinks = 0;
    for (int k = 0; k < count; ++k) {
      const VectorX q = planner_configuration(world, random);
      const Clearance& near = clearance(world, q, {.margin = 0.4, .metric = metric}, workspace);
      for (std::size_t p = 0; p < std::min<std::size_t>(near.pairs.size(), 4); ++p) {
        const ClearancePair& pair = near.pairs[p];
        const auto value = [&](const VectorX& delta) -> VectorX {
          VectorX moved(world.nq());
          integrate(world.model(), q, delta, moved);
          return VectorX::Constant(1, plain_value(world, moved, pair.shape_A, pair.shape_B, metric));
        };
        const Difference numeric = difference(
            value, world.nv(), 1, {.scale = 1e-2, .floor = metric == ClearanceMetric::distance ? 1e-12 : 1e-11});
        // across a kink differences say nothing, and say so
        if (numeric.error.maxCoeff() > 2e-7) {
          ++kinks;
          continue;
        }
        ++compared;
        EXPECT_LE((near.gradient(pair).transpose() - numeric.jacobian.row(0)).cwiseAbs().maxCoeff(), 1e-6)
            << pair.a << " and " << pair.b << " at " << q.transpose();
      }
    }
    std::printf("%s: %d gradients compared, %d beside kinks\n", robot.name.c_str(), compared, kinks);
    EXPECT_GT(compared, 10 * kinks);
    EXPECT_GT(2 * compared, count);
  }
}

TEST(Clearance, NoPairOfBoxesIsMissed) {
  const int count = count_from("TANGERE_STRESS_CLEARANCE", 20000);
  constexpr int kOfOneWorld = 200;
  Random random(5);
  long pairs = 0;
  for (int first = 0; first < count; first += kOfOneWorld) {
    const World world = boxes(random, 5, 5);
    ClearanceWorkspace workspace(world);
    for (int k = 0; k < std::min(kOfOneWorld, count - first); ++k) {
      const VectorX q = planner_configuration(world, random);
      const ClearanceOptions options{.margin = 0.05, .gradients = false};
      const Clearance& near = clearance(world, q, options, workspace);
      pairs += static_cast<long>(near.pairs.size());
      expect_same(world, q, options, near);
      EXPECT_EQ(in_collision(world, q, workspace), near.smallest() <= 0.0);
      if (HasFatalFailure()) return;
    }
  }
  std::printf("%d scenes, %ld pairs\n", count, pairs);
  EXPECT_GT(pairs, count);
}

TEST(Clearance, ManyMoversAreSortedByTheirBoxes) {
  // more than are listed pair by pair
  Random random(6);
  const World world = boxes(random, 90, 10);
  ClearanceWorkspace workspace(world);
  for (int k = 0; k < 20; ++k) {
    const VectorX q = planner_configuration(world, random);
    expect_same(world, q, {.margin = 0.05}, clearance(world, q, {.margin = 0.05}, workspace));
  }
}

TEST(Clearance, CollisionIsTheSignOfTheSmallest) {
  Random random(7);
  int hits = 0;
  for (const PlannerWorld& robot : planner_worlds(6, 8)) {
    ClearanceWorkspace workspace(robot.world);
    for (int k = 0; k < 300; ++k) {
      const VectorX q = planner_configuration(robot.world, random);
      const double smallest = clearance(robot.world, q, {.margin = 0.1, .gradients = false}, workspace).smallest();
      EXPECT_EQ(in_collision(robot.world, q, workspace), smallest <= 0.0);
      EXPECT_EQ(in_collision(robot.world, q, workspace, 0.05), smallest <= 0.05);
      hits += smallest <= 0.0 ? 1 : 0;
    }
  }
  EXPECT_GT(hits, 50);
}

TEST(Clearance, SelectionsTakePairsByName) {
  const World world = planner_worlds(4, 9)[1].world;
  const VectorX q = world.default_state().q;
  const Clearance all = clearance(world, q, {.margin = 10.0});
  const auto starts = [](std::string_view name, const char* text) { return name.starts_with(text); };
  const Clearance some = clearance(world, q, {.margin = 10.0}, {.include = {{"left*", "right*|obstacle?"}}});
  std::size_t expected = 0;
  for (const ClearancePair& pair : all.pairs) {
    const auto is_other = [&](std::string_view name) { return starts(name, "right") || starts(name, "obstacle"); };
    const bool is_asked = (starts(pair.a, "left") && is_other(pair.b)) || (starts(pair.b, "left") && is_other(pair.a));
    expected += is_asked ? 1 : 0;
  }
  EXPECT_GT(expected, 10U);
  EXPECT_EQ(some.pairs.size(), expected);
  const Clearance rest = clearance(world, q, {.margin = 10.0}, {.exclude = {{"left*", "right*|obstacle?"}}});
  EXPECT_EQ(rest.pairs.size(), all.pairs.size() - expected);
}

TEST(Clearance, PatternsWithoutShapesAreErrors) {
  const World world = planner_worlds(1, 10)[0].world;
  try {
    ClearanceWorkspace workspace(world, {.include = {{"*", "*"}, {"*", "hammer"}}});
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.field(), "include[1].b");
    EXPECT_NE(error.reason().find("'hammer' matches no shape"), std::string::npos) << error.reason();
  }
}

TEST(Clearance, WrongInputIsAnError) {
  Random random(11);
  const World world = boxes(random, 1, 1);
  const World other = boxes(random, 1, 1);
  ClearanceWorkspace workspace(world);
  const VectorX q = world.default_state().q;
  EXPECT_THROW((void)clearance(world, q, {.margin = -0.1}), InputError);
  EXPECT_THROW((void)clearance(world, VectorX::Zero(3), {.margin = 0.1}), InputError);
  EXPECT_THROW((void)clearance(other, q, {}, workspace), InputError);
  EXPECT_THROW((void)in_collision(world, q, workspace, std::nan("")), InputError);
  EXPECT_THROW((void)smooth_minimum(clearance(world, q), 0.0), InputError);
}

TEST(Clearance, SmoothMinimumHasItsGradient) {
  Random random(12);
  const World world = planner_worlds(10, 13)[0].world;
  ClearanceWorkspace workspace(world);
  int compared = 0;
  for (int k = 0; k < 60; ++k) {
    const VectorX q = planner_configuration(world, random);
    const Clearance near = clearance(world, q, {.margin = 0.1}, workspace);
    // overlaps have kinks
    if (near.smallest() < 0.0) continue;
    VectorX gradient;
    const double value = smooth_minimum(near, 0.03, &gradient);
    EXPECT_LE(value, near.smallest() + 0.015);
    EXPECT_GE(value, near.smallest() - 0.03 * std::log(1.0 + static_cast<double>(near.pairs.size())));
    const auto moved = [&](const VectorX& delta) {
      VectorX at(world.nq());
      integrate(world.model(), q, delta, at);
      return smooth_minimum(clearance(world, at, {.margin = 0.1}, workspace), 0.03);
    };
    // pairs that come within the margin leave a kink of the second derivative: small steps
    const VectorX numeric = finite_difference_gradient(moved, world.nv(), 1e-5);
    EXPECT_LE((gradient - numeric).cwiseAbs().maxCoeff(), 1e-6);
    ++compared;
  }
  EXPECT_GT(compared, 10);
}

TEST(Clearance, BatchesHaveTheSameBits) {
  Random random(14);
  const World world = planner_worlds(20, 15)[2].world;
  constexpr int kCount = 64;
  std::vector<double> rows;
  for (int k = 0; k < kCount; ++k) {
    const VectorX q = planner_configuration(world, random);
    rows.insert(rows.end(), q.data(), q.data() + q.size());
  }
  ClearanceWorkspace workspace(world);
  std::vector<double> values(kCount);
  std::vector<double> gradients(kCount * static_cast<std::size_t>(world.nv()));
  std::vector<char> hits(kCount);
  for (const int threads : {1, 3}) {
    ClearanceBatch batch(world, {}, threads);
    const std::span<const Clearance> answers = batch.run(rows, {.margin = 0.2});
    batch.minimum(rows, {.margin = 0.2}, 0.02, values, gradients);
    batch.in_collision(rows, hits);
    ASSERT_EQ(answers.size(), std::size_t{kCount});
    for (int k = 0; k < kCount; ++k) {
      const Eigen::Map<const VectorX> q(rows.data() + std::ptrdiff_t{k} * world.nq(), world.nq());
      const Clearance& one = clearance(world, q, {.margin = 0.2}, workspace);
      ASSERT_EQ(one.pairs.size(), answers[k].pairs.size());
      for (std::size_t p = 0; p < one.pairs.size(); ++p) {
        EXPECT_EQ(one.pairs[p].value, answers[k].pairs[p].value);
        EXPECT_EQ(one.pairs[p].a, answers[k].pairs[p].a);
      }
      EXPECT_EQ(one.gradients, answers[k].gradients);
      VectorX gradient;
      EXPECT_EQ(smooth_minimum(one, 0.02, &gradient), values[k]);
      EXPECT_EQ(gradient, Eigen::Map<const VectorX>(gradients.data() + std::ptrdiff_t{k} * world.nv(), world.nv()));
      EXPECT_EQ(hits[k] != 0, one.smallest() <= 0.0);
    }
  }
  std::vector<double> broken = rows;
  broken[3 * static_cast<std::size_t>(world.nq())] = std::nan("");
  ClearanceBatch batch(world, {}, 2);
  try {
    (void)batch.run(broken);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.field().rfind("configurations[3]", 0), 0U) << error.field();
  }
}

TEST(Clearance, AllocatesNothingOnceWarm) {
  Random random(16);
  for (const PlannerWorld& robot : planner_worlds(15, 17)) {
    ClearanceWorkspace workspace(robot.world);
    std::vector<VectorX> all;
    for (int k = 0; k < 50; ++k) all.push_back(planner_configuration(robot.world, random));
    const auto ask = [&] {
      for (const VectorX& q : all) {
        (void)clearance(robot.world, q, {.margin = 0.2}, workspace);
        (void)clearance(robot.world, q, {.margin = 0.2, .metric = ClearanceMetric::scaling}, workspace);
        (void)in_collision(robot.world, q, workspace);
      }
    };
    ask();
    const AllocationCount allocations;
    ask();
    EXPECT_EQ(allocations.so_far(), 0) << robot.name;
  }
}

TEST(Clearance, MemoryOfAnAnswerIsItsOwn) {
  Clearance kept;
  {
    Random random(18);
    const World world = boxes(random, 4, 4);
    kept = clearance(world, world.default_state().q, {.margin = 10.0});
  }
  ASSERT_FALSE(kept.pairs.empty());
  EXPECT_EQ(kept.pairs.front().a.substr(0, 3), "box");
  EXPECT_EQ(kept.gradient(kept.pairs.front()).size(), 24);
}

}  // namespace
}  // namespace tangere::test
