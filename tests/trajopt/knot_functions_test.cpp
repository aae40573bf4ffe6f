#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/trajopt/function_dynamics.hpp"
#include "tangere/trajopt/problem.hpp"
#include "tangere/trajopt/world_dynamics.hpp"
#include "tests/support/all_models.hpp"
#include "tests/support/finite_difference.hpp"

namespace tangere {
namespace {

using test::finite_difference;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

VectorX random_state(const Model& model, Random& random) {
  VectorX x(model.nq() + model.nv());
  x.head(model.nq()) = random_configuration(model, random);
  for (int i = 0; i < model.nv(); ++i) x[model.nq() + i] = random.normal();
  return x;
}

/// Every term's Jacobians at a random state against differences along the manifold.
void expect_derivatives(const OptimalControl& problem, Random& random) {
  const Dynamics& dynamics = problem.dynamics();
  const int ndx = dynamics.ndx();
  const int nu = dynamics.nu();
  const VectorX x = random_state(*dynamics.model(), random);
  VectorX u(nu);
  for (double& entry : u) entry = random.normal();
  for (const Term& term : problem.terms()) {
    const int size = term.function->size();
    KnotMemory memory(dynamics);
    const auto value_at = [&](const VectorX& d) -> VectorX {
      VectorX moved;
      dynamics.plus(x, d.head(ndx), moved);
      const VectorX control = u + d.tail(nu);
      VectorX value = VectorX::Zero(size);
      memory.forget();
      term.function->evaluate({1, 0.0, 0.1, moved, control, dynamics, memory}, value, nullptr);
      return value;
    };
    VectorX value = VectorX::Zero(size);
    RowMatrixX J = RowMatrixX::Zero(size, ndx + nu);
    KnotJacobians jacobians{J.leftCols(ndx), J.rightCols(nu)};
    memory.forget();
    term.function->evaluate({1, 0.0, 0.1, x, u, dynamics, memory}, value, &jacobians);
    const MatrixX expected = finite_difference(value_at, ndx + nu, size, 0.01);
    EXPECT_LE((J - expected).cwiseAbs().maxCoeff(), 1e-7 * (1.0 + expected.cwiseAbs().maxCoeff()))
        << term.name << " of " << dynamics.model()->name();
  }
}

TEST(KnotFunctions, DerivativesMatchDifferencesForAllModels) {
  Random random(3);
  for (const test::NamedModel& named : test::all_models()) {
    const Model& model = named.model;
    const auto dynamics = std::make_shared<WorldDynamics>(World(model));
    OptimalControl problem(dynamics, {random_state(model, random), constant_steps(3, 0.01)});
    const std::string body = model.body(model.num_bodies() - 1).spec.name;
    const Pose X_BF(random.rotation(), random.normal3());
    const Pose target(random.rotation(), random.normal3());
    problem.add(StateCost{.target = random_state(model, random), .weight = all_of(1.0)});
    problem.add(ControlCost{.weight = all_of(1.0)});
    problem.add(FrameCost{.body = body, .X_BF = X_BF, .target = target});
    if (model.total_mass() > 0.0) problem.add(CenterOfMassCost{.target = random.normal3()});
    problem.add(ControlBounds{.lower = all_of(-2.0), .upper = all_of(3.0)});
    problem.add(Reach{.target = random_state(model, random)});
    problem.add(ReachFrame{.body = body, .X_BF = X_BF, .target = target});
    problem.add(ReachFrame{.name = "some rows",
                           .body = body,
                           .X_BF = X_BF,
                           .target = target,
                           .position_only = false,
                           .mask = (Vector6() << 0, 1, 0, 1, 0, 1).finished()});
    problem.add(
        FrameBounds{.body = body, .X_BF = X_BF, .lower = {-1.0, -kInfinity, 0.5}, .upper = {1.0, 2.0, kInfinity}});
    StateBounds bounds = StateBounds::joint_limits(model);
    bounds.upper.tail(model.nv()).setConstant(5.0);
    problem.add(bounds);
    expect_derivatives(problem, random);
  }
}

TEST(KnotFunctions, MasksAndBoundsKeepTheRowsAskedFor) {
  const test::NamedModel named = test::all_models().front();
  const auto dynamics = std::make_shared<WorldDynamics>(World(named.model));
  const State& state = dynamics->world().default_state();
  VectorX start(dynamics->nx());
  start << state.q, state.v;
  OptimalControl problem(dynamics, {start, constant_steps(2, 0.01)});
  const std::string body = named.model.body(0).spec.name;
  problem.add(ReachFrame{.body = body, .mask = (Vector6() << 0, 0, 1, 0, 0, 0).finished()});
  problem.add(FrameBounds{.body = body, .lower = {-kInfinity, -kInfinity, 0.5}});
  EXPECT_EQ(problem.terms()[0].function->size(), 1);
  EXPECT_EQ(problem.terms()[0].function->row_name(0), "z");
  EXPECT_EQ(problem.terms()[1].function->size(), 1);
  EXPECT_EQ(problem.terms()[1].kind, Term::Kind::inequality);
  EXPECT_THROW(problem.add(ReachFrame{.body = body, .mask = Vector6::Zero()}), InputError);
  EXPECT_THROW(problem.add(FrameBounds{.body = body, .lower = Vector3::Ones(), .upper = Vector3::Zero()}), InputError);
  EXPECT_THROW(problem.add(FrameBounds{.body = body}), InputError);
}

TEST(KnotFunctions, RungeKuttaJacobiansMatchDifferences) {
  Random random(4);
  const StateFunction step =
      runge_kutta(2, 1, [](const VectorX& x, const VectorX& u, double, VectorX& out, FunctionJacobians* J) {
        out[0] = x[1];
        out[1] = std::sin(x[0]) * u[0] - 0.1 * x[1] * x[1];
        if (J == nullptr) return;
        J->x << 0.0, 1.0, std::cos(x[0]) * u[0], -0.2 * x[1];
        J->u << 0.0, std::sin(x[0]);
      });
  VectorX x(2), u(1), out(2);
  x << 0.7, -0.3;
  u << 1.3;
  FunctionJacobians J{MatrixX::Zero(2, 2), MatrixX::Zero(2, 1)};
  step(x, u, 0.3, out, &J);
  const MatrixX expected = finite_difference(
      [&](const VectorX& d) -> VectorX {
        VectorX next(2);
        step(x + d.head(2), u + d.tail(1), 0.3, next, nullptr);
        return next;
      },
      3, 2);
  EXPECT_LE((J.x - expected.leftCols(2)).norm() + (J.u - expected.rightCols(1)).norm(), 1e-9);
}

}  // namespace
}  // namespace tangere
