#pragma once

/// Contents of a Workspace (private to sim).

#include "tangere/contact/hard/lcp.hpp"
#include "tangere/contact/hard/lcp_derivatives.hpp"
#include "tangere/contact/scene/collision_scene.hpp"
#include "tangere/sim/actuation.hpp"
#include "tangere/sim/impact/internal/impact_energy.hpp"
#include "tangere/sim/impulse_derivatives.hpp"
#include "tangere/sim/internal/lone_body.hpp"
#include "tangere/sim/step.hpp"
#include "tangere/sim/step_derivatives.hpp"

namespace tangere {

struct SmoothMemory;
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

struct Workspace::Memory {
  explicit Memory(const World& world);
  ~Memory();

  Data data;
  BodyVelocities velocities;
  /// At v_free.
  BodyVelocities expected_velocities;
  ContactFinder finder;
  ProblemBuilder builder;
  LcpContact lcp;
  ContactProblem problem;
  VectorX tau;
  /// Regions of the actuators, what they and the joints add to M with them, and whether they hold in the whole step so
  /// far.
  std::vector<ActuatorRegion> regions;
  ImplicitForces implicit;
  bool regions_hold = true;
  /// The inverse dynamics of what is not in tau.
  VectorX bias;
  VectorX a;
  VectorX v_inertial;
  VectorX v_free;
  /// The larger of |v| and |v_free|.
  VectorX fastest;
  VectorX v_plus;
  VectorX delta;
  StepResult result;
  /// The state that a step begins with.
  State start;
  bool profiling = false;

  /// Smooth contact (smooth_step.hpp), the last one used first, each for a world of its own; and the one in use. Null
  /// until a step was smooth.
  std::vector<std::unique_ptr<SmoothMemory>> smooth_memories;
  SmoothMemory* smooth = nullptr;

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
  /// The impact in hand, and how many each coordinate has had.
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
  StepJacobians event;
  /// Null until derivatives through impacts are asked for.
  std::unique_ptr<BounceChain> chain;
  VectorX bounce_product;
  ImpactEnergy impact_energy;
  /// nv zeros.
  VectorX no_force;

  // derivatives
  ActuationDerivatives actuation;
  LcpDerivatives derivatives;
  MatrixX block_q;
  MatrixX block_v;
  VectorX displacement;
  VectorX grad_q;
  VectorX grad_v;
  VectorX other_q;
  VectorX other_v;
  VectorX other_tau;
  std::vector<RowSet> other_sets;
  /// The gradient of Nimble's first try.
  StateTangent first_try;
  ParameterScratch parameters;
  /// Memory of linearized_step.
  Tape own_tape;
  StepJacobians own_jacobians;
};

/// Whether all numbers are ones that steps take (kLargestCoordinate). False for NaN too.
[[nodiscard]] bool in_range(VectorArgument x);
[[nodiscard]] bool in_range(const State& state);

/// a = −ω × v at the linear coordinates of floating joints, 0 elsewhere: their acceleration in axes that do not turn is
/// zero.
void set_frame_acceleration(const World& world, VectorArgument v, VectorX& a);
/// v, but 0 for lone bodies: what turning axes do to these is in `advance`, so that their inverse dynamics are those of
/// bodies at rest.
void set_inertial_velocity(const World& world, VectorArgument v, VectorX& out);

/// v_free: where the velocities would go without rows, and the regions of the actuators there. Leaves poses at q and
/// the factors of M.
void smooth_dynamics(const World& world, const State& state, VectorArgument u, Workspace::Memory& m);
/// The same with the regions m.regions.
void smooth_dynamics_held(const World& world, const State& state, VectorArgument u, Workspace::Memory& m);
/// The next pass of the actuators (actuation.hpp), after the pass that led to v⁺: true if regions have changed and
/// v_free with them, so that what follows from it has to be solved again.
[[nodiscard]] bool change_actuation(const World& world, const State& state, VectorArgument u, const VectorX& v_plus,
                                    int pass, Workspace::Memory& m);
/// After that: contacts at a state, with the velocities they expect. m.velocities are the state's.
void find_contacts(const World& world, const State& state, bool with_motions, ContactProblem& problem,
                   Workspace::Memory& m);
/// Rows of the contacts in a problem, solved, with the regions of the actuators: v⁺ in m.v_plus, impulses in the
/// contacts.
const LcpSolution& solve_rows(const World& world, const State& state, VectorArgument u, bool with_motions,
                              LcpContact& lcp, ContactProblem& problem, Workspace::Memory& m);
/// The answer of a step, from that. The problem and the solution stay where they are.
void set_result(const LcpSolution& solution, const ContactProblem& problem, StepResult& result);
/// Records what derivatives need of the step.
void record(const State& state, VectorArgument u, ActuatorRegions regions, const LcpSolution& solution,
            const ContactProblem& problem, Tape& tape);
/// The impulses of a solution, into its contacts.
void set_impulses(const LcpSolution& solution, ContactProblem& problem);
/// q' = q ⊕ d; v' = v, in the axes at the end: linear velocities of floating joints, and all of lone bodies, which
/// also turn by more than d so that they keep their energy (lone_body.hpp).
void advance(const World& world, VectorArgument q, VectorArgument d, VectorArgument v, State& next);

/// InputError for a tape that is not of this world, or of a step that has no derivatives.
void require_tape(const World& world, const Tape& tape);
/// A tape, as the derivatives want it, after `actuation_derivatives` for it.
[[nodiscard]] SolvedStep solved_step(const World& world, const Tape& tape, Workspace::Memory& m);
/// Quality that a step's status gives its derivatives: whether its contact was solved.
[[nodiscard]] GradientQuality quality_of(StepStatus status);
/// Hard contact: the worst of all parts of the step. Features are held where the place or the frame of a contact that
/// takes part (a clamped row) has no derivative.
[[nodiscard]] GradientQuality quality_of(const Tape& tape);
/// That, and whether rows contradict each other, after the derivatives of the tape.
[[nodiscard]] GradientQuality quality_of(const Tape& tape, const Workspace::Memory& m);
/// The contacts of one part that take part and have no such derivative, into `out`.
void find_rough_contacts(const Tape& part, std::vector<int>& out);
/// Actuators and rows of a tape, linearised. InputError if it is not of this world.
void linearise(const World& world, const Tape& tape, Workspace::Memory& m,
               LcpDerivatives::RowUse use = LcpDerivatives::RowUse::reduced);

}  // namespace tangere
