/// The chain rule over a step with impacts inside, one column for every variable, and one for the time of each.

#include "tangere/sim/bounce.hpp"
#include "tangere/sim/integration.hpp"
#include "tangere/sim/step_products.hpp"

namespace tangere {
namespace {

using Part = BounceChain::Part;

using RowUse = LcpDerivatives::RowUse;

Part differentiate(const World& world, const Tape& tape, Workspace::Memory& m, RowUse use) {
  linearise(world, tape, m, use);
  m.derivatives.expand(world.model(), m.data);
  Part part{m.derivatives.d_q(), m.derivatives.d_v(), {}, {}};
  to_controls(world, m.actuation, m.derivatives.d_tau(), part.u);
  if (use == RowUse::all) expanded_impulses(world, m, part.impulses);
  return part;
}

/// How the flights of the trees (Flight of workspace_memory.hpp) move.
class FlightColumns {
 public:
  FlightColumns(const World& world, const Tape& tape, const BounceColumns& x)
      : world_(world),
        moments_(x.moments),
        u_(0.5 * (tape.v + tape.v_plus)),
        a_(tape.v_plus - tape.v),
        since_(VectorX::Zero(world.nv())),
        Q_(x.q),
        U_(0.5 * (x.v + x.before)),
        A_(x.before - x.v),
        Since_(MatrixX::Zero(world.nv(), x.q.cols())),
        dc_(Eigen::RowVectorXd::Zero(x.q.cols())) {}

  /// Position and velocity at the impact, whose time moves so that the distance stays zero.
  void meet(const ImpactEvent& event, const Eigen::RowVectorXd& distance, MatrixX& Q, MatrixX& V) {
    const Eigen::Index cols = Q_.cols();
    const VectorX velocity = u_ + (event.time - since_.array()).matrix().cwiseProduct(a_);
    // the time held; the last column is its own
    MatrixX D(Q_.rows(), cols + 1);
    Q = MatrixX::Zero(Q_.rows(), cols + 1);
    V.resize(Q_.rows(), cols + 1);
    fly(event.time, 0.0, D, Q, V);
    D.col(cols) = world_.options().time_step * velocity;
    V.col(cols) = a_;
    integrate(event.time, velocity, D, Q, V);
    if (event.moves) dc_ = -(event.normal.transpose() * Q.leftCols(cols) + distance) / event.normal.dot(Q.col(cols));
    Q = (Q.leftCols(cols) + Q.col(cols) * dc_).eval();
    V = (V.leftCols(cols) + V.col(cols) * dc_).eval();
  }

  /// Trees that were hit fly on from (Q, V_p).
  void fly_on(const ImpactEvent& event, const Tape& after, const MatrixX& Q, const MatrixX& V_p,
              const MatrixX& change) {
    for (Eigen::Index k = 0; k < Q.rows(); ++k) {
      if (event.dofs[static_cast<std::size_t>(k)] == 0) continue;
      u_[k] = after.v[k];
      a_[k] = after.v_plus[k] - after.v[k];
      since_[k] = event.time;
      Q_.row(k) = Q.row(k);
      U_.row(k) = V_p.row(k);
      A_.row(k) = change.row(k);
      Since_.row(k) = dc_;
    }
  }

  /// The next state: its velocity is half a step back.
  void land(MatrixX& Q, MatrixX& V) const {
    const VectorX velocity = u_ + (0.5 - since_.array()).matrix().cwiseProduct(a_);
    MatrixX D(Q_.rows(), Q_.cols());
    Q.setZero(Q_.rows(), Q_.cols());
    V.resize(Q_.rows(), Q_.cols());
    fly(1.0, -0.5, D, Q, V);
    integrate(1.0, velocity, D, Q, V);
  }

 private:
  /// Way and velocity (`ahead` of a step later) at the part c of the step, in the axes where each tree began.
  void fly(double c, double ahead, MatrixX& D, MatrixX& Q, MatrixX& V) const {
    const Eigen::Index cols = Q_.cols();
    const VectorX x = c - since_.array();
    const VectorX velocity = u_ + x.cwiseProduct(a_);
    Q.leftCols(cols) = Q_;
    D.leftCols(cols) = world_.options().time_step *
                       (x.asDiagonal() * U_ + (0.5 * x.cwiseAbs2()).asDiagonal() * A_ - velocity.asDiagonal() * Since_);
    V.leftCols(cols) = U_ + VectorX(x.array() + ahead).asDiagonal() * A_ - a_.asDiagonal() * Since_;
  }

  /// Into the axes there.
  void integrate(double c, const VectorX& velocity, const MatrixX& D, MatrixX& Q, MatrixX& V) const {
    const VectorX x = c - since_.array();
    const VectorX d = world_.options().time_step * x.cwiseProduct(u_ + 0.5 * x.cwiseProduct(a_));
    Integration(world_, d, velocity).forward(Q, D, V, moments_);
  }

  const World& world_;
  const MomentColumns* moments_;
  VectorX u_;
  VectorX a_;
  VectorX since_;
  MatrixX Q_;
  MatrixX U_;
  MatrixX A_;
  MatrixX Since_;
  /// Of the last impact.
  Eigen::RowVectorXd dc_;
};

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

ImpactMap impact_map(const World& world, const Tape& impact, Workspace::Memory& m, RowUse use) {
  const Model& weightless = *world.impact_model();
  const VectorX zero = VectorX::Zero(world.nv());
  prepare_impacts(world, m);
  m.derivatives.linearise(weightless, *m.impact_data, solved_impact(impact, zero), use);
  m.derivatives.expand(weightless, *m.impact_data);
  ImpactMap map{m.derivatives.d_q(), m.derivatives.d_v(), {}};
  // forces have no time in an impact
  MatrixX unmoved;
  if (use == RowUse::all) m.derivatives.force_derivatives(map.impulses.q, map.impulses.v, unmoved);
  return map;
}

BounceChain::BounceChain(const World& world, const Tape& tape, Workspace& workspace, RowUse use)
    : world_(world), tape_(tape), before_(differentiate(world, tape, workspace.memory(), use)) {
  for (int i = 0; i < tape.num_impacts; ++i) {
    impacts_.push_back(impact_map(world, tape.impact(i), workspace.memory(), use));
    after_.push_back(differentiate(world, tape.after_impact(i), workspace.memory(), RowUse::reduced));
  }
}

void BounceChain::apply(const BounceColumns& x, MatrixX& Q_next, MatrixX& V_next, MatrixX* impulses) const {
  FlightColumns flight(world_, tape_, x);
  Eigen::Index row = tape_.problem.num_rows();
  if (impulses != nullptr) {
    impulses->resize(num_impulses(tape_), x.q.cols());
    impulses->topRows(row) = x.impulses_before;
  }
  for (std::size_t i = 0; i < impacts_.size(); ++i) {
    const auto& [impact, after, distance, direct] = x.impacts[i];
    const ImpactEvent& event = tape_.events[i];
    const Tape& then = tape_.after_impact(static_cast<int>(i));
    MatrixX Q;
    MatrixX V;
    flight.meet(event, distance, Q, V);
    if (impulses != nullptr) {
      const ImpulseJacobians& f = impacts_[i].impulses;
      auto rows = impulses->middleRows(row, f.q.rows());
      rows = f.q * Q + f.v * V;
      if (direct.size() > 0) rows += direct;
      row += f.q.rows();
    }
    const MatrixX V_p = impacts_[i].q * Q + impacts_[i].v * V + impact;
    const MatrixX change = after_[i].q * Q + after_[i].v * V_p - V_p + after;
    flight.fly_on(event, then, Q, V_p, change);
  }
  flight.land(Q_next, V_next);
}

void bounce_jacobians(const World& world, const Tape& tape, Workspace& workspace, StepJacobians& out,
                      ImpulseJacobians* impulses) {
  const int nv = world.nv();
  const int nu = world.nu();
  const bool with_impulses = impulses != nullptr;
  const BounceChain chain(world, tape, workspace, with_impulses ? RowUse::all : RowUse::reduced);
  BounceColumns x(nv, 2 * nv + nu, tape.num_impacts);
  x.q.leftCols(nv).setIdentity();
  x.v.middleCols(nv, nv).setIdentity();
  x.before << chain.before().q, chain.before().v, chain.before().u;
  for (int i = 0; i < tape.num_impacts; ++i)
    x.impacts[static_cast<std::size_t>(i)].after.rightCols(nu) = chain.after(i).u;
  if (with_impulses) {
    const ImpulseJacobians& before = chain.before().impulses;
    x.impulses_before.resize(before.q.rows(), x.q.cols());
    x.impulses_before.leftCols(nv) = before.q;
    x.impulses_before.middleCols(nv, nv) = before.v;
    x.impulses_before.rightCols(nu) = before.u;
  }
  MatrixX Q;
  MatrixX V;
  MatrixX F;
  chain.apply(x, Q, V, with_impulses ? &F : nullptr);

  out.q_q = Q.leftCols(nv);
  out.q_v = Q.middleCols(nv, nv);
  out.q_u = Q.rightCols(nu);
  out.v_q = V.leftCols(nv);
  out.v_v = V.middleCols(nv, nv);
  out.v_u = V.rightCols(nu);
  if (!with_impulses) return;
  impulses->q = F.leftCols(nv);
  impulses->v = F.middleCols(nv, nv);
  impulses->u = F.rightCols(nu);
}

}  // namespace tangere
