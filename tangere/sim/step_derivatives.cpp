/// From dv⁺ (contact/lcp_derivatives.hpp) to the next state (integration.hpp).

#include "tangere/sim/step_derivatives.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "tangere/math/error.hpp"
#include "tangere/multibody/mass_matrix.hpp"
#include "tangere/sim/impact/internal/bounce.hpp"
#include "tangere/sim/impact/internal/bounce_chain.hpp"
#include "tangere/sim/internal/integration.hpp"
#include "tangere/sim/internal/smooth_step.hpp"
#include "tangere/sim/internal/step_products.hpp"

namespace tangere {

std::string_view to_string(GradientMode mode) {
  switch (mode) {
    case GradientMode::exact:
      return "exact";
    case GradientMode::complementarity_aware:
      return "complementarity_aware";
    case GradientMode::pre_contact:
      return "pre_contact";
    case GradientMode::reflection:
      return "reflection";
    case GradientMode::saltation:
      return "saltation";
  }
  return "unknown";
}

void StepJacobians::copy_to(Eigen::Ref<MatrixX> A, Eigen::Ref<MatrixX> B) const {
  const Eigen::Index nv = q_q.rows();
  if (A.rows() != 2 * nv || A.cols() != 2 * nv)
    throw InputError("A", "must be " + std::to_string(2 * nv) + " x " + std::to_string(2 * nv));
  if (B.rows() != 2 * nv || B.cols() != q_u.cols())
    throw InputError("B", "must be " + std::to_string(2 * nv) + " x " + std::to_string(q_u.cols()));
  A.topLeftCorner(nv, nv) = q_q;
  A.topRightCorner(nv, nv) = q_v;
  A.bottomLeftCorner(nv, nv) = v_q;
  A.bottomRightCorner(nv, nv) = v_v;
  B.topRows(nv) = q_u;
  B.bottomRows(nv) = v_u;
}

MatrixX StepJacobians::A() const {
  MatrixX out(2 * q_q.rows(), 2 * q_q.rows());
  out << q_q, q_v, v_q, v_v;
  return out;
}

MatrixX StepJacobians::B() const {
  MatrixX out(2 * q_u.rows(), q_u.cols());
  out << q_u, v_u;
  return out;
}

void require_tape(const World& world, const Tape& tape) {
  if (tape.q.size() != world.nq() || tape.v.size() != world.nv() || tape.u.size() != world.nu() ||
      tape.regions.size() != world.actuators().size())
    throw InputError("tape", "is not of this world");
  if (tape.formulation != world.options().formulation)
    throw InputError("tape", "is of a step by " + std::string(to_string(tape.formulation)) +
                                 ", and the world's are by " + std::string(to_string(world.options().formulation)));
  if (!is_made(tape.status))
    throw InputError(
        "tape", "is of a step that was not made (" + std::string(to_string(tape.status)) + "): it has no derivatives");
}

SolvedStep solved_step(const World& world, const Tape& tape, Workspace::Memory& m) {
  set_inertial_velocity(world, tape.v, m.v_inertial);
  return {.problem = tape.problem,
          .q = tape.q,
          .v = tape.v,
          .v_inertial = m.v_inertial,
          .v_plus = tape.v_plus,
          .f = tape.f,
          .sets = tape.sets,
          .tau_q = m.actuation.d_q,
          .tau_v = m.actuation.d_v,
          .floating_dofs = world.floating_dofs(),
          .implicit_inertia = m.implicit.inertia,
          .implicit_damping = m.implicit.damping};
}

namespace {

/// Whether a block takes part and its place or frame has no derivative. What overlaps takes part: it would along
/// another normal.
bool is_rough(const Tape& part, std::size_t index) {
  if (part.problem.motions[index].exists) return false;
  const RowBlock& block = part.problem.blocks[index];
  if (block.contact >= 0 && part.problem.contacts[block.contact].distance < 0.0) return true;
  const auto first = part.sets.begin() + block.first_row;
  return std::find(first, first + block.num_rows, RowSet::clamped) != first + block.num_rows;
}

GradientQuality part_quality(const Tape& part) {
  GradientQuality quality = quality_of(part.status);
  for (std::size_t b = 0; b < part.problem.blocks.size(); ++b)
    if (is_rough(part, b)) return worst(quality, GradientQuality::features_held);
  return quality;
}

}  // namespace

void find_rough_contacts(const Tape& part, std::vector<int>& out) {
  out.clear();
  for (std::size_t b = 0; b < part.problem.blocks.size(); ++b)
    if (is_rough(part, b)) out.push_back(part.problem.blocks[b].contact);
}

GradientQuality quality_of(StepStatus status) {
  return status == StepStatus::solved ? GradientQuality::exact : GradientQuality::contact_unsolved;
}

GradientQuality quality_of(const Tape& tape) {
  GradientQuality quality = part_quality(tape);
  // by the discrete rule derivatives hold the part of the restitution that is kept, which moves
  if (!tape.bounced() && tape.problem.time_step > 0.0 && tape.restitution_kept < 1.0)
    quality = worst(quality, GradientQuality::restitution_held);
  for (int i = 0; i < tape.num_impacts; ++i)
    quality = worst(quality, worst(part_quality(tape.impact(i)), part_quality(tape.after_impact(i))));
  return quality;
}

GradientQuality quality_of(const Tape& tape, const Workspace::Memory& m) {
  const bool contradicts = tape.bounced() ? m.chain->contradicts() : m.derivatives.contradicts();
  return worst(quality_of(tape), contradicts ? GradientQuality::rows_contradict : GradientQuality::exact);
}

void linearise(const World& world, const Tape& tape, Workspace::Memory& m, LcpDerivatives::RowUse use) {
  require_tape(world, tape);
  if (world.options().formulation != Formulation::lcp)
    throw InputError("formulation", "this derivative is of the rows of hard contact: lcp only");
  actuation_derivatives(world, tape.u, tape.regions, m.actuation);
  set_implicit_forces(world, tape.regions, m.implicit);
  m.derivatives.linearise(world.model(), m.data, solved_step(world, tape, m), use);
}

namespace {

/// Smooth contact has no sets to choose others than.
void require_mode(const World& world, GradientMode mode) {
  if (world.options().formulation == Formulation::lcp || mode == GradientMode::exact) return;
  throw InputError("mode", "must be exact: " + std::string(to_string(mode)) +
                               " is for hard contact, and this world's is " +
                               std::string(to_string(world.options().formulation)));
}

bool approximates_bounces(GradientMode mode) {
  return mode == GradientMode::reflection || mode == GradientMode::saltation;
}

bool is_semi_implicit(const World& world) { return world.options().integrator == Integrator::semi_implicit; }

/// Friction goes with its normal where that has changed. False if nothing has.
bool settle_friction(const Tape& tape, Workspace::Memory& m) {
  for (std::size_t r = 0; r < tape.problem.rows.size(); ++r) {
    const int normal = tape.problem.boxes[r].normal;
    if (normal < 0) continue;
    const RowSet set = m.other_sets[normal];
    if (set != tape.sets[normal]) m.other_sets[r] = set == RowSet::clamped ? RowSet::clamped : RowSet::lower;
  }
  return m.other_sets != tape.sets;
}

/// Nimble's second try: contacts whose opening velocity, by an impulse at them, would lower the loss separate. False if
/// these are the sets of the step.
bool classify_by_loss(const World& world, const Tape& tape, Workspace::Memory& m) {
  const ContactProblem& problem = tape.problem;
  m.other_tau = m.grad_v;
  solve_mass_matrix(world.model(), m.data, m.other_tau);
  m.other_sets = tape.sets;
  for (std::size_t r = 0; r < problem.rows.size(); ++r) {
    if (problem.rows[r].kind != RowKind::normal) continue;
    const auto row = problem.jacobian(world.nv()).row(static_cast<Eigen::Index>(r));
    const double opening = row.dot(m.other_tau);
    if (opening == 0.0) continue;
    m.other_sets[r] = opening < 0.0 ? RowSet::lower : RowSet::clamped;
  }
  return settle_friction(tape, m);
}

/// Every contact touches.
bool classify_as_touching(const Tape& tape, Workspace::Memory& m) {
  m.other_sets = tape.sets;
  for (std::size_t r = 0; r < tape.problem.rows.size(); ++r)
    if (tape.problem.rows[r].kind == RowKind::normal) m.other_sets[r] = RowSet::clamped;
  return settle_friction(tape, m);
}

void linearise_with_other_sets(const World& world, const Tape& tape, Workspace::Memory& m) {
  SolvedStep step = solved_step(world, tape, m);
  step.sets = m.other_sets;
  m.derivatives.linearise(world.model(), m.data, step);
}

/// Nimble's second try, if there is one: whether its gradient of the loss (m.grad_v) is larger than the first one's,
/// `first` and m.tau. It is then in m.other_q, other_v and other_tau, and the rows are linearised with its sets.
bool second_try_is_larger(const World& world, const Tape& tape, const StateTangent& first, Workspace::Memory& m) {
  if (!classify_by_loss(world, tape, m)) return false;
  const double dt = world.options().time_step;
  linearise_with_other_sets(world, tape, m);
  m.derivatives.reverse(world.model(), m.data, m.grad_v, VectorX(), m.other_q, m.other_v, m.other_tau);
  return m.other_v.squaredNorm() + m.other_tau.squaredNorm() / dt > first.v.squaredNorm() + m.tau.squaredNorm() / dt;
}

}  // namespace

GradientQuality step_jacobians(const World& world, const Tape& tape, Workspace& workspace, StepJacobians& out,
                               GradientMode mode, const StateTangent* loss) {
  require_mode(world, mode);
  if (mode == GradientMode::complementarity_aware) {
    if (loss == nullptr) throw InputError("loss", "must be given: complementarity_aware looks at a loss");
    require_tangent(world, "loss", *loss);
  }
  if (is_smooth(world, workspace.memory())) return smooth_jacobians(world, tape, workspace.memory(), out);
  if (tape.bounced()) {
    bounce_jacobians(world, tape, workspace.memory(), &out);
    return quality_of(tape, workspace.memory());
  }
  Workspace::Memory& m = workspace.memory();
  linearise(world, tape, m);
  bool other = mode == GradientMode::pre_contact && classify_as_touching(tape, m);
  if (other) linearise_with_other_sets(world, tape, m);
  if (mode == GradientMode::complementarity_aware) {
    reverse_integration(world, tape, *loss, m);
    m.derivatives.reverse(world.model(), m.data, m.grad_v, VectorX(), m.first_try.q, m.first_try.v, m.tau);
    other = second_try_is_larger(world, tape, m.first_try, m);
    if (!other) m.derivatives.linearise(world.model(), m.data, solved_step(world, tape, m));
  }
  const GradientQuality quality = quality_of(tape, m);
  m.derivatives.expand(world.model(), m.data);
  const int nv = world.nv();
  out.v_q = m.derivatives.d_q();
  out.v_v = m.derivatives.d_v();
  out.v_u.resize(nv, world.nu());
  to_controls(world, m.actuation, m.derivatives.d_tau(), out.v_u);

  const Integration integration(world, displacement(world, tape, m.displacement), tape.v_plus);
  const double dt = world.options().time_step;
  out.q_q.setIdentity(nv, nv);
  out.q_v.setZero(nv, nv);
  out.q_u.setZero(nv, world.nu());
  if (is_semi_implicit(world)) {
    m.block_q = dt * out.v_q;
    integration.forward(out.q_q, m.block_q, out.v_q);
    m.block_q = dt * out.v_v;
    integration.forward(out.q_v, m.block_q, out.v_v);
    m.block_v = dt * out.v_u;
    integration.forward(out.q_u, m.block_v, out.v_u);
  } else {
    m.block_q.setZero(nv, nv);
    integration.forward(out.q_q, m.block_q, out.v_q);
    m.block_q.diagonal().setConstant(dt);
    integration.forward(out.q_v, m.block_q, out.v_v);
    m.block_v.setZero(nv, world.nu());
    integration.forward(out.q_u, m.block_v, out.v_u);
  }
  const bool approximate = approximates_bounces(mode) && approximate_bounce(world, tape, workspace, mode, out);
  return other || approximate ? worst(quality, GradientQuality::heuristic) : quality;
}

void require_tangent(const World& world, const char* name, const StateTangent& tangent) {
  if (tangent.q.size() != world.nv() || tangent.v.size() != world.nv())
    throw InputError(name, "must have " + std::to_string(world.nv()) + " entries each for q and v");
}

void require_control(const World& world, VectorArgument du) {
  if (du.size() != world.nu()) throw InputError("du", "must have " + std::to_string(world.nu()) + " entries");
}

void reverse_integration(const World& world, const Tape& tape, const StateTangent& g, Workspace::Memory& m) {
  const Integration integration(world, displacement(world, tape, m.displacement), tape.v_plus);
  m.grad_q = g.q;
  m.grad_v = g.v;
  integration.reverse(m.grad_q, m.delta, m.grad_v);
  if (is_semi_implicit(world)) m.grad_v += world.options().time_step * m.delta;
}

void finish_reverse(const World& world, Workspace::Memory& m, StateTangent& g_state, VectorX& g_u) {
  g_state.q += m.grad_q;
  if (!is_semi_implicit(world)) g_state.v += world.options().time_step * m.delta;
  if (world.actuators().empty()) {
    g_u = m.tau;
    return;
  }
  g_u.resize(world.nu());
  for (int i = 0; i < world.nu(); ++i) g_u[i] = m.actuation.d_u[i] * m.tau[world.actuators()[i].dof];
}

GradientQuality step_vjp(const World& world, const Tape& tape, Workspace& workspace, const StateTangent& g,
                         StateTangent& g_state, VectorX& g_u, GradientMode mode) {
  require_tangent(world, "g", g);
  require_mode(world, mode);
  Workspace::Memory& m = workspace.memory();
  if (is_smooth(world, m)) return smooth_vjp(world, tape, m, g, g_state, g_u);
  const VectorX no_impulses;
  if (tape.bounced()) {
    bounce_vjp(world, tape, m, g, no_impulses, g_state, g_u);
    return quality_of(tape, m);
  }
  if (approximates_bounces(mode)) {
    const GradientQuality quality = step_jacobians(world, tape, workspace, m.event, mode);
    m.other_q = m.event.q_q.transpose() * g.q + m.event.v_q.transpose() * g.v;
    m.other_v = m.event.q_v.transpose() * g.q + m.event.v_v.transpose() * g.v;
    g_u = m.event.q_u.transpose() * g.q + m.event.v_u.transpose() * g.v;
    g_state.q = m.other_q;
    g_state.v = m.other_v;
    return quality;
  }
  linearise(world, tape, m);
  reverse_integration(world, tape, g, m);
  m.derivatives.reverse(world.model(), m.data, m.grad_v, no_impulses, g_state.q, g_state.v, m.tau);

  GradientQuality quality = quality_of(tape, m);
  if (mode == GradientMode::pre_contact && classify_as_touching(tape, m)) {
    linearise_with_other_sets(world, tape, m);
    m.derivatives.reverse(world.model(), m.data, m.grad_v, no_impulses, g_state.q, g_state.v, m.tau);
    quality = worst(quality, GradientQuality::heuristic);
  }
  if (mode == GradientMode::complementarity_aware && second_try_is_larger(world, tape, g_state, m)) {
    g_state.q = m.other_q;
    g_state.v = m.other_v;
    m.tau = m.other_tau;
    quality = worst(quality, GradientQuality::heuristic);
  }
  finish_reverse(world, m, g_state, g_u);
  return quality;
}

void forward_rows(const World& world, const Tape& tape, const StateTangent& d, VectorArgument du, Workspace::Memory& m,
                  StateTangent& d_next, VectorX* d_impulses) {
  m.tau.setZero(world.nv());
  if (world.actuators().empty()) {
    m.tau = du;
  } else {
    for (int i = 0; i < world.nu(); ++i) m.tau[world.actuators()[i].dof] += m.actuation.d_u[i] * du[i];
  }
  m.derivatives.forward(world.model(), m.data, d.q, d.v, m.tau, m.grad_v, d_impulses);
  const Integration integration(world, displacement(world, tape, m.displacement), tape.v_plus);
  m.delta = world.options().time_step * (is_semi_implicit(world) ? m.grad_v : d.v);
  d_next.q = d.q;
  d_next.v = m.grad_v;
  integration.forward(d_next.q, m.delta, d_next.v);
}

GradientQuality step_jvp(const World& world, const Tape& tape, Workspace& workspace, const StateTangent& d,
                         VectorArgument du, StateTangent& d_next) {
  require_tangent(world, "d", d);
  require_control(world, du);
  Workspace::Memory& m = workspace.memory();
  if (is_smooth(world, m)) return smooth_jvp(world, tape, m, d, du, d_next);
  if (tape.bounced()) {
    bounce_jvp(world, tape, m, d, du, d_next);
  } else {
    linearise(world, tape, m);
    forward_rows(world, tape, d, du, m, d_next);
  }
  return quality_of(tape, m);
}

GradientQuality linearized_step(const World& world, const State& state, VectorArgument u, Workspace& workspace,
                                State& next, Eigen::Ref<MatrixX> A, Eigen::Ref<MatrixX> B, const StepOptions& options) {
  Workspace::Memory& m = workspace.memory();
  if (!is_made(step(world, state, u, workspace, next, &m.own_tape, options).status)) {
    A.setConstant(std::numeric_limits<double>::quiet_NaN());
    B.setConstant(std::numeric_limits<double>::quiet_NaN());
    return GradientQuality::contact_unsolved;
  }
  const GradientQuality quality = step_jacobians(world, m.own_tape, workspace, m.own_jacobians);
  m.own_jacobians.copy_to(A, B);
  return quality;
}

}  // namespace tangere
