#include "tangere/sim/internal/smooth_step.hpp"

#include <algorithm>

#include <Eigen/Geometry>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/sim/internal/integration.hpp"

namespace tangere {
namespace {

/// on(k) for the angular coordinates of joints that turn by the Cayley map: of trees.
template <class On>
void for_each_turn(const World& world, On&& on) {
  auto lone = world.lone_bodies().begin();
  for (const Joint& joint : world.model().joints()) {
    if (joint.nq == joint.nv) continue;
    if (lone != world.lone_bodies().end() && lone->first_v == joint.first_v)
      ++lone;
    else
      on(joint.first_v + joint.nv - 3);
  }
}

/// d of q' = q ⊕ d: dt v⁺, quaternions by the Cayley map. (Lone bodies make their motion of dt v⁺.)
void set_displacement(const World& world, VectorArgument v_plus, VectorX& d) {
  d = world.options().time_step * v_plus;
  for_each_turn(world, [&](int k) {
    const Vector3 phi = d.segment<3>(k);
    d.segment<3>(k) = cayley_logarithm(phi);
  });
}

/// dd/d(dt v⁺) of the quaternions, else 1: exp(d) = cay(φ) moves by J_r(d) δd = D(φ) δφ.
Matrix3 displacement_derivative(const Vector3& phi) {
  return so3::right_jacobian_inverse(cayley_logarithm(phi)) * cayley_right_jacobian(phi);
}

/// δd for columns of δv⁺.
template <class D, class V>
void to_displacements(const World& world, const VectorX& v_plus, const V& v, D&& d) {
  const double dt = world.options().time_step;
  d = dt * v;
  for_each_turn(world, [&](int k) {
    const Matrix3 derivative = dt * displacement_derivative(dt * v_plus.segment<3>(k));
    for (Eigen::Index column = 0; column < v.cols(); ++column) {
      const Vector3 turned = derivative * v.template block<3, 1>(k, column);
      d.template block<3, 1>(k, column) = turned;
    }
  });
}

/// Transposed: the gradient of d becomes that of v⁺.
void from_displacements(const World& world, const VectorX& v_plus, VectorX& d) {
  const double dt = world.options().time_step;
  d *= dt;
  for_each_turn(world, [&](int k) {
    const Vector3 turned = displacement_derivative(dt * v_plus.segment<3>(k)).transpose() * d.segment<3>(k);
    d.segment<3>(k) = turned;
  });
}

SmoothState smooth_state(VectorArgument q, VectorArgument v, const Workspace::Memory& m) {
  return {.q = q, .v = v, .tau = m.tau, .v_free = m.v_free, .implicit_inertia = m.implicit.inertia};
}

/// Free bodies know their own dynamics, and no actuator of theirs acts at the end of the step.
void begin_free(const World& world, const State& state, VectorArgument u, Workspace::Memory& m) {
  actuate(world, state.q, state.v, u, m.regions, m.tau);
  set_implicit_forces(world, m.regions, m.implicit);
  forward_kinematics(world.model(), m.data, state.q);
  m.v_free = state.v;
}

/// Forces, and where they would go; poses and M in `m.data`.
void begin(const World& world, const State& state, VectorArgument u, Workspace::Memory& m) {
  if (m.smooth->contact.problem().tree != nullptr) {
    smooth_dynamics(world, state, u, m);
    return;
  }
  reset_regions(world, m.regions);
  (void)change_regions(world, state.q, state.v, u, state.v, false, m.regions);
  begin_free(world, state, u, m);
}

/// The same with the regions of a tape.
void begin_held(const World& world, const State& state, VectorArgument u, Workspace::Memory& m) {
  if (m.smooth->contact.problem().tree != nullptr)
    smooth_dynamics_held(world, state, u, m);
  else
    begin_free(world, state, u, m);
}

/// The contacts of another part of the step, into those so far: one a pair of sets, as it was last, with all of its
/// impulse.
void add_contacts(std::span<const Contact> part, std::vector<Contact>& all) {
  const std::size_t before = all.size();
  for (const Contact& contact : part) {
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(before);
    const auto same = std::find_if(all.begin(), end, [&](const Contact& other) {
      return other.shape_A == contact.shape_A && other.shape_B == contact.shape_B &&
             other.feature_A == contact.feature_A && other.feature_B == contact.feature_B;
    });
    if (same == end) {
      all.push_back(contact);
      continue;
    }
    const Vector3 earlier = same->frame * same->impulse;
    *same = contact;
    same->impulse += same->frame.transpose() * earlier;
  }
}

/// The memory of steps half as long.
Workspace& half_workspace(const World& world, SmoothMemory& smooth) {
  if (smooth.half_world == nullptr) {
    WorldOptions options = world.options();
    options.time_step *= 0.5;
    options.smooth.smallest_part = std::min(1.0, 2.0 * options.smooth.smallest_part);
    smooth.half_world = std::make_unique<World>(world.with_options(options));
    smooth.half_workspace = std::make_unique<Workspace>(*smooth.half_world);
  }
  Workspace::Memory& m = smooth.half_workspace->memory();
  if (is_smooth(*smooth.half_world, m)) m.smooth->is_half = true;
  return *smooth.half_workspace;
}

bool two_half_steps(const World& world, const State& state, VectorArgument u, Workspace::Memory& m, State& next,
                    Tape* tape) {
  SmoothMemory& smooth = *m.smooth;
  Workspace& workspace = half_workspace(world, smooth);
  workspace.forget();
  // what no start solved is no start for the next step
  smooth.contact.warm_start().clear();
  // islands that were solved are counted as they were, the others as halved if both halves are solved
  const SmoothSolution& whole = smooth.contact.solution();
  SmoothStatistics statistics;
  statistics.rungs = whole.statistics.rungs;
  StepResult& all = m.result;
  all.num_islands = whole.num_islands;
  smooth.half_contacts.clear();
  if (tape != nullptr) tape->parts.resize(2);
  smooth.half_state = state;
  for (std::size_t half = 0; half < 2; ++half) {
    const StepResult& result = step(*smooth.half_world, smooth.half_state, u, workspace, smooth.half_state,
                                    tape != nullptr ? &tape->parts[half] : nullptr);
    statistics.failures += result.smooth.failures;
    statistics.iterations += result.smooth.iterations;
    statistics.max_iterations = std::max(statistics.max_iterations, result.smooth.max_iterations);
    if (!is_made(result.status)) return false;
    if (result.status != StepStatus::solved) all.status = result.status;
    all.residual = std::max(all.residual, result.residual);
    all.restitution_kept = std::min(all.restitution_kept, result.restitution_kept);
    add_contacts(result.contacts, smooth.half_contacts);
  }
  if (all.status == StepStatus::solved)
    statistics.rungs[static_cast<std::size_t>(SmoothRung::half_steps)] = whole.statistics.failures + whole.num_gaining;
  all.smooth = statistics;
  all.contacts = smooth.half_contacts;
  next = smooth.half_state;
  if (tape != nullptr) tape->status = all.status;
  return true;
}

}  // namespace

SmoothMemory::SmoothMemory(const World& world)
    : world_number(world.number()),
      parts_number(world.parts_number()),
      options(world.options()),
      contact(world.model(), world.scene(), world.scales().smooth(), world.options().time_step, world.options().smooth,
              world.options().contact, world.options().formulation == Formulation::bilevel),
      derivatives(contact.model()) {}

namespace {

/// Worlds that take turns in a workspace and are all remembered.
constexpr std::size_t kMostMemories = 4;

/// Memory of a world becomes the first, and starts where the one in use would.
void take_memory(const World& world, Workspace::Memory& m) {
  auto& memories = m.smooth_memories;
  if (!memories.empty() && memories.front()->parts_number != world.parts_number()) {
    memories.clear();
    m.smooth = nullptr;
    m.lcp.warm_start().smooth.clear();
  }
  const auto fits = [&](const std::unique_ptr<SmoothMemory>& one) { return one->options == world.options(); };
  auto found = std::find_if(memories.begin(), memories.end(), fits);
  if (found == memories.end()) {
    if (memories.size() == kMostMemories) memories.pop_back();
    found = memories.insert(memories.end(), std::make_unique<SmoothMemory>(world));
  }
  std::rotate(memories.begin(), found, found + 1);
  SmoothMemory& taken = *memories.front();
  taken.world_number = world.number();
  if (&taken == m.smooth) return;
  taken.contact.warm_start() = m.smooth != nullptr ? m.smooth->contact.warm_start() : m.lcp.warm_start().smooth;
  m.smooth = &taken;
}

}  // namespace

bool is_smooth(const World& world, Workspace::Memory& m) {
  if (world.options().formulation == Formulation::lcp) return false;
  if (m.smooth == nullptr || m.smooth->world_number != world.number()) take_memory(world, m);
  return true;
}

namespace {

SmoothRung last_rung(StepEffort effort) {
  if (effort == StepEffort::full) return SmoothRung::ones;
  return effort == StepEffort::warm ? SmoothRung::warm : SmoothRung::cold;
}

}  // namespace

bool smooth_step(const World& world, const State& state, VectorArgument u, Workspace::Memory& m, State& next,
                 Tape* tape, StepEffort effort) {
  SmoothMemory& smooth = *m.smooth;
  StepResult& result = m.result;
  begin(world, state, u, m);
  const SmoothSolution* solved = nullptr;
  for (int pass = 0;; ++pass) {
    if (!in_range(m.tau) || !in_range(m.v_free)) return false;
    solved = &smooth.contact.solve(m.data, smooth_state(state.q, state.v, m), last_rung(effort));
    if (solved->statistics.failures > 0 || !change_actuation(world, state, u, solved->v_plus, pass, m)) break;
  }
  const SmoothSolution& solution = *solved;
  if (tape != nullptr) {
    tape->q = state.q;
    tape->v = state.v;
    tape->u = u;
    tape->formulation = world.options().formulation;
    tape->regions = m.regions;
    tape->time_step = world.options().time_step;
    tape->num_impacts = 0;
    tape->parts.clear();
  }
  if (effort != StepEffort::full && solution.status != NcpStatus::solved) {
    result.status = StepStatus::gave_up;
    return false;
  }
  // what gains by turning is halved on until it turns little
  const bool may_halve = world.options().smooth.smallest_part < 1.0;
  if ((solution.statistics.failures > 0 && may_halve) || (solution.num_gaining > 0 && (may_halve || smooth.is_half)))
    return two_half_steps(world, state, u, m, next, tape);
  result.status = solution.status == NcpStatus::solved ? StepStatus::solved : StepStatus::approximate_contact;
  result.residual = solution.residual;
  result.num_islands = solution.num_islands;
  result.contacts = solution.contacts;
  result.smooth = solution.statistics;
  result.restitution_kept = solution.restitution_kept;
  m.v_plus = solution.v_plus;
  if (tape != nullptr) {
    tape->v_plus = m.v_plus;
    tape->smooth = smooth.contact.warm_start();
    tape->status = result.status;
  }
  if (!m.v_plus.allFinite()) return false;
  if (result.status != StepStatus::solved) smooth.contact.warm_start().clear();
  set_displacement(world, m.v_plus, m.delta);
  advance(world, state.q, m.delta, m.v_plus, next);
  return true;
}

namespace {

/// The forces of a tape and their derivatives. Where the last step was from there, its smooth dynamics is known, but
/// for parameters, which are `afresh`.
void begin_derivatives(const World& world, const Tape& tape, Workspace::Memory& m, bool afresh = false) {
  require_tape(world, tape);
  if (tape.time_step != world.options().time_step)
    throw InputError("tape", "is of a step of " + internal::to_text(tape.time_step) + " s, and the world's are of " +
                                 internal::to_text(world.options().time_step) + " s");
  actuation_derivatives(world, tape.u, tape.regions, m.actuation);
  m.regions = tape.regions;
  set_implicit_forces(world, m.regions, m.implicit);
  actuate(world, tape.q, tape.v, tape.u, m.regions, m.tau);
  m.smooth->taped.q = tape.q;
  m.smooth->taped.v = tape.v;
  if (!afresh && m.smooth->contact.is_set_up(smooth_state(tape.q, tape.v, m))) {
    m.v_free = m.smooth->contact.v_free();
    return;
  }
  begin_held(world, m.smooth->taped, tape.u, m);
}

SmoothLinearisation linearisation(const Tape& tape, const Workspace::Memory& m) {
  return {.state = smooth_state(tape.q, tape.v, m),
          .v_plus = tape.v_plus,
          .solved = tape.smooth,
          .tau_q = m.actuation.d_q,
          .tau_v = m.actuation.d_v,
          .implicit_damping = m.implicit.damping};
}

/// The last part of a step of free bodies alone, as `Integration` does it: q' and v' of what are columns of δv⁺. Other
/// islands' columns are zero and stay so; a body's motion is the same for all of them.
void move_bodies(const World& world, const VectorX& v_plus, const VectorX& displacement,
                 const CoupledCoordinates& coupled, StepJacobians& out) {
  const double dt = world.options().time_step;
  for (const LoneBody& body : world.lone_bodies()) {
    const int k = body.first_v;
    const LoneMotion motion(body, displacement.segment<6>(k), v_plus.segment<6>(k));
    for (const auto& [q, v] :
         {std::pair{&out.q_q, &out.v_q}, std::pair{&out.q_v, &out.v_v}, std::pair{&out.q_u, &out.v_u}})
      for (const int column : coupled.of(k)) {
        const Vector6 place = q->block<6, 1>(k, column);
        const Vector6 velocity = v->block<6, 1>(k, column);
        Vector6 q_next, v_next;
        motion.forward(place, dt * velocity, velocity, nullptr, q_next, v_next);
        q->block<6, 1>(k, column) = q_next;
        v->block<6, 1>(k, column) = v_next;
      }
  }
}

/// d(after) d(before).
void chain(const StepJacobians& before, const StepJacobians& after, StepJacobians& out) {
  out.q_q = after.q_q * before.q_q + after.q_v * before.v_q;
  out.q_v = after.q_q * before.q_v + after.q_v * before.v_v;
  out.q_u = after.q_q * before.q_u + after.q_v * before.v_u + after.q_u;
  out.v_q = after.v_q * before.q_q + after.v_v * before.v_q;
  out.v_v = after.v_q * before.q_v + after.v_v * before.v_v;
  out.v_u = after.v_q * before.q_u + after.v_v * before.v_u + after.v_u;
}

/// The step at which derivatives are taken, with its data.
struct GradientStep {
  const World& world;
  const Tape& tape;
  Workspace::Memory& m;
};

/// Whether derivatives are of another step than the tape's.
bool relaxes_further(const World& world) {
  const SmoothOptions& options = world.options().smooth;
  return options.gradient_kappa != 0.0 && options.gradient_kappa != options.kappa;
}

/// The step of a tape at `gradient_kappa`, from the tape's contact.
GradientStep gradient_step(const World& world, const Tape& tape, SmoothMemory& smooth) {
  require_tape(world, tape);
  if (smooth.gradient_world == nullptr) {
    WorldOptions options = world.options();
    options.smooth.kappa = options.smooth.gradient_kappa;
    options.smooth.gradient_kappa = 0.0;
    smooth.gradient_world = std::make_unique<World>(world.with_options(options));
    smooth.gradient_workspace = std::make_unique<Workspace>(*smooth.gradient_world);
  }
  Workspace::Memory& m = smooth.gradient_workspace->memory();
  if (tape.parts.empty()) {
    m.smooth->contact.warm_start() = tape.smooth;
  } else {
    // halves have no contact of the whole step
    m.smooth->contact.warm_start().clear();
  }
  smooth.taped.q = tape.q;
  smooth.taped.v = tape.v;
  (void)step(*smooth.gradient_world, smooth.taped, tape.u, *smooth.gradient_workspace, smooth.gradient_state,
             &smooth.gradient_tape);
  return {*smooth.gradient_world, smooth.gradient_tape, m};
}

}  // namespace

GradientQuality smooth_jacobians(const World& world, const Tape& tape, Workspace::Memory& m, StepJacobians& out) {
  SmoothMemory& smooth = *m.smooth;
  if (relaxes_further(world)) {
    const GradientStep at = gradient_step(world, tape, smooth);
    return worst(GradientQuality::relaxed, smooth_jacobians(at.world, at.tape, at.m, out));
  }
  if (!tape.parts.empty()) {
    Workspace& workspace = half_workspace(world, smooth);
    GradientQuality quality = GradientQuality::exact;
    for (std::size_t half = 0; half < 2; ++half)
      quality = worst(quality, smooth_jacobians(*smooth.half_world, tape.parts[half], workspace.memory(),
                                                smooth.half_jacobians[half]));
    chain(smooth.half_jacobians[0], smooth.half_jacobians[1], out);
    return quality;
  }
  begin_derivatives(world, tape, m);
  const int nv = world.nv();
  const bool direct = world.actuators().empty();
  MatrixX& by_tau = direct ? out.v_u : m.block_v;
  const GradientQuality contact_quality =
      smooth.derivatives.jacobians(smooth.contact, m.data, linearisation(tape, m), out.v_q, out.v_v, by_tau);
  if (!direct) {
    out.v_u.resize(nv, world.nu());
    for (int i = 0; i < world.nu(); ++i) out.v_u.col(i) = m.actuation.d_u[i] * by_tau.col(world.actuators()[i].dof);
  }
  set_displacement(world, tape.v_plus, m.displacement);
  out.q_q.setIdentity(nv, nv);
  out.q_v.setZero(nv, nv);
  out.q_u.setZero(nv, world.nu());
  const CoupledCoordinates& coupled = smooth.derivatives.coupled();
  if (smooth.contact.problem().tree == nullptr && direct) {
    move_bodies(world, tape.v_plus, m.displacement, coupled, out);
    return worst(contact_quality, quality_of(tape.status));
  }
  const Integration integration(world, m.displacement, tape.v_plus);
  to_displacements(world, tape.v_plus, out.v_q, m.block_q);
  integration.forward(out.q_q, m.block_q, out.v_q, nullptr, &coupled);
  to_displacements(world, tape.v_plus, out.v_v, m.block_q);
  integration.forward(out.q_v, m.block_q, out.v_v, nullptr, &coupled);
  to_displacements(world, tape.v_plus, out.v_u, m.block_v);
  // columns of actuators are no coordinates
  integration.forward(out.q_u, m.block_v, out.v_u, nullptr, direct ? &coupled : nullptr);
  return worst(contact_quality, quality_of(tape.status));
}

GradientQuality smooth_vjp(const World& world, const Tape& tape, Workspace::Memory& m, const StateTangent& g,
                           StateTangent& g_state, VectorX& g_u) {
  SmoothMemory& smooth = *m.smooth;
  if (relaxes_further(world)) {
    const GradientStep at = gradient_step(world, tape, smooth);
    return worst(GradientQuality::relaxed, smooth_vjp(at.world, at.tape, at.m, g, g_state, g_u));
  }
  if (!tape.parts.empty()) {
    Workspace& workspace = half_workspace(world, smooth);
    StateTangent& between = smooth.half_tangent;
    VectorX& g_u_after = smooth.half_u;
    const GradientQuality after =
        smooth_vjp(*smooth.half_world, tape.parts[1], workspace.memory(), g, between, g_u_after);
    const GradientQuality before =
        smooth_vjp(*smooth.half_world, tape.parts[0], workspace.memory(), between, g_state, g_u);
    g_u += g_u_after;
    return worst(before, after);
  }
  begin_derivatives(world, tape, m);
  set_displacement(world, tape.v_plus, m.displacement);
  const Integration integration(world, m.displacement, tape.v_plus);
  m.grad_q = g.q;
  m.grad_v = g.v;
  integration.reverse(m.grad_q, m.delta, m.grad_v);
  from_displacements(world, tape.v_plus, m.delta);
  m.grad_v += m.delta;
  GradientQuality quality = smooth.derivatives.reverse(smooth.contact, m.data, linearisation(tape, m), m.grad_v,
                                                       g_state.q, g_state.v, m.other_tau);
  quality = worst(quality, quality_of(tape.status));
  g_state.q += m.grad_q;
  if (world.actuators().empty()) {
    g_u = m.other_tau;
    return quality;
  }
  g_u.resize(world.nu());
  for (int i = 0; i < world.nu(); ++i) g_u[i] = m.actuation.d_u[i] * m.other_tau[world.actuators()[i].dof];
  return quality;
}

GradientQuality smooth_jvp(const World& world, const Tape& tape, Workspace::Memory& m, const StateTangent& d,
                           VectorArgument du, StateTangent& d_next) {
  const GradientQuality quality = smooth_jacobians(world, tape, m, m.event);
  d_next.q = m.event.q_q * d.q + m.event.q_v * d.v + m.event.q_u * du;
  d_next.v = m.event.v_q * d.q + m.event.v_v * d.v + m.event.v_u * du;
  return quality;
}

namespace {

SmoothParameter smooth_parameter(const StepParameter& p) {
  using Kind = StepParameter::Kind;
  SmoothParameter out;
  out.model = p.model;
  out.shape = p.shape;
  out.component = p.component;
  out.other_shape = p.other_shape;
  switch (p.kind) {
    case Kind::model:
      out.kind = SmoothParameter::Kind::model;
      break;
    case Kind::friction:
      out.kind = SmoothParameter::Kind::friction;
      break;
    case Kind::pair_friction:
      out.kind = SmoothParameter::Kind::pair_friction;
      break;
    case Kind::restitution:
      out.kind = SmoothParameter::Kind::restitution;
      break;
    case Kind::shape_placement:
      out.kind = SmoothParameter::Kind::shape_placement;
      break;
    case Kind::shape_size:
      out.kind = SmoothParameter::Kind::shape_size;
      break;
  }
  return out;
}

}  // namespace

GradientQuality smooth_parameter_jacobians(const World& world, const Tape& tape, Workspace::Memory& m,
                                           std::span<const StepParameter> parameters, StepParameterJacobians& out) {
  SmoothMemory& smooth = *m.smooth;
  if (relaxes_further(world)) {
    const GradientStep at = gradient_step(world, tape, smooth);
    return worst(GradientQuality::relaxed, smooth_parameter_jacobians(at.world, at.tape, at.m, parameters, out));
  }
  if (!tape.parts.empty()) {
    Workspace& workspace = half_workspace(world, smooth);
    StepParameterJacobians& before = smooth.half_parameters;
    const GradientQuality qualities[] = {
        smooth_parameter_jacobians(*smooth.half_world, tape.parts[0], workspace.memory(), parameters, before),
        smooth_parameter_jacobians(*smooth.half_world, tape.parts[1], workspace.memory(), parameters, out),
        smooth_jacobians(*smooth.half_world, tape.parts[1], workspace.memory(), m.event)};
    out.q += m.event.q_q * before.q + m.event.q_v * before.v;
    out.v += m.event.v_q * before.q + m.event.v_v * before.v;
    return *std::max_element(std::begin(qualities), std::end(qualities));
  }
  smooth.parameters.clear();
  for (const StepParameter& parameter : parameters) smooth.parameters.push_back(smooth_parameter(parameter));
  begin_derivatives(world, tape, m, true);
  const GradientQuality contact_quality =
      smooth.derivatives.parameters(smooth.contact, m.data, linearisation(tape, m), smooth.parameters, out.v);
  set_displacement(world, tape.v_plus, m.displacement);
  const Integration integration(world, m.displacement, tape.v_plus);
  out.q.setZero(world.nv(), out.v.cols());
  to_displacements(world, tape.v_plus, out.v, m.parameters.smooth);
  set_moment_columns(world, parameters, m.parameters.moments);
  integration.forward(out.q, m.parameters.smooth, out.v, &m.parameters.moments);
  return worst(contact_quality, quality_of(tape.status));
}

}  // namespace tangere
