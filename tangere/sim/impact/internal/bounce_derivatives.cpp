/// Derivatives of a step with impacts inside: the chain rule (bounce_chain.hpp) with a column for every coordinate and
/// control.

#include "tangere/sim/impact/internal/bounce.hpp"
#include "tangere/sim/impact/internal/bounce_chain.hpp"
#include "tangere/sim/impulse_derivatives.hpp"

namespace tangere {
namespace {

using RowUse = LcpDerivatives::RowUse;

/// Columns: those of q, of v and of u.
const BounceChain& differentiate(const World& world, const Tape& tape, HardMemory& m, RowUse use) {
  const int nv = world.nv();
  const int nu = world.nu();
  BounceChain& chain = bounce_chain(m);
  chain.linearise(world, tape, m, use);
  BounceColumns& x = chain.columns;
  x.reset(nv, 2 * nv + nu, tape.num_impacts());
  x.q.view().leftCols(nv).setIdentity();
  x.v.view().middleCols(nv, nv).setIdentity();
  x.before.view() = chain.before().velocity.view();
  for (int i = 0; i < tape.num_impacts(); ++i)
    x.impacts[i].after.view().rightCols(nu) = chain.after(i).velocity.view().rightCols(nu);
  if (use == RowUse::all) {
    const ScratchMatrix::ConstView f = chain.before().impulses.view();
    x.impulses_before.reset(f.rows(), f.cols()) = f;
  }
  chain.apply(world, tape);
  return chain;
}

}  // namespace

SolvedStep solved_impact(const Tape& impact, const VectorX& zero) {
  return {.problem = impact.hard().problem,
          .q = impact.q,
          .v = impact.v,
          .v_inertial = zero,
          .v_plus = impact.v_plus,
          .f = impact.hard().f,
          .sets = impact.hard().sets,
          .tau_q = zero,
          .tau_v = zero,
          .floating_dofs = {},
          .implicit_inertia = zero,
          .implicit_damping = zero};
}

BounceChain& bounce_chain(HardMemory& m) {
  if (m.chain == nullptr) m.chain = std::make_unique<BounceChain>();
  return *m.chain;
}

void bounce_jacobians(const World& world, const Tape& tape, HardMemory& m, StepJacobians* out,
                      ImpulseJacobians* impulses) {
  const int nv = world.nv();
  const int nu = world.nu();
  const BounceChain& chain = differentiate(world, tape, m, impulses == nullptr ? RowUse::reduced : RowUse::all);
  if (out != nullptr) {
    out->q_q = chain.q().leftCols(nv);
    out->q_v = chain.q().middleCols(nv, nv);
    out->q_u = chain.q().rightCols(nu);
    out->v_q = chain.v().leftCols(nv);
    out->v_v = chain.v().middleCols(nv, nv);
    out->v_u = chain.v().rightCols(nu);
  }
  if (impulses != nullptr) {
    impulses->q = chain.impulses().leftCols(nv);
    impulses->v = chain.impulses().middleCols(nv, nv);
    impulses->u = chain.impulses().rightCols(nu);
  }
}

void bounce_vjp(const World& world, const Tape& tape, HardMemory& m, const StateTangent& g, VectorArgument g_impulses,
                StateTangent& g_state, VectorX& g_u) {
  const int nv = world.nv();
  const BounceChain& chain = differentiate(world, tape, m, g_impulses.size() == 0 ? RowUse::reduced : RowUse::all);
  VectorX& all = m.bounce_product;
  all.noalias() = chain.q().transpose() * g.q;
  all.noalias() += chain.v().transpose() * g.v;
  if (g_impulses.size() > 0) all.noalias() += chain.impulses().transpose() * g_impulses;
  g_state.q = all.head(nv);
  g_state.v = all.segment(nv, nv);
  g_u = all.tail(world.nu());
}

void bounce_jvp(const World& world, const Tape& tape, HardMemory& m, const StateTangent& d, VectorArgument du,
                StateTangent& d_next, VectorX* d_impulses) {
  const BounceChain& chain = differentiate(world, tape, m, d_impulses == nullptr ? RowUse::reduced : RowUse::all);
  VectorX& all = m.bounce_product;
  all.resize(2 * world.nv() + world.nu());
  all << d.q, d.v, du;
  d_next.q.noalias() = chain.q() * all;
  d_next.v.noalias() = chain.v() * all;
  if (d_impulses != nullptr) d_impulses->noalias() = chain.impulses() * all;
}

}  // namespace tangere
