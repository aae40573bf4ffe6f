#pragma once

/// Derivatives of steps with smooth contact beside finite differences of the same steps, for tests.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/sim/step_parameters.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/step_cases.hpp"

namespace tangere::test {

inline constexpr double kKappas[] = {1e-2, 1e-4, 1e-6};

/// Solved so well that differences see the solution and not the tolerance.
inline WorldOptions tight(double time_step, double kappa) {
  WorldOptions options;
  options.time_step = time_step;
  options.formulation = Formulation::single_level;
  options.smooth.kappa = kappa;
  options.smooth.tolerance = 1e-12 / kappa;
  options.smooth.warm_start = false;
  return options;
}

inline MatrixX all_columns(const StepJacobians& J) {
  MatrixX out(J.q_q.rows() + J.v_q.rows(), J.q_q.cols() + J.q_v.cols() + J.q_u.cols());
  out << J.q_q, J.q_v, J.q_u, J.v_q, J.v_v, J.v_u;
  return out;
}

/// The next state, from the one that the step without changes gives.
inline VectorX next_from(const World& world, const State& state, const VectorX& u, const State& origin) {
  Workspace workspace(world);
  State next;
  EXPECT_EQ(step(world, state, u, workspace, next).status, StepStatus::solved);
  VectorX out(2 * world.nv());
  VectorX dq(world.nv());
  difference(world.model(), origin.q, next.q, dq);
  out << dq, next.v;
  return out;
}

/// Columns that nothing depends on are zero in both; each column is judged by the largest entry of its kind (q, v, u).
inline void expect_columns_near(const MatrixX& analytic, const MatrixX& numeric, int nv, double tolerance) {
  const auto kinds = static_cast<int>(analytic.cols()) / nv;
  for (int kind = 0; kind < kinds; ++kind)
    for (int half = 0; half < 2; ++half)
      EXPECT_NEAR_RELATIVE(MatrixX(analytic.block(half * nv, kind * nv, nv, nv)),
                           MatrixX(numeric.block(half * nv, kind * nv, nv, nv)), tolerance)
          << (half == 0 ? "q" : "v") << " by "
          << "qvu"[kind];
}

inline void expect_derivatives(const World& world, const State& state, const VectorX& u, double kappa,
                               double tolerance = 1e-6, double scale = 1e-2) {
  Workspace workspace(world);
  Tape tape;
  State next;
  ASSERT_EQ(step(world, state, u, workspace, next, &tape).status, StepStatus::solved);
  ASSERT_TRUE(tape.parts.empty());
  StepJacobians jacobians;
  (void)step_jacobians(world, tape, workspace, jacobians);
  MatrixX analytic = all_columns(jacobians);
  const double dt = world.options().time_step;
  analytic.rightCols(world.nu()) /= dt;
  const int nv = world.nv();
  const auto moved = [&](const VectorX& d) -> VectorX {
    State from = state;
    integrate(world.model(), state.q, d.head(nv), from.q);
    from.v += d.segment(nv, nv);
    // forces by the impulse they give: they are then as large as velocities
    return next_from(world, from, u + d.tail(world.nu()) / world.options().time_step, next);
  };
  const Difference numeric = difference(moved, static_cast<int>(analytic.cols()), 2 * nv,
                                        // the next q is told from the one without changes
                                        {.scale = std::min(scale, 100.0 * kappa), .noise = 1e-13, .floor = 1e-14});
  expect_columns_near(analytic, numeric.jacobian, nv, tolerance);

  // the products are those of the matrices
  Random random(5);
  StateTangent g{VectorX(nv), VectorX(nv)};
  for (int i = 0; i < nv; ++i) {
    g.q[i] = random.normal();
    g.v[i] = random.normal();
  }
  StateTangent back;
  VectorX g_u;
  EXPECT_EQ(step_vjp(world, tape, workspace, g, back, g_u), GradientQuality::exact);
  VectorX reverse(analytic.cols());
  reverse << back.q, back.v, g_u / dt;
  VectorX weights(2 * nv);
  weights << g.q, g.v;
  EXPECT_NEAR_RELATIVE(reverse, VectorX(analytic.transpose() * weights), 1e-6);
  StateTangent forward;
  (void)step_jvp(world, tape, workspace, g, VectorX::Zero(world.nu()), forward);
  EXPECT_NEAR_RELATIVE(forward.v, VectorX(jacobians.v_q * g.q + jacobians.v_v * g.v), 1e-9);
}

/// All parameters of a scene, but for friction at ties (there are none here).
inline void expect_parameter_derivatives(const World& world, const State& state, const VectorX& u, double kappa,
                                         double scale = 1e-3) {
  Workspace workspace(world);
  Tape tape;
  State next;
  ASSERT_EQ(step(world, state, u, workspace, next, &tape).status, StepStatus::solved);
  const std::vector<StepParameter> parameters = all_step_parameters(world);
  StepParameterJacobians analytic;
  (void)step_parameter_jacobians(world, tape, workspace, parameters, analytic);
  const VectorX values = parameter_values(world, parameters);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    const std::string name = parameter_name(world, parameters[i]);
    // a free body with armature is not integrated as one without: there is no derivative at 0
    const bool of_free_body =
        parameters[i].kind == StepParameter::Kind::model && parameters[i].model.kind == Parameter::Kind::armature;
    if (of_free_body && world.implicit_inertia()[parameters[i].model.index] == 0.0 &&
        name.find('[') != std::string::npos)
      continue;
    // numbers that are at the end of their range are looked at from inside
    const bool at_end = values[column] == 0.0 &&
                        (name.ends_with("damping") || name.ends_with("stiffness") || name.ends_with("armature") ||
                         name.find("damping[") != std::string::npos || name.find("stiffness[") != std::string::npos ||
                         name.find("armature[") != std::string::npos || name.ends_with("restitution"));
    const auto moved = [&](const VectorX& d) -> VectorX {
      const VectorX value = values.segment(column, 1) + d;
      const World other = with_parameters(world, std::span(&parameters[i], 1), value);
      return next_from(other, state, u, next);
    };
    Difference numeric;
    try {
      numeric = difference(
          moved, 1, 2 * world.nv(),
          {.scale = std::min(scale, 100.0 * kappa), .side = at_end ? Side::forward : Side::both, .noise = 1e-13});
    } catch (const InputError&) {
      continue;  // a value that is not possible (a spring of a ball joint)
    }
    VectorX both(2 * world.nv());
    both << analytic.q.col(column), analytic.v.col(column);
    const double size = std::max(numeric.jacobian.cwiseAbs().maxCoeff(), 1.0);
    // 1 / kappa amplifies what the step leaves of its problem
    EXPECT_LE((both - numeric.jacobian).cwiseAbs().maxCoeff() / size, 1e-6 + world.options().smooth.tolerance / kappa)
        << name;
  }
}

inline void expect_parameter_derivatives(const World& world, const State& state, double kappa, double scale = 1e-3) {
  expect_parameter_derivatives(world, state, VectorX::Constant(world.nu(), 0.1), kappa, scale);
}

}  // namespace tangere::test
