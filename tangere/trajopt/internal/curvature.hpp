#pragma once

/// The part of the Lagrangian's Hessian that Gauss-Newton leaves out: the curvature of dynamics and rows,
///
///   S_k = Σ w r ∇²r + Σ (λ + ρ c) ∇²c + Σ z ∇²h + Σ p_{k+1} ∇²f,
///
/// by differences of its gradient Jᵀy along every coordinate. On a manifold the Jacobians are those of the tangent at
/// the moved point; the symmetric part of their differences is the Hessian in exponential coordinates.

#include "tangere/trajopt/internal/newton.hpp"

namespace tangere::internal {

class Curvature {
 public:
  void resize(const OptimalControl& problem, int num_threads);

  /// Finds the curvature at an iterate with costates p (one per knot). False where something is not finite.
  [[nodiscard]] bool find(const OptimalControl& problem, const Transcription& rows,
                          const std::vector<KnotPoint>& points, const std::vector<KnotLinear>& linear,
                          const Multipliers& weights, const std::vector<VectorX>& costates, Stepper& stepper,
                          Workers& workers);
  /// Adds `sign` times the curvature to the stages.
  void add_to(std::vector<LqStage>& stages, double sign) const;

 private:
  struct Thread {
    VectorX x;
    VectorX u;
    VectorX next;
    VectorX move;
    VectorX base;
    VectorX gradient;
    MatrixX A;
    MatrixX B;
    KnotLinear rows;
  };

  std::vector<MatrixX> S_;
  std::vector<Thread> threads_;
  std::vector<char> failed_;
};

}  // namespace tangere::internal
