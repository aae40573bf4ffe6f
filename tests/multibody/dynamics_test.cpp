/// Dynamics against each other and against the energies they must follow from, over all joints.

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <array>
#include <functional>
#include <limits>
#include <utility>

#include "tangere/math/error.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/energy.hpp"
#include "tangere/multibody/forward_dynamics.hpp"
#include "tangere/multibody/forward_dynamics_derivatives.hpp"
#include "tangere/multibody/inverse_dynamics.hpp"
#include "tangere/multibody/inverse_dynamics_derivatives.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/multibody/mass_matrix.hpp"
#include "tests/support/all_models.hpp"
#include "tests/support/allocation.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/model_state.hpp"

namespace tangere::test {
namespace {

class Dynamics : public ModelState {
 protected:
  Dynamics() : ModelState(41) {}
};

TEST_P(Dynamics, ForwardIsTheInverseOfInverse) {
  for (int trial = 0; trial < 20; ++trial) {
    q = random_configuration(model, random);
    v = random_vector(model.nv(), random);
    a = random_vector(model.nv(), random);
    const std::vector<Vector6> wrenches = trial % 2 == 0 ? std::vector<Vector6>{} : random_wrenches(model, random);
    const VectorX tau = inverse_dynamics(model, data, q, v, a, wrenches);
    EXPECT_NEAR_RELATIVE(forward_dynamics(model, data, q, v, tau, wrenches), a, 1e-10);
  }
}

TEST_P(Dynamics, MassMatrixIsWhatInverseDynamicsSays) {
  const MatrixX M = mass_matrix(model, data, q);
  EXPECT_EQ((M - M.transpose()).cwiseAbs().maxCoeff(), 0.0);
  EXPECT_EQ(Eigen::LLT<Eigen::MatrixXd>(M).info(), Eigen::Success);
  const VectorX bias = bias_forces(model, data, q, v);
  EXPECT_NEAR_RELATIVE(VectorX(M * a + bias), inverse_dynamics(model, data, q, v, a), 1e-12);
}

TEST_P(Dynamics, FactorsSolve) {
  const MatrixX M = mass_matrix(model, data, q);
  factor_mass_matrix(model, data);
  VectorX x = M * a;
  solve_mass_matrix(model, data, x);
  EXPECT_NEAR_RELATIVE(x, a, 1e-10);
  const MatrixX inverse = inverse_mass_matrix(model, data);
  EXPECT_NEAR_ABSOLUTE(MatrixX(M * inverse), MatrixX(MatrixX::Identity(model.nv(), model.nv())), 1e-10);
}

/// The mass matrix and the forces of gravity and springs follow from the energies, which know poses and velocities
/// only.
TEST_P(Dynamics, FollowsFromTheEnergies) {
  const MatrixX M = mass_matrix(model, data, q);
  forward_kinematics(model, data, q, v);
  EXPECT_NEAR_RELATIVE(kinetic_energy(model, data, v), 0.5 * v.dot(M * v), 1e-12);

  const VectorX still = VectorX::Zero(model.nv());
  const VectorX slope = finite_difference_gradient(
      [&](const VectorX& delta) {
        const VectorX at = moved(delta);
        forward_kinematics(model, data, at);
        return potential_energy(model, data, at);
      },
      model.nv());
  EXPECT_NEAR_RELATIVE(bias_forces(model, data, q, still), slope, 1e-8);
}

/// d(kinetic + potential)/dt = v · (τ - damping v): along the motion q ⊕ (v t + ½ a t²), v + a t.
TEST_P(Dynamics, EnergyChangesByThePower) {
  const std::vector<Vector6> wrenches = random_wrenches(model, random);
  VectorX tau = inverse_dynamics(model, data, q, v, a, wrenches);
  for (int k = 0; k < model.nv(); ++k) tau[k] -= model.dofs()[k].damping * v[k];
  const double power = v.dot(tau);
  // and the wrenches' power
  forward_kinematics(model, data, q, v);
  double pushed = 0.0;
  for (int b = 0; b < model.num_bodies(); ++b) {
    const Vector6 V = body_velocity(model, data, b);
    const Vector3 p = body_pose(model, data, b).p;
    const Vector6& W = wrenches[b];
    pushed += V.head<3>().dot(W.head<3>()) + V.tail<3>().dot(W.tail<3>() - p.cross(W.head<3>()));
  }
  const VectorX rate = finite_difference_gradient(
      [&](const VectorX& t) {
        const VectorX at = moved(v * t[0] + 0.5 * a * t[0] * t[0]);
        const VectorX speed = v + a * t[0];
        forward_kinematics(model, data, at, speed);
        return kinetic_energy(model, data, speed) + potential_energy(model, data, at);
      },
      1, 0.02);
  EXPECT_NEAR(rate[0], power + pushed, 1e-7 * (std::abs(power) + std::abs(pushed) + 1.0));
}

TEST_P(Dynamics, AllocatesNothingAfterWarmUp) {
  const std::vector<Vector6> wrenches = random_wrenches(model, random);
  const VectorX tau = random_vector(model.nv(), random);
  VectorX x = tau;
  const auto run = [&] {
    (void)inverse_dynamics(model, data, q, v, a, wrenches);
    (void)forward_dynamics(model, data, q, v, tau, wrenches);
    (void)mass_matrix(model, data, q);
    factor_mass_matrix(model, data);
    (void)inverse_mass_matrix(model, data);
    solve_mass_matrix(model, data, x);
    forward_kinematics(model, data, q, v, a);
  };
  run();
  const AllocationCount count;
  run();
  EXPECT_EQ(count.so_far(), 0);
}

/// Every entry of every argument: refused by its name, and nothing is left of it.
TEST_P(Dynamics, RefusesWhatIsNotFinite) {
  const std::vector<Vector6> wrenches = random_wrenches(model, random);
  const VectorX before = inverse_dynamics(model, data, q, v, a, wrenches);
  using Call = std::function<void(const VectorX& q, const VectorX& v, const VectorX& a)>;
  const std::vector<std::pair<std::string, Call>> calls = {
      {"forward_kinematics", [&](auto& x, auto& y, auto& z) { forward_kinematics(model, data, x, y, z); }},
      {"inverse_dynamics", [&](auto& x, auto& y, auto& z) { inverse_dynamics(model, data, x, y, z); }},
      {"forward_dynamics", [&](auto& x, auto& y, auto& z) { forward_dynamics(model, data, x, y, z); }},
      {"inverse_dynamics_derivatives",
       [&](auto& x, auto& y, auto& z) { inverse_dynamics_derivatives(model, data, x, y, z); }},
      {"forward_dynamics_derivatives",
       [&](auto& x, auto& y, auto& z) { forward_dynamics_derivatives(model, data, x, y, z); }},
  };
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (const auto& [name, call] : calls) {
      for (int argument = 0; argument < 3; ++argument) {
        std::array<VectorX, 3> x = {q, v, a};
        VectorX& changed = x[argument];
        for (Eigen::Index k = 0; k < changed.size(); ++k) {
          const double kept = std::exchange(changed[k], bad);
          try {
            call(x[0], x[1], x[2]);
            ADD_FAILURE() << name << " took " << bad << " in argument " << argument;
          } catch (const InputError& error) {
            const std::string place = "[" + std::to_string(k) + "]";
            EXPECT_NE(error.field().find(place), std::string::npos) << name << ": " << error.what();
            EXPECT_NE(error.reason().find("must be finite"), std::string::npos) << error.what();
          }
          changed[k] = kept;
        }
      }
    }
    std::vector<Vector6> wrong = wrenches;
    wrong.back()[4] = bad;
    EXPECT_THROW(inverse_dynamics(model, data, q, v, a, wrong), InputError);
  }
  EXPECT_EQ(inverse_dynamics(model, data, q, v, a, wrenches), before);
}

INSTANTIATE_TEST_SUITE_P(AllModels, Dynamics, testing::ValuesIn(all_models()),
                         model_test_name<testing::TestParamInfo<NamedModel>>);

TEST(MassMatrix, FactorsBeforeItAreRefused) {
  const Model& model = all_models().back().model;
  Data data(model);
  VectorX x = VectorX::Ones(model.nv());
  EXPECT_THROW(factor_mass_matrix(model, data), InputError);
  (void)mass_matrix(model, data, neutral_configuration(model));
  EXPECT_THROW(solve_mass_matrix(model, data, x), InputError);
  EXPECT_THROW((void)inverse_mass_matrix(model, data), InputError);
  factor_mass_matrix(model, data);
  solve_mass_matrix(model, data, x);
  EXPECT_TRUE(x.allFinite());
}

/// A robot in free fall, no damping: momentum about its centre stays, the centre falls.
TEST(FreeFall, KeepsMomentum) {
  const auto& models = all_models();
  const Model& model = models.back().model;
  ASSERT_EQ(models.back().name, "quadruped");
  Random random(42);
  Data data(model);
  const VectorX q = random_configuration(model, random);
  const VectorX v = random_vector(model.nv(), random);
  VectorX tau = random_vector(model.nv(), random);
  tau.head<6>().setZero();  // joints push inside only
  const VectorX a = forward_dynamics(model, data, q, v, tau);
  forward_kinematics(model, data, q, v, a);
  EXPECT_NEAR_ABSOLUTE(center_of_mass_acceleration(model, data), model.gravity(), 1e-9);
  Matrix6X A;
  Matrix6X A_dot;
  centroidal_matrix(model, data, A);
  centroidal_matrix_rate(model, data, A_dot);
  const Vector6 momentum = A * v;
  EXPECT_NEAR_RELATIVE(momentum, centroidal_momentum(model, data), 1e-12);
  const Vector6 rate = A * a + A_dot * v;
  EXPECT_NEAR_ABSOLUTE(Vector3(rate.head<3>()), Vector3(model.total_mass() * model.gravity()), 1e-8 * momentum.norm());
  EXPECT_NEAR_ABSOLUTE(Vector3(rate.tail<3>()), Vector3(Vector3::Zero()), 1e-8 * momentum.norm());
}

/// Far from the world's origin as near it.
TEST(FreeFall, IsTheSameEverywhere) {
  const Model& model = all_models().back().model;
  Random random(43);
  Data data(model);
  VectorX q = random_configuration(model, random);
  const VectorX v = random_vector(model.nv(), random);
  const VectorX tau = random_vector(model.nv(), random);
  const VectorX near = forward_dynamics(model, data, q, v, tau);
  const MatrixX M = mass_matrix(model, data, q);
  q.head<3>() += Vector3(1e6, -2e6, 5e5);
  EXPECT_NEAR_RELATIVE(forward_dynamics(model, data, q, v, tau), near, 1e-12);
  EXPECT_NEAR_RELATIVE(mass_matrix(model, data, q), M, 1e-12);
}

/// Also what comes there by sliding: the mass matrix does not lose digits with the way.
TEST(SlidingBase, IsTheSameEverywhere) {
  for (const JointType type : {JointType::planar, JointType::translation2, JointType::translation3}) {
    Random random(44);
    ModelBuilder builder("slider");
    JointSpec base = random_joint(type, "base", random);
    for (DofSpec& dof : base.dofs) dof.stiffness = 0.0;
    builder.add_body(random_body("base", random), base);
    builder.add_body(random_body("arm", random), random_joint(JointType::revolute, "arm", random), "base");
    builder.add_body(random_body("hand", random), random_joint(JointType::ball, "hand", random), "arm");
    const Model model = builder.build();
    Data data(model);
    VectorX q = random_configuration(model, random);
    const VectorX v = random_vector(model.nv(), random);
    const VectorX a = random_vector(model.nv(), random);
    const MatrixX M = mass_matrix(model, data, q);
    forward_kinematics(model, data, q, v);
    const Vector6 momentum = centroidal_momentum(model, data);
    q[0] += 1e4;
    q[1] -= 3e4;
    EXPECT_NEAR_RELATIVE(mass_matrix(model, data, q), M, 1e-11);
    forward_kinematics(model, data, q, v, a);
    EXPECT_NEAR_RELATIVE(centroidal_momentum(model, data), momentum, 1e-9);
  }
}

TEST(DynamicsInput, NothingThatMoves) {
  ModelBuilder builder("rock");
  builder.add_body({.name = "rock", .inertia = mass_properties(Sphere{1.0})}, {});
  for (const Model& model : {ModelBuilder("nothing").build(), builder.build()}) {
    Data data(model);
    const VectorX none(0);
    EXPECT_EQ(inverse_dynamics(model, data, none, none, none).size(), 0);
    EXPECT_EQ(forward_dynamics(model, data, none, none, none).size(), 0);
    EXPECT_EQ(mass_matrix(model, data, none).size(), 0);
    factor_mass_matrix(model, data);
    EXPECT_EQ(inverse_mass_matrix(model, data).size(), 0);
    forward_kinematics(model, data, none, none);
    EXPECT_EQ(kinetic_energy(model, data, none), 0.0);
  }
}

TEST(DynamicsInput, WrongSizes) {
  const Model& model = all_models().back().model;
  Data data(model);
  const VectorX q = neutral_configuration(model);
  const VectorX v = VectorX::Zero(model.nv());
  EXPECT_THROW((void)inverse_dynamics(model, data, v, v, v), InputError);
  EXPECT_THROW((void)inverse_dynamics(model, data, q, q, v), InputError);
  EXPECT_THROW((void)forward_dynamics(model, data, q, v, q), InputError);
  const std::vector<Vector6> one(1, Vector6::Zero());
  EXPECT_THROW((void)forward_dynamics(model, data, q, v, v, one), InputError);
  EXPECT_THROW((void)body_pose(model, data, 0), InputError);
  forward_kinematics(model, data, q);
  EXPECT_THROW((void)body_velocity(model, data, 0), InputError);
  EXPECT_THROW((void)body_pose(model, data, -1), InputError);
  // after the poses changed, velocities are out of date
  forward_kinematics(model, data, q, v);
  (void)mass_matrix(model, data, q);
  EXPECT_THROW((void)body_velocity(model, data, 0), InputError);
  // the zero vector is no configuration, and a Data belongs to a model
  EXPECT_THROW((void)inverse_dynamics(model, data, VectorX::Zero(model.nq()), v, v), InputError);
  const Model copy = model;
  EXPECT_NO_THROW((void)mass_matrix(copy, data, q));
  const Model other = ModelBuilder(model).build();
  EXPECT_THROW((void)mass_matrix(other, data, q), InputError);
  EXPECT_THROW((void)body_pose(model, data, model.num_bodies()), InputError);
}

}  // namespace
}  // namespace tangere::test
