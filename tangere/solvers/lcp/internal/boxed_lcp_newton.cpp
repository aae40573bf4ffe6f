/// The box problem with frozen friction bounds h, in its primal form over velocities v = v_f + M⁻¹ Jᵀ g, which row
/// space represents by g:
///
///   φ(g) = ½ gᵀ A g + Σ ψ_i(w_i),   w = A g + b,   -ψ_i'(w_i) = f_i(w_i) = clamp(-w_i / c_i, l_i, u_i)
///
/// convex, smooth and blind to rows that repeat each other; at its minimum f(w) and g give the same velocities. The
/// Newton step solves (A_aa + C_a) f_a = -(b_a + A_ab f_b) for the rows a inside their bounds, with f_b at theirs; it
/// is followed by an exact line search (φ is piecewise quadratic along it). Rounds: minimise, hand the sets to the
/// Newton method on sets at the compliance asked for, else h ← h + relaxation (friction f_n - h).

#include <cmath>

#include "tangere/solvers/lcp/internal/boxed_lcp_data.hpp"

namespace tangere {
namespace {

constexpr int kNewtonSteps = 100;
constexpr int kLineSearchSteps = 60;
/// Sets tried after each round.
constexpr int kPolish = 6;
constexpr double kSettled = 1e-12;

double relaxation(int round) { return round < 8 ? 1.0 : round < 20 ? 0.5 : 0.2; }

}  // namespace

double BoxedLcpSolver::Data::line_search(const double* softness) const {
  // the slope of φ along the line, and the slope of that
  double slope0 = 0.0;
  double t = 1.0;
  double low = 0.0;
  double high = std::numeric_limits<double>::infinity();
  for (int step = 0; step < kLineSearchSteps; ++step) {
    double slope = 0.0;
    double curvature = 0.0;
    double start = 0.0;
    for (int i = 0; i < n; ++i) {
      const double change_w = w_target[i] - w_g[i];
      const double change_g = target[i] - g[i];
      const double hardness = 1.0 / softness[i];
      const LcpBounds box{lower[i], upper[i]};
      const double force = -(w_g[i] + t * change_w) * hardness;
      const double inside = box.clamp(force);
      slope += change_w * (g[i] + t * change_g - inside);
      curvature += change_w * change_g;
      if (inside == force) curvature += change_w * change_w * hardness;
      if (step == 0) start += change_w * (g[i] - box.clamp(-w_g[i] * hardness));
    }
    if (step == 0) slope0 = start;
    if (!(slope0 < 0.0)) return 0.0;
    if (std::abs(slope) <= kSettled * -slope0) break;
    (slope < 0.0 ? low : high) = t;
    t -= slope / curvature;
    if (!(t > low && t < high)) t = high < std::numeric_limits<double>::infinity() ? 0.5 * (low + high) : 2.0 * low;
  }
  return t;
}

void BoxedLcpSolver::Data::minimise_box(const double* softness) {
  multiply_add(g.data(), w_g.data());
  const auto set_at = [&](int i, const double* velocity) {
    return LcpBounds{lower[i], upper[i]}.set_of(-velocity[i] / softness[i]);
  };
  for (int step = 0; step < kNewtonSteps; ++step) {
    clamped.clear();
    coupled.clear();
    for (int i = 0; i < n; ++i) {
      box_sets[i] = set_at(i, w_g.data());
      position[i] = -1;
      if (box_sets[i] == RowSet::clamped) {
        position[i] = static_cast<int>(clamped.size());
        clamped.push_back(i);
      } else {
        target[i] = box_sets[i] == RowSet::upper ? upper[i] : lower[i];
      }
    }
    if (!factor_clamped(softness) || !solve_clamped(target.data())) return;
    multiply_add(target.data(), w_target.data());
    bool same = true;
    for (int i = 0; i < n && same; ++i) same = box_sets[i] == set_at(i, w_target.data());
    const double t = same ? 1.0 : line_search(softness);
    if (!(t > 0.0)) return;
    if (t == 1.0) {
      std::swap(g, target);
      std::swap(w_g, w_target);
    } else {
      for (int i = 0; i < n; ++i) {
        g[i] += t * (target[i] - g[i]);
        w_g[i] += t * (w_target[i] - w_g[i]);
      }
    }
    if (same) return;
  }
}

bool BoxedLcpSolver::Data::lag_bounds(BoxMethod method, int rounds, BoxedLcpStage stage) {
  for (int i = 0; i < n; ++i) h[i] = bounds(i, g.data()).upper;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < n; ++i) {
      lower[i] = rows[i].normal < 0 ? rows[i].lower : -h[i];
      upper[i] = rows[i].normal < 0 ? rows[i].upper : h[i];
    }
    (this->*method)(search.data());
    std::copy(box_sets.begin(), box_sets.begin() + n, sets.begin());
    if (set_newton(kPolish, stage)) return true;
    // forces of the minimum, not g: the same velocities, but inside the bounds
    double largest_change = 0.0;
    double size = 0.0;
    for (int i = 0; i < n; ++i) {
      const int normal = rows[i].normal;
      if (normal < 0) continue;
      const LcpBounds box{rows[normal].lower, rows[normal].upper};
      const double f_n = box.clamp(-w_g[normal] / search[normal]);
      const double wanted = rows[i].friction * f_n;
      largest_change = std::max(largest_change, std::abs(wanted - h[i]));
      size = std::max(size, wanted);
      h[i] += relaxation(round) * (wanted - h[i]);
    }
    if (largest_change <= kSettled * size) return false;
  }
  return false;
}

void BoxedLcpSolver::Data::sweep(int sweeps, bool backwards) {
  if (sparse != nullptr) {
    sweep_sparse(sweeps, backwards);
    return;
  }
  multiply_add(g.data(), w_g.data());
  Eigen::Map<VectorX> velocity(w_g.data(), n);
  for (int k = 0; k < sweeps; ++k) {
    for (int j = 0; j < n; ++j) {
      const int i = backwards ? n - 1 - j : j;
      const double change_i = relax(i, w_g[i]);
      if (change_i != 0.0) velocity += change_i * Eigen::Map<const VectorX>(column(i), n);
    }
  }
}

void BoxedLcpSolver::Data::sweep_sparse(int sweeps, bool backwards) {
  std::fill_n(body_vector.begin(), sparse->vector_size(), 0.0);
  for (int i = 0; i < n; ++i)
    if (g[i] != 0.0) sparse->add_velocity(i, g[i], body_vector.data());
  for (int k = 0; k < sweeps; ++k) {
    for (int j = 0; j < n; ++j) {
      const int i = backwards ? n - 1 - j : j;
      const double change_i = relax(i, b[i] + sparse->along(i, body_vector.data()));
      if (change_i != 0.0) sparse->add_velocity(i, change_i, body_vector.data());
    }
  }
}

double BoxedLcpSolver::Data::relax(int i, double velocity) {
  const double wanted = g[i] - (velocity + asked[i] * g[i]) / (d[i] + asked[i]);
  const double change_i = bounds(i, g.data()).clamp(wanted) - g[i];
  g[i] += change_i;
  return change_i;
}

}  // namespace tangere
