#include "tangere/sim/impact/internal/bounce_chain.hpp"

#include "tangere/sim/impact/internal/bounce.hpp"
#include "tangere/sim/impulse_derivatives.hpp"
#include "tangere/sim/internal/integration.hpp"
#include "tangere/sim/internal/workspace_memory.hpp"

namespace tangere {
namespace {

using RowUse = LcpDerivatives::RowUse;

/// A copy, whatever the size was.
template <class Matrix>
ScratchMatrix::View assign(ScratchMatrix& to, const Matrix& from) {
  return to.reset(from.rows(), from.cols()) = from;
}

/// The map of a step, or of the remainder of one.
void set_part_map(const World& world, const Tape& part, Workspace::Memory& m, RowUse use, PartMap& out) {
  const int nv = world.nv();
  const int nu = world.nu();
  linearise(world, part, m, use);
  m.derivatives.expand(world.model(), m.data);
  ScratchMatrix::View velocity = out.velocity.reset(nv, 2 * nv + nu);
  velocity.leftCols(nv) = m.derivatives.d_q();
  velocity.middleCols(nv, nv) = m.derivatives.d_v();
  to_controls(world, m.actuation, m.derivatives.d_tau(), velocity.rightCols(nu));
  if (use != RowUse::all) return;
  const ScratchMatrix::ConstView f = m.derivatives.force_derivatives();
  ScratchMatrix::View impulses = out.impulses.reset(f.rows(), 2 * nv + nu);
  impulses.leftCols(2 * nv) = f.leftCols(2 * nv);
  to_controls(world, m.actuation, f.rightCols(nv), impulses.rightCols(nu));
}

}  // namespace

void set_impact_map(const World& world, const Tape& impact, Workspace::Memory& m, RowUse use, PartMap& out) {
  const Model& weightless = *world.impact_model();
  const int nv = world.nv();
  prepare_impacts(world, m);
  m.impact_energy.prepare(weightless, *m.impact_data, impact);
  m.derivatives.linearise(weightless, *m.impact_data, solved_impact(impact, m.no_force), use);
  m.derivatives.expand(weightless, *m.impact_data);
  ScratchMatrix::View velocity = out.velocity.reset(nv, 2 * nv);
  velocity.leftCols(nv) = m.derivatives.d_q();
  velocity.rightCols(nv) = m.derivatives.d_v();
  // forces have no time in an impact
  const bool all = use == RowUse::all;
  if (all) assign(out.impulses, m.derivatives.force_derivatives().leftCols(2 * nv));
  m.impact_energy.linearise(weightless, *m.impact_data, impact, m.derivatives, all);
  m.impact_energy.correct(out.velocity, all ? &out.impulses : nullptr);
}

void BounceColumns::reset(int nv, int count, int num_impacts) {
  for (ScratchMatrix* part : {&q, &v, &before}) (void)part->reset(nv, count);
  (void)impulses_before.reset(0, count);
  if (impacts.size() < static_cast<std::size_t>(num_impacts)) impacts.resize(static_cast<std::size_t>(num_impacts));
  for (Impact& impact : impacts) {
    (void)impact.impact.reset(nv, count);
    (void)impact.after.reset(nv, count);
    (void)impact.distance.reset(1, count);
    (void)impact.impulses.reset(0, count);
  }
  moments = nullptr;
}

void FlightColumns::take_off(const World& world, const Tape& tape, const BounceColumns& x) {
  moments_ = x.moments;
  u_ = 0.5 * (tape.v + tape.v_plus);
  a_ = tape.v_plus - tape.v;
  since_.setZero(world.nv());
  way_.resize(world.nv());
  velocity_.resize(world.nv());
  assign(Q_, x.q.view());
  assign(U_, 0.5 * (x.v.view() + x.before.view()));
  assign(A_, x.before.view() - x.v.view());
  (void)Since_.reset(world.nv(), x.q.cols());
  (void)time_.reset(1, x.q.cols());
}

/// To the part c of the step, in the axes where each tree began; the velocity is that of `ahead` of a step later. The
/// last column is for the time of an impact.
void FlightColumns::fly(double time_step, double c, double ahead) {
  const Eigen::Index cols = Q_.cols();
  ScratchMatrix::View q = q_.reset(Q_.rows(), cols + 1);
  ScratchMatrix::View d = d_.reset(Q_.rows(), cols + 1);
  ScratchMatrix::View v = v_.reset(Q_.rows(), cols + 1);
  q.leftCols(cols) = Q_.view();
  for (Eigen::Index k = 0; k < Q_.rows(); ++k) {
    const double x = c - since_[k];
    const double there = u_[k] + x * a_[k];
    const auto U = U_.view().row(k);
    const auto A = A_.view().row(k);
    const auto Since = Since_.view().row(k);
    way_[k] = time_step * x * (u_[k] + 0.5 * x * a_[k]);
    velocity_[k] = there + ahead * a_[k];
    d.row(k).head(cols) = time_step * (x * U + (0.5 * x * x) * A - there * Since);
    v.row(k).head(cols) = U + (x + ahead) * A - a_[k] * Since;
    d(k, cols) = time_step * there;
    v(k, cols) = a_[k];
  }
}

/// Into the axes there.
void FlightColumns::integrate(const World& world) {
  Integration(world, way_, velocity_).forward(q_.view(), d_.view(), v_.view(), moments_);
}

void FlightColumns::meet(const World& world, const ImpactEvent& event, const ScratchMatrix& distance) {
  fly(world.options().time_step, event.time, 0.0);
  integrate(world);
  const Eigen::Index cols = Q_.cols();
  ScratchMatrix::View q = q_.view();
  ScratchMatrix::View v = v_.view();
  auto time = time_.view().row(0);
  if (event.moves) {
    time = distance.view().row(0);
    time.noalias() += event.normal.transpose() * q.leftCols(cols);
    time /= -event.normal.dot(q.col(cols));
  }
  for (Eigen::Index k = 0; k < q.rows(); ++k) {
    q.row(k).head(cols) += q(k, cols) * time;
    v.row(k).head(cols) += v(k, cols) * time;
  }
}

void FlightColumns::fly_on(const ImpactEvent& event, const Tape& after, const ScratchMatrix& velocity,
                           const ScratchMatrix& change) {
  for (Eigen::Index k = 0; k < Q_.rows(); ++k) {
    if (event.dofs[k] == 0) continue;
    u_[k] = after.v[k];
    a_[k] = after.v_plus[k] - after.v[k];
    since_[k] = event.time;
    Q_.view().row(k) = q().row(k);
    U_.view().row(k) = velocity.view().row(k);
    A_.view().row(k) = change.view().row(k);
    Since_.view().row(k) = time_.view().row(0);
  }
}

void FlightColumns::land(const World& world) {
  fly(world.options().time_step, 1.0, -0.5);
  integrate(world);
}

void BounceChain::linearise(const World& world, const Tape& tape, Workspace::Memory& m, RowUse use) {
  const auto count = static_cast<std::size_t>(tape.num_impacts);
  if (impacts_.size() < count) {
    impacts_.resize(count);
    after_.resize(count);
  }
  with_impulses_ = use == RowUse::all;
  set_part_map(world, tape, m, use, before_);
  contradicts_ = m.derivatives.contradicts();
  for (std::size_t i = 0; i < count; ++i) {
    set_impact_map(world, tape.impact(static_cast<int>(i)), m, use, impacts_[i]);
    contradicts_ = contradicts_ || m.derivatives.contradicts();
    set_part_map(world, tape.after_impact(static_cast<int>(i)), m, RowUse::reduced, after_[i]);
    contradicts_ = contradicts_ || m.derivatives.contradicts();
  }
}

void BounceChain::apply(const World& world, const Tape& tape) {
  const int nv = world.nv();
  const Eigen::Index cols = columns.q.cols();
  flight_.take_off(world, tape, columns);
  Eigen::Index row = tape.problem.num_rows();
  if (with_impulses_) impulses_.reset(num_impulses(tape), cols).topRows(row) = columns.impulses_before.view();
  for (int i = 0; i < tape.num_impacts; ++i) {
    const BounceColumns::Impact& x = columns.impacts[i];
    const PartMap& impact = impacts_[i];
    const ScratchMatrix::ConstView then = after(i).velocity.view();
    const ImpactEvent& event = tape.events[i];
    flight_.meet(world, event, x.distance);
    if (with_impulses_) {
      auto rows = impulses_.view().middleRows(row, impact.impulses.rows());
      if (x.impulses.rows() > 0) rows = x.impulses.view();
      rows.noalias() += impact.impulses.view().leftCols(nv) * flight_.q();
      rows.noalias() += impact.impulses.view().rightCols(nv) * flight_.v();
      row += rows.rows();
    }
    ScratchMatrix::View velocity = assign(velocity_, x.impact.view());
    velocity.noalias() += impact.velocity.view().leftCols(nv) * flight_.q();
    velocity.noalias() += impact.velocity.view().rightCols(nv) * flight_.v();
    ScratchMatrix::View change = assign(change_, x.after.view() - velocity);
    change.noalias() += then.leftCols(nv) * flight_.q();
    change.noalias() += then.middleCols(nv, nv) * velocity;
    flight_.fly_on(event, tape.after_impact(i), velocity_, change_);
  }
  flight_.land(world);
}

}  // namespace tangere
