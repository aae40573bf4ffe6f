#pragma once

/// One pair of convex parts in a manifold query. Private to the manifold.

#include "tangere/proximity/manifold/internal/manifold_patch.hpp"
#include "tangere/proximity/manifold/internal/manifold_single.hpp"

namespace tangere::internal {

struct ManifoldQuery {
  /// All is computed about this point, so that the place in the world does not cost precision.
  Vector3 origin;
  ManifoldBody A;
  ManifoldBody B;
  Distance nearest;
  const ManifoldOptions& options;
  /// Lengths are small relative to this: the smaller outer radius.
  double size;
  /// In use: that of the options, or a tighter one.
  double angular_tolerance;
  /// Features of the parts along the normal, and the patch under trial.
  Feature feature_A;
  Feature feature_B;
  Patch patch;
};

/// The manifold, about the query's origin (manifold_search.cpp).
void find_manifold(ManifoldQuery& query, Manifold& manifold);

/// The query's patch as contact points: those within the margin, at most as many as wanted, in the order of their
/// features. False: none, or not the contact that the distance speaks of (manifold_points.cpp).
[[nodiscard]] bool take_patch(const ManifoldQuery& query, bool reference_is_A, Manifold& manifold);

/// The one point where the parts meet. False: no pair of features is the contact.
[[nodiscard]] bool take_single(const ManifoldQuery& query, Manifold& manifold);

/// Point k of the answer: one of the query's patch (its features aside) with the rate of its normal (null: without
/// derivatives), and a single one.
void write_patch_point(const ManifoldQuery& query, const PatchPoint& source, bool reference_is_A,
                       const Matrix3x12* N_rate, int k, Manifold& manifold);
void write_single(const ManifoldQuery& query, const SingleContact& contact, int k, Manifold& manifold);

/// Adds what may meet as the parts turn (manifold_ahead.cpp).
void add_ahead(ManifoldQuery& query, Manifold& manifold);

/// Whether an overlap has another normal that is as good, so that the normal jumps as the parts move
/// (manifold_ties.cpp).
[[nodiscard]] bool has_other_normal(const ManifoldQuery& query);

/// The derivatives of a point that has none.
void finish_without(ContactJacobian& out);

/// Takes the point of the distance query, without derivatives.
void take_nearest(const ManifoldQuery& query, Manifold& manifold);

}  // namespace tangere::internal
