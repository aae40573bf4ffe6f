#pragma once

/// Memory of hard contact, and the pieces of its steps that impacts and derivatives share.

#include "tangere/contact/hard/lcp.hpp"
#include "tangere/contact/hard/lcp_derivatives.hpp"
#include "tangere/contact/scene/contact_finder.hpp"
#include "tangere/sim/impact/internal/impact_energy.hpp"
#include "tangere/sim/impulse_derivatives.hpp"
#include "tangere/sim/internal/lone_body.hpp"
#include "tangere/sim/internal/step_scratch.hpp"
#include "tangere/sim/tape/hard_tape.hpp"

namespace tangere {

class BounceChain;

/// Trees in a step with impacts, each since its last one: q ⊕ dt (x u + ½ x² a), velocity u + x a, x the part of the
/// step since then. One number a coordinate; a is the change of the velocity over a whole step.
struct Flight {
  VectorX q;
  VectorX u;
  VectorX a;
  VectorX since;
};

/// Scratch of derivatives in parameters.
struct ParameterScratch {
  MomentColumns moments;
  /// dv⁺ and impulses, a column each.
  ScratchMatrix velocity;
  ScratchMatrix impulses;
  /// One parameter: r_x, then dv⁺; s_x; impulses and the motion of their bounds, one per row.
  VectorX column;
  ScratchVector s;
  ScratchVector forces;
  ScratchVector bounds;
  MatrixX smooth;
};

struct HardMemory : StepScratch {
  explicit HardMemory(const World& world);
  ~HardMemory();

  BodyVelocities velocities;
  /// At v_free.
  BodyVelocities expected_velocities;
  ContactFinder finder;
  ProblemBuilder builder;
  LcpContact lcp;
  ContactProblem problem;
  /// The larger of |v| and |v_free|.
  VectorX fastest;

  // impacts inside the step (bounce.hpp); only where something has restitution
  std::unique_ptr<Data> impact_data;
  std::unique_ptr<LcpContact> impact_lcp;
  std::unique_ptr<LcpContact> after_lcp;
  ContactProblem impact_problem;
  ContactProblem after_problem;
  std::vector<Contact> all_contacts;
  std::vector<FrameMotion> all_motions;
  /// Contacts that will bounce, and those that have.
  std::vector<Contact> bouncing;
  std::vector<Contact> impacts;
  /// The latest impact, and how many each coordinate has had.
  ImpactEvent impact;
  std::vector<int> impacts_of_dof;
  Flight flight;
  State before_impact;
  State at_impact;
  State after_impact;
  VectorX impact_d;
  VectorX impact_v;
  VectorX impact_way;
  Matrix6X impact_columns;
  /// Null until derivatives through impacts are asked for.
  std::unique_ptr<BounceChain> chain;
  VectorX bounce_product;
  ImpactEnergy impact_energy;
  /// nv zeros.
  VectorX no_force;

  // derivatives
  LcpDerivatives derivatives;
  VectorX other_q;
  VectorX other_v;
  std::vector<RowSet> other_sets;
  /// The gradient of Nimble's first try.
  StateTangent first_try;
  ParameterScratch parameters;
};

/// After that: contacts at a state, with the velocities they expect. m.velocities are the state's.
void find_contacts(const World& world, const State& state, bool with_motions, ContactProblem& problem, HardMemory& m);
/// Rows of the contacts in a problem, solved, with the regions of the actuators: v⁺ in m.v_plus, impulses in the
/// contacts.
const LcpSolution& solve_rows(const World& world, const State& state, VectorArgument u, bool with_motions,
                              LcpContact& lcp, ContactProblem& problem, HardMemory& m);
/// The answer of a step, from that. The problem and the solution stay where they are.
void set_result(const LcpSolution& solution, const ContactProblem& problem, StepResult& result);
/// Records what derivatives need of the step.
void record(const State& state, VectorArgument u, ActuatorRegions regions, const LcpSolution& solution,
            const ContactProblem& problem, Tape& tape);
/// The impulses of a solution, into its contacts.
void set_impulses(const LcpSolution& solution, ContactProblem& problem);
/// A tape, as the derivatives want it, after `actuation_derivatives` for it.
[[nodiscard]] SolvedStep solved_step(const World& world, const Tape& tape, HardMemory& m);
/// Hard contact: the worst of all parts of the step. Features are held where the place or the frame of a contact that
/// takes part (a clamped row) has no derivative.
[[nodiscard]] GradientQuality quality_of(const Tape& tape);
/// That, and whether rows contradict each other, after the derivatives of the tape.
[[nodiscard]] GradientQuality quality_of(const Tape& tape, const HardMemory& m);
/// The contacts of one part that take part and have no such derivative, into `out`.
void find_rough_contacts(const Tape& part, std::vector<int>& out);
/// Actuators and rows of a tape, linearised. InputError if it is not of this world.
void linearise(const World& world, const Tape& tape, HardMemory& m,
               LcpDerivatives::RowUse use = LcpDerivatives::RowUse::reduced);

/// Derivatives of a step (step_derivatives.hpp).
[[nodiscard]] GradientQuality hard_jacobians(const World& world, const Tape& tape, HardMemory& m, GradientMode mode,
                                             const StateTangent* loss, StepJacobians& out);
[[nodiscard]] GradientQuality hard_vjp(const World& world, const Tape& tape, HardMemory& m, GradientMode mode,
                                       const StateTangent& g, StateTangent& g_state, VectorX& g_u);
[[nodiscard]] GradientQuality hard_jvp(const World& world, const Tape& tape, HardMemory& m, const StateTangent& d,
                                       VectorArgument du, StateTangent& d_next);
[[nodiscard]] GradientQuality hard_parameter_jacobians(const World& world, const Tape& tape, HardMemory& m,
                                                       std::span<const StepParameter> parameters,
                                                       StepParameterJacobians& out);

/// Memory of hard contact in a workspace. InputError where the world is of another formulation.
[[nodiscard]] HardMemory& hard_memory(const World& world, Workspace& workspace);

}  // namespace tangere
