#include "apps/cli/gradient_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "tangere/contact/scene/row_scales.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/sim/actuation.hpp"
#include "tangere/sim/tape/hard_tape.hpp"
#include "tangere/sim/tape/smooth_tape.hpp"

namespace tangere::cli {
namespace {

/// First differences to try in q (m, rad) and in v; in u as much as moves velocities by the latter.
constexpr double kFirstPosition = 1e-3;
constexpr double kFirstVelocity = 1e-1;
/// Sets that still change with this part of a unit tie.
constexpr double kTie = 1e-8;
/// Halvings of the difference, extrapolated to zero (Ridders).
constexpr int kLevels = 7;
/// The smoothness of relaxed steps reaches as far as the relaxation.
constexpr int kSmoothLevels = 16;
/// Differences must be surer of themselves than what they judge.
constexpr double kUnclear = 0.2 * kGradientTolerance;
/// Velocities of a step are good to this part of themselves, and to what the rounding of positions makes of them.
constexpr double kRounding = 1e-13;
/// A frame that turns by more has jumped to another direction to follow.
constexpr double kJump = 0.3;

/// Smooth steps are solved to a part of their relaxation; differences need the solution itself, and that of all pairs.
World tightened(const World& world) {
  WorldOptions options = world.options();
  options.smooth.tolerance = std::min(options.smooth.tolerance, std::max(1e-12, 1e-12 / options.smooth.kappa));
  return world.with_options(options);
}

bool same_pairs(std::span<const Contact> a, std::span<const Contact> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Contact& one, const Contact& other) {
    return one.shape_A == other.shape_A && one.shape_B == other.shape_B && one.feature_A == other.feature_A &&
           one.feature_B == other.feature_B;
  });
}

/// Hard contact: the same contacts, rows and sets.
bool same_rows(const Tape& moved, const Tape& tape) {
  const ContactProblem& made = moved.hard().problem;
  const ContactProblem& problem = tape.hard().problem;
  if (made.contacts.size() != problem.contacts.size() || made.rows.size() != problem.rows.size()) return false;
  for (std::size_t c = 0; c < problem.contacts.size(); ++c) {
    const Contact& a = made.contacts[c];
    const Contact& b = problem.contacts[c];
    if (a.shape_A != b.shape_A || a.shape_B != b.shape_B || a.feature_A != b.feature_A || a.feature_B != b.feature_B ||
        (a.frame - b.frame).norm() > kJump)
      return false;
  }
  for (std::size_t r = 0; r < problem.rows.size(); ++r) {
    const Row& a = made.rows[r];
    const Row& b = problem.rows[r];
    const bool bounce_alike =
        (a.restitution > 0.0) == (b.restitution > 0.0) && (a.restitution_kept < 1.0) == (b.restitution_kept < 1.0);
    if (moved.hard().sets[r] != tape.hard().sets[r] || a.kind != b.kind || a.dof != b.dof ||
        a.coefficient != b.coefficient || a.gain != b.gain || !bounce_alike)
      return false;
  }
  return true;
}

/// The same in all parts of the step.
bool same_parts(const Tape& moved, const Tape& tape) {
  if (moved.num_impacts() != tape.num_impacts() || !same_rows(moved, tape)) return false;
  for (int i = 0; i < tape.num_impacts(); ++i)
    if (!same_rows(moved.impact(i), tape.impact(i)) || !same_rows(moved.after_impact(i), tape.after_impact(i)))
      return false;
  return true;
}

/// Controls and forces on the same side of their ranges, in all parts of the step.
bool same_actuation(const World& world, const Tape& moved, const Tape& tape) {
  ActuationDerivatives at;
  ActuationDerivatives taped;
  actuation_derivatives(world, moved.u, moved.regions, at);
  actuation_derivatives(world, tape.u, tape.regions, taped);
  if (moved.regions != tape.regions || at.d_u != taped.d_u) return false;
  // impacts, and the steps after them
  if (moved.num_impacts() < tape.num_impacts()) return false;
  for (int i = 0; i < tape.num_impacts(); ++i)
    if (!same_actuation(world, moved.impact(i), tape.impact(i)) ||
        !same_actuation(world, moved.after_impact(i), tape.after_impact(i)))
      return false;
  if (tape.formulation == Formulation::lcp) return true;
  const std::vector<Tape>& halves = tape.smooth().halves;
  const std::vector<Tape>& moved_halves = moved.smooth().halves;
  if (moved_halves.size() < halves.size()) return false;
  for (std::size_t i = 0; i < halves.size(); ++i)
    if (!same_actuation(world, moved_halves[i], halves[i])) return false;
  return true;
}

}  // namespace

bool GradientReport::passed() const {
  return std::all_of(blocks.begin(), blocks.end(),
                     [](const BlockError& block) { return block.worst <= kGradientTolerance; });
}

GradientCheck::GradientCheck(const World& world) : world_(tightened(world)), workspace_(world_) {
  const RowScales scales(world.model());
  double mobility = 0.0;
  for (int k = 0; k < world.nv(); ++k) mobility = std::max(mobility, scales.coordinate(k));
  double drive = 0.0;
  for (const Actuator& actuator : world.actuators()) drive = std::max(drive, std::abs(actuator.gear * actuator.gain));
  reach_of_controls_ = mobility * (drive > 0.0 ? drive : 1.0);
}

bool GradientCheck::same_branch(const StepResult& result) const {
  if (world_.options().formulation == Formulation::lcp) return same_parts(moved_tape_, tape_);
  return same_pairs(result.contacts, contacts_) && result.smooth.rungs.back() == 0;
}

/// The step with coordinate `column` of (q, v, u) moved; whether it is on the same branch.
bool GradientCheck::step_from(int column, double by, State& to) {
  const int nv = world_.nv();
  State from = state_;
  VectorX u = u_;
  if (column < nv) {
    VectorX delta = VectorX::Zero(nv);
    delta[column] = by;
    integrate(world_.model(), state_.q, delta, from.q);
  } else if (column < 2 * nv) {
    from.v[column - nv] += by;
  } else {
    u[column - 2 * nv] += by;
  }
  workspace_.restore(warm_start_);
  const StepResult& result = step(world_, from, u, workspace_, to, &moved_tape_);
  return result.status == StepStatus::solved && same_branch(result) && same_actuation(world_, moved_tape_, tape_);
}

/// The central difference of the next state, as a tangent there; false if the branch changes on a side.
bool GradientCheck::difference_of(int column, double h, VectorX& out) {
  const int nv = world_.nv();
  State to;
  VectorX side[2];
  for (const int k : {0, 1}) {
    if (!step_from(column, k == 0 ? -h : h, to)) return false;
    side[k].resize(2 * nv);
    difference(world_.model(), next_.q, to.q, side[k].head(nv));
    side[k].tail(nv) = to.v - next_.v;
  }
  out = (side[1] - side[0]) / (2.0 * h);
  return true;
}

void GradientCheck::check_column(int number, int column, double first_h) {
  const int nv = world_.nv();
  const auto kind = static_cast<std::size_t>(std::min(column / nv, 2));
  const auto relative = [&](const VectorX& error) {
    return std::max(error.head(nv).cwiseAbs().maxCoeff() / size_q_[kind],
                    error.tail(nv).cwiseAbs().maxCoeff() / size_v_[kind]);
  };
  // a short difference is no surer than this over its length
  const double rounding_of_v =
      kRounding * (1.0 + next_.v.cwiseAbs().maxCoeff()) + std::numeric_limits<double>::epsilon() * size_v_[0];
  const double rounding = rounding_of_v * std::max(world_.options().time_step / size_q_[kind], 1.0 / size_v_[kind]);
  ++report_.num_columns;

  // the largest difference within the branch
  const double smallest = kTie * (kind == 2 ? first_h / kFirstVelocity : 1.0);
  double h = first_h;
  VectorX value;
  while (!difference_of(column, h, value)) {
    h *= 0.25;
    if (h >= smallest) continue;
    ++report_.num_ties;
    return;
  }

  // halved and extrapolated: row i of the tableau has h / 2ⁱ, each column two orders more
  std::vector<VectorX> above;
  VectorX best = value;
  double best_error = std::numeric_limits<double>::infinity();
  const int levels = world_.options().formulation == Formulation::lcp ? kLevels : kSmoothLevels;
  for (int i = 0; i < levels; ++i, h *= 0.5) {
    if (i > 0 && !difference_of(column, h, value)) break;
    std::vector<VectorX> row{value};
    double power = 1.0;
    for (std::size_t j = 0; j < above.size(); ++j) {
      power *= 4.0;
      VectorX next = row[j] + (row[j] - above[j]) / (power - 1.0);
      row.push_back(std::move(next));
      const double error = std::max({relative(row[j + 1] - row[j]), relative(row[j + 1] - above[j]), rounding / h});
      if (error >= best_error) continue;
      best_error = error;
      best = row[j + 1];
    }
    above = std::move(row);
  }
  const VectorX error = jacobian_.col(column) - best;
  // a difference that is itself unsure can still say that something is wrong, if it is wrong by far
  if (!(best_error <= kUnclear) && !(relative(error) > kGradientTolerance + 10.0 * best_error)) {
    ++report_.num_unclear;
    return;
  }
  const auto note = [&](std::size_t block, double worst) {
    BlockError& to = report_.blocks[block];
    if (worst <= to.worst) return;
    to.worst = worst;
    to.step = number;
    to.column = column;
  };
  const double in_q = error.head(nv).cwiseAbs().maxCoeff() / size_q_[kind];
  const double in_v = error.tail(nv).cwiseAbs().maxCoeff() / size_v_[kind];
  if (kind < 2) note(2 * kind, in_q);
  note(kind < 2 ? 2 * kind + 1 : 4, in_v);
}

void GradientCheck::check(int number, const State& state, VectorArgument u, const WarmStart& warm_start) {
  const int nv = world_.nv();
  if (nv == 0) return;
  state_ = state;
  u_ = u;
  warm_start_ = warm_start;
  ++report_.num_steps;
  workspace_.restore(warm_start_);
  const StepResult& result = step(world_, state_, u_, workspace_, next_, &tape_);
  // a smooth step in halves has a kink wherever it would be made in one
  if (result.status != StepStatus::solved || result.smooth.rungs.back() > 0) {
    ++report_.num_approximate;
    return;
  }
  contacts_.assign(result.contacts.begin(), result.contacts.end());
  if (world_.options().formulation == Formulation::lcp) report_.width.add(number, world_, tape_, workspace_);
  StepJacobians jacobians;
  if (step_jacobians(world_, tape_, workspace_, jacobians) != GradientQuality::exact) {
    ++report_.num_not_exact;
    return;
  }
  jacobian_.resize(2 * nv, 2 * nv + world_.nu());
  jacobian_ << jacobians.q_q, jacobians.q_v, jacobians.q_u, jacobians.v_q, jacobians.v_v, jacobians.v_u;

  // errors are next to the largest entry of their block, or to what it is without contacts
  const double dt = world_.options().time_step;
  const auto largest = [](const MatrixX& block, double in_general) {
    return block.size() == 0 ? in_general : std::max(in_general, block.cwiseAbs().maxCoeff());
  };
  size_q_ = {largest(jacobians.q_q, 1.0), largest(jacobians.q_v, dt),
             largest(jacobians.q_u, dt * dt * reach_of_controls_)};
  size_v_ = {largest(jacobians.v_q, 1.0), largest(jacobians.v_v, 1.0), largest(jacobians.v_u, dt * reach_of_controls_)};

  for (int column = 0; column < jacobian_.cols(); ++column)
    check_column(number, column,
                 column < nv       ? kFirstPosition
                 : column < 2 * nv ? kFirstVelocity
                                   : kFirstVelocity / size_v_[2]);
}

}  // namespace tangere::cli
