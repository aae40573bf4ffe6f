#include "tangere/sim/actuation.hpp"

#include <algorithm>
#include <cmath>

#include "tangere/multibody/links.hpp"

namespace tangere {
namespace {

/// An output beyond its range by less than this part of itself is at its end: rounding must not change a region. What
/// changes for long is near its end by as much as v⁺ is exact.
constexpr double kRounding = 1e-9;
constexpr double kChatter = 1e-6;

double held_control(const Actuator& actuator, double u) {
  return std::clamp(u, actuator.lower_control, actuator.upper_control);
}

/// Output of the law, whatever the force range.
double output_of(const World& world, const Actuator& actuator, VectorArgument q, VectorArgument v, double u) {
  const ActuatorLaw law = law_of(actuator);
  const double length = actuator.gear * q[world.model().links().q_of_dof[actuator.dof]];
  const double speed = actuator.gear * v[actuator.dof];
  return law.gain * held_control(actuator, u) + law.bias - law.stiffness * length - law.damping * speed;
}

ActuatorRegion region_of(const Actuator& actuator, double output, double part) {
  const double slack = part * std::abs(output);
  if (output > actuator.upper_force + slack) return ActuatorRegion::upper;
  if (output < actuator.lower_force - slack) return ActuatorRegion::lower;
  return ActuatorRegion::follows;
}

}  // namespace

void set_implicit_forces(const World& world, double dt, ActuatorRegions regions, ImplicitForces& out) {
  out.damping = dt * world.passive_stiffness();
  out.inertia = dt * (world.passive_damping() + out.damping);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    if (regions[i] != ActuatorRegion::follows) continue;
    const Actuator& actuator = world.actuators()[i];
    const ServoTerms& servo = world.servo_terms()[i];
    const double square = actuator.gear * actuator.gear;
    out.inertia[actuator.dof] += dt * square * (servo.damping + dt * servo.stiffness);
    out.damping[actuator.dof] += dt * square * servo.stiffness;
  }
}

void actuate(const World& world, VectorArgument q, VectorArgument v, VectorArgument u, ActuatorRegions regions,
             VectorX& tau) {
  if (world.actuators().empty()) {
    tau = u;
    return;
  }
  tau.setZero(world.nv());
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const Actuator& actuator = world.actuators()[i];
    const double force = regions[i] == ActuatorRegion::lower ? actuator.lower_force
                         : regions[i] == ActuatorRegion::upper
                             ? actuator.upper_force
                             : output_of(world, actuator, q, v, u[static_cast<int>(i)]);
    tau[actuator.dof] += actuator.gear * force;
  }
}

void reset_regions(const World& world, std::vector<ActuatorRegion>& regions) {
  regions.assign(world.actuators().size(), ActuatorRegion::follows);
}

bool change_regions(const World& world, double dt, VectorArgument q, VectorArgument v, VectorArgument u,
                    VectorArgument v_plus, bool one_only, std::vector<ActuatorRegion>& regions) {
  bool changed = false;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const Actuator& actuator = world.actuators()[i];
    if (actuator.lower_force == -Actuator::kInfinity && actuator.upper_force == Actuator::kInfinity) continue;
    const ServoTerms& servo = world.servo_terms()[i];
    const double next = v_plus[actuator.dof];
    const double output = output_of(world, actuator, q, v, u[static_cast<int>(i)]) -
                          actuator.gear * (dt * servo.stiffness * next + servo.damping * (next - v[actuator.dof]));
    const ActuatorRegion region = region_of(actuator, output, one_only ? kChatter : kRounding);
    if (region == regions[i]) continue;
    // from end to end by way of the law: what pushes the other way may be the force of the end itself
    regions[i] = regions[i] == ActuatorRegion::follows ? region : ActuatorRegion::follows;
    changed = true;
    if (one_only) break;
  }
  return changed;
}

void actuation_derivatives(const World& world, VectorArgument u, ActuatorRegions regions, ActuationDerivatives& out) {
  out.d_q.setZero(world.nv());
  out.d_v.setZero(world.nv());
  out.d_u.setOnes(world.nu());
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const Actuator& actuator = world.actuators()[i];
    const ActuatorLaw law = law_of(actuator);
    const auto k = static_cast<int>(i);
    out.d_u[k] = 0.0;
    if (regions[i] != ActuatorRegion::follows) continue;
    const double square = actuator.gear * actuator.gear;
    out.d_q[actuator.dof] -= square * law.stiffness;
    out.d_v[actuator.dof] -= square * law.damping;
    if (held_control(actuator, u[k]) == u[k]) out.d_u[k] = actuator.gear * law.gain;
  }
}

}  // namespace tangere
