/// Gradients of the motion from steps that bounce by the discrete rule. Neither is the derivative of the step.

#include <algorithm>

#include "tangere/contact/hard/least_squares.hpp"
#include "tangere/multibody/mass_matrix.hpp"
#include "tangere/sim/impact/internal/bounce.hpp"
#include "tangere/sim/impact/internal/bounce_chain.hpp"
#include "tangere/sim/internal/integration.hpp"
#include "tangere/sim/internal/lone_body.hpp"

namespace tangere {
namespace {

/// The normals that bounce: rows that are pushed and have a restitution.
std::vector<int> bouncing_rows(const Tape& tape) {
  std::vector<int> out;
  for (std::size_t r = 0; r < tape.hard().problem.rows.size(); ++r)
    if (tape.hard().problem.rows[r].restitution > 0.0 && tape.hard().sets[r] == RowSet::clamped)
      out.push_back(static_cast<int>(r));
  return out;
}

/// Nimble, VI and Appendix E: of all B with Jᵢ B Jᵢ⁺ = −eᵢ for every normal Jᵢ that bounces, the nearest to the
/// identity, B = I − Σ λᵢ Jᵢᵀ (Jᵢ⁺)ᵀ. Then dq'/dq = B and dq'/dv = dt B.
void reflect(const World& world, const Tape& tape, const std::vector<int>& rows, StepJacobians& out) {
  const int nv = world.nv();
  const MatrixX J = tape.hard().problem.jacobian(nv)(rows, Eigen::all);
  const MatrixX P = pseudo_inverse(J);
  const MatrixX G = (J * J.transpose()).cwiseProduct((P.transpose() * P).eval());
  VectorX gap(J.rows());
  for (Eigen::Index i = 0; i < J.rows(); ++i)
    gap[i] = J.row(i).dot(P.col(i)) + tape.hard().problem.rows[rows[i]].restitution;
  const VectorX lambda = pseudo_inverse(G) * gap;
  MatrixX B = MatrixX::Identity(nv, nv);
  B.noalias() -= J.transpose() * lambda.asDiagonal() * P.transpose();
  // into the axes at the end of the step
  const MatrixX still = MatrixX::Zero(nv, nv);
  MatrixX unused = still;
  VectorX d;
  Integration(world, displacement(world, tape, d), tape.v_plus).forward(B, still, unused);
  out.q_q = B;
  out.q_v = world.options().time_step * B;
}

/// An impact at the start of the step, moved by what is left of the way (the saltation matrix), and a step after it:
///
///   dq₁ = dq + (v_p − v) J dq / (J v)
///   dv₁ = H_q dq + R dv + (a_p − H_q v − R a) J dq / (J v)        H = R(q) v the impact, a and a_p before and after it
bool leap(const World& world, const Tape& tape, HardMemory& m, StepJacobians& out) {
  const int nv = world.nv();
  const double dt = world.options().time_step;
  prepare_impacts(world, m);
  State at{tape.q, tape.v};

  // before it, without what bounces
  smooth_dynamics(world, dt, at, tape.u, m);
  m.velocities.set(world.model(), m.data, at.v);
  m.problem.contacts = tape.hard().problem.contacts;
  m.problem.motions.assign(
      tape.hard().problem.motions.begin(),
      tape.hard().problem.motions.begin() + static_cast<std::ptrdiff_t>(tape.hard().problem.contacts.size()));
  m.all_contacts = m.problem.contacts;
  m.all_motions = m.problem.motions;
  m.bouncing.clear();
  set_aside_bouncing(world, true, m.problem, m);
  (void)solve_rows(world, at, tape.u, true, *m.after_lcp, m.problem, m);
  const auto rate = [&](const VectorX& v) {
    VectorX a;
    set_frame_acceleration(world, v, a);
    for (const LoneBody& body : world.lone_bodies())
      a.segment<6>(body.first_v) = flight_acceleration(body, v.segment<6>(body.first_v));
    a += (m.v_plus - v) / dt;
    return a;
  };
  const VectorX a = rate(at.v);

  // the impact of those
  (void)mass_matrix(*world.impact_model(), *m.impact_data, at.q);
  m.velocities.set(*world.impact_model(), *m.impact_data, at.v);
  m.impact_problem.contacts.clear();
  m.impact_problem.motions.clear();
  for (std::size_t i = 0; i < m.all_contacts.size(); ++i) {
    const double closing = normal_velocity(*world.impact_model(), *m.impact_data, m.velocities, m.all_contacts[i]);
    if (!bounces(m.all_contacts[i], closing, dt, world.options().hard.touching, world.options().contact)) continue;
    m.impact_problem.contacts.push_back(m.all_contacts[i]);
    m.impact_problem.contacts.back().distance = 0.0;  // taken to have met
    m.impact_problem.motions.push_back(m.all_motions[i]);
  }
  const LcpSolution& solved = solve_impact(world, at, m);
  Tape impact;
  record(at, tape.u, m.regions, solved, m.impact_problem, impact);
  const std::vector<int> rows = bouncing_rows(impact);
  if (rows.empty()) return false;
  // where several meet, the one that closes fastest
  VectorX normal;
  for (const int r : rows) {
    const VectorX J = m.impact_problem.jacobian(nv).row(r).transpose();
    if (normal.size() == 0 || J.dot(at.v) < normal.dot(at.v)) normal = J;
  }

  // and after it
  const State then{at.q, impact.v_plus};
  contacts_after(world, then, tape.u, true, m);
  const LcpSolution& later = solve_after(world, then, tape.u, true, m);
  Tape after;
  record(then, tape.u, m.regions, later, m.after_problem, after);
  const VectorX a_p = rate(then.v);
  PartMap map;
  set_impact_map(world, impact, m, LcpDerivatives::RowUse::reduced, map);
  const MatrixX H_q = map.velocity.view().leftCols(nv);
  const MatrixX H_v = map.velocity.view().rightCols(nv);
  StepJacobians plain;
  // its quality is no better than a heuristic
  (void)hard_jacobians(world, after, m, GradientMode::exact, nullptr, plain);

  const Eigen::RowVectorXd earlier = normal.transpose() / normal.dot(at.v);
  MatrixX Q = MatrixX::Identity(nv, nv);
  Q.noalias() += (then.v - at.v) * earlier;
  MatrixX V_q = H_q;
  V_q.noalias() += (a_p - H_q * at.v - H_v * a) * earlier;
  out.q_q = plain.q_q * Q + plain.q_v * V_q;
  out.v_q = plain.v_q * Q + plain.v_v * V_q;
  out.q_v = plain.q_v * H_v;
  out.v_v = plain.v_v * H_v;
  out.q_u = plain.q_u;
  out.v_u = plain.v_u;
  return true;
}

}  // namespace

bool approximate_bounce(const World& world, const Tape& tape, HardMemory& m, GradientMode mode, StepJacobians& out) {
  if (tape.hard().problem.time_step == 0.0) return false;
  const std::vector<int> rows = bouncing_rows(tape);
  if (rows.empty()) return false;
  if (mode == GradientMode::saltation) return leap(world, tape, m, out);
  reflect(world, tape, rows, out);
  return true;
}

}  // namespace tangere
