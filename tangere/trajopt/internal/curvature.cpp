#include "tangere/trajopt/internal/curvature.hpp"

#include <algorithm>
#include <cmath>

namespace tangere::internal {

void Curvature::resize(const OptimalControl& problem, int num_threads) {
  const Dynamics& dynamics = problem.dynamics();
  const int n = dynamics.ndx() + dynamics.nu();
  S_.assign(problem.num_steps() + 1, MatrixX::Zero(n, n));
  failed_.assign(problem.num_steps() + 1, 0);
  threads_.resize(num_threads);
  for (Thread& own : threads_) {
    own.u.resize(dynamics.nu());
    own.move.resize(dynamics.ndx());
    own.base.resize(n);
    own.gradient.resize(n);
    own.A.resize(dynamics.ndx(), dynamics.ndx());
    own.B.resize(dynamics.ndx(), dynamics.nu());
  }
}

bool Curvature::find(const OptimalControl& problem, const Transcription& rows, const std::vector<KnotPoint>& points,
                     const std::vector<KnotLinear>& linear, const Multipliers& weights,
                     const std::vector<VectorX>& costates, Stepper& stepper, Workers& workers) {
  constexpr double kStep = 1e-6;
  // of the largest: inequalities that do not press have no curvature worth its cost
  constexpr double kLeastMultiplier = 1e-5;
  const Dynamics& dynamics = problem.dynamics();
  const int ndx = dynamics.ndx();
  const int nu = dynamics.nu();
  double largest = 0.0;
  for (const KnotLinear& knot_rows : linear)
    if (knot_rows.z.size() > 0) largest = std::max(largest, knot_rows.z.maxCoeff());
  const GradientWeights counted{weights.penalty, kLeastMultiplier * largest};
  workers.run(rows.num_knots(), [&](int k, int thread) {
    Thread& own = threads_[thread];
    const bool has_control = k + 1 < rows.num_knots();
    const auto gradient_at = [&](const VectorX& x, const VectorX& u, VectorX& out) {
      out.setZero();
      rows.add_gradient(k, x, u, points[k], linear[k], counted, workers.memory(thread), own.rows, out);
      if (!has_control) return true;
      if (!stepper.linearize(k, thread, x, u, own.next, own.A, own.B)) return false;
      out.head(ndx).noalias() += own.A.transpose() * costates[k + 1];
      out.tail(nu).noalias() += own.B.transpose() * costates[k + 1];
      return true;
    };
    failed_[k] = !gradient_at(points[k].x, points[k].u, own.base);
    for (int i = 0; i < ndx + (has_control ? nu : 0) && !failed_[k]; ++i) {
      own.u = points[k].u;
      own.move.setZero();
      double step = kStep;
      if (i < ndx) {
        own.move[i] = step;
      } else {
        step *= 1.0 + std::abs(own.u[i - ndx]);
        own.u[i - ndx] += step;
      }
      dynamics.plus(points[k].x, own.move, own.x);
      failed_[k] = !gradient_at(own.x, own.u, own.gradient);
      S_[k].col(i) = (own.gradient - own.base) / step;
    }
    for (int i = 0; i < S_[k].rows(); ++i)
      for (int j = 0; j < i; ++j) S_[k](i, j) = S_[k](j, i) = 0.5 * (S_[k](i, j) + S_[k](j, i));
    failed_[k] |= !S_[k].allFinite();
  });
  return std::none_of(failed_.begin(), failed_.end(), [](char failed) { return failed != 0; });
}

void Curvature::add_to(std::vector<LqStage>& stages, double sign) const {
  for (std::size_t k = 0; k < stages.size(); ++k) {
    const Eigen::Index ndx = stages[k].qx.size();
    const Eigen::Index nu = stages[k].qu.size();
    stages[k].Qxx += sign * S_[k].topLeftCorner(ndx, ndx);
    stages[k].Qux += sign * S_[k].bottomLeftCorner(nu, ndx);
    stages[k].Quu += sign * S_[k].bottomRightCorner(nu, nu);
  }
}

}  // namespace tangere::internal
