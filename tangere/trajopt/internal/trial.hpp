#pragma once

/// Trial trajectories: the part α of a step, linear or rolled out (TrialSteps).

#include "tangere/trajopt/internal/newton.hpp"

namespace tangere::internal {

/// Largest part of the way to a bound that a step may take.
inline constexpr double kPartOfWay = 0.99;

/// Scratch for states and tangents, and the derivatives of a trial that was made with them.
struct TrialScratch {
  VectorX next;
  VectorX tangent;
  /// Whether a rollout is to have its derivatives in A and B, one per step.
  bool has_jacobians = false;
  std::vector<MatrixX> A;
  std::vector<MatrixX> B;
  /// The knot whose step is not finite.
  int bad_knot = -1;
};

/// The largest α that leaves every slack positive.
[[nodiscard]] double longest_step(const std::vector<KnotPoint>& points, const NewtonStep& step);

/// Defects of the states and controls of `points`. False, with the knot, where a step is not finite.
[[nodiscard]] bool find_defects(const OptimalControl& problem, Stepper& stepper, bool is_trial, TrialScratch& scratch,
                                std::vector<KnotPoint>& points, int& bad_knot);
/// States from the start by the controls of `points`; no defects. False as above.
[[nodiscard]] bool roll_out(const OptimalControl& problem, Stepper& stepper, std::vector<KnotPoint>& points,
                            int& bad_knot);

/// x ⊕ α δx, u + α δu. False where something is not finite.
[[nodiscard]] bool linear_trial(const OptimalControl& problem, const std::vector<KnotPoint>& points,
                                const NewtonStep& step, double alpha, Stepper& stepper, TrialScratch& scratch,
                                std::vector<KnotPoint>& trial);
/// x̂_0 = x_0 ⊕ α δx_0, û = u + α k + K (x̂ ⊖ x), no entry more than kPartOfWay of its way to a bound; x̂' = f(x̂, û) ⊕ -(1
/// - α) defect.
[[nodiscard]] bool rollout_trial(const OptimalControl& problem, const std::vector<KnotPoint>& points,
                                 const NewtonStep& step, const Riccati& riccati, double alpha, Stepper& stepper,
                                 TrialScratch& scratch, std::vector<KnotPoint>& trial);

/// Slacks of a trial whose rows are evaluated: -h where that was so and leaves 1 - kPartOfWay of the slack; else
/// s + α δs, at least that part of s, and at least -h.
void set_slacks(const std::vector<KnotPoint>& points, const NewtonStep& step, double alpha,
                std::vector<KnotPoint>& trial);
/// z + α δz, positive, and no farther than a factor of 1e8 from μ / s.
void move_multipliers(const std::vector<KnotPoint>& points, const NewtonStep& step, double alpha, double barrier,
                      std::vector<KnotLinear>& linear);

}  // namespace tangere::internal
