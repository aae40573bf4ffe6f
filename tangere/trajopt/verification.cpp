#include "tangere/trajopt/verification.hpp"

#include <algorithm>
#include <cmath>

#include "tangere/math/error.hpp"
#include "tangere/solvers/riccati.hpp"
#include "tangere/trajopt/internal/transcription.hpp"

namespace tangere {
namespace {

void require_fit(const OptimalControl& problem, const Plan& plan) {
  const int num_steps = problem.num_steps();
  if (static_cast<int>(plan.x.size()) != num_steps + 1 || static_cast<int>(plan.u.size()) != num_steps)
    throw InputError("plan", "must have " + std::to_string(num_steps + 1) + " states and " + std::to_string(num_steps) +
                                 " controls, got " + std::to_string(plan.x.size()) + " and " +
                                 std::to_string(plan.u.size()));
}

/// The rows of a problem at one state after the other.
class Judge {
 public:
  explicit Judge(const OptimalControl& problem) : problem_(problem), memory_(problem.dynamics()) {}

  /// The worst inequality that holds between knots, at one of their states.
  double between(int knot, const VectorX& x, const VectorX& u) {
    double worst = 0.0;
    memory_.forget();
    const Knot at{knot, 0.0, 0.0, x, u, problem_.dynamics(), memory_};
    for (const Term& term : problem_.terms()) {
      if (!term.between_knots || knot < term.first || knot > term.last) continue;
      value_.setZero(term.function->size());
      term.function->evaluate(at, value_, nullptr);
      worst = std::max(worst, value_.maxCoeff());
    }
    return worst;
  }

  void look(int knot, double time, const VectorX& x, const VectorX& u, bool between, Verification& out) {
    memory_.forget();
    const Knot at{knot, time, 0.0, x, u, problem_.dynamics(), memory_};
    for (const Term& term : problem_.terms()) {
      if (knot < term.first || knot > term.last || term.kind == Term::Kind::cost) continue;
      const bool equality = term.kind == Term::Kind::equality;
      if (equality && between) continue;
      value_.setZero(term.function->size());
      term.function->evaluate(at, value_, nullptr);
      const double worst = equality ? value_.lpNorm<Eigen::Infinity>() : value_.maxCoeff();
      double& largest = equality ? out.equality : out.inequality;
      if (worst > std::max(out.equality, out.inequality)) out.name = term.name;
      largest = std::max(largest, worst);
    }
  }

 private:
  const OptimalControl& problem_;
  KnotMemory memory_;
  VectorX value_;
};

/// The worst inequality that holds between knots, on the plan's own motion.
double worst_between(const OptimalControl& problem, const Plan& plan, const VerifyOptions& options, Judge& judge) {
  const int num_steps = problem.num_steps();
  const std::unique_ptr<Stepper> stepper = problem.dynamics().stepper(problem.horizon().time_steps, options.contact);
  double worst = 0.0;
  VectorX x;
  const VectorX none = VectorX::Zero(problem.dynamics().nu());
  for (int k = 0; k <= num_steps; ++k) {
    worst = std::max(worst, judge.between(k, plan.x[k], k < num_steps ? plan.u[k] : none));
    for (int i = 1; i < options.refine && k < num_steps; ++i) {
      const double tau = static_cast<double>(i) / options.refine;
      if (!stepper->between(k, 0, plan.x[k], plan.u[k], tau, x, nullptr, nullptr)) return worst;
      worst = std::max(worst, judge.between(k, x, plan.u[k]));
    }
  }
  return worst;
}

}  // namespace

void VerifyOptions::verify() const {
  if (refine < 1) throw InputError("refine", "must be at least 1, got " + std::to_string(refine));
}

Verification verify(const OptimalControl& problem, const Plan& plan, const VerifyOptions& options) {
  options.verify();
  require_fit(problem, plan);
  const Dynamics& dynamics = problem.dynamics();
  const int num_steps = problem.num_steps();
  VectorX time_steps(num_steps * options.refine);
  for (int i = 0; i < time_steps.size(); ++i)
    time_steps[i] = problem.horizon().time_steps[i / options.refine] / options.refine;
  const std::unique_ptr<Stepper> stepper = dynamics.stepper(time_steps, options.contact);
  Verification out;
  Judge judge(problem);
  const auto& terms = problem.terms();
  if (std::any_of(terms.begin(), terms.end(), [](const Term& term) { return term.between_knots; }))
    out.between = worst_between(problem, plan, options, judge);
  // the start that was chosen, where it was free
  VectorX x = problem.free_start().empty() ? problem.horizon().start : plan.x[0];
  VectorX next, away, u;
  double time = 0.0;
  stepper->begin(false);
  for (int k = 0; k <= num_steps; ++k) {
    dynamics.minus(plan.x[k], x, away);
    if (const double strays = away.lpNorm<Eigen::Infinity>(); strays > out.strays) {
      out.strays = strays;
      out.knot = k;
    }
    if (k < num_steps) u = plan.u[k];
    if (k == num_steps) u.setZero();
    if (k < num_steps && !options.gains.empty()) u += options.gains[k] * away;
    judge.look(k, time, x, u, false, out);
    if (k == num_steps) break;
    for (int i = 0; i < options.refine; ++i) {
      const int fine = k * options.refine + i;
      if (!stepper->step(fine, x, u, next)) {
        out.finite = false;
        out.knot = k;
        return out;
      }
      std::swap(x, next);
      time += time_steps[fine];
      if (i + 1 < options.refine) judge.look(k, time, x, u, true, out);
    }
  }
  return out;
}

std::vector<MatrixX> tracking_gains(const OptimalControl& problem, const Plan& plan, double state_weight,
                                    double control_weight, const ContactPhase& contact) {
  require_fit(problem, plan);
  const Dynamics& dynamics = problem.dynamics();
  const int num_steps = problem.num_steps();
  const std::unique_ptr<Stepper> stepper = dynamics.stepper(problem.horizon().time_steps, contact);
  std::vector<LqStage> stages(num_steps + 1);
  VectorX next;
  stepper->begin(false);
  for (int k = 0; k <= num_steps; ++k) {
    stages[k].resize(dynamics.ndx(), dynamics.nu());
    stages[k].Qxx.diagonal().setConstant(state_weight);
    if (k == num_steps) break;
    for (int i = 0; i < dynamics.nu(); ++i) {
      const double range = 0.5 * (problem.upper_controls()(i, k) - problem.lower_controls()(i, k));
      stages[k].Quu(i, i) = control_weight / (std::isfinite(range) ? range * range : 1.0);
    }
    if (!stepper->step(k, plan.x[k], plan.u[k], next) || !stepper->jacobians(k, 0, stages[k].A, stages[k].B))
      throw InputError("plan", "has no finite step at knot " + std::to_string(k));
  }
  Riccati riccati;
  riccati.resize(num_steps, dynamics.ndx(), dynamics.nu());
  if (riccati.factor(stages, VectorX::Zero(dynamics.nu())) >= 0)
    throw InputError("control_weight", "must be above 0: the gains are not unique");
  std::vector<MatrixX> gains;
  for (int k = 0; k < num_steps; ++k) gains.push_back(riccati.at(k).K);
  return gains;
}

}  // namespace tangere
