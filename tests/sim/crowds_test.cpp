/// Crowds: many bodies that hold each other, for some seconds. Every step is solved, and judged by what it leaves.

#include "tests/support/crowds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tangere/math/random.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/sim/step_derivatives.hpp"
#include "tangere/sim/tape/hard_tape.hpp"
#include "tests/support/allocation.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere::test {
namespace {

/// Rows by what v⁺ and the impulses are: inside their boxes, at rest with their targets (but for the compliance) while
/// inside, and moving away from them at a bound.
void expect_complementary(const World& world, const Tape& tape) {
  const VectorX w = tape.hard().problem.jacobian(world.nv()) * tape.v_plus;
  if (tape.hard().f.size() == 0) return;
  const double largest = tape.hard().f.view().cwiseAbs().maxCoeff();
  for (int r = 0; r < tape.hard().problem.num_rows(); ++r) {
    const Row& row = tape.hard().problem.rows[r];
    const BoxedLcpRow& box = tape.hard().problem.boxes[r];
    const double f = tape.hard().f[r];
    const double most = box.normal >= 0 ? box.friction * tape.hard().f[box.normal] : box.upper;
    const double least = box.normal >= 0 ? -most : box.lower;
    const double tiny = 1e-12 * (1.0 + largest);
    ASSERT_LE(f, most + tiny) << "row " << r;
    ASSERT_GE(f, least - tiny) << "row " << r;
    const double over = w[r] - row.target + box.compliance * f;
    // the tolerance of the solver is on forces
    const double slack = 1e-8 * (1.0 + largest);
    if (f < most - tiny) {
      ASSERT_GE(over, -slack) << to_string(row.kind) << " row " << r;
    }
    if (f > least + tiny) {
      ASSERT_LE(over, slack) << to_string(row.kind) << " row " << r;
    }
  }
}

/// M (v⁺ − v_free) = Jᵀ f summed over all bodies: what walls and floor give is what the crowd's momentum changes by.
Vector3 momentum(const World& world, const VectorX& q, const VectorX& v) {
  Data data(world.model());
  forward_kinematics(world.model(), data, q, v);
  Vector3 out = Vector3::Zero();
  for (int b = 0; b < world.model().num_bodies(); ++b)
    out += world.model().body(b).spec.inertia.mass * body_velocity(world.model(), data, b).head<3>();
  return out;
}

Vector3 impulse_of_walls(const World& world, const Tape& tape) {
  Vector3 out = Vector3::Zero();
  for (const RowBlock& block : tape.hard().problem.blocks) {
    const BodyRows& pair = tape.hard().problem.pairs[block.pair];
    const bool A_moves = world.model().joint(pair.body_A).nv > 0;
    const bool B_moves = world.model().joint(pair.body_B).nv > 0;
    if (A_moves == B_moves) continue;
    for (int r = block.first_row; r < block.first_row + block.num_rows; ++r)
      out += (B_moves ? 1.0 : -1.0) * tape.hard().f[r] * block.D.col(tape.hard().problem.rows[r].axis);
  }
  return out;
}

double mass_of(const Model& model) {
  double mass = 0.0;
  for (int b = 0; b < model.num_bodies(); ++b) mass += model.body(b).spec.inertia.mass;
  return mass;
}

/// Of any point of bodies of this size.
double fastest(const VectorX& v, double reach) {
  double out = 0.0;
  for (Eigen::Index k = 0; k + 6 <= v.size(); k += 6)
    out = std::max(out, v.segment<3>(k).norm() + reach * v.segment<3>(k + 3).norm());
  return out;
}

double deepest(const Tape& tape) {
  double out = 0.0;
  for (const Contact& contact : tape.hard().problem.contacts) out = std::max(out, -contact.distance);
  return out;
}

double deepest(const StepResult& result) {
  double out = 0.0;
  for (const Contact& contact : result.contacts) out = std::max(out, -contact.distance);
  return out;
}

void expect_laws(const Crowd& crowd, double duration, int steps_between_looks, double most_penetration) {
  const World& world = crowd.world;
  const double dt = world.options().time_step;
  Workspace workspace(world);
  State state = crowd.start;
  const VectorX u = VectorX::Zero(world.nu());
  Tape tape;
  for (int i = 0; i * dt < duration; ++i) {
    const State before = state;
    const bool look = i % steps_between_looks == 0;
    const StepResult& result = step(world, before, u, workspace, state, look ? &tape : nullptr);
    ASSERT_EQ(result.status, StepStatus::solved) << crowd.name << ", step " << i << ", residual " << result.residual;
    ASSERT_LT(deepest(result), most_penetration) << crowd.name << ", step " << i;
    if (!look) continue;
    SCOPED_TRACE(crowd.name + ", step " + std::to_string(i));
    expect_complementary(world, tape);
    const Vector3 weight = dt * mass_of(world.model()) * world.model().gravity();
    const Vector3 change = momentum(world, state.q, state.v) - momentum(world, before.q, before.v);
    const Vector3 given = impulse_of_walls(world, tape) + weight;
    EXPECT_LT((change - given).norm(), 1e-9 * (1.0 + given.norm()));
  }
}

// what turns at 20 rad/s leaves a row's straight line by 3 mm within a step
TEST(Crowds, BinOfBoxes) { expect_laws(bin_of_boxes(40), 3.0, 10, 8e-3); }
TEST(Crowds, PyramidOfBricks) { expect_laws(brick_pyramid(10), 1.0, 10, 1e-3); }
// round sides, which have no corners to look ahead for, and 35 rad/s
TEST(Crowds, HeapOfShapes) { expect_laws(heap_of_shapes(30), 2.0, 10, 2.5e-2); }

/// The pyramid stays as it was built.
TEST(Crowds, PyramidStands) {
  const Crowd crowd = brick_pyramid(10);
  Workspace workspace(crowd.world);
  State state = crowd.start;
  const VectorX u = VectorX::Zero(crowd.world.nu());
  for (int i = 0; i < 300; ++i) (void)step(crowd.world, state, u, workspace, state);
  EXPECT_LT((state.q - crowd.start.q).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_LT(state.v.cwiseAbs().maxCoeff(), 1e-3);
}

/// What falls into a bin comes to rest there, on and not in each other.
TEST(Crowds, BinComesToRest) {
  const Crowd crowd = bin_of_boxes(20);
  Workspace workspace(crowd.world);
  State state = crowd.start;
  const VectorX u = VectorX::Zero(crowd.world.nu());
  Tape tape;
  for (int i = 0; i < 500; ++i)
    ASSERT_EQ(step(crowd.world, state, u, workspace, state, &tape).status, StepStatus::solved) << "step " << i;
  EXPECT_LT(fastest(state.v, 0.2), 0.05);
  EXPECT_LT(deepest(tape), 1e-3);
}

/// Derivatives of a step whose island is solved by its bodies, against differences with sets and features held. In a
/// crowd some row is always about to change its set, and bricks in line share their edges: coordinates that leave no
/// room for a thousandth of the step are left out.
void expect_derivatives(const Crowd& crowd, int steps) {
  const World& world = crowd.world;
  const int nv = world.nv();
  const VectorX u = VectorX::Zero(world.nu());
  Workspace workspace(world);
  State state = crowd.start;
  for (int i = 0; i < steps; ++i) (void)step(world, state, u, workspace, state);
  Tape tape;
  State next;
  ASSERT_EQ(step(world, state, u, workspace, next, &tape).status, StepStatus::solved);
  ASSERT_GE(tape.hard().problem.num_rows(), 64);
  StepJacobians jacobians;
  (void)step_jacobians(world, tape, workspace, jacobians);
  MatrixX all(nv, 2 * nv + world.nu());
  all << jacobians.v_q, jacobians.v_v, jacobians.v_u;

  VectorX v_next(nv);
  const auto holds = [&](int k, double h) {
    VectorX delta = VectorX::Zero(all.cols());
    delta[k] = h;
    State from{VectorX(world.nq()), state.v + delta.segment(nv, nv)};
    integrate(world.model(), state.q, delta.head(nv), from.q);
    State to;
    const StepResult& result = step(world, from, u + delta.tail(world.nu()), workspace, to);
    v_next = to.v;
    const auto same_features = [](const Contact& one, const Contact& other) {
      return one.feature_A == other.feature_A && one.feature_B == other.feature_B;
    };
    const std::vector<Contact>& contacts = tape.hard().problem.contacts;
    return result.status == StepStatus::solved && std::ranges::equal(result.sets, tape.hard().sets) &&
           std::ranges::equal(result.contacts, contacts, same_features);
  };
  Random random(3);
  int judged = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const int k = random.index(static_cast<int>(all.cols()));
    double scale = k < nv ? 1e-3 : k < 2 * nv ? 1e-2 : 1.0;
    const double least = 1e-3 * scale;
    while (scale >= least && !(holds(k, scale) && holds(k, -scale))) scale /= 2.0;
    if (scale < least) continue;
    ++judged;
    const auto along = [&](const VectorX& t) -> VectorX {
      (void)holds(k, t[0]);
      return v_next - next.v;
    };
    const VectorX expected = difference(along, 1, nv, {.scale = scale, .noise = 1e-12}).jacobian;
    const double size = std::max(all.col(k).cwiseAbs().maxCoeff(), k < 2 * nv ? 1.0 : world.options().time_step);
    EXPECT_NEAR_ABSOLUTE(VectorX(all.col(k)), expected, 1e-6 * size) << crowd.name << ", coordinate " << k;
  }
  EXPECT_GE(judged, 30) << crowd.name;
}

TEST(Crowds, DerivativesAreThoseOfTheStep) {
  expect_derivatives(brick_pyramid(5), 20);
  expect_derivatives(bin_of_boxes(12), 150);
}

/// The same bits again, and once its rows are known nothing is allocated.
TEST(Crowds, SameBitsAgainAndNothingAllocated) {
  const Crowd crowd = bin_of_boxes(20);
  const VectorX u = VectorX::Zero(crowd.world.nu());
  Workspace workspace(crowd.world);
  State state = crowd.start;
  for (int i = 0; i < 80; ++i) (void)step(crowd.world, state, u, workspace, state);
  WarmStart warm_start;
  workspace.save(warm_start);
  State one = state;
  State other = state;
  (void)step(crowd.world, state, u, workspace, one);
  workspace.restore(warm_start);
  const AllocationCount count;
  (void)step(crowd.world, state, u, workspace, other);
  EXPECT_EQ(count.so_far(), 0);
  EXPECT_EQ(one.q, other.q);
  EXPECT_EQ(one.v, other.v);
}

}  // namespace
}  // namespace tangere::test
