#pragma once

/// The primal-dual interior point of conic_engine.hpp for kLanes problems at once, one a lane (not installed).
///
///   minimise  u₃   subject to   S_u u + S_y y = s in K      (two blocks, which share the four variables u)
///
/// Every lane does what the engine would: predictor, combined steps, arrow steps to a central point, and the same rule
/// when to stop. Lanes wait for one another only between the two kinds of steps; a lane that waits or is done does not
/// change. So the bits of a lane depend on its own problem alone. Departures: the start must be consistent; a lane in
/// which rounding or the iteration limit stands in the way is given up, for another solver to try.

#include "tangere/math/aligned.hpp"
#include "tangere/solvers/conic/conic_engine.hpp"
#include "tangere/solvers/conic/internal/lane_arrow.hpp"
#include "tangere/solvers/conic/internal/lane_block.hpp"

namespace tangere {

/// Memory of one block.
class LaneStorage {
 public:
  /// Grows the memory if blocks of this size need more than any before.
  void reserve(int num_orthant, int num_cones, int num_aux);
  /// Points a block of this size at the memory.
  void bind(int num_orthant, int num_cones, int num_aux, LaneBlock& block);

 private:
  static std::size_t size(int num_orthant, int num_cones, int num_aux);
  AlignedVector memory_;
};

class ConicLanes {
 public:
  static constexpr int kBlocks = 2;

  // the problem
  LaneBlock blocks[kBlocks];
  Lane degree{};
  /// Units of the dual residual: of x and the own variables, and of u₃.
  Lane dual_scale{};
  Lane dual_scale_last{};

  // the iterate: a strictly feasible start in the blocks and here, then the answer
  LaneVector u{};
  Lane gap{};
  Lane dual_residual{};
  Lane iterations{};
  /// S_uᵀz of each block, in solved lanes.
  LaneVector force[kBlocks];
  LaneMask solved{};

  /// Solves the lanes of `given`. `options.kappa` is relative, `absolute_tolerance` must be 0.
  void run(const EngineOptions& options, LaneMask given);

  /// The derivative of u₃ on the central path s ∘ z = kappa u₃ e: `weight` = H⁻ᵀ e₃ of the linearised conditions, and
  /// weightᵀ H of each block.
  void linearise(LaneVector& weight, LaneVector (&pull)[kBlocks]);

 private:
  [[nodiscard]] LaneMask mehrotra_step(LaneMask live, double kappa);
  void finish(const EngineOptions& options, LaneMask finishing, Lane target, LaneMask& failed);
  [[nodiscard]] LaneMask settled(const EngineOptions& options, LaneMask asked);
  void take_full_step(LaneMask live);
  [[nodiscard]] Lane error(const LaneProducts& products, Lane target) const;

  Lane inverse_degree_{};
  LaneMatrix reduced_[kBlocks];
  LaneLu lu_;
};

}  // namespace tangere
