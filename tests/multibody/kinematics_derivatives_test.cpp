/// Derivatives of bodies' motions against finite differences, over all joints.

#include "tangere/multibody/kinematics_derivatives.hpp"

#include <gtest/gtest.h>

#include "tangere/multibody/configuration.hpp"
#include "tests/support/all_models.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"

namespace tangere::test {
namespace {

class KinematicsDerivatives : public testing::TestWithParam<NamedModel> {};

TEST_P(KinematicsDerivatives, OfEveryBody) {
  const Model& model = GetParam().model;
  Random random(81);
  Data data(model);
  Data other(model);
  const VectorX q = random_configuration(model, random);
  const VectorX v = random_vector(model.nv(), random);
  const VectorX a = random_vector(model.nv(), random);
  const int nv = model.nv();
  forward_kinematics(model, data, q, v, a);
  BodyMotionDerivatives d;
  for (int b = 0; b < model.num_bodies(); ++b) {
    SCOPED_TRACE(model.body(b).spec.name);
    body_motion_derivatives(model, data, b, d);
    const auto at = [&](const VectorX& dq, const VectorX& dv, const VectorX& da) -> VectorX {
      VectorX moved(model.nq());
      integrate(model, q, dq, moved);
      forward_kinematics(model, other, moved, VectorX(v + dv), VectorX(a + da));
      VectorX out(12);
      out << body_velocity(model, other, b), body_acceleration(model, other, b);
      return out;
    };
    const VectorX zero = VectorX::Zero(nv);
    const MatrixX d_q = finite_difference([&](const VectorX& t) { return at(t, zero, zero); }, nv, 12);
    const MatrixX d_v = finite_difference([&](const VectorX& t) { return at(zero, t, zero); }, nv, 12);
    const MatrixX d_a = finite_difference([&](const VectorX& t) { return at(zero, zero, t); }, nv, 12);
    EXPECT_NEAR_RELATIVE(d.velocity_d_q, d_q.topRows(6), 1e-8);
    EXPECT_NEAR_RELATIVE(d.acceleration_d_q, d_q.bottomRows(6), 1e-8);
    EXPECT_NEAR_RELATIVE(d.jacobian, d_v.topRows(6), 1e-8);
    EXPECT_NEAR_RELATIVE(d.acceleration_d_v, d_v.bottomRows(6), 1e-8);
    EXPECT_NEAR_RELATIVE(d.jacobian, d_a.bottomRows(6), 1e-8);
  }
}

INSTANTIATE_TEST_SUITE_P(AllModels, KinematicsDerivatives, testing::ValuesIn(all_models()),
                         model_test_name<testing::TestParamInfo<NamedModel>>);

}  // namespace
}  // namespace tangere::test
