/// Derivatives of a step with respect to all that a world is made of.

#include "tangere/sim/step_parameters.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "tangere/math/error.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/sim/impulse_derivatives.hpp"
#include "tangere/sim/tape/hard_tape.hpp"
#include "tests/support/allocation.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/parameter_bounds.hpp"
#include "tests/support/step_cases.hpp"

namespace tangere::test {
namespace {

class StepParameters : public testing::TestWithParam<StepCase> {
 protected:
  const World& world = GetParam().world;
  const State& state = GetParam().state;
  const VectorX& u = GetParam().u;
  int nv = world.nv();
  std::vector<StepParameter> parameters = all_step_parameters(world);
};

TEST_P(StepParameters, HaveNamesAndValues) {
  std::set<std::string> names;
  for (const StepParameter& parameter : parameters) {
    const std::string name = parameter_name(world, parameter);
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(find_step_parameter(world, parameter_name(world, parameters.back())), parameters.back());
  const VectorX values = parameter_values(world, parameters);
  EXPECT_NEAR_ABSOLUTE(parameter_values(with_parameters(world, parameters, values), parameters), values, 1e-12);
  try {
    (void)find_step_parameter(world, "nobody.friction");
    ADD_FAILURE();
  } catch (const InputError& error) {
    for (const char* form : {"'nobody.friction'", ".mass", ".damping", "gravity.x", ".friction", ".restitution"})
      EXPECT_NE(error.reason().find(form), std::string::npos) << error.what();
    // each size, and what they are called
    for (const StepParameter& parameter : parameters) {
      if (parameter.kind != StepParameter::Kind::shape_size) continue;
      const Shape& shape = world.scene().shape(world.model(), parameter.shape).shape;
      const std::string& name = shape.parameter_names()[parameter.component];
      EXPECT_TRUE(error.reason().find("." + name) != std::string::npos || error.reason().ends_with("…")) << name;
    }
  }
}

/// A pyramid of five sides on its tip: a side that moves splits the tip, which then is another corner; its lid does
/// not.
TEST(StepParametersOfShapes, SaysWhereASizeHasNoDerivative) {
  constexpr int kSides = 5;
  MatrixX3 A(kSides + 1, 3);
  VectorX b = VectorX::Constant(kSides + 1, 0.2);
  for (int i = 0; i < kSides; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / kSides;
    A.row(i) << std::cos(angle), std::sin(angle), -1.0;
    A.row(i) /= std::sqrt(2.0);
  }
  A.row(kSides) << 0.0, 0.0, 1.0;
  const Shape pyramid = Polytope{A, b};
  ModelBuilder builder("pyramid");
  builder.add_body({.name = "floor", .shapes = {{.name = "plane", .shape = HalfSpace{{0, 0, 1}, 0.0}}}},
                   {.name = "floor"});
  builder.add_body(
      {.name = "top", .inertia = mass_properties(pyramid, 1000.0), .shapes = {{.name = "body", .shape = pyramid}}},
      {.name = "top", .type = JointType::free});
  const World world(builder.build(), {}, {});
  State state{neutral_configuration(world.model()), VectorX::Zero(world.nv())};
  state.q[2] = 0.2 * std::sqrt(2.0) - 5e-4;
  Workspace workspace(world);
  State next;
  Tape tape;
  ASSERT_EQ(step(world, state, VectorX::Zero(world.nu()), workspace, next, &tape).status, StepStatus::solved);
  const auto quality_in = [&](const char* name) {
    const StepParameter parameter = find_step_parameter(world, name);
    StepParameterJacobians jacobians;
    return step_parameter_jacobians(world, tape, workspace, std::span(&parameter, 1), jacobians);
  };
  EXPECT_EQ(quality_in("top.body.b[0]"), GradientQuality::features_held);
  EXPECT_EQ(quality_in("top.body.b[5]"), GradientQuality::exact);
  EXPECT_EQ(quality_in("top.mass"), GradientQuality::exact);
  // nothing touches
  state.q[2] += 1.0;
  ASSERT_EQ(step(world, state, VectorX::Zero(world.nu()), workspace, next, &tape).status, StepStatus::solved);
  EXPECT_EQ(quality_in("top.body.b[0]"), GradientQuality::exact);
}

TEST_P(StepParameters, JacobiansAreThoseOfTheStep) {
  Workspace workspace(world);
  State next;
  Tape tape;
  ASSERT_EQ(step(world, state, u, workspace, next, &tape).status, StepStatus::solved);
  StepParameterJacobians jacobians;
  (void)step_parameter_jacobians(world, tape, workspace, parameters, jacobians);
  WarmStart warm;
  workspace.save(warm);

  const VectorX values = parameter_values(world, parameters);
  int num_ties = 0;
  const std::size_t stride = parameters.size() > 100 ? 7 : 1;
  for (std::size_t i = 0; i < parameters.size(); i += stride) {
    const auto column = static_cast<Eigen::Index>(i);
    const Bound bound = bound_of(world, parameters[i], values[column]);
    if (bound == Bound::skip) continue;
    bool held = true;
    const auto moved = [&](const VectorX& t) -> VectorX {
      const World other =
          with_parameters(world, std::span(&parameters[i], 1), VectorX::Constant(1, values[column] + t[0]));
      Workspace memory(other);
      memory.restore(warm);
      State to;
      const StepResult& result = step(other, state, u, memory, to);
      held = held && result.impacts.empty() != tape.bounced() &&
             std::equal(result.sets.begin(), result.sets.end(), tape.hard().sets.begin(), tape.hard().sets.end());
      VectorX out(2 * nv);
      difference(world.model(), next.q, to.q, out.head(nv));
      out.tail(nv) = to.v;
      return out;
    };
    // within what keeps the sets
    VectorX expected;
    double scale = parameter_scale(world, parameters[i], values[column]);
    for (; scale > 1e-14; scale /= 4.0) {
      held = true;
      try {
        (void)moved(VectorX::Constant(1, scale));
        if (bound == Bound::none) (void)moved(VectorX::Constant(1, -scale));
      } catch (const InputError&) {
        held = false;  // not a possible value
      }
      if (held) break;
    }
    if (!held) {
      ++num_ties;
      continue;
    }
    const Difference difference_of_step = difference(
        moved, 1, 2 * nv,
        {.scale = scale, .side = bound == Bound::none ? Side::both : Side::forward, .noise = 1e-11, .num_steps = 6});
    expected = difference_of_step.jacobian;
    VectorX actual(2 * nv);
    actual << jacobians.q.col(column), jacobians.v.col(column);
    // and what the difference itself is off by, where rows repeat each other and slide apart
    const double allowed =
        1e-7 * std::max(1.0, expected.cwiseAbs().maxCoeff()) + 2.0 * difference_of_step.error.maxCoeff();
    EXPECT_NEAR_ABSOLUTE(actual, expected, allowed) << parameter_name(world, parameters[i]);
  }
  // what turns a planar mechanism out of its plane gives it rows that it did not have
  EXPECT_LE(num_ties, world.free_dofs().empty() ? static_cast<int>(parameters.size()) / 4 : 0);
}

/// Of the state, of the impulses and of all parameters but sizes (which make shapes), in turn.
TEST_P(StepParameters, AllocateNothing) {
  Workspace workspace(world);
  State next;
  Tape tape;
  ASSERT_EQ(step(world, state, u, workspace, next, &tape).status, StepStatus::solved);
  std::erase_if(parameters, [](const StepParameter& p) { return p.kind == StepParameter::Kind::shape_size; });
  StepJacobians jacobians;
  StepParameterJacobians by_parameters;
  MatrixX impulses;
  const auto run = [&] {
    (void)step_jacobians(world, tape, workspace, jacobians);
    (void)step_parameter_jacobians(world, tape, workspace, parameters, by_parameters);
    (void)impulse_parameter_jacobians(world, tape, workspace, parameters, impulses);
  };
  run();
  const AllocationCount count;
  run();
  EXPECT_EQ(count.so_far(), 0);
}

INSTANTIATE_TEST_SUITE_P(AllCases, StepParameters, testing::ValuesIn(all_step_cases()),
                         step_test_name<testing::TestParamInfo<StepCase>>);

}  // namespace
}  // namespace tangere::test
