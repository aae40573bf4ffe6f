/// df of hard contact (contact/lcp_derivatives.hpp), row after row; through impacts by their chain (bounce.hpp).

#include "tangere/sim/impulse_derivatives.hpp"

#include <string>

#include "tangere/math/error.hpp"
#include "tangere/sim/impact/internal/bounce.hpp"
#include "tangere/sim/internal/step_products.hpp"

namespace tangere {

int num_impulses(const Tape& tape) {
  if (tape.formulation != Formulation::lcp)
    throw InputError("tape", "has no rows: it is of a step by " + std::string(to_string(tape.formulation)) +
                                 ", whose impulses are those of the report's contacts");
  int count = tape.problem.num_rows();
  for (int i = 0; i < tape.num_impacts; ++i) count += tape.impact(i).problem.num_rows();
  return count;
}

void step_impulses(const Tape& tape, VectorX& out) {
  out.resize(num_impulses(tape));
  Eigen::Index row = tape.f.size();
  out.head(row) = tape.f.view();
  for (int i = 0; i < tape.num_impacts; ++i) {
    const ScratchVector& f = tape.impact(i).f;
    out.segment(row, f.size()) = f.view();
    row += f.size();
  }
}

void part_impulses(const World& world, const Tape& part, Workspace::Memory& m, ImpulseJacobians& out) {
  const int nv = world.nv();
  linearise(world, part, m, LcpDerivatives::RowUse::all);
  m.derivatives.expand(world.model(), m.data);
  const ScratchMatrix::ConstView f = m.derivatives.force_derivatives();
  out.q = f.leftCols(nv);
  out.v = f.middleCols(nv, nv);
  out.u.resize(f.rows(), world.nu());
  to_controls(world, m.actuation, f.rightCols(nv), out.u);
}

GradientQuality impulse_jacobians(const World& world, const Tape& tape, Workspace& workspace, ImpulseJacobians& out) {
  Workspace::Memory& m = workspace.memory();
  if (tape.bounced())
    bounce_jacobians(world, tape, m, nullptr, &out);
  else
    part_impulses(world, tape, m, out);
  return quality_of(tape, m);
}

GradientQuality step_vjp(const World& world, const Tape& tape, Workspace& workspace, const StateTangent& g,
                         VectorArgument g_impulses, StateTangent& g_state, VectorX& g_u) {
  require_tangent(world, "g", g);
  if (g_impulses.size() != num_impulses(tape))
    throw InputError("g_impulses", "must have " + std::to_string(num_impulses(tape)) + " entries, got " +
                                       std::to_string(g_impulses.size()));
  Workspace::Memory& m = workspace.memory();
  if (tape.bounced()) {
    bounce_vjp(world, tape, m, g, g_impulses, g_state, g_u);
  } else {
    linearise(world, tape, m, LcpDerivatives::RowUse::all);
    reverse_integration(world, tape, g, m);
    m.derivatives.reverse(world.model(), m.data, m.grad_v, g_impulses, g_state.q, g_state.v, m.tau);
    finish_reverse(world, m, g_state, g_u);
  }
  return quality_of(tape, m);
}

GradientQuality step_jvp(const World& world, const Tape& tape, Workspace& workspace, const StateTangent& d,
                         VectorArgument du, StateTangent& d_next, VectorX& d_impulses) {
  require_tangent(world, "d", d);
  require_control(world, du);
  Workspace::Memory& m = workspace.memory();
  if (tape.bounced()) {
    bounce_jvp(world, tape, m, d, du, d_next, &d_impulses);
  } else {
    linearise(world, tape, m, LcpDerivatives::RowUse::all);
    forward_rows(world, tape, d, du, m, d_next, &d_impulses);
  }
  return quality_of(tape, m);
}

}  // namespace tangere
