/// The chain rule over a step with an impact inside, one column for every coordinate of q, v and u, and one for c.

#include "tangere/sim/bounce.hpp"
#include "tangere/sim/integration.hpp"

namespace tangere {
namespace {

/// dv⁺ of one part with respect to its own q, v and u.
struct Part {
  MatrixX q;
  MatrixX v;
  MatrixX u;
};

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

/// An impact moves with q and v only.
Part differentiate_impact(const World& world, const Tape& tape, Workspace::Memory& m) {
  const Model& weightless = *world.impact_model();
  const VectorX zero = VectorX::Zero(world.nv());
  if (m.impact_data == nullptr) m.impact_data = std::make_unique<Data>(weightless);
  m.derivatives.linearise(weightless, *m.impact_data,
                          {.problem = tape.problem,
                           .q = tape.q,
                           .v = tape.v,
                           .v_plus = tape.v_plus,
                           .f = tape.f,
                           .sets = tape.sets,
                           .tau_q = zero,
                           .tau_v = zero,
                           .free_dofs = {},
                           .implicit_inertia = zero,
                           .implicit_damping = zero});
  m.derivatives.expand(weightless, *m.impact_data);
  return {m.derivatives.d_q(), m.derivatives.d_v(), MatrixX()};
}

}  // namespace

void bounce_jacobians(const World& world, const Tape& tape, Workspace& workspace, StepJacobians& out) {
  Workspace::Memory& m = workspace.memory();
  const Model& model = world.model();
  const int nv = world.nv();
  const int nu = world.nu();
  const int cols = 2 * nv + nu;
  const double dt = world.options().time_step;
  const double c = tape.impact_time;
  const double k = 0.5 * (c * c - c);
  const Tape& impact = tape.parts[0];
  const Tape& after = tape.parts[1];

  // up to the impact, c held; the last column is c's
  const Part first = differentiate(world, tape, m);
  MatrixX V_f = MatrixX::Zero(nv, cols + 1);
  V_f.leftCols(cols) << first.q, first.v, first.u;
  MatrixX V_old = MatrixX::Zero(nv, cols + 1);
  V_old.middleCols(nv, nv).setIdentity();
  const VectorX d = dt * ((c + k) * tape.v_plus - k * tape.v);
  const VectorX velocity = (c + 0.5) * tape.v_plus - (c - 0.5) * tape.v;
  MatrixX D = dt * ((c + k) * V_f - k * V_old);
  D.col(cols) = dt * velocity;
  MatrixX V = (c + 0.5) * V_f - (c - 0.5) * V_old;
  V.col(cols) = tape.v_plus - tape.v;
  MatrixX Q = MatrixX::Zero(nv, cols + 1);
  Q.leftCols(nv).setIdentity();
  Integration(model, d, velocity).forward(Q, D, V);

  // and c moves so that the distance stays zero (at the start of the step it cannot)
  Eigen::RowVectorXd dc = Eigen::RowVectorXd::Zero(cols);
  if (c > 0.0) {
    dc = -(tape.impact_normal.transpose() * Q.leftCols(cols)) / tape.impact_normal.dot(Q.col(cols));
    Q.leftCols(cols) += Q.col(cols) * dc;
    V.leftCols(cols) += V.col(cols) * dc;
  }
  MatrixX Q_c = Q.leftCols(cols);

  // the impact, and the step after it
  const Part bounce = differentiate_impact(world, impact, m);
  const MatrixX V_p = bounce.q * Q_c + bounce.v * V.leftCols(cols);
  const Part then = differentiate(world, after, m);
  MatrixX change = then.q * Q_c + then.v * V_p - V_p;
  change.rightCols(nu) += then.u;
  const VectorX a = after.v_plus - after.v;
  const VectorX v_next = after.v - (c - 0.5) * a;
  MatrixX V_next = V_p - (c - 0.5) * change - a * dc;
  const MatrixX D_next = dt * ((1.0 - c) * V_next - k * change) - dt * (v_next + (c - 0.5) * a) * dc;
  const VectorX d_next = dt * ((1.0 - c) * v_next - k * a);
  Integration(model, d_next, v_next).forward(Q_c, D_next, V_next);

  // the trees that did not meet
  MatrixX Q_plain = MatrixX::Zero(nv, cols);
  Q_plain.leftCols(nv).setIdentity();
  MatrixX V_plain = V_f.leftCols(cols);
  const MatrixX D_plain = dt * V_plain;
  const VectorX d_plain = dt * tape.v_plus;
  Integration(model, d_plain, tape.v_plus).forward(Q_plain, D_plain, V_plain);
  for (int row = 0; row < nv; ++row) {
    if (tape.bouncing_dofs[static_cast<std::size_t>(row)] != 0) continue;
    Q_c.row(row) = Q_plain.row(row);
    V_next.row(row) = V_plain.row(row);
  }

  out.q_q = Q_c.leftCols(nv);
  out.q_v = Q_c.middleCols(nv, nv);
  out.q_u = Q_c.rightCols(nu);
  out.v_q = V_next.leftCols(nv);
  out.v_v = V_next.middleCols(nv, nv);
  out.v_u = V_next.rightCols(nu);
}

}  // namespace tangere
