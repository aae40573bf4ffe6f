#pragma once

/// The linear-quadratic problem of an iterate, and what its answer means for rows, slacks and multipliers.
///
/// A row with values y, Jacobian J, curvature a and slope b adds a JᵀJ and b Jᵀ to its knot:
///
///   cost          a = w       b = w r
///   equality      a = ρ       b = λ + ρ c
///   inequality    a = z / s   b = μ / s + (z / s) (h + s)
///
/// the last from h + s = 0, s z = μ without δs = -(h + s) - J δ and δz = μ / s - z - (z / s) δs.
///
/// An elastic problem has the squares of violations instead: no costs, ρ c² / 2, and ρ h² / 2 where h > 0, but for
/// inequalities on controls.

#include <vector>

#include "tangere/trajopt/internal/transcription.hpp"

namespace tangere::internal {

/// Multipliers of the constraints.
struct Multipliers {
  /// μ of the barrier, ρ of equalities, ν of defects and slacks in the merit.
  double barrier = 0.0;
  double penalty = 0.0;
  double merit = 0.0;
  bool elastic = false;
};

/// A step in all variables.
struct NewtonStep {
  std::vector<VectorX> dx;
  std::vector<VectorX> du;
  std::vector<VectorX> ds;
  std::vector<VectorX> dz;
  /// Slope of cost, multipliers and barrier along it, and ½ δᵀ H δ.
  double slope = 0.0;
  double curvature = 0.0;
};

/// Totals of an iterate.
struct Totals {
  double cost = 0.0;
  /// Σ λᵀc + ½ ρ c², and -μ Σ log s.
  double multipliers = 0.0;
  double barrier = 0.0;
  /// Σ |defect|₁ and Σ |h + s|₁.
  double defects = 0.0;
  double slacks = 0.0;
  /// The largest of each.
  double worst_defect = 0.0;
  double worst_equality = 0.0;
  double worst_inequality = 0.0;
  double worst_slack = 0.0;
  double worst_product = 0.0;

  [[nodiscard]] double infeasibility() const { return defects + slacks; }
  /// With the cost left out of an elastic problem.
  [[nodiscard]] double merit(const Multipliers& weights) const {
    return (weights.elastic ? 0.0 : cost) + multipliers + barrier + weights.merit * infeasibility();
  }
};

/// The quadratics of all knots, into stages whose A and B are set.
void assemble(const Transcription& problem, const std::vector<KnotPoint>& points, const std::vector<KnotLinear>& linear,
              const Multipliers& weights, Workers& workers, std::vector<MatrixX>& scratch,
              std::vector<LqStage>& stages);

/// ds, dz, slope and curvature of a step whose dx and du are set.
void complete(const Transcription& problem, const std::vector<KnotPoint>& points, const std::vector<KnotLinear>& linear,
              const Multipliers& weights, VectorX& scratch, NewtonStep& step);

[[nodiscard]] Totals totals(const Transcription& problem, const std::vector<KnotPoint>& points,
                            const std::vector<KnotLinear>& linear, const Multipliers& weights);

/// The gradient of the Lagrangian in the controls and in free coordinates of the start, its costates (left in
/// `costates`) eliminated; the largest entry times the controls' scale, over a hundredth of its largest term where that
/// is above 1: terms that are large cancel to rounding at best.
[[nodiscard]] double lagrangian_gradient(const std::vector<KnotPoint>& points, const std::vector<KnotLinear>& linear,
                                         const Transcription& problem, const Multipliers& weights,
                                         const std::vector<LqStage>& stages, const VectorX& scale,
                                         std::span<const int> free_start, std::vector<VectorX>& costates);

}  // namespace tangere::internal
