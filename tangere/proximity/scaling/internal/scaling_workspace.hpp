#pragma once

/// Record of a scaling query that its derivatives read (private to proximity).

#include <memory>

#include "tangere/math/aligned.hpp"
#include "tangere/proximity/internal/shape_owner.hpp"
#include "tangere/proximity/scaling.hpp"
#include "tangere/proximity/scaling/internal/support_scaling.hpp"
#include "tangere/proximity/scaling/pair_program.hpp"

namespace tangere {

/// The program of two convex parts, solved by the conic route.
struct SolvedPair {
  PairProgram program;
  /// Copies, which keep the sets alive as long as the query's derivatives may be asked for.
  ConvexPart part_A;
  ConvexPart part_B;
  int index_A = 0;
  int index_B = 0;
  /// Poses of the parts.
  Pose X_WA;
  Pose X_WB;
  ScalingStatus status = ScalingStatus::solved;
};

/// Memory of `freedom`, used only for sums of many parts.
using RankStorage = AlignedVector;

/// Directions nearer than this (radians) count as parallel when ranks are counted.
inline constexpr double kParallel = 1e-6;

/// How unique the solution is: dimensions of the sets of optimal x and of optimal normals.
struct Freedom {
  int point = 0;
  int normal = 0;
};
[[nodiscard]] Freedom freedom(const SolvedPair& pair, RankStorage& storage);

/// Solves one pair of convex parts whose poses are set; the solution stays in `pair`.
void solve_pair(const ScalingOptions& options, SolvedPair& pair);

/// Two convex sets in the world, and their relative pose.
struct PlacedSets {
  const ConvexSet& A;
  const ConvexSet& B;
  const Pose& X_WA;
  const Pose& X_WB;
  const Pose& X_AB;
};
/// Solution of the interior point, in the frame of A.
struct ConicPoint {
  /// x and alpha.
  Vec4 u;
  /// S_uᵀz of A and of B.
  Vec4 force_A;
  Vec4 force_B;
  double gap;
  double dual_residual;
  int iterations;
};
/// The answer of the conic route, without freedoms and parts.
[[nodiscard]] Scaling read_answer(const PlacedSets& sets, const ConicPoint& point, ScalingStatus status);
[[nodiscard]] Scaling read_answer(const SolvedPair& pair);
/// dα / d(poses) without smoothing, alpha > 0: the wrench of the multipliers.
[[nodiscard]] Vector12 wrench_gradient(const Pose& X_WA, const Pose& X_AB, const ConicPoint& point);

/// Adds -zᵀ (∂S/∂θ)(p, alpha, y, 1) = ∂alpha/∂θ for every parameter of a part: block 0 for A, 1 for B.
void envelope_gradient(const SolvedPair& pair, int block, const ConvexPart& part, Eigen::Ref<VectorX> out);

/// Two convex parts and what the support route found.
struct SupportPair {
  const SupportTerms* terms_A = nullptr;
  const SupportTerms* terms_B = nullptr;
  /// Not half-spaces.
  bool scaled_A = true;
  bool scaled_B = true;
  /// Poses of the parts.
  Pose X_WA;
  Pose X_WB;
  SupportScaling found;
  /// The part of a bundle; null for convex shapes.
  const ConvexPart* part_A = nullptr;
  const ConvexPart* part_B = nullptr;
  int index_A = 0;
  int index_B = 0;
};

struct ScalingWorkspace::Data {
  /// Owner of the shapes of the last query.
  PairOwner owner;
  // support route
  RayCast cast;
  SupportPair found;
  SupportPair support_trial;
  /// The last query was answered by supports: `found` holds, `solved` only after `conic()`.
  bool by_supports = false;
  bool has_conic = false;
  double tolerance = 0.0;
  long num_fallbacks = 0;

  // conic route: the pair of parts that decided, and a second one to try other parts of a bundle
  std::unique_ptr<SolvedPair> solved = std::make_unique<SolvedPair>();
  std::unique_ptr<SolvedPair> trial = std::make_unique<SolvedPair>();
  /// Poses of the whole shapes, and the kappa of the last query.
  Pose X_WA;
  Pose X_WB;
  double smoothing = 0.0;
  double alpha = 0.0;
  Freedom free;
  const SolvedPair* linearised_pair = nullptr;
  bool has_bundle = false;
  bool has_query = false;
  int num_parameters_A = 0;
  int num_parameters_B = 0;
  /// Rows for the rank decisions of uniqueness.cpp.
  RankStorage rank_storage;
  Matrix4X parameter_columns_A;
  Matrix4X parameter_columns_B;

  /// The deciding pair solved by the conic route, now if the query was answered by supports.
  const SolvedPair& conic();
  /// The solution at which the optimality conditions are linearised (and factored, once a query): the query's own, or,
  /// where that is solved so tightly that rounding would spoil the derivatives, the same pair solved again less
  /// tightly.
  const SolvedPair& linearised();
};

}  // namespace tangere
