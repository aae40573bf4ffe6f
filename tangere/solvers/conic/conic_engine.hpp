#pragma once

/// The primal-dual interior point over blocks of conic rows that share four variables u.
///
///   minimise  c_uᵀu + Σ c_yᵀy   subject to   S_u u + S_y y + s_0 = s in K      (each block)
///
/// The main loop is the algorithm: Nesterov–Todd scaling, predictor, centring weight (1 - a)³, second-order correction,
/// step to 0.99 of the boundary (Vandenberghe, "The CVXOPT linear and quadratic cone program solvers", §7; Mehrotra
/// 1992). Departures: the own variables of each block are eliminated, so the system is 4x4 whatever the rows; the
/// right-hand sides use -c instead of the dual residual, which makes every full step dual feasible again; ds = S du,
/// never through the scaling; the last steps are arrow steps to a central point (conic_arrow.hpp).

#include <algorithm>
#include <cmath>
#include <limits>

#include "tangere/solvers/conic/internal/conic_arrow.hpp"
#include "tangere/solvers/conic/internal/conic_block.hpp"

namespace tangere {

struct EngineOptions {
  double relative_tolerance;
  double absolute_tolerance;
  int max_iterations;
  /// Stop at the point of the central path with s ∘ z = kappa e, or kappa (objective) e if `relative_kappa`. 0: at the
  /// solution.
  double kappa = 0.0;
  bool relative_kappa = false;
  /// Without relaxation: try to finish by arrow steps when the relative gap is below this.
  double finish_below = 1e-5;
  int max_final_steps = 8;
  /// How near to the central path the answer must be: |s ∘ z - kappa e| ≤ centrality * kappa, or, where rounding
  /// forbids that, no more progress below `loosest_centrality`.
  double centrality = 0.1;
  double loosest_centrality = 1e-6;
};

enum class EngineStatus { solved, iteration_limit, numerical_limit };

template <int C>
class ConicEngine {
 public:
  static constexpr int kMaxBlocks = 2;
  static constexpr double kBoundaryFraction = 0.99;
  static constexpr double kShortestStep = 1e-6;
  static constexpr double kNearTarget = 4.0;
  /// The final point's gap, as a fraction of the tolerance.
  static constexpr double kFinalFraction = 0.1;
  /// A relative relaxation at which derivatives are good to about 1e-6.
  static constexpr double kComfortableKappa = 1e-10;
  using Block = ConicBlock<C>;

  // the problem
  Block blocks[kMaxBlocks];
  int num_blocks = 0;
  Vec4 cost{};
  /// Units of the dual residual: it is measured as residual * dual_scale (u) and residual * dual_scale_y.
  Vec4 dual_scale{1, 1, 1, 1};
  double dual_scale_y = 1.0;
  double primal_scale = 1.0;
  /// True while s = S_u u + S_y y + s_0 holds (the start was strictly feasible).
  bool consistent = true;

  // the iterate
  Vec4 u{};
  double gap = 0.0;
  double dual_residual = 0.0;
  int iterations = 0;
  /// Σ S_uᵀz of each block at the end.
  Vec4 force[kMaxBlocks];
  /// The linearised conditions, for the final steps and for derivatives.
  ArrowSystem<C, kMaxBlocks> arrow;
  SharedMatrix H;  // factor of the last system: unit lower part and 1/D on the diagonal

  [[nodiscard]] EngineStatus run(const EngineOptions& options);

  /// Calls f(block, operations) with the operations compiled for the block's number of own variables.
  template <class F>
  [[gnu::always_inline]] static auto on(Block& block, F&& f) {
    return with_operations<BlockOperations>(block, [&](auto operations) { return f(block, operations); });
  }

  [[nodiscard]] int degree() const {
    int total = 0;
    for (int k = 0; k < num_blocks; ++k) total += blocks[k].degree();
    return total;
  }

  /// c_uᵀu + Σ c_yᵀy.
  [[nodiscard]] double objective() const {
    double value = dot(cost, u);
    for (int k = 0; k < num_blocks; ++k) {
      const Block& b = blocks[k];
      for (int j = 0; b.cost_y != nullptr && j < b.rows.num_aux; ++j) value += b.cost_y[j] * b.y[j];
    }
    return value;
  }

  /// Factors the 4x4 matrix in place: H = L D Lᵀ.
  static bool factor(SharedMatrix& M);
  [[nodiscard]] static Vec4 solve(const SharedMatrix& M, Vec4 r);

  /// Scaling and factorisation at the current point.
  bool assemble();
  /// The shared step towards s ∘ z = target e, with the predictor's second-order correction or without.
  [[nodiscard]] Vec4 solve_for(double target, bool second_order);
  /// Completes the step of all blocks and takes it as far as the cones allow. False if there is no way on.
  bool step_along(Vec4 du);
  /// force[k] = S_uᵀz, dual_residual = |Sᵀz - c| in its units.
  void measure_dual_residual();
  /// max |s ∘ z - target e| / target.
  [[nodiscard]] double centrality(double target) const;

 private:
  /// Arrow Newton steps from nearby to the central-path point s ∘ z = target e. False if they do not get there; the
  /// iterate has then only come nearer.
  [[nodiscard]] bool finish(const EngineOptions& options, double target);
  /// |s - (S_u u + S_y y + s_0)| in its units.
  [[nodiscard]] double largest_residual() const;
  /// Makes the iterate consistent if that keeps it well inside the cones.
  void drop_residual();
  /// The end of the path: well within the tolerance, but not so near the boundary that rounding spoils derivatives, if
  /// the tolerance allows.
  [[nodiscard]] double final_target(double tolerance, double value) const {
    const double inverse_degree = 1.0 / degree();
    const double comfortable = std::max(kFinalFraction * tolerance * inverse_degree, kComfortableKappa * value);
    return std::min(comfortable, std::min(gap, 0.5 * tolerance) * inverse_degree);
  }
  /// Gap (without relaxation) and dual residual are small enough; the dual residual is measured.
  [[nodiscard]] bool settled(const EngineOptions& options);
};

template <int C>
bool ConicEngine<C>::factor(SharedMatrix& M) {
  constexpr double floor = 1e-15;
  // rows of the lower triangle; a pivot that is all rounding error is lifted
  double d0 = M.row[0][0];
  const double i0 = 1.0 / d0;
  const double a10 = M.row[1][0], a20 = M.row[2][0], a30 = M.row[3][0];
  const double l10 = a10 * i0, l20 = a20 * i0, l30 = a30 * i0;
  const double d1 = std::max(M.row[1][1] - l10 * a10, floor * M.row[1][1]);
  const double a21 = M.row[2][1] - l20 * a10, a31 = M.row[3][1] - l30 * a10;
  const double i1 = 1.0 / d1;
  const double l21 = a21 * i1, l31 = a31 * i1;
  const double d2 = std::max(M.row[2][2] - l20 * a20 - l21 * a21, floor * M.row[2][2]);
  const double a32 = M.row[3][2] - l30 * a20 - l31 * a21;
  const double i2 = 1.0 / d2;
  const double l32 = a32 * i2;
  const double d3 = std::max(M.row[3][3] - l30 * a30 - l31 * a31 - l32 * a32, floor * M.row[3][3]);
  M.row[0] = Vec4{i0, 0, 0, 0};
  M.row[1] = Vec4{l10, i1, 0, 0};
  M.row[2] = Vec4{l20, l21, i2, 0};
  M.row[3] = Vec4{l30, l31, l32, 1.0 / d3};
  return d0 > 0.0 && std::isfinite(d0 + d1 + d2 + d3);
}

template <int C>
Vec4 ConicEngine<C>::solve(const SharedMatrix& M, Vec4 r) {
  const double l10 = M.row[1][0], l20 = M.row[2][0], l30 = M.row[3][0];
  const double l21 = M.row[2][1], l31 = M.row[3][1], l32 = M.row[3][2];
  const double y0 = r[0];
  const double y1 = r[1] - l10 * y0;
  const double y2 = r[2] - l20 * y0 - l21 * y1;
  const double y3 = r[3] - l30 * y0 - l31 * y1 - l32 * y2;
  const double x3 = y3 * M.row[3][3];
  const double x2 = y2 * M.row[2][2] - l32 * x3;
  const double x1 = y1 * M.row[1][1] - l31 * x3 - l21 * x2;
  const double x0 = y0 * M.row[0][0] - l30 * x3 - l20 * x2 - l10 * x1;
  return Vec4{x0, x1, x2, x3};
}

template <int C>
bool ConicEngine<C>::assemble() {
  SharedMatrix sum_of_blocks{};
  for (int k = 0; k < num_blocks; ++k) {
    sum_of_blocks = on(blocks[k], [&](Block& b, auto operations) { return operations.assemble(b, sum_of_blocks); });
  }
  H = sum_of_blocks;
  return factor(H);
}

template <int C>
void ConicEngine<C>::measure_dual_residual() {
  Vec4 residual = -cost;
  double own = 0.0;
  for (int k = 0; k < num_blocks; ++k) {
    on(blocks[k], [&](Block& b, auto operations) {
      // rhs = c_y - S_yᵀz through the same sweep as the corrector's
      const int ny = operations.num_aux(b);
      for (int j = 0; j < ny; ++j) b.rhs[j] = b.cost_y != nullptr ? b.cost_y[j] : 0.0;
      force[k] = operations.transposed_z(b);
      residual += force[k];
      for (int j = 0; j < ny; ++j) own = std::max(own, std::abs(b.rhs[j]));
    });
  }
  const Vec4 scaled = residual * dual_scale;
  dual_residual = own * dual_scale_y;
  for (int a = 0; a < kShared; ++a) dual_residual = std::max(dual_residual, std::abs(scaled[a]));
}

template <int C>
double ConicEngine<C>::centrality(double target) const {
  double worst = 0.0;
  for (int k = 0; k < num_blocks; ++k) {
    const Block& b = blocks[k];
    for (int i = 0; i < b.rows.num_orthant; ++i) worst = std::max(worst, std::abs(b.s[i] * b.z[i] - target));
    for (int c = 0; c < b.rows.num_cones; ++c) {
      const ConeState<C>& cone = b.cones[c];
      const ConeVector<C> error = jordan_product(cone.s, cone.z) - target * cone_identity<C>();
      worst = std::max(worst, std::sqrt(dot(error, error)));
    }
  }
  return worst / target;
}

template <int C>
bool ConicEngine<C>::finish(const EngineOptions& options, double target) {
  const double inverse_degree = 1.0 / degree();
  for (int steps = 0; steps < options.max_final_steps && iterations < options.max_iterations; ++steps) {
    arrow.factor(blocks, num_blocks);
    if (options.kappa > 0.0 && options.relative_kappa) {
      // the step is affine in the target: aim at kappa times the new objective
      const double at_zero = dot(cost, arrow.direction(blocks, num_blocks, cost, 0.0, consistent));
      const double slope =
          (dot(cost, arrow.direction(blocks, num_blocks, cost, target, consistent)) - at_zero) / target;
      target = options.kappa * (objective() + at_zero) / (1.0 - options.kappa * slope);
      if (!(target > 0.0)) return false;
    }
    // straight to the target if that is near enough; else first to the central path where we are, or half the way down
    // it
    double aim = target;
    double before = centrality(target) * target;
    Vec4 du = arrow.direction(blocks, num_blocks, cost, aim, consistent);
    double after = arrow.complete(blocks, num_blocks, du, consistent);
    // a step that stays centred is worth taking too: it renews the dual residual
    if (!(after <= std::max(0.5 * before, options.centrality * target))) {
      if (before <= options.loosest_centrality * target && settled(options)) return true;
      const double mu = gap * inverse_degree;
      aim = centrality(mu) > 0.5 ? mu : std::sqrt(mu * target);
      before = std::max(centrality(aim), 1.0) * aim;
      du = arrow.direction(blocks, num_blocks, cost, aim, consistent);
      after = arrow.complete(blocks, num_blocks, du, consistent);
      if (!(after <= 0.5 * before)) return false;
    }
    u += du;
    gap = 0.0;
    for (int k = 0; k < num_blocks; ++k) {
      gap += on(blocks[k], [&](Block& b, auto operations) { return operations.advance(b, 1.0, consistent); });
    }
    consistent = true;
    ++iterations;
    if (aim == target && after <= options.centrality * target && settled(options)) return true;
  }
  return false;
}

template <int C>
bool ConicEngine<C>::settled(const EngineOptions& options) {
  const double tolerance = options.absolute_tolerance + options.relative_tolerance * std::abs(objective());
  if (options.kappa == 0.0 && gap > tolerance) return false;
  measure_dual_residual();
  return dual_residual <= tolerance && (consistent || largest_residual() <= tolerance);
}

template <int C>
Vec4 ConicEngine<C>::solve_for(double target, bool second_order) {
  Vec4 rhs = -cost;
  for (int k = 0; k < num_blocks; ++k) {
    on(blocks[k], [&](Block& b, auto operations) {
      rhs += operations.start_rhs(b, consistent);
      rhs -= operations.correct(b, target, second_order);
      rhs -= operations.reduce_rhs(b);
    });
  }
  return solve(H, rhs);
}

template <int C>
bool ConicEngine<C>::step_along(Vec4 du) {
  double ratio = 1e-3;
  for (int k = 0; k < num_blocks; ++k) {
    ratio = std::max(ratio,
                     on(blocks[k], [&](Block& b, auto operations) { return operations.combine(b, du, consistent); }));
  }
  const double step = std::min(1.0, kBoundaryFraction / ratio);
  if (!std::isfinite(step * sum(du)) || step < kShortestStep) return false;
  u += step * du;
  gap = 0.0;
  for (int k = 0; k < num_blocks; ++k) {
    gap += on(blocks[k], [&](Block& b, auto operations) { return operations.advance(b, step, consistent); });
  }
  return true;
}

template <int C>
double ConicEngine<C>::largest_residual() const {
  double worst = 0.0;
  for (int k = 0; k < num_blocks; ++k) {
    const Block& b = blocks[k];
    for (int i = 0; i < b.rows.num_orthant; ++i) worst = std::max(worst, std::abs(b.residual[i]));
    for (int c = 0; c < b.rows.num_cones; ++c) {
      worst = std::max(worst, std::sqrt(dot(b.cones[c].residual, b.cones[c].residual)));
    }
  }
  return worst * primal_scale;
}

template <int C>
void ConicEngine<C>::drop_residual() {
  // s - residual = S_u u + S_y y + s_0: take it as the slack as soon as it is safely inside
  for (int k = 0; k < num_blocks; ++k) {
    const Block& b = blocks[k];
    for (int i = 0; i < b.rows.num_orthant; ++i) {
      if (!(b.s[i] - b.residual[i] >= 0.5 * b.s[i])) return;
    }
    for (int c = 0; c < b.rows.num_cones; ++c) {
      const ConeVector<C> exact = b.cones[c].s - b.cones[c].residual;
      if (!(exact.head() > 0.0 && det(exact) >= 0.25 * det(b.cones[c].s))) return;
    }
  }
  for (int k = 0; k < num_blocks; ++k) on(blocks[k], [&](Block& b, auto operations) { operations.evaluate(b, u); });
  consistent = true;
}

template <int C>
EngineStatus ConicEngine<C>::run(const EngineOptions& options) {
  const double inverse_degree = 1.0 / degree();
  double next_finish = options.finish_below;
  double last_residual = std::numeric_limits<double>::infinity();
  for (iterations = 0;; ++iterations) {
    if (!consistent) drop_residual();
    const double value = objective();
    const double kappa = options.relative_kappa ? options.kappa * value : options.kappa;
    const double tolerance = options.absolute_tolerance + options.relative_tolerance * std::abs(value);
    // near the end: straight to a central point
    if (kappa > 0.0 ? gap * inverse_degree <= kNearTarget * kappa
                    : gap <= std::max(next_finish * std::abs(value), tolerance)) {
      if (finish(options, kappa > 0.0 ? kappa : final_target(tolerance, std::abs(value)))) return EngineStatus::solved;
      next_finish = 1e-2 * gap / std::abs(value);
      if (kappa == 0.0 && gap <= tolerance) {
        if (settled(options)) return EngineStatus::solved;
        // rounding keeps the dual residual up: further steps would only spoil the point
        if (consistent && dual_residual > 0.5 * last_residual) return EngineStatus::numerical_limit;
        last_residual = dual_residual;
      }
    }
    if (iterations >= options.max_iterations) return EngineStatus::iteration_limit;
    if (!assemble()) return EngineStatus::numerical_limit;

    // predictor
    Vec4 rhs = -cost;
    for (int k = 0; k < num_blocks; ++k) {
      on(blocks[k], [&](Block& b, auto operations) {
        rhs += operations.start_rhs(b, consistent);
        rhs -= operations.reduce_rhs(b);
      });
    }
    const Vec4 du = solve(H, rhs);
    double ratio = 1.0;
    for (int k = 0; k < num_blocks; ++k) {
      ratio = std::max(ratio,
                       on(blocks[k], [&](Block& b, auto operations) { return operations.predict(b, du, consistent); }));
    }

    // centring weight, then the combined step
    const double rest = 1.0 - 1.0 / ratio;
    const double target = std::max(rest * rest * rest * gap * inverse_degree, kappa);
    const bool descending = target < gap * inverse_degree;
    if (!step_along(solve_for(target, descending))) return EngineStatus::numerical_limit;
  }
}

}  // namespace tangere
