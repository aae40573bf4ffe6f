/// Derivatives of a step with respect to all that a world is made of.

#include "tangere/sim/step_parameters.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tangere/math/error.hpp"
#include "tangere/multibody/configuration.hpp"
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
  EXPECT_THROW((void)find_step_parameter(world, "nobody.friction"), InputError);
}

TEST_P(StepParameters, JacobiansAreThoseOfTheStep) {
  Workspace workspace(world);
  State next;
  Tape tape;
  ASSERT_EQ(step(world, state, u, workspace, next, &tape).status, StepStatus::solved);
  StepParameterJacobians jacobians;
  step_parameter_jacobians(world, tape, workspace, parameters, jacobians);
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
             std::equal(result.sets.begin(), result.sets.end(), tape.sets.begin(), tape.sets.end());
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

INSTANTIATE_TEST_SUITE_P(AllCases, StepParameters, testing::ValuesIn(all_step_cases()),
                         step_test_name<testing::TestParamInfo<StepCase>>);

}  // namespace
}  // namespace tangere::test
