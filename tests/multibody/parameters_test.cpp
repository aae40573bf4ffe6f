/// Parameters by name and as a vector, and the dynamics' derivatives with respect to all of them.

#include "tangere/multibody/parameters.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <set>

#include "tangere/math/error.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/forward_dynamics.hpp"
#include "tangere/multibody/inverse_dynamics.hpp"
#include "tangere/multibody/parameter_derivatives.hpp"
#include "tests/support/all_models.hpp"
#include "tests/support/allocation.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/model_state.hpp"

namespace tangere::test {
namespace {

class Parameters : public ModelState {
 protected:
  Parameters() : ModelState(71) {}

  std::vector<Vector6> wrenches = random_wrenches(model, random);
  std::vector<Parameter> parameters = all_parameters(model);
};

TEST_P(Parameters, HaveNamesAndValues) {
  std::set<std::string> names;
  for (const Parameter& parameter : parameters) {
    const std::string name = parameter_name(model, parameter);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(find_parameter(model, name), parameter) << name;
  }
  const VectorX values = parameter_values(model, parameters);
  const Model same = with_parameters(model, parameters, values);
  EXPECT_NEAR_ABSOLUTE(parameter_values(same, parameters), values, 1e-12);
}

/// One at a time: every parameter is a smooth direction of its own.
TEST_P(Parameters, DerivativesOfTheDynamics) {
  const VectorX values = parameter_values(model, parameters);
  for (const bool pushed : {false, true}) {
    const std::vector<Vector6> W = pushed ? wrenches : std::vector<Vector6>{};
    MatrixX d_inverse;
    MatrixX d_forward;
    inverse_dynamics_parameter_derivatives(model, data, q, v, a, parameters, d_inverse, W);
    const VectorX tau = 10.0 * a;
    forward_dynamics_parameter_derivatives(model, data, q, v, tau, parameters, d_forward, W);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      SCOPED_TRACE(parameter_name(model, parameters[i]));
      const auto c = static_cast<Eigen::Index>(i);
      const auto with = [&](const VectorX& t) {
        return with_parameters(model, std::span(&parameters[i], 1), VectorX::Constant(1, values[c] + t[0]));
      };
      const double scale = 0.01 * std::max(std::abs(values[c]), 0.01);
      const auto inverse_at = [&](const VectorX& t) -> VectorX {
        const Model other = with(t);
        Data memory(other);
        return inverse_dynamics(other, memory, q, v, a, W);
      };
      const auto forward_at = [&](const VectorX& t) -> VectorX {
        const Model other = with(t);
        Data memory(other);
        return forward_dynamics(other, memory, q, v, tau, W);
      };
      // one-sided where there is nothing below zero
      const bool at_bound = values[c] <= scale && parameters[i].kind >= Parameter::Kind::damping &&
                            parameters[i].kind != Parameter::Kind::rest &&
                            parameters[i].kind != Parameter::Kind::gravity;
      const Side side = at_bound ? Side::forward : Side::both;
      const DifferenceOptions options{.scale = scale, .side = side, .noise = 1e-14, .num_steps = 6};
      // relative to the parameter's own column; a difference is no better than it knows itself to be
      const auto expect_same = [](const VectorX& column, const Difference& expected) {
        const double tolerance = 1e-7 * column.cwiseAbs().maxCoeff() + 2.0 * expected.error.maxCoeff();
        EXPECT_NEAR_ABSOLUTE(column, VectorX(expected.jacobian.col(0)), tolerance);
      };
      expect_same(d_inverse.col(c), difference(inverse_at, 1, model.nv(), options));
      expect_same(d_forward.col(c), difference(forward_at, 1, model.nv(), options));
    }
  }
}

TEST_P(Parameters, AllocateNothingAfterWarmUp) {
  MatrixX d_inverse;
  MatrixX d_forward;
  MatrixX Y;
  const auto run = [&] {
    inverse_dynamics_parameter_derivatives(model, data, q, v, a, parameters, d_inverse, wrenches);
    forward_dynamics_parameter_derivatives(model, data, q, v, a, parameters, d_forward, wrenches);
    inertial_regressor(model, data, q, v, a, Y);
  };
  run();
  const AllocationCount count;
  run();
  EXPECT_EQ(count.so_far(), 0);
}

TEST_P(Parameters, RegressorIsLinear) {
  MatrixX Y;
  inertial_regressor(model, data, q, v, a, Y);
  VectorX expected = inverse_dynamics(model, data, q, v, a);
  for (int k = 0; k < model.nv(); ++k) {
    const DofSpec& dof = model.dofs()[k];
    expected[k] -= dof.armature * a[k] + dof.damping * v[k];
  }
  for (const Joint& joint : model.joints()) {
    if (joint.nq != joint.nv) continue;
    for (int k = 0; k < joint.nv; ++k) {
      const DofSpec& dof = model.dofs()[joint.first_v + k];
      expected[joint.first_v + k] -= dof.stiffness * (q[joint.first_q + k] - dof.rest);
    }
  }
  EXPECT_NEAR_RELATIVE(VectorX(Y * inertial_moments(model)), expected, 1e-11);
}

INSTANTIATE_TEST_SUITE_P(AllModels, Parameters, testing::ValuesIn(all_models()),
                         model_test_name<testing::TestParamInfo<NamedModel>>);

TEST(ParameterInput, IsChecked) {
  const Model& model = all_models().back().model;
  EXPECT_THROW((void)find_parameter(model, "shin9.mass"), InputError);
  const Parameter mass = find_parameter(model, "shin2.mass");
  EXPECT_THROW((void)with_parameters(model, std::span(&mass, 1), VectorX::Constant(1, -1.0)), InputError);
  EXPECT_THROW((void)with_parameters(model, std::span(&mass, 1), VectorX::Constant(2, 1.0)), InputError);
  const Parameter none{Parameter::Kind::mass, 1000, 0};
  EXPECT_THROW((void)parameter_values(model, std::span(&none, 1)), InputError);
  Data data(model);
  const VectorX q = neutral_configuration(model);
  const VectorX v = VectorX::Zero(model.nv());
  MatrixX out;
  for (const Parameter& bad :
       {none, Parameter{Parameter::Kind::damping, 1000, 0}, Parameter{Parameter::Kind::mass, -1, 0},
        Parameter{Parameter::Kind::placement, 0, 9}, Parameter{Parameter::Kind::stiffness, 0, 0}})
    EXPECT_THROW(inverse_dynamics_parameter_derivatives(model, data, q, v, v, std::span(&bad, 1), out), InputError);
}

}  // namespace
}  // namespace tangere::test
