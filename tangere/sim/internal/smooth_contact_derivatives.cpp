#include <algorithm>
#include <string>

#include <Eigen/Geometry>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/sim/internal/integration.hpp"
#include "tangere/sim/internal/smooth_contact.hpp"
#include "tangere/sim/internal/smooth_displacement.hpp"
#include "tangere/sim/tape/smooth_tape.hpp"

namespace tangere {
namespace {

/// Smooth contact has no sets to choose others than.
void require_exact(const World& world, GradientMode mode) {
  if (mode == GradientMode::exact) return;
  throw InputError("mode", "must be exact: " + std::string(to_string(mode)) +
                               " is for hard contact, and this world's is " +
                               std::string(to_string(world.options().formulation)));
}

/// dd/d(dt v⁺) of the quaternions, else 1: exp(d) = cay(φ) moves by J_r(d) δd = D(φ) δφ.
Matrix3 displacement_derivative(const Vector3& phi) {
  return so3::right_jacobian_inverse(cayley_logarithm(phi)) * cayley_right_jacobian(phi);
}

/// δd for columns of δv⁺.
template <class D, class V>
void to_displacements(const World& world, double dt, const VectorX& v_plus, const V& v, D&& d) {
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
void from_displacements(const World& world, double dt, const VectorX& v_plus, VectorX& d) {
  d *= dt;
  for_each_turn(world, [&](int k) {
    const Vector3 turned = displacement_derivative(dt * v_plus.segment<3>(k)).transpose() * d.segment<3>(k);
    d.segment<3>(k) = turned;
  });
}

SmoothLinearisation linearisation(const Tape& tape, const StepScratch& m) {
  return {.state = smooth_state(tape.q, tape.v, m),
          .v_plus = tape.v_plus,
          .solved = tape.smooth().contact,
          .tau_q = m.actuation.d_q,
          .tau_v = m.actuation.d_v,
          .implicit_damping = m.implicit.damping};
}

/// The last part of a step of free bodies alone, as `Integration` does it: q' and v' of what are columns of δv⁺. Other
/// islands' columns are zero and stay so; a body's motion is the same for all of them.
void move_bodies(const World& world, double dt, const VectorX& v_plus, const VectorX& displacement,
                 const CoupledCoordinates& coupled, StepJacobians& out) {
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

}  // namespace

/// The forces of a tape and their derivatives. Where the last step was from there, its smooth dynamics is known, but
/// for parameters, which are `afresh`.
void SmoothContactMethod::begin_derivatives(SmoothLevel& level, const World& world, const Tape& tape, bool afresh) {
  require_tape(world, tape);
  const double dt = level.settings.time_step;
  if (tape.smooth().time_step != dt)
    throw InputError("tape", "is of a step of " + internal::to_text(tape.smooth().time_step) +
                                 " s, and the world's are of " + internal::to_text(dt) + " s");
  actuation_derivatives(world, tape.u, tape.regions, m_.actuation);
  m_.regions = tape.regions;
  set_implicit_forces(world, dt, m_.regions, m_.implicit);
  actuate(world, tape.q, tape.v, tape.u, m_.regions, m_.tau);
  level.taped.q = tape.q;
  level.taped.v = tape.v;
  if (!afresh && data_of_ == &level && level.contact.is_set_up(smooth_state(tape.q, tape.v, m_))) {
    m_.v_free = level.contact.v_free();
    return;
  }
  data_of_ = &level;
  if (level.contact.problem().tree != nullptr)
    smooth_dynamics_held(world, dt, level.taped, tape.u, m_);
  else
    begin_free(world, dt, level.taped, tape.u, m_);
}

SmoothContactMethod::GradientStep SmoothContactMethod::gradient_step(const World& world, const Tape& tape) {
  const SmoothContact& options = world.options().smooth;
  if (options.gradient_kappa == 0.0 || options.gradient_kappa == options.kappa)
    return {whole_, tape, GradientQuality::exact};
  require_tape(world, tape);
  if (relaxed_ == nullptr) {
    StepSettings settings = whole_.settings;
    settings.kappa = options.gradient_kappa;
    relaxed_ = std::make_unique<SmoothLevel>(world, settings);
  }
  // from the tape's contact; halves have none of the whole step
  if (tape.smooth().halves.empty())
    relaxed_->contact.warm_start() = tape.smooth().contact;
  else
    relaxed_->contact.warm_start().clear();
  relaxed_->taped.q = tape.q;
  relaxed_->taped.v = tape.v;
  relaxed_result_ = {};
  if (!make(*relaxed_, world, relaxed_->taped, tape.u, StepEffort::full, relaxed_state_, &relaxed_tape_,
            relaxed_result_) ||
      !in_range(relaxed_state_))
    relaxed_tape_.status = StepStatus::not_finite;
  return {*relaxed_, relaxed_tape_, GradientQuality::relaxed};
}

GradientQuality SmoothContactMethod::jacobians(const World& world, const Tape& tape, GradientMode mode,
                                               const StateTangent*, StepJacobians& out) {
  require_exact(world, mode);
  const GradientStep at = gradient_step(world, tape);
  return worst(at.quality, part_jacobians(at.level, world, at.tape, out));
}

GradientQuality SmoothContactMethod::vjp(const World& world, const Tape& tape, GradientMode mode, const StateTangent& g,
                                         StateTangent& g_state, VectorX& g_u) {
  require_exact(world, mode);
  const GradientStep at = gradient_step(world, tape);
  return worst(at.quality, part_vjp(at.level, world, at.tape, g, g_state, g_u));
}

GradientQuality SmoothContactMethod::jvp(const World& world, const Tape& tape, const StateTangent& d, VectorArgument du,
                                         StateTangent& d_next) {
  StepJacobians& J = m_.event;
  const GradientQuality quality = jacobians(world, tape, GradientMode::exact, nullptr, J);
  d_next.q = J.q_q * d.q + J.q_v * d.v + J.q_u * du;
  d_next.v = J.v_q * d.q + J.v_v * d.v + J.v_u * du;
  return quality;
}

GradientQuality SmoothContactMethod::parameter_jacobians(const World& world, const Tape& tape,
                                                         std::span<const StepParameter> parameters,
                                                         StepParameterJacobians& out) {
  const GradientStep at = gradient_step(world, tape);
  return worst(at.quality, part_parameters(at.level, world, at.tape, parameters, out));
}

GradientQuality SmoothContactMethod::part_jacobians(SmoothLevel& level, const World& world, const Tape& tape,
                                                    StepJacobians& out) {
  require_tape(world, tape);
  if (!tape.smooth().halves.empty()) {
    SmoothLevel& half = level.half(world);
    GradientQuality quality = GradientQuality::exact;
    for (std::size_t i = 0; i < 2; ++i)
      quality = worst(quality, part_jacobians(half, world, tape.smooth().halves[i], level.jacobians[i]));
    chain(level.jacobians[0], level.jacobians[1], out);
    return quality;
  }
  begin_derivatives(level, world, tape, false);
  const double dt = level.settings.time_step;
  const int nv = world.nv();
  const bool direct = world.actuators().empty();
  MatrixX& by_tau = direct ? out.v_u : m_.block_v;
  const GradientQuality contact_quality =
      level.derivatives.jacobians(level.contact, m_.data, linearisation(tape, m_), out.v_q, out.v_v, by_tau);
  if (!direct) {
    out.v_u.resize(nv, world.nu());
    for (int i = 0; i < world.nu(); ++i) out.v_u.col(i) = m_.actuation.d_u[i] * by_tau.col(world.actuators()[i].dof);
  }
  set_displacement(world, dt, tape.v_plus, m_.displacement);
  out.q_q.setIdentity(nv, nv);
  out.q_v.setZero(nv, nv);
  out.q_u.setZero(nv, world.nu());
  const CoupledCoordinates& coupled = level.derivatives.coupled();
  if (level.contact.problem().tree == nullptr && direct) {
    move_bodies(world, dt, tape.v_plus, m_.displacement, coupled, out);
    return worst(contact_quality, quality_of(tape.status));
  }
  const Integration integration(world, m_.displacement, tape.v_plus);
  to_displacements(world, dt, tape.v_plus, out.v_q, m_.block_q);
  integration.forward(out.q_q, m_.block_q, out.v_q, nullptr, &coupled);
  to_displacements(world, dt, tape.v_plus, out.v_v, m_.block_q);
  integration.forward(out.q_v, m_.block_q, out.v_v, nullptr, &coupled);
  to_displacements(world, dt, tape.v_plus, out.v_u, m_.block_v);
  // columns of actuators are no coordinates
  integration.forward(out.q_u, m_.block_v, out.v_u, nullptr, direct ? &coupled : nullptr);
  return worst(contact_quality, quality_of(tape.status));
}

GradientQuality SmoothContactMethod::part_vjp(SmoothLevel& level, const World& world, const Tape& tape,
                                              const StateTangent& g, StateTangent& g_state, VectorX& g_u) {
  require_tape(world, tape);
  if (!tape.smooth().halves.empty()) {
    SmoothLevel& half = level.half(world);
    const std::vector<Tape>& halves = tape.smooth().halves;
    const GradientQuality after = part_vjp(half, world, halves[1], g, level.tangent, level.g_u);
    const GradientQuality before = part_vjp(half, world, halves[0], level.tangent, g_state, g_u);
    g_u += level.g_u;
    return worst(before, after);
  }
  begin_derivatives(level, world, tape, false);
  const double dt = level.settings.time_step;
  set_displacement(world, dt, tape.v_plus, m_.displacement);
  const Integration integration(world, m_.displacement, tape.v_plus);
  m_.grad_q = g.q;
  m_.grad_v = g.v;
  integration.reverse(m_.grad_q, m_.delta, m_.grad_v);
  from_displacements(world, dt, tape.v_plus, m_.delta);
  m_.grad_v += m_.delta;
  GradientQuality quality = level.derivatives.reverse(level.contact, m_.data, linearisation(tape, m_), m_.grad_v,
                                                      g_state.q, g_state.v, m_.other_tau);
  quality = worst(quality, quality_of(tape.status));
  g_state.q += m_.grad_q;
  if (world.actuators().empty()) {
    g_u = m_.other_tau;
    return quality;
  }
  g_u.resize(world.nu());
  for (int i = 0; i < world.nu(); ++i) g_u[i] = m_.actuation.d_u[i] * m_.other_tau[world.actuators()[i].dof];
  return quality;
}

GradientQuality SmoothContactMethod::part_parameters(SmoothLevel& level, const World& world, const Tape& tape,
                                                     std::span<const StepParameter> parameters,
                                                     StepParameterJacobians& out) {
  require_tape(world, tape);
  if (!tape.smooth().halves.empty()) {
    SmoothLevel& half = level.half(world);
    const std::vector<Tape>& halves = tape.smooth().halves;
    StepParameterJacobians& before = level.parameters;
    StepJacobians& between = level.jacobians[1];
    const GradientQuality qualities[] = {part_parameters(half, world, halves[0], parameters, before),
                                         part_parameters(half, world, halves[1], parameters, out),
                                         part_jacobians(half, world, halves[1], between)};
    out.q += between.q_q * before.q + between.q_v * before.v;
    out.v += between.v_q * before.q + between.v_v * before.v;
    return *std::max_element(std::begin(qualities), std::end(qualities));
  }
  begin_derivatives(level, world, tape, true);
  const double dt = level.settings.time_step;
  const GradientQuality contact_quality =
      level.derivatives.parameters(level.contact, m_.data, linearisation(tape, m_), parameters, out.v);
  set_displacement(world, dt, tape.v_plus, m_.displacement);
  const Integration integration(world, m_.displacement, tape.v_plus);
  out.q.setZero(world.nv(), out.v.cols());
  to_displacements(world, dt, tape.v_plus, out.v, ways_);
  set_moment_columns(world, parameters, moments_);
  integration.forward(out.q, ways_, out.v, &moments_);
  return worst(contact_quality, quality_of(tape.status));
}

}  // namespace tangere
