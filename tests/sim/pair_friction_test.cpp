/// The friction of a pair of shapes is the smaller of two coefficients. At a tie each has half of the derivative, and
/// says so; the pair's own coefficient has all of it, by hard and by smooth contact.

#include <gtest/gtest.h>

#include <array>

#include "tangere/math/error.hpp"
#include "tangere/sim/step_parameters.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/step_cases.hpp"

namespace tangere::test {
namespace {

class PairFriction : public testing::TestWithParam<Formulation> {};

/// A box that slides, on a floor of its own friction or of another one.
StepCase sliding(Formulation formulation, double floor) {
  WorldOptions options;
  options.time_step = 2e-3;
  options.formulation = formulation;
  options.smooth.kappa = 1e-4;
  options.smooth.tolerance = 1e-8;
  options.smooth.warm_start = false;
  Vector6 velocity = Vector6::Zero();
  velocity.head<3>() << 0.7, -0.4, -0.01;
  StepCase one =
      free_bodies("sliding", {{Box{.size = {0.4, 0.3, 0.2}}, Pose::translation({0.1, -0.2, 0.0992}), velocity, 1.0}},
                  0.3, 0.0, options);
  ModelBuilder builder(one.world.model());
  BodySpec body = one.world.model().body(0).spec;
  body.shapes[0].friction = floor;
  builder.set_body(0, std::move(body));
  return {"sliding", World(builder.build(), {}, options), one.state, one.u};
}

struct Answer {
  VectorX v;
  GradientQuality quality;
};

Answer by(const StepCase& one, const StepParameter& parameter) {
  Workspace workspace(one.world);
  State next;
  Tape tape;
  EXPECT_EQ(step(one.world, one.state, one.u, workspace, next, &tape).status, StepStatus::solved);
  StepParameterJacobians jacobians;
  const GradientQuality quality =
      step_parameter_jacobians(one.world, tape, workspace, std::span(&parameter, 1), jacobians);
  return {jacobians.v.col(0), quality};
}

VectorX differences(const StepCase& one, const StepParameter& parameter, Side side) {
  const VectorX value = parameter_values(one.world, std::span(&parameter, 1));
  const auto moved = [&](const VectorX& d) -> VectorX {
    const World other = with_parameters(one.world, std::span(&parameter, 1), value + d);
    Workspace workspace(other);
    State next;
    (void)step(other, one.state, one.u, workspace, next);
    return next.v;
  };
  return difference(moved, 1, 6, {.scale = 1e-2, .side = side}).jacobian.col(0);
}

TEST_P(PairFriction, OfEqualsEachHasHalf) {
  const StepCase tie = sliding(GetParam(), 0.3);
  const StepParameter pair = find_step_parameter(tie.world, "floor.floor|body0.body0.friction");
  EXPECT_EQ(pair.kind, StepParameter::Kind::pair_friction);
  const Answer all = by(tie, pair);
  EXPECT_LE(all.quality, GradientQuality::relaxed);
  ASSERT_GT(all.v.norm(), 1e-3);
  EXPECT_NEAR_RELATIVE(all.v, differences(tie, pair, Side::both), 1e-6);
  for (const char* name : {"floor.floor.friction", "body0.body0.friction"}) {
    const StepParameter shape = find_step_parameter(tie.world, name);
    const Answer half = by(tie, shape);
    EXPECT_EQ(half.quality, GradientQuality::halved_at_tie);
    EXPECT_NEAR_RELATIVE(half.v, VectorX(0.5 * all.v), 1e-12);
    // the mean of the two sides: all of it downwards, nothing upwards
    EXPECT_NEAR_RELATIVE(half.v, VectorX(0.5 * differences(tie, shape, Side::backward)), 1e-6);
    EXPECT_NEAR(differences(tie, shape, Side::forward).norm(), 0.0, 1e-9);
  }
}

TEST_P(PairFriction, OfUnequalsTheSmallerHasAll) {
  const StepCase one = sliding(GetParam(), 0.4);
  const Answer all = by(one, find_step_parameter(one.world, "body0.body0|floor.floor.friction"));
  const Answer body = by(one, find_step_parameter(one.world, "body0.body0.friction"));
  EXPECT_NEAR_RELATIVE(body.v, all.v, 1e-12);
  EXPECT_LE(body.quality, GradientQuality::relaxed);
  EXPECT_EQ(by(one, find_step_parameter(one.world, "floor.floor.friction")).v.norm(), 0.0);
}

/// A coefficient of the pair's own counts, whatever the shapes say, which then have no effect.
TEST_P(PairFriction, IsThePairsOwn) {
  const StepCase one = sliding(GetParam(), 0.4);
  const StepParameter pair = find_step_parameter(one.world, "body0.body0|floor.floor.friction");
  const World other = with_parameters(one.world, std::span(&pair, 1), VectorX::Constant(1, 0.05));
  EXPECT_EQ(parameter_values(other, std::span(&pair, 1))[0], 0.05);
  const World slippery = with_parameters(one.world, std::array{find_step_parameter(one.world, "body0.body0.friction")},
                                         VectorX::Constant(1, 0.05));
  const StepCase changed{"own", other, one.state, one.u};
  EXPECT_EQ(by(changed, find_step_parameter(other, "body0.body0.friction")).v.norm(), 0.0);
  State a;
  State b;
  Workspace of_other(other);
  Workspace of_slippery(slippery);
  (void)step(other, one.state, one.u, of_other, a);
  (void)step(slippery, one.state, one.u, of_slippery, b);
  EXPECT_EQ(a.v, b.v);

  WorldOptions options = one.world.options();
  options.contact.pair_friction = {{.shape_A = 0, .shape_B = 1, .friction = -1.0}};
  EXPECT_THROW(options.verify(), InputError);
  EXPECT_THROW((void)find_step_parameter(one.world, "floor.floor|nobody.friction"), InputError);
}

INSTANTIATE_TEST_SUITE_P(Formulations, PairFriction,
                         testing::Values(Formulation::lcp, Formulation::single_level, Formulation::bilevel),
                         [](const auto& test) { return std::string(to_string(test.param)); });

}  // namespace
}  // namespace tangere::test
