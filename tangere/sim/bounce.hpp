#pragma once

/// Steps in which an impact bounces (private to sim).
///
/// A step's velocity is read as that in its middle, so that positions lie on the parabola of free flight; the impact
/// happens at the part c of the step when the surfaces meet:
///
///   v_f                                        the step without the contacts that bounce
///   q_c = q ⊕ dt [(c + k) v_f − k v]           k = (c² − c) / 2;   c ∈ [0, 1]: the distance at q_c is 0
///   v_c = (c + ½) v_f − (c − ½) v              in the axes at q_c
///   v_p                                        impact at q_c: impulses only, restitution at v_c
///   v_q                                        a step from (q_c, v_p)
///   v' = v_p − (c − ½) (v_q − v_p)
///   q' = q_c ⊕ dt [(1 − c) v' − k (v_q − v_p)]
///
/// With it the time of impact moves with the state, which is most of the gradient of a motion that bounces:
/// dc = − n dq_c / (n ∂q_c/∂c), n the gradient of the distance.
///
/// Only the trees that meet are treated so, and all others take the step as it is. It holds where nothing but smooth
/// forces and the one impact act on these trees: if another row pushes them in the same step (a second impact, a
/// contact that rests, a limit, a constraint), the whole step follows the discrete rule instead, `StepResult::impacts`
/// is empty.

#include "tangere/sim/lone_body.hpp"
#include "tangere/sim/step_derivatives.hpp"
#include "tangere/sim/workspace_memory.hpp"

namespace tangere {

/// After contacts were found at `state`: whether some of them bounce, and are to be treated here.
[[nodiscard]] bool bounces_inside(const World& world, const Workspace::Memory& m);

/// The whole step, with its answer in m.result. False if it does not hold: m.problem has its contacts again, those that
/// will not be reached after all without restitution.
[[nodiscard]] bool bounce_step(const World& world, const State& state, VectorArgument u, Workspace::Memory& m,
                               State& next, Tape* tape);

/// Pieces of it, for the approximations (bounce_approximations.cpp) too.
///
/// Memory for impacts, if there is none yet.
void prepare_impacts(const World& world, Workspace::Memory& m);
/// Moves those that bounce from m.problem.contacts to m.bouncing; all that were there are kept in m.all_contacts.
void set_aside_bouncing(const World& world, bool with_motions, Workspace::Memory& m);
/// The impact of m.impact_problem's contacts; m.impact_data has the poses, m.velocities the velocities there.
const LcpSolution& solve_impact(const World& world, const State& at, Workspace::Memory& m);
/// A step from there, in m.after_problem.
const LcpSolution& solve_after(const World& world, const State& at, VectorArgument u, bool with_motions,
                               Workspace::Memory& m);

/// The impact of a tape as the derivatives want it, with the world's `impact_model`; `zero` (nv) must outlive it.
[[nodiscard]] SolvedStep solved_impact(const Tape& impact, const VectorX& zero);

/// dv⁺ of an impact with respect to the state at it.
struct ImpactMap {
  MatrixX q;
  MatrixX v;
};
[[nodiscard]] ImpactMap impact_map(const World& world, const Tape& impact, Workspace::Memory& m);

/// How the parts of such a step move with some variables, a column each.
struct BounceColumns {
  BounceColumns(int nv, int count)
      : q(MatrixX::Zero(nv, count)),
        v(MatrixX::Zero(nv, count)),
        before(MatrixX::Zero(nv, count)),
        impact(MatrixX::Zero(nv, count)),
        after(MatrixX::Zero(nv, count)),
        distance(Eigen::RowVectorXd::Zero(count)) {}

  /// The state itself.
  MatrixX q;
  MatrixX v;
  /// dv⁺ of each part: `before` in all, the others with the states they start from held.
  MatrixX before;
  MatrixX impact;
  MatrixX after;
  /// The distance at the impact, the state there held.
  Eigen::RowVectorXd distance;
  /// Of lone bodies; null: held.
  const MomentColumns* moments = nullptr;
};

/// The chain rule over the parts, for any variables.
class BounceChain {
 public:
  BounceChain(const World& world, const Tape& tape, Workspace& workspace);

  /// dv⁺ of a part with respect to the state it starts from, and to the control.
  struct Part {
    MatrixX q;
    MatrixX v;
    MatrixX u;
  };
  [[nodiscard]] const Part& before() const { return before_; }
  [[nodiscard]] const Part& after() const { return after_; }

  /// How the next state moves.
  void apply(const BounceColumns& x, MatrixX& q_next, MatrixX& v_next) const;

 private:
  const World& world_;
  const Tape& tape_;
  Part before_;
  ImpactMap impact_;
  Part after_;
};

/// Jacobians of such a step.
void bounce_jacobians(const World& world, const Tape& tape, Workspace& workspace, StepJacobians& out);

/// Where contacts bounced by the discrete rule: replaces the exact Jacobians `out` by an approximation of those of the
/// motion, GradientMode::reflection or saltation. False if nothing bounced: `out` is as it was.
[[nodiscard]] bool approximate_bounce(const World& world, const Tape& tape, Workspace& workspace, GradientMode mode,
                                      StepJacobians& out);

}  // namespace tangere
