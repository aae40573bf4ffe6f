#pragma once

/// From controls to generalised forces.
///
/// Like dampers and springs of joints, servos act at the end of the step, so that they are stable however strong. With
/// the stiffness s ≥ 0 and the damping d ≥ 0 of an actuator's law (those of the motion of free joints, and negative
/// ones, act at the old state: 0 here), its force is
///
///   gear (output(q, v, u) − dt s gear v⁺ − d gear (v⁺ − v))
///
/// which puts dt gear² (d + dt s) on the diagonal of M, for contact, impulses and derivatives alike.
///
/// The force range holds at the end of the step too. An actuator follows its law or stays at an end of its range, a
/// constant force; which of them is what the law says at v⁺, found in passes: solve, look, and solve again as long as
/// a region changes (from one end to the other by way of the law). After kPassesTogether of them one actuator changes
/// at a time, the first that wants to, which ends where the matrix of the problem is a P-matrix, as without friction;
/// after kMostPasses the step is made as it is and its status says so. Derivatives hold the regions of the step.

#include "tangere/multibody/data.hpp"
#include "tangere/sim/world.hpp"

namespace tangere {

/// Additions of a step to the diagonal of M, and to the damping of the old velocity: dampers and springs of joints, and
/// the actuators that follow their law.
struct ImplicitForces {
  VectorX inertia;
  VectorX damping;
};
void set_implicit_forces(const World& world, double time_step, ActuatorRegions regions, ImplicitForces& out);

/// τ of all actuators at the old state, each in its region (the control itself if there are none). No checks of sizes.
void actuate(const World& world, VectorArgument q, VectorArgument v, VectorArgument u, ActuatorRegions regions,
             VectorX& tau);

/// Start of the actuators: all follow their laws.
void reset_regions(const World& world, std::vector<ActuatorRegion>& regions);
/// The regions of the actuators at v⁺, all of them or the first that differs. False if none does.
bool change_regions(const World& world, double time_step, VectorArgument q, VectorArgument v, VectorArgument u,
                    VectorArgument v_plus, bool one_only, std::vector<ActuatorRegion>& regions);

inline constexpr int kPassesTogether = 6;
inline constexpr int kMostPasses = 24;

/// dτ: diagonal in q and v; in u one entry an actuator, on its coordinate. Zero at an end of a range.
struct ActuationDerivatives {
  VectorX d_q;
  VectorX d_v;
  VectorX d_u;
};
void actuation_derivatives(const World& world, VectorArgument u, ActuatorRegions regions, ActuationDerivatives& out);

/// Columns of τ to columns of u, of which there are nu already.
template <class Tau, class Control>
void to_controls(const World& world, const ActuationDerivatives& actuation, const Tau& d_tau, Control&& d_u) {
  if (world.actuators().empty()) {
    d_u = d_tau;
    return;
  }
  for (int i = 0; i < world.nu(); ++i) d_u.col(i) = actuation.d_u[i] * d_tau.col(world.actuators()[i].dof);
}

}  // namespace tangere
