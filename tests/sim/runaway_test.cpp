/// Numbers that run away: a step says so and keeps the state, whatever the formulation and wherever they come from.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tangere/math/error.hpp"
#include "tangere/sim/step_derivatives.hpp"
#include "tests/support/step_cases.hpp"

namespace tangere::test {
namespace {

class Runaway : public testing::TestWithParam<Formulation> {
 protected:
  /// A ball that rests on the floor, and one above it.
  StepCase balls = free_bodies("balls",
                               {{Sphere{0.1}, Pose::translation({0.0, 0.0, 0.0999}), Vector6::Zero()},
                                {Sphere{0.1}, Pose::translation({0.05, 0.0, 0.4}), Vector6::Zero()}},
                               0.5, 0.0, {.time_step = 0.01, .formulation = GetParam()});
  Workspace workspace{balls.world};

  /// A step from (q, v) with u, in place: everything as it was, and the tape says so.
  void expect_standing_still(const State& state, const VectorX& u) {
    State next = state;
    Tape tape;
    const StepResult& result = step(balls.world, next, u, workspace, next, &tape);
    EXPECT_EQ(result.status, StepStatus::not_finite);
    EXPECT_TRUE(result.contacts.empty());
    EXPECT_TRUE(result.impulses.empty());
    EXPECT_EQ(tape.status, StepStatus::not_finite);
    EXPECT_EQ(next.q, state.q);
    EXPECT_EQ(next.v, state.v);
    StepJacobians jacobians;
    EXPECT_THROW((void)step_jacobians(balls.world, tape, workspace, jacobians), InputError);
    // and the next step is none the worse
    EXPECT_EQ(step(balls.world, balls.state, balls.u, workspace, next).status, StepStatus::solved);
  }
};

TEST_P(Runaway, ByForces) {
  for (const double force : {1e30, 1e160, 1e200, 1.7e308}) {
    for (const double sign : {-1.0, 1.0}) {
      for (const Eigen::Index k : {2, 3, 8}) {
        VectorX u = balls.u;
        u[k] = sign * force;
        SCOPED_TRACE("u[" + std::to_string(k) + "] = " + std::to_string(sign * std::log10(force)));
        expect_standing_still(balls.state, u);
      }
    }
  }
}

TEST_P(Runaway, ByTheState) {
  for (const double far : {1e21, 1e50, 1e200, 1.7e308}) {
    for (const Eigen::Index k : {2, 5, 8}) {
      State fast = balls.state;
      fast.v[k] = -far;
      expect_standing_still(fast, balls.u);
    }
    State away = balls.state;
    away.q[0] = far;
    expect_standing_still(away, balls.u);
  }
}

std::string formulation_name(const testing::TestParamInfo<Formulation>& one) {
  return std::string(to_string(one.param));
}

INSTANTIATE_TEST_SUITE_P(AllFormulations, Runaway,
                         testing::Values(Formulation::lcp, Formulation::single_level, Formulation::bilevel),
                         formulation_name);

/// Fast is not yet too fast: the floor is seen, however far away.
TEST(FastMotion, IsStoppedAtTheFloor) {
  const StepCase ball =
      free_bodies("ball", {{Sphere{0.1}, Pose::translation({0.0, 0.0, 1.0}), Vector6::Zero()}}, 0.5, 0.0, {});
  Workspace workspace(ball.world);
  for (const double speed : {1e3, 1e6}) {
    State state = ball.state;
    state.v[2] = -speed;
    EXPECT_NE(step(ball.world, state, ball.u, workspace, state).status, StepStatus::not_finite) << speed;
    EXPECT_GT(state.q[2], 0.0999) << speed;
  }
}

}  // namespace
}  // namespace tangere::test
