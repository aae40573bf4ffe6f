/// Analytical derivatives of the dynamics against finite differences, over all joints, with and without wrenches.

#include <gtest/gtest.h>

#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/forward_dynamics.hpp"
#include "tangere/multibody/forward_dynamics_derivatives.hpp"
#include "tangere/multibody/inverse_dynamics.hpp"
#include "tangere/multibody/inverse_dynamics_derivatives.hpp"
#include "tests/support/all_models.hpp"
#include "tests/support/allocation.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/model_state.hpp"

namespace tangere::test {
namespace {

class DynamicsDerivatives : public ModelState {
 protected:
  DynamicsDerivatives() : ModelState(51) {}

  Data other{model};
  std::vector<Vector6> wrenches = random_wrenches(model, random);
  int nv = model.nv();
};

TEST_P(DynamicsDerivatives, OfInverseDynamics) {
  for (const bool pushed : {false, true}) {
    const std::vector<Vector6> W = pushed ? wrenches : std::vector<Vector6>{};
    const VectorX tau = inverse_dynamics(model, other, q, v, a, W);
    const InverseDynamicsDerivatives d = inverse_dynamics_derivatives(model, data, q, v, a, W);
    EXPECT_NEAR_RELATIVE(inverse_dynamics_value(data), tau, 1e-12);
    const MatrixX d_q = finite_difference(
        [&](const VectorX& t) -> VectorX { return inverse_dynamics(model, other, moved(t), v, a, W); }, nv, nv);
    EXPECT_NEAR_RELATIVE(d.d_q, d_q, 1e-7);
    const MatrixX d_v = finite_difference(
        [&](const VectorX& t) -> VectorX { return inverse_dynamics(model, other, q, VectorX(v + t), a, W); }, nv, nv);
    EXPECT_NEAR_RELATIVE(d.d_v, d_v, 1e-7);
    const MatrixX d_a = finite_difference(
        [&](const VectorX& t) -> VectorX { return inverse_dynamics(model, other, q, v, VectorX(a + t), W); }, nv, nv);
    EXPECT_NEAR_RELATIVE(d.d_a, d_a, 1e-7);
  }
}

TEST_P(DynamicsDerivatives, OfForwardDynamics) {
  for (const bool pushed : {false, true}) {
    const std::vector<Vector6> W = pushed ? wrenches : std::vector<Vector6>{};
    const VectorX tau = 10.0 * a;
    const ForwardDynamicsDerivatives d = forward_dynamics_derivatives(model, data, q, v, tau, W);
    EXPECT_NEAR_RELATIVE(d.acceleration, forward_dynamics(model, other, q, v, tau, W), 1e-12);
    const MatrixX d_q = finite_difference(
        [&](const VectorX& t) -> VectorX { return forward_dynamics(model, other, moved(t), v, tau, W); }, nv, nv);
    EXPECT_NEAR_RELATIVE(d.d_q, d_q, 1e-7);
    const MatrixX d_v = finite_difference(
        [&](const VectorX& t) -> VectorX { return forward_dynamics(model, other, q, VectorX(v + t), tau, W); }, nv, nv);
    EXPECT_NEAR_RELATIVE(d.d_v, d_v, 1e-7);
    const MatrixX d_tau = finite_difference(
        [&](const VectorX& t) -> VectorX { return forward_dynamics(model, other, q, v, VectorX(tau + t), W); }, nv, nv);
    EXPECT_NEAR_RELATIVE(d.d_tau, d_tau, 1e-7);
  }
}

TEST_P(DynamicsDerivatives, AllocateNothingAfterWarmUp) {
  const auto run = [&] {
    (void)inverse_dynamics_derivatives(model, data, q, v, a, wrenches);
    (void)forward_dynamics_derivatives(model, data, q, v, a, wrenches);
  };
  run();
  const AllocationCount count;
  run();
  EXPECT_EQ(count.so_far(), 0);
}

INSTANTIATE_TEST_SUITE_P(AllModels, DynamicsDerivatives, testing::ValuesIn(all_models()),
                         model_test_name<testing::TestParamInfo<NamedModel>>);

}  // namespace
}  // namespace tangere::test
