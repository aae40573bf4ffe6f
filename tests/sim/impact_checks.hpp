#pragma once

/// Steps with impacts inside, and all their derivatives against differences.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tangere/multibody/configuration.hpp"
#include "tangere/sim/step_derivatives.hpp"
#include "tangere/sim/step_parameters.hpp"
#include "tangere/sim/tape/hard_tape.hpp"
#include "tests/support/finite_difference.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/parameter_bounds.hpp"

namespace tangere::test {

struct Made {
  State next;
  Tape tape;
  bool bounced_at_end = false;
  std::size_t impacts = 0;
};

inline Made make_step(const World& world, const State& state, const VectorX& u) {
  Made out;
  Workspace workspace(world);
  const StepResult& result = step(world, state, u, workspace, out.next, &out.tape);
  EXPECT_EQ(result.status, StepStatus::solved);
  out.bounced_at_end = result.bounced_at_end;
  out.impacts = result.impacts.size();
  return out;
}

/// Whether two steps have the same sets, and targets of the same branches, in all parts.
inline bool same_pieces(const Tape& a, const Tape& b) {
  const auto same_rows = [](const Tape& one, const Tape& other) {
    const auto same_gain = [](const Row& r, const Row& s) { return r.gain == s.gain; };
    const bool both_short = (one.hard().restitution_kept < 1.0) == (other.hard().restitution_kept < 1.0);
    return both_short && one.hard().sets == other.hard().sets &&
           std::equal(one.hard().problem.rows.begin(), one.hard().problem.rows.end(), other.hard().problem.rows.begin(),
                      other.hard().problem.rows.end(), same_gain);
  };
  if (a.num_impacts() != b.num_impacts() || !same_rows(a, b)) return false;
  for (int i = 0; i < a.num_impacts(); ++i)
    if (!same_rows(a.impact(i), b.impact(i)) || !same_rows(a.after_impact(i), b.after_impact(i))) return false;
  return true;
}

/// All Jacobians, and those of all parameters, against differences of the step with as many impacts, of up to these
/// sizes. Parameters in `kinks` are left out: rows of the step appear as they move, however little.
inline void expect_derivatives(const World& world, const State& state, const VectorX& u, double scale,
                               double state_scale, const std::set<std::string>& kinks = {}) {
  const int nv = world.nv();
  Workspace workspace(world);
  const Made made = make_step(world, state, u);
  StepJacobians jacobians;
  (void)step_jacobians(world, made.tape, workspace, jacobians);
  const MatrixX all = (MatrixX(2 * nv, 2 * nv + world.nu()) << jacobians.q_q, jacobians.q_v, jacobians.q_u,
                       jacobians.v_q, jacobians.v_v, jacobians.v_u)
                          .finished();
  const auto tangent_of = [&](const World& other, const State& from, const VectorX& control) -> VectorX {
    const Made moved = make_step(other, from, control);
    EXPECT_EQ(moved.impacts, made.impacts);
    VectorX out(2 * nv);
    difference(world.model(), made.next.q, moved.next.q, out.head(nv));
    out.tail(nv) = moved.next.v - made.next.v;
    return out;
  };
  const auto from_state = [&](const VectorX& delta) -> VectorX {
    State from{VectorX(world.nq()), state.v + delta.segment(nv, nv)};
    integrate(world.model(), state.q, delta.head(nv), from.q);
    return tangent_of(world, from, u + delta.tail(world.nu()));
  };
  const MatrixX expected = finite_difference(from_state, 2 * nv + world.nu(), 2 * nv, state_scale);
  EXPECT_NEAR_ABSOLUTE(all, expected, 1e-7 * (1.0 + expected.cwiseAbs().maxCoeff()));

  // the products are those of the Jacobians
  StateTangent back;
  VectorX back_u;
  const StateTangent g{VectorX::LinSpaced(nv, -1.0, 1.0), VectorX::LinSpaced(nv, 0.5, 2.0)};
  (void)step_vjp(world, made.tape, workspace, g, back, back_u);
  EXPECT_NEAR_ABSOLUTE(back.q, VectorX(jacobians.q_q.transpose() * g.q + jacobians.v_q.transpose() * g.v), 1e-9);

  std::vector<StepParameter> parameters;
  for (const StepParameter& parameter : all_step_parameters(world))
    if (bound_of(world, parameter, parameter_values(world, std::span(&parameter, 1))[0]) != Bound::skip)
      parameters.push_back(parameter);
  StepParameterJacobians by_parameters;
  (void)step_parameter_jacobians(world, made.tape, workspace, parameters, by_parameters);
  const VectorX values = parameter_values(world, parameters);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    // a restitution stays below 1
    const bool is_restitution = parameters[i].kind == StepParameter::Kind::restitution;
    const auto along = [&](const VectorX& t) -> VectorX {
      VectorX moved = values;
      moved[k] += t[0];
      return tangent_of(with_parameters(world, parameters, moved), state, u);
    };
    const bool forward = bound_of(world, parameters[i], values[k]) == Bound::forward;
    const Side side = is_restitution && values[k] == 1.0 ? Side::backward : forward ? Side::forward : Side::both;
    const auto keeps_pieces = [&](double t) {
      VectorX moved = values;
      moved[k] += t;
      return same_pieces(made.tape, make_step(with_parameters(world, parameters, moved), state, u).tape);
    };
    double size = std::min(scale, parameter_scale(world, parameters[i], values[k]));
    const auto holds = [&] {
      return (side == Side::forward || keeps_pieces(-size)) && (side == Side::backward || keeps_pieces(size));
    };
    while (size > 1e-8 && !holds()) size /= 4.0;
    const std::string name = parameter_name(world, parameters[i]);
    if (kinks.contains(name)) {
      EXPECT_FALSE(holds()) << name << " is no kink";
      continue;
    }
    const Difference by_steps =
        difference(along, 1, 2 * nv, {.scale = size, .side = side, .noise = 1e-13, .num_steps = 6});
    const VectorX column = by_steps.jacobian;
    const VectorX actual = (VectorX(2 * nv) << by_parameters.q.col(k), by_parameters.v.col(k)).finished();
    // and what the difference itself is off by
    const double allowed =
        1e-7 * (1.0 + column.cwiseAbs().maxCoeff()) + std::min(2.0 * by_steps.error.maxCoeff(), 1e-6);
    EXPECT_NEAR_ABSOLUTE(actual, column, allowed) << name;
  }
}

}  // namespace tangere::test
