#include "tangere/sim/internal/step_scratch.hpp"

#include <string>

#include "tangere/math/error.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/inverse_dynamics.hpp"
#include "tangere/multibody/mass_matrix.hpp"
#include "tangere/sim/internal/lone_body.hpp"

namespace tangere {

StepScratch::StepScratch(const World& world) : data(world.model()) {}

bool in_range(VectorArgument x) { return (x.array().abs() <= kLargestCoordinate).all(); }
bool in_range(const State& state) { return in_range(state.q) && in_range(state.v); }

void set_frame_acceleration(const World& world, VectorArgument v, VectorX& a) {
  a.setZero(world.nv());
  for (const int k : world.floating_dofs()) a.segment<3>(k) = -v.segment<3>(k + 3).cross(v.segment<3>(k));
}

void set_inertial_velocity(const World& world, VectorArgument v, VectorX& out) {
  out = v;
  for (const LoneBody& body : world.lone_bodies()) out.segment<6>(body.first_v).setZero();
}

namespace {

/// Bias forces and M.
void begin_dynamics(const World& world, const State& state, StepScratch& m) {
  set_frame_acceleration(world, state.v, m.a);
  set_inertial_velocity(world, state.v, m.v_inertial);
  m.bias = inverse_dynamics(world.model(), m.data, state.q, m.v_inertial, m.a);
  (void)mass_matrix(world.model(), m.data, state.q);
}

/// v_free from there, with the regions m.regions.
void set_free_velocity(const World& world, double dt, const State& state, VectorArgument u, StepScratch& m) {
  const Model& model = world.model();
  actuate(world, state.q, state.v, u, m.regions, m.tau);
  set_implicit_forces(world, dt, m.regions, m.implicit);
  m.v_free = m.tau - m.bias;
  m.v_free -= m.implicit.damping.cwiseProduct(state.v);
  // their dampers have not seen the velocity
  for (const LoneBody& body : world.lone_bodies())
    for (int k = body.first_v; k < body.first_v + 6; ++k) m.v_free[k] -= model.dofs()[k].damping * state.v[k];
  factor_mass_matrix(model, m.data, m.implicit.inertia);
  solve_mass_matrix(model, m.data, m.v_free);
  m.v_free = state.v + dt * m.v_free;
}

}  // namespace

void smooth_dynamics(const World& world, double dt, const State& state, VectorArgument u, StepScratch& m) {
  begin_dynamics(world, state, m);
  reset_regions(world, m.regions);
  set_free_velocity(world, dt, state, u, m);
  // contact has the last word: what does not hold here does no harm
  for (int pass = 0; pass < kPassesTogether; ++pass) {
    if (!change_regions(world, dt, state.q, state.v, u, m.v_free, false, m.regions)) return;
    set_free_velocity(world, dt, state, u, m);
  }
}

void smooth_dynamics_held(const World& world, double dt, const State& state, VectorArgument u, StepScratch& m) {
  begin_dynamics(world, state, m);
  set_free_velocity(world, dt, state, u, m);
}

bool change_actuation(const World& world, double dt, const State& state, VectorArgument u, const VectorX& v_plus,
                      int pass, StepScratch& m) {
  if (!v_plus.allFinite()) return false;
  if (pass == kMostPasses) {
    std::vector<ActuatorRegion> last = m.regions;
    m.regions_hold = m.regions_hold && !change_regions(world, dt, state.q, state.v, u, v_plus, true, last);
    return false;
  }
  if (!change_regions(world, dt, state.q, state.v, u, v_plus, pass >= kPassesTogether, m.regions)) return false;
  set_free_velocity(world, dt, state, u, m);
  return true;
}

void advance(const World& world, VectorArgument q, VectorArgument d, VectorArgument v, State& next) {
  next.q.resize(world.nq());
  // the way first, then the velocities
  next.v = d;
  for (const LoneBody& body : world.lone_bodies()) {
    const int k = body.first_v;
    next.v.segment<6>(k) = LoneMotion(body, d.segment<6>(k), v.segment<6>(k)).displacement();
  }
  integrate(world.model(), q, next.v, next.q);
  next.v = v;
  for (const int k : world.floating_dofs())
    next.v.segment<3>(k) = so3::exp(d.segment<3>(k + 3)).transpose() * v.segment<3>(k);
  for (const LoneBody& body : world.lone_bodies()) {
    const int k = body.first_v;
    next.v.segment<6>(k) = LoneMotion(body, d.segment<6>(k), v.segment<6>(k)).velocity();
  }
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

GradientQuality quality_of(StepStatus status) {
  return status == StepStatus::solved ? GradientQuality::exact : GradientQuality::contact_unsolved;
}

void require_tangent(const World& world, const char* name, const StateTangent& tangent) {
  if (tangent.q.size() != world.nv() || tangent.v.size() != world.nv())
    throw InputError(name, "must have " + std::to_string(world.nv()) + " entries each for q and v");
}

void require_control(const World& world, VectorArgument du) {
  if (du.size() != world.nu()) throw InputError("du", "must have " + std::to_string(world.nu()) + " entries");
}

}  // namespace tangere
