#pragma once

/// Steps in which impacts bounce (private to sim).
///
/// A step's velocity is read as that in its middle, so that positions lie on the parabolas of free flight. With v_f the
/// step without the contacts that bounce, a tree flies from q at u = (v + v_f) / 2, its velocity changing by a = v_f −
/// v over the step:
///
///   q_x = q ⊕ dt (x u + ½ x² a),   v_x = u + x a            x: the part of the step since then
///
/// until surfaces meet at the part c of the step, where the distance at q_x is 0; from there the trees that meet fly
/// on:
///
///   v_p                             impact at q_c: impulses only, restitution at v_c
///   v_q                             a step from (q_c, v_p), again without what bounces
///   q ← q_c,  u ← v_p,  a ← v_q − v_p
///
/// and so on, earliest first, what touches at the same time together. The end of the step is at x = 1 − c, and v' is
/// half a step earlier, u + (x − ½) a.
///
/// With it the time of impact moves with the state, which is most of the gradient of a motion that bounces:
/// dc = − n dq_c / (n ∂q_c/∂c), n the gradient of the distance.
///
/// Only the trees that meet are treated so, and all others take the step as it is. It holds where nothing but smooth
/// forces and impacts act on these trees: if another row pushes them in the same step (a contact that rests, a limit, a
/// constraint), or if a tree meets something more than `kMostImpacts` times, the whole step follows the discrete rule
/// instead: `StepResult::impacts` is empty, and `bounced_at_end` says so.

#include <vector>

#include "tangere/sim/lone_body.hpp"
#include "tangere/sim/step_derivatives.hpp"
#include "tangere/sim/workspace_memory.hpp"

namespace tangere {

/// After contacts were found at `state`: whether some of them bounce, and are to be treated here.
[[nodiscard]] bool bounces_inside(const World& world, const Workspace::Memory& m);

enum class BounceOutcome {
  /// The step is made, with its answer in m.result.
  inside,
  /// It is not; m.problem has its contacts again. What was to bounce is not reached after all, and has no restitution.
  missed,
  /// Likewise; what bounces has to do so by the discrete rule.
  at_end,
};
[[nodiscard]] BounceOutcome bounce_step(const World& world, const State& state, VectorArgument u, Workspace::Memory& m,
                                        State& next, Tape* tape);

/// Pieces of it, for the approximations (bounce_approximations.cpp) too.
///
/// Memory for impacts, if there is none yet.
void prepare_impacts(const World& world, Workspace::Memory& m);
/// Moves those that bounce from a problem to m.bouncing; m.data has the poses, m.velocities the velocities.
void set_aside_bouncing(const World& world, bool with_motions, ContactProblem& problem, Workspace::Memory& m);
/// The impact of m.impact_problem's contacts; m.impact_data has the poses, m.velocities the velocities there.
const LcpSolution& solve_impact(const World& world, const State& at, Workspace::Memory& m);
/// A step from there, in m.after_problem: its contacts, and its rows solved.
void contacts_after(const World& world, const State& at, VectorArgument u, bool with_motions, Workspace::Memory& m);
const LcpSolution& solve_after(const World& world, const State& at, bool with_motions, Workspace::Memory& m);

/// The impact of a tape as the derivatives want it, with the world's `impact_model`; `zero` (nv) must outlive it.
[[nodiscard]] SolvedStep solved_impact(const Tape& impact, const VectorX& zero);

/// dv⁺ of an impact with respect to the state at it, and with RowUse::all how its impulses move.
struct ImpactMap {
  MatrixX q;
  MatrixX v;
  ImpulseJacobians impulses;
};
[[nodiscard]] ImpactMap impact_map(const World& world, const Tape& impact, Workspace::Memory& m,
                                   LcpDerivatives::RowUse use = LcpDerivatives::RowUse::reduced);

/// How the parts of such a step move with some variables, a column each.
struct BounceColumns {
  BounceColumns(int nv, int count, int num_impacts)
      : q(MatrixX::Zero(nv, count)),
        v(MatrixX::Zero(nv, count)),
        before(MatrixX::Zero(nv, count)),
        impacts(static_cast<std::size_t>(num_impacts),
                {MatrixX::Zero(nv, count), MatrixX::Zero(nv, count), Eigen::RowVectorXd::Zero(count), {}}) {}

  /// The state itself.
  MatrixX q;
  MatrixX v;
  /// dv⁺ of the step without the impacts.
  MatrixX before;
  /// How its impulses move; only where they are asked for.
  MatrixX impulses_before;
  struct Impact {
    /// dv⁺ of the impact and of the step after it, the states they start from held.
    MatrixX impact;
    MatrixX after;
    /// The distance at the impact, the state there held.
    Eigen::RowVectorXd distance;
    /// The impulses of the impact, the state there held; empty: held too.
    MatrixX impulses;
  };
  std::vector<Impact> impacts;
  /// Moments of lone bodies; null: held.
  const MomentColumns* moments = nullptr;
};

/// The chain rule over the parts, for any variables.
class BounceChain {
 public:
  /// With RowUse::all for impulses too.
  BounceChain(const World& world, const Tape& tape, Workspace& workspace,
              LcpDerivatives::RowUse use = LcpDerivatives::RowUse::reduced);

  /// dv⁺ of a part with respect to the state it starts from, and to the control; of the one before the impacts, also
  /// how its impulses move.
  struct Part {
    MatrixX q;
    MatrixX v;
    MatrixX u;
    ImpulseJacobians impulses;
  };
  [[nodiscard]] const Part& before() const { return before_; }
  [[nodiscard]] const Part& after(int impact) const { return after_[static_cast<std::size_t>(impact)]; }

  /// How the next state moves, and all impulses (impulse_derivatives.hpp).
  void apply(const BounceColumns& x, MatrixX& q_next, MatrixX& v_next, MatrixX* impulses = nullptr) const;

 private:
  const World& world_;
  const Tape& tape_;
  Part before_;
  std::vector<ImpactMap> impacts_;
  std::vector<Part> after_;
};

/// Jacobians of such a step, and of its impulses.
void bounce_jacobians(const World& world, const Tape& tape, Workspace& workspace, StepJacobians& out,
                      ImpulseJacobians* impulses = nullptr);

/// Where contacts bounced by the discrete rule: replaces the exact Jacobians `out` by an approximation of those of the
/// motion, GradientMode::reflection or saltation. False if nothing bounced: `out` is as it was.
[[nodiscard]] bool approximate_bounce(const World& world, const Tape& tape, Workspace& workspace, GradientMode mode,
                                      StepJacobians& out);

}  // namespace tangere
