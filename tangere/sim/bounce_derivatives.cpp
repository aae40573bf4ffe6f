/// The chain rule over a step with an impact inside, one column for every variable, and one for c.

#include "tangere/sim/bounce.hpp"
#include "tangere/sim/integration.hpp"

namespace tangere {
namespace {

using Part = BounceChain::Part;

Part differentiate(const World& world, const Tape& tape, Workspace::Memory& m) {
  linearise(world, tape, m);
  m.derivatives.expand(world.model(), m.data);
  Part part{m.derivatives.d_q(), m.derivatives.d_v(), MatrixX(world.nv(), world.nu())};
  for (int i = 0; i < world.nu(); ++i) {
    const int dof = world.actuators().empty() ? i : world.actuators()[static_cast<std::size_t>(i)].dof;
    part.u.col(i) = m.actuation.d_u[i] * m.derivatives.d_tau().col(dof);
  }
  return part;
}

}  // namespace

SolvedStep solved_impact(const Tape& impact, const VectorX& zero) {
  return {.problem = impact.problem,
          .q = impact.q,
          .v = impact.v,
          .v_inertial = impact.v,
          .v_plus = impact.v_plus,
          .f = impact.f,
          .sets = impact.sets,
          .tau_q = zero,
          .tau_v = zero,
          .floating_dofs = {},
          .implicit_inertia = zero,
          .implicit_damping = zero};
}

ImpactMap impact_map(const World& world, const Tape& impact, Workspace::Memory& m) {
  const Model& weightless = *world.impact_model();
  const VectorX zero = VectorX::Zero(world.nv());
  prepare_impacts(world, m);
  m.derivatives.linearise(weightless, *m.impact_data, solved_impact(impact, zero));
  m.derivatives.expand(weightless, *m.impact_data);
  return {m.derivatives.d_q(), m.derivatives.d_v()};
}

BounceChain::BounceChain(const World& world, const Tape& tape, Workspace& workspace)
    : world_(world),
      tape_(tape),
      before_(differentiate(world, tape, workspace.memory())),
      impact_(impact_map(world, tape.parts[0], workspace.memory())),
      after_(differentiate(world, tape.parts[1], workspace.memory())) {}

void BounceChain::apply(const BounceColumns& x, MatrixX& Q_next, MatrixX& V_next) const {
  const Tape& tape = tape_;
  const int nv = world_.nv();
  const auto cols = static_cast<int>(x.q.cols());
  const double dt = world_.options().time_step;
  const double c = tape.impact_time;
  const double k = 0.5 * (c * c - c);
  const Tape& after = tape.parts[1];

  // up to the impact, c held; the last column is c's
  MatrixX V_f = MatrixX::Zero(nv, cols + 1);
  V_f.leftCols(cols) = x.before;
  MatrixX V_old = MatrixX::Zero(nv, cols + 1);
  V_old.leftCols(cols) = x.v;
  const VectorX d = dt * ((c + k) * tape.v_plus - k * tape.v);
  const VectorX velocity = (c + 0.5) * tape.v_plus - (c - 0.5) * tape.v;
  MatrixX D = dt * ((c + k) * V_f - k * V_old);
  D.col(cols) = dt * velocity;
  MatrixX V = (c + 0.5) * V_f - (c - 0.5) * V_old;
  V.col(cols) = tape.v_plus - tape.v;
  MatrixX Q = MatrixX::Zero(nv, cols + 1);
  Q.leftCols(cols) = x.q;
  Integration(world_, d, velocity).forward(Q, D, V, x.moments);

  // and c moves so that the distance stays zero (at the start of the step it cannot)
  Eigen::RowVectorXd dc = Eigen::RowVectorXd::Zero(cols);
  if (c > 0.0) {
    dc = -(tape.impact_normal.transpose() * Q.leftCols(cols) + x.distance) / tape.impact_normal.dot(Q.col(cols));
    Q.leftCols(cols) += Q.col(cols) * dc;
    V.leftCols(cols) += V.col(cols) * dc;
  }
  Q_next = Q.leftCols(cols);

  // the impact, and the step after it
  const MatrixX V_p = impact_.q * Q_next + impact_.v * V.leftCols(cols) + x.impact;
  const MatrixX change = after_.q * Q_next + after_.v * V_p - V_p + x.after;
  const VectorX a = after.v_plus - after.v;
  const VectorX v_next = after.v - (c - 0.5) * a;
  V_next = V_p - (c - 0.5) * change - a * dc;
  const MatrixX D_next = dt * ((1.0 - c) * V_next - k * change) - dt * (v_next + (c - 0.5) * a) * dc;
  const VectorX d_next = dt * ((1.0 - c) * v_next - k * a);
  Integration(world_, d_next, v_next).forward(Q_next, D_next, V_next, x.moments);

  // the trees that did not meet
  MatrixX Q_plain = x.q;
  MatrixX V_plain = x.before;
  const MatrixX D_plain = dt * V_plain;
  const VectorX d_plain = dt * tape.v_plus;
  Integration(world_, d_plain, tape.v_plus).forward(Q_plain, D_plain, V_plain, x.moments);
  for (int row = 0; row < nv; ++row) {
    if (tape.bouncing_dofs[static_cast<std::size_t>(row)] != 0) continue;
    Q_next.row(row) = Q_plain.row(row);
    V_next.row(row) = V_plain.row(row);
  }
}

void bounce_jacobians(const World& world, const Tape& tape, Workspace& workspace, StepJacobians& out) {
  const int nv = world.nv();
  const int nu = world.nu();
  const BounceChain chain(world, tape, workspace);
  BounceColumns x(nv, 2 * nv + nu);
  x.q.leftCols(nv).setIdentity();
  x.v.middleCols(nv, nv).setIdentity();
  x.before << chain.before().q, chain.before().v, chain.before().u;
  x.after.rightCols(nu) = chain.after().u;
  MatrixX Q;
  MatrixX V;
  chain.apply(x, Q, V);

  out.q_q = Q.leftCols(nv);
  out.q_v = Q.middleCols(nv, nv);
  out.q_u = Q.rightCols(nu);
  out.v_q = V.leftCols(nv);
  out.v_v = V.middleCols(nv, nv);
  out.v_u = V.rightCols(nu);
}

}  // namespace tangere
