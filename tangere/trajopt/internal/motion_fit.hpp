#pragma once

/// Pieces of recorded motions as least squares in their start and in the parameters (identify.hpp).

#include <vector>

#include "tangere/math/task_pool.hpp"
#include "tangere/trajopt/identify.hpp"
#include "tangere/trajopt/internal/unknowns.hpp"
#include "tangere/trajopt/world_dynamics.hpp"

namespace tangere::internal {

/// A stretch of a motion with a start of its own.
struct MotionPiece {
  const MotionRecording* motion = nullptr;
  /// Samples, both included.
  int first = 0;
  int last = 0;
  VectorX start{};
  VectorX trial{};
  /// ½ |residual|² at `start` and at `trial`; infinite where the motion is not finite.
  double cost = 0.0;
  double trial_cost = 0.0;
  /// Upper triangular factor of [J_start, J_z, residual].
  MatrixX factor{};
};

/// Constant data of a fit.
struct MotionFit {
  const IdentifyOptions& options;
  const Unknowns& unknowns;
  /// 1 / noise, per tangent coordinate.
  VectorX weight;
};

/// Pieces of at most `length` samples (0: whole motions). They start as measured, with differences of positions for
/// velocities that are not measured; or as the motions of pieces that were fitted before, in their world.
[[nodiscard]] std::vector<MotionPiece> pieces_of(const MotionFit& fit, const WorldDynamics& dynamics,
                                                 const std::vector<MotionRecording>& motions, int length,
                                                 const std::vector<MotionPiece>& fitted);

/// Costs of the pieces' trial starts in a world; true if all are finite.
[[nodiscard]] bool find_costs(const MotionFit& fit, const World& world, TaskPool& pool,
                              std::vector<MotionPiece>& pieces);
/// Factors of the pieces at their starts. `d_values` is dθ/dz.
void linearise(const MotionFit& fit, const World& world, const MatrixX& d_values, TaskPool& pool,
               std::vector<MotionPiece>& pieces);

}  // namespace tangere::internal
