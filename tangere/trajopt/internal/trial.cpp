#include "tangere/trajopt/internal/trial.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::internal {

double longest_step(const std::vector<KnotPoint>& points, const NewtonStep& step) {
  double alpha = 1.0;
  for (std::size_t k = 0; k < points.size(); ++k)
    for (int i = 0; i < points[k].s.size(); ++i)
      if (step.ds[k][i] < 0.0) alpha = std::min(alpha, -kPartOfWay * points[k].s[i] / step.ds[k][i]);
  return alpha;
}

bool find_defects(const OptimalControl& problem, Stepper& stepper, bool is_trial, TrialScratch& scratch,
                  std::vector<KnotPoint>& points, int& bad_knot) {
  stepper.begin(is_trial);
  for (int k = 0; k < problem.num_steps(); ++k) {
    bad_knot = k;
    if (!stepper.step(k, points[k].x, points[k].u, scratch.next)) return false;
    problem.dynamics().minus(points[k + 1].x, scratch.next, points[k].defect);
  }
  return true;
}

bool roll_out(const OptimalControl& problem, Stepper& stepper, std::vector<KnotPoint>& points, int& bad_knot) {
  stepper.begin(false);
  points[0].x = problem.horizon().start;
  for (int k = 0; k < problem.num_steps(); ++k) {
    bad_knot = k;
    if (!stepper.step(k, points[k].x, points[k].u, points[k + 1].x)) return false;
    points[k].defect.setZero();
  }
  return true;
}

bool linear_trial(const OptimalControl& problem, const std::vector<KnotPoint>& points, const NewtonStep& step,
                  double alpha, Stepper& stepper, TrialScratch& scratch, std::vector<KnotPoint>& trial) {
  for (int k = 0; k <= problem.num_steps(); ++k) {
    scratch.tangent = alpha * step.dx[k];
    problem.dynamics().plus(points[k].x, scratch.tangent, trial[k].x);
    trial[k].u = points[k].u + alpha * step.du[k];
  }
  scratch.has_jacobians = false;
  return find_defects(problem, stepper, true, scratch, trial, scratch.bad_knot);
}

bool rollout_trial(const OptimalControl& problem, const std::vector<KnotPoint>& points, const NewtonStep& step,
                   const Riccati& riccati, double alpha, Stepper& stepper, TrialScratch& scratch,
                   std::vector<KnotPoint>& trial) {
  const Dynamics& dynamics = problem.dynamics();
  stepper.begin(true);
  scratch.tangent = alpha * step.dx[0];
  dynamics.plus(points[0].x, scratch.tangent, trial[0].x);
  for (int k = 0; k < problem.num_steps(); ++k) {
    const KnotPoint& old = points[k];
    KnotPoint& point = trial[k];
    dynamics.minus(old.x, point.x, scratch.tangent);
    point.u = old.u + alpha * riccati.at(k).k;
    point.u.noalias() += riccati.at(k).K * scratch.tangent;
    point.u = point.u.cwiseMax(old.u + kPartOfWay * (problem.lower_controls().col(k) - old.u));
    point.u = point.u.cwiseMin(old.u + kPartOfWay * (problem.upper_controls().col(k) - old.u));
    VectorX& next = trial[k + 1].x;
    scratch.bad_knot = k;
    const bool made = scratch.has_jacobians
                          ? stepper.step_with_jacobians(k, point.x, point.u, next, scratch.A[k], scratch.B[k])
                          : stepper.step(k, point.x, point.u, next);
    if (!made) return false;
    point.defect.setZero();
    if (alpha == 1.0 || old.defect.isZero(0.0)) continue;
    scratch.next = next;
    scratch.tangent = -(1.0 - alpha) * old.defect;
    dynamics.plus(scratch.next, scratch.tangent, next);
    dynamics.minus(next, scratch.next, point.defect);
  }
  return true;
}

void set_slacks(const std::vector<KnotPoint>& points, const NewtonStep& step, double alpha,
                std::vector<KnotPoint>& trial) {
  constexpr double kRounding = 1e-9;
  for (std::size_t k = 0; k < points.size(); ++k)
    for (int i = 0; i < points[k].s.size(); ++i) {
      const double s = points[k].s[i];
      const double least = (1.0 - kPartOfWay) * s;
      const double room = -trial[k].h[i];
      const bool kept = std::abs(points[k].h[i] + s) <= kRounding * s;
      trial[k].s[i] = kept && room >= least ? room : std::max({s + alpha * step.ds[k][i], least, room});
    }
}

void move_multipliers(const std::vector<KnotPoint>& points, const NewtonStep& step, double alpha, double barrier,
                      std::vector<KnotLinear>& linear) {
  constexpr double kRange = 1e8;
  for (std::size_t k = 0; k < points.size(); ++k)
    for (int i = 0; i < points[k].s.size(); ++i) {
      double& z = linear[k].z[i];
      const double central = barrier / points[k].s[i];
      z = std::max(z + alpha * step.dz[k][i], (1.0 - kPartOfWay) * z);
      z = std::clamp(z, central / kRange, central * kRange);
    }
}

}  // namespace tangere::internal
